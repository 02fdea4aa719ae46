//! An input that a live source still writes: a pipe, a socket, a terminal.
//!
//! A filter must outlive its source: Ctrl-C reaches every stage of a pipeline at
//! once, and the last lines, which say how the run ended, come after it.

use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cr_signal::{Interrupted, Interrupts, SIGHUP, SIGINT, SIGTERM, Signals};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// How long to go on reading after a request to end, beyond the grace that the
/// agent gets: its supervisor needs some time to write how the agent ended.
const DRAIN_TIME: Duration = Duration::from_secs(5);

/// How long to go on reading after the second interrupt, which ends the agent at
/// once.
const LAST_LINES_TIME: Duration = Duration::from_secs(3);

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
    pub(crate) fn wait(
        &mut self,
        input: impl AsFd,
        output: Option<&impl AsFd>,
    ) -> io::Result<Wake> {
        loop {
            let mut fds = vec![
                PollFd::new(&input, PollFlags::IN),
                PollFd::new(&self.signals, PollFlags::IN),
            ];
            // Asking for nothing still reports an error condition.
            fds.extend(output.map(|output| PollFd::new(output, PollFlags::empty())));
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
            let [input, signals] = [fds[0].revents(), fds[1].revents()];
            let output = fds.get(2).map(PollFd::revents);
            if output.is_some_and(|events| events.contains(PollFlags::ERR)) {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            // At the end of the input also those that came after the poll: the
            // end means something else then.
            if !signals.is_empty() || input.contains(PollFlags::HUP) {
                self.take_signals()?;
            }
            // Checked first: a source that never pauses must not keep us alive.
            if self.deadline.is_some_and(|at| at <= Instant::now()) {
                return self.too_long();
            }
            if !input.is_empty() {
                return Ok(Wake::Input);
            }
        }
    }

    fn take_signals(&mut self) -> io::Result<()> {
        let numbers: Vec<i32> = self.signals.numbers().collect();
        for number in numbers {
            if number == SIGINT {
                self.interrupts.count().map_err(io::Error::other)?;
                if self.interrupts.are_several() {
                    self.end_within(LAST_LINES_TIME);
                }
            } else {
                self.end_within(drain_time());
            }
        }
        Ok(())
    }

    fn end_within(&mut self, time: Duration) {
        let at = Instant::now() + time;
        self.deadline = Some(self.deadline.map_or(at, |before| before.min(at)));
    }

    fn too_long(&self) -> io::Result<Wake> {
        if self.interrupts.are_several() {
            return Err(io::Error::other(Interrupted));
        }
        Ok(Wake::TooLong)
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
        assert_eq!(live.wait(&input, Some(&input)).expect("wait"), Wake::Input);
        live.deadline = Some(Instant::now());
        assert_eq!(
            live.wait(&input, Some(&input)).expect("wait"),
            Wake::TooLong
        );
    }
}
