//! `cr-git lock`: a command run while nobody else holds the repository's lock.
//!
//! The lock is a file in the directory that all work trees share. It is never
//! removed: otherwise a process that opened the old file and one that creates a
//! new file would both hold the lock. It is closed on exec, so that processes that
//! the command leaves behind cannot keep it.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use cr_io::Exit;
use cr_signal::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, Signals};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::OFlags;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// Takes the lock in `dir`, waiting as long as `wait` says. `None`: a process
/// that we run under has it, and waits for us.
pub(crate) fn take(dir: &Path, wait: Option<Duration>) -> anyhow::Result<Option<File>> {
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

/// Runs `command` to its end; signals that we get are passed on to it.
pub(crate) fn run(command: &[OsString]) -> anyhow::Result<Exit> {
    let [program, args @ ..] = command else {
        bail!("no command");
    };
    // Before the command exists: a signal in between would leave it behind.
    let mut signals = Signals::take(&[SIGHUP, SIGINT, SIGQUIT, SIGTERM])
        .context("signals")
        .context(Exit::Tool)?;
    let mut child = Command::new(program).args(args).spawn().map_err(|err| {
        let exit = match err.kind() {
            io::ErrorKind::NotFound => Exit::NotFound,
            _ => Exit::CannotExec,
        };
        anyhow::Error::from(err)
            .context(PathBuf::from(program).display().to_string())
            .context(exit)
    })?;
    let process = pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).context(Exit::Tool)?;
    loop {
        let mut fds = [
            PollFd::new(&process, PollFlags::IN),
            PollFd::new(&signals, PollFlags::IN),
        ];
        match poll(&mut fds, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(err) => return Err(anyhow::Error::from(err).context(Exit::Tool)),
        }
        let ended = !fds[0].revents().is_empty();
        for came in signals.pending() {
            // The terminal sends it to the command as well.
            if !came.is_from_terminal()
                && let Some(signal) = Signal::from_named_raw(came.number)
            {
                let _ = pidfd_send_signal(process.as_fd(), signal);
            }
        }
        if ended {
            return Ok(code(child.wait().context(Exit::Tool)?));
        }
    }
}

/// What the shell would make of `status`.
fn code(status: ExitStatus) -> Exit {
    let code = status.code().or(status.signal().map(|number| 128 + number));
    let code = code.and_then(|code| u8::try_from(code).ok());
    Exit::Code(code.unwrap_or(128))
}
