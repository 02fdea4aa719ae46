//! The repository at the far end: a copy that is kept, and a work directory.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use cr_io::Exit;
use cr_rundir::RunDir;

use crate::git::{Git, is_object_id};
use crate::message::{Hello, Start, Work};

/// How many commits are offered as known, the latest first.
const MOST_KNOWN: &str = "--count=50";

/// How many files that were not committed are named.
const MOST_NAMED: usize = 100;

/// Fails with a clear message if there is no git here.
pub(crate) fn check_git() -> anyhow::Result<()> {
    Git::at("/").text(&["--version"]).map(|_| ()).map_err(|_| {
        anyhow!("git: not found at the far end; it carries the work").context(Exit::NotFound)
    })
}

/// The kept copy of the repository with this root commit.
fn copy(state: &Path, root: &str) -> anyhow::Result<PathBuf> {
    if !is_object_id(root) {
        return Err(anyhow!("not a commit: {root}").context(Exit::Data));
    }
    let dir = RunDir::at(&state.join("repositories"))?;
    Ok(dir.path().join(format!("{root}.git")))
}

/// Commits that the kept copy has.
pub(crate) fn cached(state: &Path, root: &str) -> anyhow::Result<Vec<String>> {
    let path = copy(state, root)?;
    if !path.is_dir() {
        return Ok(Vec::new());
    }
    let list = ["for-each-ref", "--format=%(objectname)", MOST_KNOWN];
    let text = Git::at(path).text(&[&list[..], &["--sort=-creatordate"]].concat());
    // A copy that is broken is made anew by a full bundle.
    let text = text.unwrap_or_default();
    Ok(text.lines().map(str::to_owned).collect())
}

/// Adds what `bundle` holds to the kept copy, and makes the work directory `dir`
/// of it.
pub(crate) fn check_out(
    state: &Path,
    hello: &Hello,
    start: &Start,
    bundle: &Path,
    dir: &Path,
) -> anyhow::Result<()> {
    let path = copy(state, &hello.root)?;
    let lock = RunDir::at(&state.join("repositories"))?.append_file("lock")?;
    lock.lock()?;
    if !path.is_dir() {
        let format = if hello.root.len() == 64 {
            "sha256"
        } else {
            "sha1"
        };
        let format = format!("--object-format={format}");
        let path = path.display().to_string();
        Git::at(state).text(&["init", "--quiet", "--bare", &format, &path])?;
    }
    let git = Git::at(&path);
    if start.bundle.is_some() {
        let bundle = bundle.display().to_string();
        git.text(&["bundle", "verify", "--quiet", &bundle])?;
        let to = format!("+HEAD:refs/relay/{}", hello.run_id);
        git.text(&["fetch", "--quiet", "--no-tags", &bundle, &to])?;
    }
    drop(lock);
    if !git.has_commit(&hello.base) {
        return Err(anyhow!("the bundle lacks the commit {}", hello.base).context(Exit::Tool));
    }
    let from = path.display().to_string();
    let to = dir.display().to_string();
    Git::at(state).text(&["clone", "--quiet", "--shared", "--no-checkout", &from, &to])?;
    let git = Git::at(dir);
    git.text(&["remote", "remove", "origin"])?;
    for (name, value) in &start.identity {
        git.text(&["config", name, value])?;
    }
    match &start.branch {
        Some(branch) => git.text(&["checkout", "--quiet", "-B", branch, &hello.base])?,
        None => git.text(&["checkout", "--quiet", "--detach", &hello.base])?,
    };
    Ok(())
}

/// What became of the work in `dir`; new commits go to `bundle`.
pub(crate) fn collect(dir: &Path, base: &str, bundle: &Path) -> anyhow::Result<Work> {
    let git = Git::at(dir);
    let head = git.text(&["rev-parse", "--verify", "HEAD^{commit}"])?;
    let known = [base.to_owned()];
    let count = [
        "rev-list",
        "--count",
        "HEAD",
        "--branches",
        &format!("^{base}"),
    ];
    let commits = git.text(&count)?.parse().unwrap_or(0);
    let status = git.bytes(&["status", "--porcelain", "-z"])?;
    let changed = status
        .split(|&byte| byte == 0)
        .filter(|entry| !entry.is_empty());
    let changed: Vec<String> = changed
        .map(|entry| String::from_utf8_lossy(entry).into_owned())
        .collect();
    Ok(Work {
        host: host(),
        dir: dir.display().to_string(),
        code: 0,
        base: base.to_owned(),
        head,
        commits,
        bundle: git.bundle(bundle, &["HEAD", "--branches"], &known)?,
        uncommitted_total: changed.len() as u64,
        uncommitted: changed.into_iter().take(MOST_NAMED).collect(),
    })
}

fn host() -> String {
    let name = rustix::system::uname();
    name.nodename().to_string_lossy().into_owned()
}

/// Removes `dir` and what is in it.
pub(crate) fn remove(dir: &Path) -> anyhow::Result<()> {
    match fs::remove_dir_all(dir) {
        Err(err) if err.kind() != std::io::ErrorKind::NotFound => {
            Err(err).with_context(|| dir.display().to_string())
        }
        _ => Ok(()),
    }
}
