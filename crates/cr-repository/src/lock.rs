//! The lock of a repository.
//!
//! The lock is a file in the directory that all work trees share. It is never
//! removed: otherwise a process that opened the old file and one that creates a
//! new file would both hold the lock. It is closed on exec, so that processes that
//! a holder leaves behind cannot keep it.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow};
use cr_io::Exit;
use rustix::fs::OFlags;

/// Takes the lock in `dir`, waiting as long as `wait` says. `None`: a process
/// that we run under has it, and waits for us.
pub fn take(dir: &Path, wait: Option<Duration>) -> anyhow::Result<Option<File>> {
    let path = dir.join("cr.lock");
    let file = open(&path).with_context(|| path.display().to_string())?;
    if file.try_lock().is_ok() {
        return Ok(Some(file));
    }
    let holder = holder(&file);
    if holder.is_some_and(is_above) {
        return Ok(None);
    }
    let (send, taken) = mpsc::channel();
    // A thread, since there is no waiting for a lock with a limit.
    let thread = thread::Builder::new().spawn(move || send.send(file.lock().map(|()| file)));
    thread.context("start a thread").context(Exit::Tool)?;
    let Ok(taken) = taken.recv_timeout(wait.unwrap_or(Duration::MAX)) else {
        let by = holder.map_or(String::new(), |pid| format!(" by process {pid}"));
        return Err(anyhow!("{}: held{by}", path.display()).context(Exit::Retry));
    };
    let file = taken.with_context(|| path.display().to_string())?;
    Ok(Some(file))
}

fn open(path: &Path) -> anyhow::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(flags.bits().cast_signed())
        .open(path)
        .context(Exit::Config)?;
    let meta = file.metadata().context(Exit::Config)?;
    if !meta.is_file() || meta.nlink() > 1 {
        return Err(anyhow!("not a plain file").context(Exit::Config));
    }
    Ok(file)
}

/// The process that holds the lock on `file`, as far as the kernel tells.
fn holder(file: &File) -> Option<u32> {
    let inode = file.metadata().ok()?.ino();
    let locks = fs::read_to_string("/proc/locks").ok()?;
    // `1: FLOCK  ADVISORY  WRITE 1234 fe:01:5678 0 EOF`; `->` marks a waiter.
    locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, _, pid, place, ..] = words[..] else {
            return None;
        };
        let here = place.rsplit(':').next()?.parse() == Ok(inode);
        here.then(|| pid.parse().ok()).flatten()
    })
}

/// Whether the process `pid` is one of those that we run under.
fn is_above(pid: u32) -> bool {
    let mut process = std::process::id();
    while process > 1 {
        let Ok(stat) = fs::read_to_string(format!("/proc/{process}/stat")) else {
            return false;
        };
        // The name, in parentheses, may hold anything; the parent is the
        // second word after it.
        let after = stat.rsplit(')').next().unwrap_or_default();
        let parent = after.split_whitespace().nth(1).and_then(|p| p.parse().ok());
        process = parent.unwrap_or(0);
        if process == pid {
            return true;
        }
    }
    false
}
