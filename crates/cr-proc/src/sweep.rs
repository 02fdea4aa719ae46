//! Ending a family: ask, wait a moment, kill until no child is left.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, set_child_subreaper, wait,
};

use crate::table::{Process, children, descendants};

/// Between two looks at who is left.
const PAUSE: Duration = Duration::from_millis(1);

/// How long a process may take to die of SIGKILL before it counts as one that
/// cannot be killed.
const KILL_LIMIT: Duration = Duration::from_millis(1500);

/// What a sweep found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Who was still alive at its start.
    pub leaked: Vec<Process>,
    /// Who is still alive at its end: another user's, or stuck in the kernel.
    pub unkillable: Vec<Process>,
}

/// Makes this process the one that orphans among its descendants fall to.
pub fn adopt_orphans() -> io::Result<()> {
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// Reaps every child that is dead by now; returns whether any child is left.
pub fn reap(mut each: impl FnMut(Pid, WaitStatus)) -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => each(pid, status),
            Ok(None) => return true,
            Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

/// Ends every descendant of this process: SIGTERM, up to `patience` to follow
/// it, then SIGKILL until no child is left. `each` learns how each one died.
///
/// Only a parent reaps, so while a child is ours its number is not reused; and
/// when a child dies, its own children are ours before we can reap it. No child
/// left therefore means no descendant left, whatever they forked meanwhile.
pub fn sweep(patience: Duration, mut each: impl FnMut(Pid, WaitStatus)) -> Swept {
    let me = getpid().as_raw_nonzero().get();
    let mut swept = Swept::default();
    if !reap(&mut each) {
        return swept;
    }
    swept.leaked = descendants(me);
    if !patience.is_zero() {
        for process in &swept.leaked {
            let _ = process.signal(Signal::TERM);
            // One that is stopped would not notice.
            let _ = process.signal(Signal::CONT);
        }
        let until = Instant::now() + patience;
        while Instant::now() < until {
            if !reap(&mut each) {
                return swept;
            }
            thread::sleep(PAUSE);
        }
    }
    let until = Instant::now() + KILL_LIMIT;
    loop {
        let found = kill_children(me);
        if !reap(&mut each) {
            return swept;
        }
        if Instant::now() > until {
            swept.unkillable = descendants(me);
            return swept;
        }
        if !found {
            thread::sleep(PAUSE);
        }
    }
}

/// Sends SIGKILL to every child and every descendant in sight; returns whether
/// there was one to send it to.
fn kill_children(me: i32) -> bool {
    let mut found = false;
    // The children first, and without a look at the whole tree: a storm of
    // forks is only outrun by being quick.
    for pid in children(me).unwrap_or_default() {
        found |= Pid::from_raw(pid).is_some_and(|pid| kill_process(pid, Signal::KILL).is_ok());
    }
    for process in descendants(me) {
        found |= process.signal(Signal::KILL).is_ok();
    }
    found
}

/// Ends every descendant of `other`, a child of ours that does not answer, and
/// then `other` itself.
///
/// From outside, because a descendant may be what stops it: one that signals
/// its parent over and over must be dead before it can become ours.
pub fn outlive(other: Pid) -> Vec<Process> {
    let pid = other.as_raw_nonzero().get();
    let leaked = descendants(pid);
    let until = Instant::now() + KILL_LIMIT;
    let mut quiet = 0;
    // All of them dead in two walks: the second has seen whoever was handed up
    // to `other` while the first went on.
    while quiet < 2 && Instant::now() < until {
        let living = descendants(pid);
        quiet = if living.is_empty() { quiet + 1 } else { 0 };
        for process in living {
            let _ = process.signal(Signal::KILL);
        }
    }
    let _ = kill_process(other, Signal::KILL);
    leaked
}
