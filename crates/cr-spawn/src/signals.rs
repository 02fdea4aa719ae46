//! The signals that mean something to us.

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1};
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::SignalOnly;

const WANTED: [i32; 6] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1];

/// One signal to a group reaches us and the script that started us, which hands
/// it on: the second of two within this time is the first one's echo.
const ECHO: Duration = Duration::from_millis(400);

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
    /// Whether there is somebody who hands signals on.
    has_watcher: bool,
    last: Option<(i32, Instant)>,
}

impl Signals {
    /// Takes over every wanted signal that is not ignored: what nohup asked for
    /// stays so, for us and for the agent.
    pub(crate) fn install(has_watcher: bool) -> io::Result<Self> {
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
            has_watcher,
            last: None,
        })
    }

    /// What came since the last call. SIGUSR1 is SIGINT by another name: a shell
    /// makes what it starts in the background ignore the latter.
    pub(crate) fn pending(&mut self) -> Vec<i32> {
        let came: Vec<i32> = self.delivery.pending().collect();
        let mut meant = Vec::new();
        for number in came {
            let number = if number == SIGUSR1 { SIGINT } else { number };
            if !self.is_echo(number) {
                meant.push(number);
            }
        }
        meant
    }

    fn is_echo(&mut self, number: i32) -> bool {
        let now = Instant::now();
        let is_echo = self.has_watcher
            && self
                .last
                .is_some_and(|(last, at)| last == number && now - at < ECHO);
        if !is_echo {
            self.last = Some((number, now));
        }
        is_echo
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.delivery.get_read().as_fd()
    }
}
