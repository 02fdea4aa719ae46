//! A filter outlives its source: Ctrl-C reaches every stage of a pipeline at
//! once, and the last lines, which say how the run ended, come after it.

use std::fmt;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::SignalOnly;

/// How long to go on reading after a request to end, beyond the grace that the
/// agent gets: its supervisor needs a moment to say how it ended.
const DRAIN: Duration = Duration::from_secs(5);

/// No stream makes us stay longer than this.
const LONGEST: Duration = Duration::from_hours(1);

/// The agent's grace in milliseconds; its default until the stream names it.
/// Signals are for the whole process, and so is this.
static GRACE: AtomicU64 = AtomicU64::new(10_000);

/// Takes note of the grace that the stream's `cr/start` names, in milliseconds.
pub fn expect_grace(ms: u64) {
    GRACE.store(ms, Ordering::Relaxed);
}

fn drain() -> Duration {
    let grace = Duration::from_millis(GRACE.load(Ordering::Relaxed));
    grace.saturating_add(DRAIN).min(LONGEST)
}

/// The second interrupt: the person means it.
#[derive(Debug)]
pub struct Interrupted;

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for Interrupted {}

/// Waits for input and takes signals calmly meanwhile.
#[derive(Debug)]
pub(crate) struct Patience {
    signals: SignalDelivery<UnixStream, SignalOnly>,
    interrupts: u32,
    deadline: Option<Instant>,
}

/// Why waiting is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    /// There is input, or its end.
    Input,
    /// We were asked to end, and the source took too long.
    TooLong,
}

impl Patience {
    /// Takes over the signals that ask a process to end, but for those that
    /// whoever started us had switched off.
    pub(crate) fn new() -> io::Result<Self> {
        let ignored = ignored_signals();
        let wanted = [SIGINT, SIGTERM, SIGHUP];
        let wanted = wanted
            .into_iter()
            .filter(|signal| ignored >> (signal - 1) & 1 == 0);
        let (read, write) = UnixStream::pair()?;
        let signals = SignalDelivery::with_pipe(read, write, SignalOnly, wanted)?;
        Ok(Self {
            signals,
            interrupts: 0,
            deadline: None,
        })
    }

    /// Waits until `input` can be read. Fails with a broken pipe when nobody
    /// reads `output` any more, and with [`Interrupted`].
    pub(crate) fn wait(&mut self, input: impl AsFd, output: impl AsFd) -> io::Result<Wake> {
        loop {
            let mut fds = [
                PollFd::new(&input, PollFlags::IN),
                // Asking for nothing still reports an error condition.
                PollFd::new(&output, PollFlags::empty()),
                PollFd::new(self.signals.get_read(), PollFlags::IN),
            ];
            let left = self
                .deadline
                .map(|at| at.saturating_duration_since(Instant::now()));
            let left = left
                .map(Timespec::try_from)
                .transpose()
                .map_err(io::Error::other)?;
            match poll(&mut fds, left.as_ref()) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(err) => return Err(err.into()),
            }
            let [input, output, signals] = fds.map(|fd| fd.revents());
            if output.contains(PollFlags::ERR) {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            if !signals.is_empty() {
                self.take_signals()?;
            }
            // Asked first: a source that never pauses must not keep us alive.
            if self.deadline.is_some_and(|at| at <= Instant::now()) {
                return Ok(Wake::TooLong);
            }
            if !input.is_empty() {
                return Ok(Wake::Input);
            }
        }
    }

    fn take_signals(&mut self) -> io::Result<()> {
        for signal in self.signals.pending() {
            if signal == SIGINT {
                self.interrupts += 1;
            } else {
                self.deadline
                    .get_or_insert_with(|| Instant::now() + drain());
            }
        }
        match self.interrupts {
            0 | 1 => Ok(()),
            _ => Err(io::Error::other(Interrupted)),
        }
    }
}

/// The signals that were switched off when this process began, as bits.
fn ignored_signals() -> u64 {
    // In one piece: the file has no size by which to read it.
    let mut status = [0; 4096];
    let file = std::fs::File::open("/proc/self/status");
    let length = file.and_then(|mut file| file.read(&mut status));
    let status = std::str::from_utf8(&status[..length.unwrap_or(0)]).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn f5_a_source_that_never_pauses_is_left_when_its_time_is_over() {
        let (input, mut source) = UnixStream::pair().expect("a pair");
        source.write_all(b"more").expect("write");
        let mut patience = Patience::new().expect("take the signals");
        assert_eq!(patience.wait(&input, &input).expect("wait"), Wake::Input);
        patience.deadline = Some(Instant::now());
        assert_eq!(patience.wait(&input, &input).expect("wait"), Wake::TooLong);
    }
}
