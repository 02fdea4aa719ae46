//! Requests to stop: signals, the control channel, the end of the process that
//! started us, a reader that left.
//!
//! They are taken on a thread, which passes them on to the far end at once, also
//! while the stream waits for its reader.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use cr_agent::AgentOptions;
use cr_signal::{
    ControlChannel, ControlMessage, SIGHUP, SIGINT, SIGQUIT, SIGTERM, Signals, Starter,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::command::Outbox;
use crate::frame::Kind;
use crate::message::{Stop, encode};

/// One signal may arrive directly and through the control channel.
const SAME_REQUEST: Duration = Duration::from_millis(200);

/// How often a reader is looked for that left before it could be polled.
const STEP: Duration = Duration::from_millis(500);

/// Why a run is to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    Signal(i32),
    StarterGone,
    ReaderLeft,
}

impl Cause {
    fn signal(self) -> i32 {
        match self {
            Self::Signal(number) => number,
            Self::StarterGone | Self::ReaderLeft => SIGTERM,
        }
    }
}

/// What was asked for so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Requests {
    asked: Arc<Mutex<Asked>>,
}

#[derive(Debug, Default)]
struct Asked {
    /// The first request, and when it came.
    first: Option<(Cause, Instant)>,
    last: Option<(Cause, Instant)>,
}

impl Requests {
    fn lock(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first request.
    pub(crate) fn cause(&self) -> Option<Cause> {
        self.lock().first.map(|(cause, _)| cause)
    }

    /// Whether a request came at least so long ago.
    pub(crate) fn stopped_for(&self, time: Duration) -> bool {
        let first = self.lock().first;
        first.is_some_and(|(_, at)| at.elapsed() >= time)
    }

    /// Notes a request; returns whether it is a new one.
    fn add(&self, cause: Cause) -> bool {
        let now = Instant::now();
        let mut asked = self.lock();
        let is_same = |(last, at): (Cause, Instant)| last == cause && now - at < SAME_REQUEST;
        if asked.last.is_some_and(is_same) {
            return false;
        }
        asked.last = Some((cause, now));
        asked.first.get_or_insert((cause, now));
        true
    }
}

/// The sources, before the thread has them.
#[derive(Debug)]
pub(crate) struct Sources {
    signals: Signals,
    control: Option<ControlChannel>,
    starter: Option<Starter>,
    early: Vec<ControlMessage>,
}

impl Sources {
    /// Takes over the signals and the control channel that `options` name.
    pub(crate) fn take(options: &AgentOptions) -> io::Result<Self> {
        let control = options.control_fd.map(ControlChannel::inherit);
        let mut control = control.transpose()?;
        let early = control.as_mut().map(ControlChannel::pending);
        let signals = if control.is_some() {
            // The starter has us ignore them, and passes them on. SIGTERM also
            // comes directly, from `cr-runs stop`.
            Signals::take_all(&[SIGTERM])?
        } else {
            Signals::take(&[SIGHUP, SIGINT, SIGQUIT, SIGTERM])?
        };
        cr_signal::keep_children()?;
        let starter = match (&control, options.watch_pid) {
            (Some(_), None) => None,
            (_, named) => Starter::find(named, signals.ignored()),
        };
        Ok(Self {
            signals,
            control,
            starter,
            early: early.unwrap_or_default(),
        })
    }

    /// Watches the sources on a thread and tells the far end.
    pub(crate) fn watch(mut self, outbox: Outbox) -> io::Result<Requests> {
        let requests = Requests::default();
        let shared = requests.clone();
        for cause in self.early_causes() {
            tell(&requests, &outbox, cause);
        }
        thread::Builder::new().spawn(move || {
            let mut has_reader = true;
            while let Ok(causes) = self.wait(&mut has_reader) {
                for cause in causes {
                    tell(&shared, &outbox, cause);
                }
            }
        })?;
        Ok(requests)
    }

    fn early_causes(&mut self) -> Vec<Cause> {
        let early = std::mem::take(&mut self.early).into_iter();
        early.map(of_message).collect()
    }

    /// Waits for requests, for a while.
    fn wait(&mut self, has_reader: &mut bool) -> io::Result<Vec<Cause>> {
        let stdout = io::stdout();
        let mut fds = vec![PollFd::new(&self.signals, PollFlags::IN)];
        // Asking for nothing still reports an error: nobody reads.
        fds.push(if *has_reader {
            PollFd::new(&stdout, PollFlags::empty())
        } else {
            PollFd::new(&self.signals, PollFlags::empty())
        });
        let control = self.control.as_ref().filter(|control| control.is_open());
        let others = [
            control.map(AsFd::as_fd),
            self.starter.as_ref().map(AsFd::as_fd),
        ];
        let others = others.into_iter().flatten();
        fds.extend(others.map(|fd: BorrowedFd<'_>| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
        let step = Timespec::try_from(STEP).unwrap_or_default();
        match poll(&mut fds, Some(&step)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(err) => return Err(err.into()),
        }
        let has_left = *has_reader && fds[1].revents().contains(PollFlags::ERR);
        let starter_ended = self.starter.is_some()
            && fds
                .last()
                .is_some_and(|fd| fd.revents().contains(PollFlags::IN));
        drop(fds);
        let mut causes: Vec<Cause> = self.signals.numbers().map(Cause::Signal).collect();
        let messages = self.control.iter_mut().flat_map(ControlChannel::pending);
        causes.extend(messages.map(of_message));
        if has_left {
            *has_reader = false;
            causes.push(Cause::ReaderLeft);
        }
        if starter_ended
            && self
                .starter
                .take()
                .is_some_and(|starter| starter.end_counts())
        {
            causes.push(Cause::StarterGone);
        }
        Ok(causes)
    }
}

fn of_message(message: ControlMessage) -> Cause {
    match message {
        ControlMessage::Signal(number) => Cause::Signal(number),
        ControlMessage::ReaderLeft => Cause::ReaderLeft,
        ControlMessage::StarterDied => Cause::StarterGone,
    }
}

fn tell(requests: &Requests, outbox: &Outbox, cause: Cause) {
    if requests.add(cause) {
        let stop = Stop {
            signal: cause.signal(),
        };
        outbox.urgent(Kind::Stop, encode(&stop));
    }
}
