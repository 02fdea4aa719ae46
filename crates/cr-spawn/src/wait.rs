//! Waiting for descriptors.

use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Waits until something can be read, for at most `limit`.
pub(crate) fn readable(fd: &impl AsFd, limit: Duration) -> bool {
    let mut fds = [PollFd::new(fd, PollFlags::IN)];
    polled(&mut fds, limit);
    !fds[0].revents().is_empty()
}

/// Polls `fds` for at most `limit`; an interruption is an early end.
pub(crate) fn polled(fds: &mut [PollFd<'_>], limit: Duration) {
    let limit = limit.min(Duration::from_secs(3600));
    let timeout = Timespec::try_from(limit).unwrap_or_default();
    if poll(fds, Some(&timeout)).is_err() {
        fds.iter_mut().for_each(PollFd::clear_revents);
    }
}
