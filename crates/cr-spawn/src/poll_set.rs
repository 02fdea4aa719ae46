//! Waiting for descriptors: a set in which each has a key.

use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, fstat};

/// The longest single wait.
const LONGEST_POLL: Duration = Duration::from_hours(1);

/// Descriptors to wait for, each under a key of the caller's.
#[derive(Debug)]
pub(crate) struct PollSet<'a, K> {
    keys: Vec<K>,
    fds: Vec<PollFd<'a>>,
}

impl<'a, K: Copy + PartialEq> PollSet<'a, K> {
    pub(crate) fn new() -> Self {
        Self {
            keys: Vec::with_capacity(12),
            fds: Vec::with_capacity(12),
        }
    }

    /// Waits for something to read from `fd`, or for its end.
    pub(crate) fn add_reader(&mut self, key: K, fd: &'a impl AsFd) {
        self.add(key, PollFd::new(fd, PollFlags::IN));
    }

    /// Waits for room to write to `fd`.
    pub(crate) fn add_writer(&mut self, key: K, fd: &'a impl AsFd) {
        self.add(key, PollFd::new(fd, PollFlags::OUT));
    }

    /// Waits for the other side of `fd` to leave.
    pub(crate) fn add_hangup(&mut self, key: K, fd: &'a impl AsFd) {
        // An error condition is reported without being asked for.
        self.add(key, PollFd::new(fd, PollFlags::empty()));
    }

    fn add(&mut self, key: K, fd: PollFd<'a>) {
        self.keys.push(key);
        self.fds.push(fd);
    }

    /// Waits for at most `limit` and returns the keys that are ready, in the
    /// order in which they were added. An interruption is an early end.
    pub(crate) fn poll(mut self, limit: Duration) -> Vec<K> {
        if !poll_for(&mut self.fds, limit) {
            return Vec::new();
        }
        let ready = self.keys.into_iter().zip(&self.fds);
        let ready = ready.filter(|(_, fd)| !fd.revents().is_empty());
        ready.map(|(key, _)| key).collect()
    }
}

/// Polls `fds` for at most `limit`; returns whether one is ready.
fn poll_for(fds: &mut [PollFd<'_>], limit: Duration) -> bool {
    let timeout = Timespec::try_from(limit.min(LONGEST_POLL)).unwrap_or_default();
    matches!(poll(fds, Some(&timeout)), Ok(ready) if ready > 0)
}

/// Waits until something can be read from `fd`, for at most `limit`.
pub(crate) fn wait_readable(fd: &impl AsFd, limit: Duration) -> bool {
    poll_for(&mut [PollFd::new(fd, PollFlags::IN)], limit)
}

/// Whether `fd` takes a write now, and nothing is wrong with it.
pub(crate) fn is_writable(fd: &impl AsFd) -> bool {
    let mut fds = [PollFd::new(fd, PollFlags::OUT)];
    poll_for(&mut fds, Duration::ZERO) && fds[0].revents() == PollFlags::OUT
}

/// Whether the reader of the pipe `fd` has left.
pub(crate) fn reader_left(fd: &impl AsFd) -> bool {
    let mut fds = [PollFd::new(fd, PollFlags::empty())];
    poll_for(&mut fds, Duration::ZERO) && fds[0].revents().contains(PollFlags::ERR)
}

/// Whether `fd` has a reader at its other end that may leave.
pub(crate) fn is_pipe(fd: &impl AsFd) -> bool {
    fstat(fd).is_ok_and(|stat| {
        let kind = FileType::from_raw_mode(stat.st_mode);
        matches!(kind, FileType::Fifo | FileType::Socket)
    })
}

#[cfg(test)]
mod tests {
    use std::io::{Write, pipe};

    use super::*;

    #[test]
    fn the_keys_that_are_ready_come_in_the_order_of_the_set() {
        let (first, mut to_first) = pipe().expect("a pipe");
        let (second, to_second) = pipe().expect("a pipe");
        let (third, to_third) = pipe().expect("a pipe");
        let ready = || {
            let mut set = PollSet::new();
            set.add_reader('a', &first);
            set.add_reader('b', &second);
            set.add_writer('c', &to_third);
            set.add_hangup('d', &to_third);
            set.poll(Duration::ZERO)
        };
        assert_eq!(ready(), ['c']);
        to_first.write_all(b"x").expect("written");
        assert_eq!(ready(), ['a', 'c']);
        drop(to_second);
        assert_eq!(ready(), ['a', 'b', 'c']);
        assert!(!reader_left(&to_third) && is_writable(&to_third));
        drop(third);
        assert_eq!(ready(), ['a', 'b', 'c', 'd']);
        assert!(reader_left(&to_third) && !is_writable(&to_third));
    }

    #[test]
    fn a_set_in_which_nothing_happens_ends_with_its_limit() {
        let (read, _write) = pipe().expect("a pipe");
        let mut set = PollSet::new();
        set.add_reader((), &read);
        assert!(set.poll(Duration::from_millis(1)).is_empty());
        assert!(!wait_readable(&read, Duration::ZERO) && is_pipe(&read));
    }
}
