//! The signals that mean something to us.

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::SignalOnly;

const WANTED: [i32; 5] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP];

/// The signals that this process was told to ignore, one bit each.
pub(crate) fn ignored() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}

/// Signals as something to poll for.
#[derive(Debug)]
pub(crate) struct Signals {
    delivery: SignalDelivery<UnixStream, SignalOnly>,
    /// nohup: a hang-up is none of our business, nor is the starter's death.
    pub(crate) ignores_hangup: bool,
}

impl Signals {
    /// Takes over every wanted signal that is not ignored: what nohup asked for
    /// stays so, for us and for the agent.
    pub(crate) fn install() -> io::Result<Self> {
        let ignored = ignored();
        let is_ignored = |signal: i32| ignored & (1 << (signal - 1)) != 0;
        let wanted: Vec<i32> = WANTED.into_iter().filter(|&s| !is_ignored(s)).collect();
        let (read, write) = UnixStream::pair()?;
        let delivery = SignalDelivery::with_pipe(read, write, SignalOnly, wanted)?;
        // A starter that ignores SIGCHLD would have the kernel reap for us.
        signal_hook::flag::register(SIGCHLD, std::sync::Arc::default())?;
        Ok(Self {
            delivery,
            ignores_hangup: is_ignored(SIGHUP),
        })
    }

    /// What came since the last call.
    pub(crate) fn pending(&mut self) -> Vec<i32> {
        self.delivery.pending().collect()
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.delivery.get_read().as_fd()
    }
}
