//! Ends a process tree: SIGTERM, a grace period, SIGKILL until no child is left.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, set_child_subreaper, wait,
};

use crate::table::{Process, children, descendants};

/// The interval between two checks for survivors.
const PAUSE: Duration = Duration::from_millis(1);

/// A process that survives SIGKILL for this long counts as unkillable.
const KILL_LIMIT: Duration = Duration::from_millis(1500);

/// What a sweep found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Processes that were alive at its start.
    pub leaked: Vec<Process>,
    /// Processes that are alive at its end: another user's, or stuck in the kernel.
    pub unkillable: Vec<Process>,
}

/// Makes this process the subreaper: orphaned descendants become its children.
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

/// Ends every descendant of this process: SIGTERM, then SIGKILL after `grace`,
/// until no child is left. `each` is called with the status of each one.
///
/// Only a parent reaps, so the pid of an unreaped child is not reused. When a
/// child dies, its own children become ours before we can reap it. So no child
/// left means no descendant left, whatever they forked meanwhile.
pub fn sweep(grace: Duration, mut each: impl FnMut(Pid, WaitStatus)) -> Swept {
    let me = getpid().as_raw_nonzero().get();
    let mut swept = Swept::default();
    if !reap(&mut each) {
        return swept;
    }
    swept.leaked = descendants(me);
    if !grace.is_zero() {
        for process in &swept.leaked {
            let _ = process.signal(Signal::TERM);
            // A stopped process does not handle SIGTERM.
            let _ = process.signal(Signal::CONT);
        }
        let until = Instant::now() + grace;
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

/// Sends SIGKILL to every child and every visible descendant. Returns whether
/// there was one.
fn kill_children(me: i32) -> bool {
    let mut found = false;
    // The children first, without a walk of the tree: a fork storm is only
    // outrun by being quick.
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
/// The tree is killed from outside because a descendant may keep `other` stopped:
/// it must be dead before it becomes our own child.
pub fn outlive(other: Pid) -> Vec<Process> {
    let pid = other.as_raw_nonzero().get();
    let leaked = descendants(pid);
    let until = Instant::now() + KILL_LIMIT;
    let mut quiet = 0;
    // Two walks: the second one finds processes that were reparented to `other`
    // during the first.
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
