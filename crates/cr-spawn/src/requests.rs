//! Requests to stop or to pause: signals, the control channel of the pipeline's
//! starter, and the end of the process that started us.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cr_agent::AgentOptions;
use cr_signal::{
    ControlChannel, ControlMessage, SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, Signals,
    Starter,
};

use crate::cause::Cause;
use crate::poll_set::PollSet;
use crate::supervisor::Key;

/// `kill` or `timeout` may send one signal to the starter, to its process group
/// or to both, so that it arrives up to three times: directly and through the
/// control channel. The same signal within this time is the same request.
const SAME_REQUEST: Duration = Duration::from_millis(200);

/// A request to the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// To stop, as this signal says.
    Signal(i32),
    /// To pause until SIGCONT (SIGTSTP).
    Pause,
    /// To stop: the reader of the pipeline's output has left.
    ReaderLeft,
    /// To stop: the process that started us is gone.
    StarterGone,
}

/// Everything that a request can come from.
#[derive(Debug)]
pub(crate) struct Requests {
    signals: Signals,
    control: Option<ControlChannel>,
    /// Messages of the control channel that are not answered yet.
    early: Vec<ControlMessage>,
    starter: Option<Starter>,
    last: Option<(i32, Instant)>,
    /// SIGCONT came since the last look.
    continued: Arc<AtomicBool>,
}

impl Requests {
    /// Takes over the signals and the control channel that `options` name.
    pub(crate) fn install(options: &AgentOptions) -> io::Result<Self> {
        let mut control = options
            .control_fd
            .map(ControlChannel::inherit)
            .transpose()?;
        let early = control.as_mut().map(ControlChannel::pending);
        let early = early.unwrap_or_default();
        let signals = match &control {
            Some(control) => signals_beside(control)?,
            None => Signals::take(&[SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGCONT])?,
        };
        cr_signal::keep_children()?;
        // The starter at the control channel also says when our parent, the
        // pipeline's shell, has died.
        let starter = match (&control, options.watch_pid) {
            (Some(_), None) => None,
            (_, named) => Starter::find(named, signals.ignored()),
        };
        Ok(Self {
            starter,
            signals,
            control,
            early,
            last: None,
            continued: cr_signal::flag_of(SIGCONT)?,
        })
    }

    /// Adds the descriptors that must always be watched.
    pub(crate) fn register<'a>(&'a self, set: &mut PollSet<'a, Key>) {
        set.add_reader(Key::Signals, &self.signals);
        if let Some(control) = self.control.as_ref().filter(|control| control.is_open()) {
            set.add_reader(Key::Control, control);
        }
    }

    /// Adds the process that started us; its end counts only while the agent
    /// runs.
    pub(crate) fn register_starter<'a>(&'a self, set: &mut PollSet<'a, Key>) {
        if let Some(starter) = &self.starter {
            set.add_reader(Key::Starter, starter);
        }
    }

    /// Whether a request came before anybody could poll for it.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.early.is_empty()
    }

    /// The requests that came from the source `key` since the last call.
    pub(crate) fn take(&mut self, key: Key) -> Vec<Request> {
        match key {
            Key::Signals => self.take_signals(),
            Key::Control => self.take_messages(),
            Key::Starter => {
                let starter = self.starter.take();
                let counts = starter.is_some_and(|starter| starter.end_counts());
                counts.then_some(Request::StarterGone).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    /// Why the agent need not be started at all: somebody wants it to stop.
    pub(crate) fn stop_before_start(&mut self) -> Option<Cause> {
        let mut requests = self.take_signals();
        requests.extend(self.take_messages());
        requests.into_iter().find_map(|request| match request {
            Request::Signal(number) => Some(Cause::Signal(number)),
            Request::ReaderLeft => Some(Cause::ReaderGone),
            Request::StarterGone => Some(Cause::Orphaned),
            Request::Pause => None,
        })
    }

    /// Whether a signal or a message came since the last call.
    pub(crate) fn came(&mut self) -> bool {
        let signals = self.take_signals();
        !signals.is_empty() || !self.take_messages().is_empty()
    }

    /// Whether SIGCONT came since the last call. A pause that it has ended must
    /// not begin any more: nobody would end it.
    pub(crate) fn was_continued(&self) -> bool {
        self.continued.swap(false, Ordering::Relaxed)
    }

    fn take_signals(&mut self) -> Vec<Request> {
        let numbers: Vec<i32> = self.signals.numbers().collect();
        let was_continued = self.was_continued();
        // Several of them are one pause: the SIGCONT that ends it is for all.
        let mut is_paused = was_continued;
        numbers
            .into_iter()
            .filter(|&number| match number {
                SIGCONT => false,
                SIGTSTP => !std::mem::replace(&mut is_paused, true),
                _ => true,
            })
            .filter_map(|number| self.of_signal(number))
            .collect()
    }

    fn take_messages(&mut self) -> Vec<Request> {
        let mut messages = std::mem::take(&mut self.early);
        messages.extend(self.control.iter_mut().flat_map(ControlChannel::pending));
        let request = |message| match message {
            ControlMessage::Signal(number) => self.of_signal(number),
            ControlMessage::ReaderLeft => Some(Request::ReaderLeft),
            ControlMessage::StarterDied => Some(Request::StarterGone),
        };
        messages.into_iter().filter_map(request).collect()
    }

    fn of_signal(&mut self, number: i32) -> Option<Request> {
        if number == SIGTSTP {
            return Some(Request::Pause);
        }
        let now = Instant::now();
        let is_same = |(last, at): (i32, Instant)| last == number && now - at < SAME_REQUEST;
        if self.control.is_some() && self.last.is_some_and(is_same) {
            return None;
        }
        self.last = Some((number, now));
        Some(Request::Signal(number))
    }
}

/// The signals of a process whose starter has a control channel.
///
/// The starter has the pipeline ignore SIGHUP, SIGINT, SIGQUIT and SIGTERM,
/// because a terminal sends them to the whole group: it passes them on instead.
/// SIGTERM is taken all the same: `cr-runs stop` sends it to us alone. The others
/// stay ignored here, by a handler that does nothing, so that the agent gets
/// their default action back: exec resets what has a handler and keeps what is
/// ignored. SIGHUP stays ignored for the agent too if the starter was told to
/// ignore it (nohup).
fn signals_beside(control: &ControlChannel) -> io::Result<Signals> {
    let hangup = (!control.ignored().contains(SIGHUP)).then_some(SIGHUP);
    for number in [SIGINT, SIGQUIT, SIGTERM].into_iter().chain(hangup) {
        cr_signal::ignore_here(number)?;
    }
    Signals::take(&[SIGTERM, SIGTSTP, SIGCONT])
}
