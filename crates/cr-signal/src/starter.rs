//! The process that started this one.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, getppid, pidfd_open};
use signal_hook::consts::SIGHUP;

use crate::Ignored;

/// `setsid -f` ends this soon after it has started its child.
const ORPHANED_ON_PURPOSE: Duration = Duration::from_millis(500);

/// The process whose end counts as SIGTERM. Its descriptor can be read once it
/// has ended.
#[derive(Debug)]
pub struct Starter {
    process: OwnedFd,
    found_at: Instant,
    /// We lead a session, so our parent may have left us on purpose.
    leads_session: bool,
}

impl Starter {
    /// The process to watch: `named`, else our parent. None is watched if SIGHUP
    /// is ignored (nohup) or if we are an orphan already (`setsid -f`).
    pub fn find(named: Option<i32>, ignored: Ignored) -> Option<Self> {
        match named {
            Some(pid) => Self::named(pid),
            None => Self::parent(ignored),
        }
    }

    /// The process `pid`; `None` if it has ended already.
    pub fn named(pid: i32) -> Option<Self> {
        Self::open(Pid::from_raw(pid)?, false)
    }

    fn parent(ignored: Ignored) -> Option<Self> {
        if ignored.contains(SIGHUP) {
            return None;
        }
        let parent = getppid().filter(|&pid| pid != Pid::INIT)?;
        Self::open(parent, cr_sys::leads_session())
    }

    /// If the process ended before it could be opened, there is none to watch.
    fn open(pid: Pid, leads_session: bool) -> Option<Self> {
        let process = pidfd_open(pid, PidfdFlags::empty()).ok()?;
        Some(Self {
            process,
            found_at: Instant::now(),
            leads_session,
        })
    }

    /// Whether its end, seen now, counts as SIGTERM.
    pub fn end_counts(&self) -> bool {
        !self.leads_session || self.found_at.elapsed() > ORPHANED_ON_PURPOSE
    }
}

impl AsFd for Starter {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.process.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::*;

    #[test]
    fn the_end_of_a_named_process_is_seen() {
        let mut child = Command::new("cat")
            .stdin(Stdio::piped())
            .spawn()
            .expect("started");
        let pid = child.id().cast_signed();
        let starter = Starter::find(Some(pid), Ignored::default()).expect("it lives");
        let ended = |limit| {
            let mut fds = [PollFd::new(&starter, PollFlags::IN)];
            poll(&mut fds, Some(&limit)).expect("polled") == 1
        };
        let now = Timespec::default();
        assert!(!ended(now));
        drop(child.stdin.take());
        let soon = Timespec { tv_sec: 30, ..now };
        assert!(ended(soon) && starter.end_counts());
        child.wait().expect("reaped");
        assert!(Starter::named(pid).is_none());
    }

    #[test]
    fn nobody_is_watched_where_hangups_are_ignored() {
        assert!(Starter::find(None, Ignored::from_bits(1)).is_none());
    }
}
