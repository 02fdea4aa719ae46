//! A repository whose work is shared out to tasks.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow};
use cr_io::Exit;
use cr_repository::{Git, GitError, Repo, Status, Untracked, take_lock};

/// How long one question to git may take.
const READ_LIMIT: Duration = Duration::from_mins(2);

/// How long one change may take: a checkout with filters can be large.
const CHANGE_LIMIT: Duration = Duration::from_mins(30);

/// How long the lock is waited for.
const LOCK_LIMIT: Duration = Duration::from_mins(10);

/// A repository with a work tree and at least one commit, as it was when it was
/// opened.
#[derive(Clone, Debug)]
pub struct Repository {
    pub(crate) repo: Repo,
    base: String,
    branch: Option<OsString>,
    dirty: Vec<PathBuf>,
}

impl Repository {
    /// Opens the repository that `dir` is in. Also reads HEAD and the files that
    /// the user has changed.
    pub fn open(dir: &Path) -> anyhow::Result<Self> {
        let place = || dir.display().to_string();
        let repo = Repo::open(dir, READ_LIMIT).map_err(|err| no_work_tree(dir, err));
        let repo = repo.with_context(place)?;
        let status = Status::read(&repo, Untracked::Directories).with_context(place)?;
        let base = status.head.ok_or_else(|| {
            let text = "the repository has no commit yet; make one first";
            anyhow!(text).context(Exit::NoInput).context(place())
        })?;
        let dirty = status.entries.into_iter();
        Ok(Self {
            repo,
            base,
            branch: status.branch.map(OsString::from_vec),
            dirty: dirty.map(|entry| path_of(&entry.path)).collect(),
        })
    }

    /// The top of the user's work tree.
    pub fn top(&self) -> &Path {
        &self.repo.top
    }

    /// The git directory that all worktrees share.
    pub fn common_dir(&self) -> &Path {
        &self.repo.shared
    }

    /// The commit of HEAD when the repository was opened.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// The branch that was checked out, `None` if HEAD was detached.
    pub fn branch(&self) -> Option<&OsStr> {
        self.branch.as_deref()
    }

    /// The files and directories that differ from the base commit, from the top of
    /// the work tree. They are no part of the work of any task.
    pub fn dirty(&self) -> &[PathBuf] {
        &self.dirty
    }

    /// Whether there is a branch called `name`.
    pub fn has_branch(&self, name: &str) -> anyhow::Result<bool> {
        Ok(self.reference(&format!("refs/heads/{name}"))?.is_some())
    }

    /// Whether the commit `one` is `other` or comes before it.
    pub fn is_ancestor(&self, one: &str, other: &str) -> anyhow::Result<bool> {
        Ok(self.repo.is_ancestor(one, other)?)
    }

    /// The content of `path` in `commit`, `None` if the commit has no such file.
    pub fn file(&self, commit: &str, path: &Path) -> anyhow::Result<Option<Vec<u8>>> {
        let commit = self.repo.commit(commit)?;
        let mut name = OsString::from(format!("{commit}:"));
        name.push(path);
        let args = ["cat-file".as_ref(), "blob".as_ref(), &*name];
        let answer = self.repo.git.answer(&args, b"")?;
        Ok(answer.yes.then_some(answer.text))
    }

    /// git for changes, in `dir`.
    pub(crate) fn changing(&self, dir: &Path) -> Git {
        self.repo.git.changing(dir, CHANGE_LIMIT)
    }

    /// Takes the lock of the repository, the one of `cr-git lock`. `None`: a
    /// process that we run under has it.
    pub(crate) fn lock(&self) -> anyhow::Result<Option<File>> {
        take_lock(&self.repo.shared, Some(LOCK_LIMIT))
    }

    /// The commit that the ref `name` points to, `None` if there is no such ref.
    pub(crate) fn reference(&self, name: &str) -> Result<Option<String>, GitError> {
        let args = ["for-each-ref", "--format=%(objectname) %(refname)", name];
        let text = self.repo.git.ask(&args)?;
        let text = String::from_utf8_lossy(&text);
        // The name is also a prefix of other names.
        let found = text.lines().filter_map(|line| line.split_once(' '));
        let mut found = found.filter(|(_, found)| *found == name);
        Ok(found.next().map(|(id, _)| id.to_owned()))
    }

    /// Moves the ref `name` from `old` to `new`; `None` stands for no ref. Returns
    /// false if it is not at `old` any more.
    pub(crate) fn move_reference(
        &self,
        name: &str,
        (old, new): (Option<&str>, Option<&str>),
        reason: &str,
    ) -> anyhow::Result<bool> {
        let nothing = "0".repeat(self.base.len());
        let old = old.unwrap_or(&nothing);
        let args = match new {
            Some(new) => vec!["update-ref", "-m", reason, name, new, old],
            None => vec!["update-ref", "-m", reason, "-d", name, old],
        };
        // Killed, it would leave a lock on the ref.
        let git = self.changing(self.top()).completing();
        let answer = git.answer(&args, b"")?;
        if answer.yes {
            return Ok(true);
        }
        let now = self.reference(name)?;
        if now.as_deref().unwrap_or(&nothing) != old {
            return Ok(false);
        }
        Err(anyhow!("git update-ref {name}: {}", answer.complaint).context(Exit::Tool))
    }

    /// The worktree that has the branch of the ref `name` checked out.
    pub(crate) fn checked_out_at(&self, name: &str) -> Result<Option<PathBuf>, GitError> {
        let args = ["worktree", "list", "--porcelain", "-z"];
        let text = self.repo.git.ask(&args)?;
        let mut dir = None;
        for line in text.split(|&b| b == 0) {
            if let Some(path) = line.strip_prefix(b"worktree ") {
                // One that was deleted without git has nothing checked out.
                dir = Some(path_of(path)).filter(|dir| dir.exists());
            } else if dir.is_some() && line.strip_prefix(b"branch ") == Some(name.as_bytes()) {
                return Ok(dir);
            }
        }
        Ok(None)
    }
}

/// Says why there is no work tree at `dir`.
fn no_work_tree(dir: &Path, err: GitError) -> anyhow::Error {
    let is_bare = || {
        let git = Git::at(dir, READ_LIMIT).ok()?;
        let args = ["-c", "safe.bareRepository=all", "rev-parse"];
        let question = "--is-bare-repository";
        let text = git.ask(&[&args[..], &[question]].concat()).ok()?;
        Some(text == b"true\n")
    };
    match err {
        GitError::Other(_) if is_bare() == Some(true) => {
            anyhow!("a bare repository has no work tree").context(Exit::NoInput)
        }
        err => anyhow::Error::from(err).context(Exit::NoInput),
    }
}

/// A path as git writes it.
pub(crate) fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

/// The names in `text`, each with a NUL after it.
pub(crate) fn names_in(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&b| b == 0).filter(|name| !name.is_empty())
}
