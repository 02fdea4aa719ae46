//! Waits for a change in directories.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};

/// The longest wait for one change: some changes depend on the clock alone.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// The longest wait on a system without inotify.
const POLL_INTERVAL_WITHOUT_NOTICE: Duration = Duration::from_millis(100);

/// Watches directories.
#[derive(Debug)]
pub(crate) struct Watch {
    notices: Option<OwnedFd>,
}

impl Watch {
    /// Watches `dirs`. That the last holder of a lock has closed it is a change,
    /// too.
    pub(crate) fn new<'a>(dirs: impl Iterator<Item = &'a Path>) -> Self {
        let notices = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok();
        let what = WatchFlags::CREATE
            | WatchFlags::MOVED_TO
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::MODIFY;
        let notices = notices.filter(|fd| {
            let mut dirs = dirs;
            dirs.all(|dir| inotify::add_watch(fd, dir, what).is_ok())
        });
        Self { notices }
    }

    /// Waits for a change, but not beyond `deadline`.
    pub(crate) fn wait(&self, deadline: Option<Instant>) {
        self.wait_or(deadline, None);
    }

    /// As [`Watch::wait`], or until something becomes of `other`; returns what.
    pub(crate) fn wait_or(
        &self,
        deadline: Option<Instant>,
        other: Option<(BorrowedFd<'_>, PollFlags)>,
    ) -> PollFlags {
        let most = if self.notices.is_some() {
            POLL_INTERVAL
        } else {
            POLL_INTERVAL_WITHOUT_NOTICE
        };
        let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
        let limit = Timespec::try_from(left.map_or(most, |left| left.min(most))).ok();
        let mut fds = Vec::new();
        if let Some((fd, flags)) = other {
            fds.push(PollFd::from_borrowed_fd(fd, flags));
        }
        if let Some(fd) = &self.notices {
            fds.push(PollFd::new(fd, PollFlags::IN));
        }
        // An interrupted wait is over, and the caller looks again.
        let _ = poll(&mut fds, limit.as_ref());
        let came = other.map_or(PollFlags::empty(), |_| fds[0].revents());
        self.forget();
        came
    }

    /// Reads what there is to read; that something happened is enough to know.
    fn forget(&self) {
        let mut buffer = [0_u8; 4096];
        if let Some(fd) = &self.notices {
            while matches!(rustix::io::read(fd.as_fd(), &mut buffer), Ok(n) if n > 0) {}
        }
    }
}
