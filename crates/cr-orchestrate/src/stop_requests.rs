//! Requests that the engine stops: a signal, a message of its starter, or the
//! starter's death. The engine's waits are here, since each waits for these too.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use cr_signal::{ControlChannel, ControlMessage, SIGHUP, SIGINT, SIGPIPE, SIGTERM, Signals};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::observer::Interest;
use crate::stop::Stopping;

/// A signal to the whole process group reaches us twice: directly, and passed on
/// by the starter. The same signal within this time is the same request.
const SAME_REQUEST: Duration = Duration::from_millis(200);

/// What asks the engine to stop, as something to wait for. Each request has the
/// number of a signal.
#[derive(Debug)]
pub(crate) struct StopRequests {
    signals: Signals,
    control: Option<ControlChannel>,
    first: Option<i32>,
    /// Those that were not taken yet.
    new: Vec<i32>,
    /// A request came that no wait and no [`StopRequests::take_new`] has reported
    /// yet. Its signal is read already, so a poll would not see it.
    is_unreported: bool,
    last: Option<(i32, Instant)>,
}

impl StopRequests {
    /// Listens from now on; signals that are ignored, as nohup has it, stay
    /// ignored.
    pub(crate) fn listen() -> io::Result<Self> {
        let signals = Signals::take(&[SIGHUP, SIGINT, SIGTERM])?;
        Ok(Self::new(signals, None))
    }

    /// Listens from now on to the starter's messages on the inherited descriptor
    /// `number`. The starter has us ignore the signals that it passes on. SIGTERM
    /// is taken all the same: `cr-runs stop` sends it to this process alone.
    pub(crate) fn listen_to_starter(number: i32) -> io::Result<Self> {
        let control = ControlChannel::inherit(number)?;
        Ok(Self::new(Signals::take_all(&[SIGTERM])?, Some(control)))
    }

    fn new(signals: Signals, control: Option<ControlChannel>) -> Self {
        Self {
            signals,
            control,
            first: None,
            new: Vec::new(),
            is_unreported: false,
            last: None,
        }
    }

    /// The first request.
    pub(crate) fn first(&mut self) -> Option<i32> {
        self.collect();
        self.first
    }

    /// The requests since the last call.
    pub(crate) fn take_new(&mut self) -> Vec<i32> {
        self.collect();
        self.is_unreported = false;
        std::mem::take(&mut self.new)
    }

    /// Whether the user had us ignore hang-ups, as nohup does.
    pub(crate) fn ignores_hangup(&mut self) -> bool {
        self.collect();
        let control = self.control.as_ref().map(ControlChannel::ignored);
        control.unwrap_or(self.signals.ignored()).contains(SIGHUP)
    }

    /// The reader of the engine's stream left: nobody waits for the agents.
    pub(crate) fn reader_left(&mut self) {
        if self.first.is_none() {
            self.add(SIGPIPE);
        }
    }

    fn add(&mut self, number: i32) {
        self.first.get_or_insert(number);
        self.new.push(number);
        self.is_unreported = true;
    }

    fn collect(&mut self) {
        let mut came: Vec<i32> = self.signals.numbers().collect();
        let messages = self.control.as_mut().map(ControlChannel::pending);
        for message in messages.into_iter().flatten() {
            match message {
                ControlMessage::Signal(number) => came.push(number),
                // A run that stops already needs no second request: that would
                // end the agents at once.
                ControlMessage::StarterDied if self.first.is_some() => {}
                ControlMessage::StarterDied => came.push(SIGTERM),
                // The engine may notice that itself too.
                ControlMessage::ReaderLeft => self.reader_left(),
            }
        }
        for number in came {
            if !self.is_same_request(number) {
                self.add(number);
            }
        }
    }

    fn is_same_request(&mut self, number: i32) -> bool {
        let now = Instant::now();
        let is_same = |(last, at): (i32, Instant)| last == number && now - at < SAME_REQUEST;
        if self.control.is_some() && self.last.is_some_and(is_same) {
            return true;
        }
        self.last = Some((number, now));
        false
    }

    /// Waits until something becomes of `interests`, the engine is asked to stop,
    /// or `limit` is over. Returns what became of them. Each request ends one wait,
    /// also a request that came before the wait and was read by another call.
    pub(crate) fn wait(
        &mut self,
        interests: &[Interest<'_>],
        limit: Option<Duration>,
    ) -> io::Result<Vec<PollFlags>> {
        let is_unreported = std::mem::take(&mut self.is_unreported);
        let limit = is_unreported.then_some(Duration::ZERO).or(limit);
        let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
        let control = self.control.as_ref().filter(|control| control.is_open());
        let requests = [Some(self.signals.as_fd()), control.map(AsFd::as_fd)];
        let requests = requests.into_iter().flatten();
        let requests = requests.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
        let polled = interests.iter().map(|(fd, flags)| PollFd::new(fd, *flags));
        let mut polled: Vec<PollFd<'_>> = polled.chain(requests).collect();
        match poll(&mut polled, limit.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(err) => return Err(err.into()),
        }
        let came = polled.iter().take(interests.len());
        let came: Vec<PollFlags> = came.map(PollFd::revents).collect();
        drop(polled);
        self.collect();
        Ok(came)
    }
}

impl Stopping for StopRequests {
    fn must_stop(&mut self) -> bool {
        self.first().is_some()
    }

    fn wait_for(&mut self, fd: BorrowedFd<'_>, limit: Duration) -> io::Result<bool> {
        let came = self.wait(&[(fd, PollFlags::IN)], Some(limit))?;
        Ok(came.iter().any(|came| !came.is_empty()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_another_call_has_read_still_ends_one_wait() {
        let mut requests = StopRequests::listen().expect("listen");
        signal_hook::low_level::raise(SIGTERM).expect("raised");
        // Reads the signal, as the engine does just before it waits.
        assert_eq!(requests.first(), Some(SIGTERM));
        let limit = Duration::from_secs(30);
        let since = Instant::now();
        requests.wait(&[], Some(limit)).expect("waited");
        assert!(since.elapsed() < limit, "the wait missed the request");
        // It does not end the next wait too: a loop that waits would not rest.
        assert_eq!(
            requests.wait(&[], Some(Duration::ZERO)).expect("waited"),
            []
        );
        assert!(!requests.is_unreported);
        assert_eq!(requests.take_new(), [SIGTERM]);
    }
}
