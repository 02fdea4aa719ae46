//! Waiting for descriptors.

use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, fstat};

/// Waits until something can be read, for at most `limit`.
pub(crate) fn readable(fd: &impl AsFd, limit: Duration) -> bool {
    let mut fds = [PollFd::new(fd, PollFlags::IN)];
    polled(&mut fds, limit);
    !fds[0].revents().is_empty()
}

/// Polls `fds` for at most `limit`; an interruption is an early end.
pub(crate) fn polled(fds: &mut [PollFd<'_>], limit: Duration) {
    let limit = limit.min(Duration::from_hours(1));
    let timeout = Timespec::try_from(limit).unwrap_or_default();
    if poll(fds, Some(&timeout)).is_err() {
        fds.iter_mut().for_each(PollFd::clear_revents);
    }
}

/// Whether somebody reads at the other end, and may stop doing so.
pub(crate) fn is_pipe(fd: &impl AsFd) -> bool {
    fstat(fd).is_ok_and(|stat| {
        let kind = FileType::from_raw_mode(stat.st_mode);
        matches!(kind, FileType::Fifo | FileType::Socket)
    })
}
