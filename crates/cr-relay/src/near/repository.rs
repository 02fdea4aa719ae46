//! The repository at the near end: what is sent, and where the work arrives.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use cr_io::Exit;

use crate::git::{Git, digest, is_object_id};
use crate::message::{Digest, Work};

/// Settings of git that say who commits.
const IDENTITY: [&str; 2] = ["user.name", "user.email"];

/// The repository of a directory.
#[derive(Clone, Debug)]
pub(crate) struct Repository {
    git: Git,
    pub(crate) cwd: PathBuf,
    /// HEAD.
    pub(crate) base: String,
    /// Its first ancestor.
    pub(crate) root: String,
    /// The branch that is checked out.
    pub(crate) branch: Option<String>,
    /// The directory in the repository, with a slash at its end, or empty.
    pub(crate) prefix: String,
    pub(crate) identity: Vec<(String, String)>,
}

impl Repository {
    /// The repository that `cwd` is in.
    pub(crate) fn find(cwd: &Path) -> anyhow::Result<Self> {
        let git = Git::at(cwd);
        let shown = || cwd.display().to_string();
        let inside = git.text(&["rev-parse", "--show-prefix"]);
        let prefix = inside.with_context(shown).context(Exit::NoInput)?;
        let base = git
            .text(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
            .map_err(|_| anyhow!("{}: no commit to begin with", cwd.display()))
            .context(Exit::NoInput)?;
        if git.text(&["rev-parse", "--is-shallow-repository"])? == "true" {
            let text = "the repository is shallow and cannot be sent: git fetch --unshallow";
            return Err(anyhow!(text).context(Exit::NoInput));
        }
        let roots = git.text(&["rev-list", "--max-parents=0", "HEAD"])?;
        let root = roots.lines().min().unwrap_or_default().to_owned();
        let branch = git
            .text(&["symbolic-ref", "--quiet", "--short", "HEAD"])
            .ok();
        let set = |name: &&str| Some(((*name).to_owned(), git.text(&["config", *name]).ok()?));
        Ok(Self {
            cwd: cwd.to_owned(),
            base,
            root,
            branch,
            prefix,
            identity: IDENTITY.iter().filter_map(set).collect(),
            git,
        })
    }

    /// How many files have changes that are not committed.
    pub(crate) fn uncommitted(&self) -> usize {
        let status = self.git.bytes(&["status", "--porcelain", "-z"]);
        let status = status.unwrap_or_default();
        status
            .split(|&byte| byte == 0)
            .filter(|entry| !entry.is_empty())
            .count()
    }

    /// Writes what the far end lacks to `file`.
    pub(crate) fn bundle(&self, file: &Path, have: &[String]) -> anyhow::Result<Option<Digest>> {
        let known = have.iter().filter(|id| self.git.has_commit(id));
        let known: Vec<String> = known.cloned().collect();
        self.git.bundle(file, &["HEAD"], &known)
    }

    /// Takes the far end's commits into refs of their own; `bundle` holds them.
    /// Afterwards `refs/cr-relay/ID/head` is the far end's HEAD.
    pub(crate) fn receive(&self, id: &str, work: &Work, bundle: &Path) -> anyhow::Result<()> {
        if work.base != self.base || !is_object_id(&work.head) {
            return Err(anyhow!("the work does not begin with {}", self.base));
        }
        let head = format!("refs/cr-relay/{id}/head");
        if let Some(expected) = &work.bundle {
            if digest(bundle)? != *expected {
                return Err(anyhow!("the bundle did not arrive as it was sent"));
            }
            let file = bundle.display().to_string();
            self.git.text(&["bundle", "verify", "--quiet", &file])?;
            let heads = self.git.text(&["bundle", "list-heads", &file])?;
            let mut fetch = vec!["-c".to_owned(), "fetch.fsckObjects=true".to_owned()];
            fetch.extend(["fetch", "--quiet", "--no-tags"].map(str::to_owned));
            fetch.push("--no-write-fetch-head".to_owned());
            fetch.push(file);
            if heads.lines().any(|line| line.ends_with(" HEAD")) {
                fetch.push(format!("+HEAD:{head}"));
            }
            fetch.push(format!("+refs/heads/*:refs/cr-relay/{id}/heads/*"));
            self.git.text(&fetch)?;
        }
        if !self.git.has_commit(&work.head) {
            return Err(anyhow!("the commit {} did not arrive", work.head));
        }
        self.git.text(&["update-ref", &head, &work.head])?;
        Ok(())
    }

    /// Brings the branch that is checked out to `commit`, if that continues it.
    pub(crate) fn fast_forward(&self, commit: &str) -> anyhow::Result<()> {
        let merge = ["merge", "--quiet", "--ff-only", "--no-autostash", commit];
        self.git.text(&merge).map(|_| ())
    }
}
