//! Waiting: for a process, for a moment, and always for a signal.

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::SignalOnly;

/// Signals to the engine, as something to wait for.
#[derive(Debug)]
pub(crate) struct Watch {
    delivery: SignalDelivery<UnixStream, SignalOnly>,
    seen: Option<i32>,
}

impl Watch {
    /// Listens from now on; what nohup told us to ignore stays ignored.
    pub(crate) fn install() -> io::Result<Self> {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        let is_ignored = |signal: i32| mask.unwrap_or(0) & (1 << (signal - 1)) != 0;
        let wanted = [SIGHUP, SIGINT, SIGTERM].into_iter();
        let wanted: Vec<i32> = wanted.filter(|&signal| !is_ignored(signal)).collect();
        let (read, write) = UnixStream::pair()?;
        let delivery = SignalDelivery::with_pipe(read, write, SignalOnly, wanted)?;
        let seen = None;
        Ok(Self { delivery, seen })
    }

    /// The first signal that came.
    pub(crate) fn signal(&mut self) -> Option<i32> {
        if self.seen.is_none() {
            self.seen = self.delivery.pending().next();
        }
        self.seen
    }

    /// Waits until `process` has ended, a new signal has come, or `limit` is
    /// over. Returns whether the process has ended.
    pub(crate) fn wait(
        &mut self,
        process: Option<BorrowedFd<'_>>,
        limit: Option<Duration>,
    ) -> io::Result<bool> {
        let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
        let mut polled = Vec::new();
        // A signal that is known already would end every wait.
        if self.seen.is_none() {
            polled.push(PollFd::new(self.delivery.get_read(), PollFlags::IN));
        }
        polled.extend(process.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
        match poll(&mut polled, limit.as_ref()) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => return Ok(false),
            Err(err) => return Err(err.into()),
        }
        let ended = polled.last().is_some_and(|last| !last.revents().is_empty());
        Ok(process.is_some() && ended)
    }
}

impl AsFd for Watch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.delivery.get_read().as_fd()
    }
}
