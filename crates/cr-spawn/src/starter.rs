//! Whoever started us: when it is gone, nobody waits for the agent.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use cr_proc::Process;
use rustix::process::{Pid, PidfdFlags, getppid, pidfd_open};

/// `setsid -f` leaves its child a moment after it has started it.
const MOMENT: Duration = Duration::from_millis(500);

/// The process whose end counts as SIGTERM.
#[derive(Debug)]
pub(crate) struct Starter {
    handle: OwnedFd,
    since: Instant,
    /// It leads a session, so it may have been left on purpose.
    is_leader: bool,
}

impl Starter {
    /// The process to watch: the one that was named, else our parent, unless
    /// hang-ups are ignored (nohup) or we are an orphan already (setsid -f).
    pub(crate) fn find(named: Option<i32>, ignores_hangup: bool) -> Option<Self> {
        let parent = || {
            let parent = getppid()?;
            (!ignores_hangup && parent != Pid::INIT).then_some(parent)
        };
        let pid = named.map_or_else(parent, Pid::from_raw)?;
        let handle = pidfd_open(pid, PidfdFlags::empty());
        // It went between the two calls: for a parent that means that we are an
        // orphan, and a process that was named is one that has ended.
        let handle = handle.ok()?;
        Some(Self {
            handle,
            since: Instant::now(),
            is_leader: named.is_none() && Process::own().is_some_and(|own| own.leads_session()),
        })
    }

    /// Whether its end, seen now, is one that counts.
    pub(crate) fn counts(&self) -> bool {
        !self.is_leader || self.since.elapsed() > MOMENT
    }
}

impl AsFd for Starter {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}
