//! The index lock that a killed git leaves behind.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use cr_repository::Repo;
use cr_stream::IndexLock;

/// The lock on the index of `repo`, if there is one, and who may hold it.
pub(crate) fn index_lock(repo: &Repo) -> Option<IndexLock> {
    let path = repo.own.join("index.lock");
    let meta = fs::symlink_metadata(&path).ok()?;
    let age = SystemTime::now().duration_since(meta.modified().ok()?);
    Some(IndexLock {
        age_seconds: age.map_or(0, |age| age.as_secs()),
        holder: holder(&path, &repo.top),
    })
}

/// Removes the index lock of `repo` if no process holds it. Returns whether it
/// did.
pub(crate) fn break_lock(repo: &Repo) -> std::io::Result<bool> {
    let path = repo.own.join("index.lock");
    let file = || fs::symlink_metadata(&path).map(|m| (m.dev(), m.ino(), m.ctime_nsec()));
    let Ok(before) = file() else {
        return Ok(false);
    };
    // Only the file that was checked, not a newer one.
    if holder(&path, &repo.top).is_some() || file().ok() != Some(before) {
        return Ok(false);
    }
    fs::remove_file(&path)?;
    Ok(true)
}

/// A process that has `lock` open, or a git at work in the tree: git closes the
/// file and keeps the lock while an editor or a hook runs.
fn holder(lock: &Path, top: &Path) -> Option<u32> {
    let processes = fs::read_dir("/proc").ok()?;
    let pids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter(|&pid| pid != std::process::id())
        .find(|&pid| has_open(pid, lock) || is_git_in(pid, top))
}

fn has_open(pid: u32, file: &Path) -> bool {
    let Ok(open) = fs::read_dir(format!("/proc/{pid}/fd")) else {
        return false;
    };
    let target = |entry: fs::DirEntry| -> Option<PathBuf> { fs::read_link(entry.path()).ok() };
    open.filter_map(|entry| target(entry.ok()?))
        .any(|to| to == file)
}

fn is_git_in(pid: u32, top: &Path) -> bool {
    let name = fs::read(format!("/proc/{pid}/comm")).unwrap_or_default();
    let inside = || {
        let cwd = fs::read_link(format!("/proc/{pid}/cwd"));
        cwd.is_ok_and(|cwd| cwd.starts_with(top))
    };
    name == b"git\n" && inside()
}
