//! An input that a live source still writes: a pipe, a socket, a terminal.
//!
//! A filter must outlive its source: Ctrl-C reaches every stage of a pipeline at
//! once, and the last lines, which say how the run ended, come after it.

use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cr_signal::{Interrupts, SIGHUP, SIGINT, SIGTERM, Signals};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// How long to go on reading after a request to end, beyond the grace that the
/// agent gets: its supervisor needs some time to write how the agent ended.
const DRAIN_TIME: Duration = Duration::from_secs(5);

/// No stream makes us stay longer than this.
const DRAIN_LIMIT: Duration = Duration::from_hours(1);

/// The agent's grace in milliseconds; its default until the stream names it.
/// Signals are for the whole process, and so is this.
static GRACE: AtomicU64 = AtomicU64::new(10_000);

/// Sets the agent's grace, as the stream's `cr/start` names it, in milliseconds.
pub fn expect_grace(ms: u64) {
    GRACE.store(ms, Ordering::Relaxed);
}

fn drain_time() -> Duration {
    let grace = Duration::from_millis(GRACE.load(Ordering::Relaxed));
    grace.saturating_add(DRAIN_TIME).min(DRAIN_LIMIT)
}

/// Waits for input and handles signals meanwhile.
#[derive(Debug)]
pub(crate) struct LiveInput {
    signals: Signals,
    interrupts: Interrupts,
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

impl LiveInput {
    /// Takes over the signals that ask a process to end.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            signals: Signals::take(&[SIGINT, SIGTERM, SIGHUP])?,
            interrupts: Interrupts::default(),
            deadline: None,
        })
    }

    /// Waits until `input` can be read. Fails with a broken pipe when the
    /// reader of `output` left, and with [`cr_signal::Interrupted`].
    pub(crate) fn wait(&mut self, input: impl AsFd, output: impl AsFd) -> io::Result<Wake> {
        loop {
            let mut fds = [
                PollFd::new(&input, PollFlags::IN),
                // Asking for nothing still reports an error condition.
                PollFd::new(&output, PollFlags::empty()),
                PollFd::new(&self.signals, PollFlags::IN),
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
            // Checked first: a source that never pauses must not keep us alive.
            if self.deadline.is_some_and(|at| at <= Instant::now()) {
                return Ok(Wake::TooLong);
            }
            if !input.is_empty() {
                return Ok(Wake::Input);
            }
        }
    }

    fn take_signals(&mut self) -> io::Result<()> {
        for number in self.signals.numbers() {
            if number == SIGINT {
                self.interrupts.count().map_err(io::Error::other)?;
            } else {
                self.deadline
                    .get_or_insert_with(|| Instant::now() + drain_time());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn f5_a_source_that_never_pauses_is_left_when_its_time_is_over() {
        let (input, mut source) = UnixStream::pair().expect("a pair");
        source.write_all(b"more").expect("write");
        let mut live = LiveInput::new().expect("take the signals");
        assert_eq!(live.wait(&input, &input).expect("wait"), Wake::Input);
        live.deadline = Some(Instant::now());
        assert_eq!(live.wait(&input, &input).expect("wait"), Wake::TooLong);
    }
}
