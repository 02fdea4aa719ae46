//! The process that the user sees: lines, clocks, signals.
//!
//! The loop polls all descriptors, with the next deadline as the timeout. It
//! turns the results into events of [`crate::phases`], which returns the actions
//! to take. The loop itself never blocks: the guardian waits for processes, and
//! a thread waits for the reader of standard output.

mod progress;
mod reporting;
mod streams;
mod timing;

use std::time::{Duration, Instant};

use cr_signal::{SIGTERM, SIGTSTP};

use self::progress::Progress;
pub(crate) use self::streams::Streams;
use self::timing::Timing;
use crate::cause::Cause;
use crate::context::Context;
use crate::guardian_link::GuardianLink;
use crate::guardian_protocol::{Order, Received, Report};
use crate::output::Fate;
use crate::phases::{Action, Event, Phase, SWEEP_TERM_GRACE};
use crate::poll_set::PollSet;
use crate::read_budget::BudgetedRead;
use crate::record::millis;
use crate::requests::{Request, Requests};
use crate::session::{ClientId, Effect, Session};

/// How long a wait may take if nothing is due: the loop also notices that this
/// process was stopped by waits that take too long.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// What the loop waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// A signal.
    Signals,
    /// A message of the pipeline's starter.
    Control,
    /// A report of the guardian.
    Guardian,
    /// Room in the output, or its end.
    Output,
    /// Room in the agent's standard input.
    Input,
    /// Bytes of the agent's standard output.
    Stdout,
    /// Bytes of the agent's standard error.
    Stderr,
    /// The reader of our standard output has left.
    Reader,
    /// The process that started us has ended.
    Starter,
    /// A new client of the control socket.
    Socket,
    /// A client of the control socket.
    Client(ClientId),
    /// Messages on our standard input.
    OwnInput,
    /// An answer of the command that answers questions.
    AskCommand,
}

/// A run, from the start of its agent to the end of its last process.
pub(crate) struct Supervisor<'a> {
    pub(crate) context: Context<'a>,
    pub(crate) requests: Requests,
    pub(crate) guardian: GuardianLink,
    pub(crate) streams: Streams,
    pub(crate) session: Session,
    pub(crate) timing: Timing,
    pub(crate) progress: Progress,
}

impl<'a> Supervisor<'a> {
    pub(crate) fn new(
        context: Context<'a>,
        requests: Requests,
        guardian: GuardianLink,
        streams: Streams,
        session: Session,
    ) -> Self {
        Self {
            context,
            requests,
            guardian,
            streams,
            session,
            timing: Timing::new(),
            progress: Progress::new(context.options),
        }
    }

    /// Waits until the agent runs or cannot. Nothing is read before that, so
    /// that the first line is ours.
    pub(crate) fn start(&mut self) {
        while self.phase() == Phase::Starting {
            self.round();
        }
    }

    /// Supervises the run until no process is left.
    pub(crate) fn run(&mut self) {
        while self.phase() != Phase::Done {
            self.round();
        }
        self.streams.output.flush();
    }

    fn phase(&self) -> Phase {
        self.progress.state.phase
    }

    fn round(&mut self) {
        let was_starting = self.phase() == Phase::Starting;
        let is_blocked = self.streams.output.is_full();
        let limit = self.wait_limit(is_blocked);
        let ready = self.poll(limit, is_blocked);
        let is_held = is_blocked || self.session.is_held();
        if let Some(gap) = self.timing.waited(limit, is_held) {
            self.exclude(gap);
        }
        for key in ready {
            self.handle(key);
        }
        if was_starting {
            // The first line is ours, and it is not written yet.
            return self.check_deadline();
        }
        self.check_sources();
        self.advance_session();
        self.check_clocks();
        self.check_deadline();
        self.show_life();
        self.streams.output.flush();
    }

    /// How long the next wait may take.
    fn wait_limit(&self, is_blocked: bool) -> Duration {
        let has_lines = self.streams.has_lines() && !is_blocked;
        if self.requests.is_waiting() || has_lines {
            return Duration::ZERO;
        }
        let is_running = self.phase() == Phase::Running;
        let clocks = &self.context.options.clocks;
        let clock = self.timing.clock(clocks, self.session.expects_turn());
        let clock = clock.filter(|_| is_running).map(|clock| clock.until());
        let output = &self.streams.output;
        let is_shown = is_running && self.streams.reader_may_leave;
        // While the guardian starts the agent, the deadline of the phase is enough.
        let is_pinged = self.progress.state.has_guardian && self.phase() != Phase::Starting;
        let times = [
            output.due(),
            self.progress.deadline,
            clock,
            is_shown.then(|| output.last() + self.timing.heartbeat),
            is_pinged.then(|| self.guardian.ping_due()),
            self.session
                .due(self.context.options.clocks.grace)
                .filter(|_| is_running),
        ];
        let next = times.into_iter().flatten().min();
        next.map_or(LONGEST_WAIT, |next| {
            next.saturating_duration_since(Instant::now())
        })
    }

    /// Waits for at most `limit`; returns what is ready. While the output is
    /// blocked, nothing is read from the agent.
    fn poll(&self, limit: Duration, is_blocked: bool) -> Vec<Key> {
        let (stdin, stdout) = (std::io::stdin(), std::io::stdout());
        let is_started = self.phase() != Phase::Starting;
        let mut set = PollSet::new();
        self.requests.register(&mut set);
        if self.progress.state.has_guardian {
            set.add_reader(Key::Guardian, &self.guardian);
        }
        set.add_reader(Key::Output, &self.streams.output);
        if is_started {
            self.streams.register(&mut set, &stdout, is_blocked);
        }
        if self.phase() == Phase::Running {
            self.requests.register_starter(&mut set);
            self.session.register(&mut set, &stdin, is_blocked);
        }
        let mut ready = set.poll(limit);
        let is_read = is_started && !is_blocked;
        let buffered = [
            (Key::Control, self.requests.is_waiting()),
            (Key::Stdout, is_read && self.streams.stdout.is_waiting()),
            (Key::Stderr, is_read && self.streams.stderr.is_waiting()),
        ];
        for (key, is_ready) in buffered {
            if is_ready && !ready.contains(&key) {
                ready.push(key);
            }
        }
        ready
    }

    fn handle(&mut self, key: Key) {
        match key {
            Key::Signals | Key::Control | Key::Starter => {
                for request in self.requests.take(key) {
                    self.obey(request);
                }
            }
            Key::Guardian => self.take_reports(),
            Key::Output => self.streams.output.acknowledge(),
            Key::Input => self.streams.input.write(),
            Key::Stdout => {
                let (activity, session) = (&mut self.timing.activity, &mut self.session);
                if self.streams.relay_stdout(&self.context, activity, session) {
                    self.timing.agent_wrote();
                }
            }
            Key::Stderr => self.streams.relay_stderr(&self.context),
            Key::Reader => self.streams.output.abandon(),
            Key::Socket | Key::Client(_) | Key::OwnInput | Key::AskCommand => {
                self.session.handle(key, &self.context);
            }
        }
    }

    fn obey(&mut self, request: Request) {
        match request {
            Request::Signal(number) => self.apply(Event::Signal(number)),
            Request::Pause => self.pause(),
            Request::ReaderLeft => self.apply(Event::StopWanted(Cause::ReaderGone)),
            Request::StarterGone => self.apply(Event::StopWanted(Cause::Orphaned)),
        }
    }

    /// Stops with everything below, as the terminal wishes, until SIGCONT.
    fn pause(&mut self) {
        self.guardian.order(&Order::Pause, &[]);
        let before = Instant::now();
        if !self.requests.was_continued() {
            let _ = signal_hook::low_level::emulate_default_handler(SIGTSTP);
            // The SIGCONT that ended this pause also ends those that came before
            // it: the next look at the signals leaves them out.
        }
        self.guardian.order(&Order::Resume, &[]);
        self.exclude(before.elapsed());
        self.timing.last_round = Instant::now();
    }

    /// Leaves time in which this process was stopped out of every clock.
    fn exclude(&mut self, gap: Duration) {
        self.timing.exclude(gap);
        self.guardian.exclude(gap);
        self.progress.exclude(gap);
        self.session.exclude(gap);
    }

    fn take_reports(&mut self) {
        loop {
            match self.guardian.next_report() {
                Received::Nothing => return,
                Received::Closed => {
                    return self.apply(Event::GuardianLost("the guardian was killed"));
                }
                Received::Message(report, _) => self.take_report(report),
            }
        }
    }

    fn take_report(&mut self, report: Report) {
        match report {
            Report::Started { pid } => {
                self.guardian.agent = Some(pid);
                let is_resumed = self.context.options.resumes_session();
                self.timing.agent_started(is_resumed);
                self.apply(Event::Started);
            }
            Report::Failed { errno, what } => {
                let name = self.context.options.claude.as_deref();
                let cause = Cause::cannot_run(errno, &what, name);
                self.apply(Event::StartFailed(cause));
            }
            Report::Exited(end) => self.apply(Event::AgentEnded(end)),
            Report::Pong => {}
            Report::Swept(leftovers) => {
                self.progress.leftovers = leftovers;
                self.apply(Event::Swept);
            }
        }
    }

    /// Takes `event` into account, and does what follows from it.
    fn apply(&mut self, event: Event) {
        let (state, actions) = self.progress.state.clone().on(event);
        self.progress.state = state;
        for action in actions {
            self.act(action);
        }
    }

    fn act(&mut self, action: Action) {
        let guardian = &mut self.guardian;
        match action {
            Action::SignalAgent(number) => guardian.order(&Order::Signal(number), &[]),
            Action::Sweep(grace) => {
                let order = Order::Sweep {
                    term_grace_ms: millis(grace),
                };
                guardian.order(&order, &[]);
            }
            Action::ListLeftovers => guardian.order(&Order::List, &[]),
            Action::TakeOver => {
                let (leftovers, end) = guardian.take_over(SWEEP_TERM_GRACE);
                self.progress.leftovers = leftovers;
                self.apply(Event::TookOver(end));
            }
            Action::CloseInput => self.streams.input.close(),
            Action::SetDeadline(limit) => self.progress.set_deadline(limit),
        }
    }

    /// Does what the session wants. A message reaches the agent in the round in
    /// which it came.
    pub(super) fn advance_session(&mut self) {
        if self.phase() != Phase::Running {
            return;
        }
        let has_room = self.streams.input.has_room();
        self.session.advance(&self.context, has_room);
        self.write_session_lines();
        let mut is_written = false;
        while let Some(effect) = self.session.next_effect() {
            match effect {
                Effect::ToAgent(line) => {
                    self.streams.input.push_line(line);
                    is_written = true;
                }
                Effect::CloseInput => self.streams.input.complete(),
                Effect::Stop => self.apply(Event::Signal(SIGTERM)),
            }
        }
        if is_written {
            self.streams.input.write();
        }
    }

    /// Writes the lines of the session.
    pub(crate) fn write_session_lines(&mut self) {
        while let Some(line) = self.session.next_line() {
            self.streams.output.line(&line);
        }
    }

    /// Looks at what no descriptor reports.
    fn check_sources(&mut self) {
        match self.streams.output.fate() {
            Fate::Open => {}
            Fate::Gone => self.apply(Event::StopWanted(Cause::ReaderGone)),
            Fate::Failed(text) => self.apply(Event::StopWanted(Cause::OutputFailed(text))),
        }
        if self.progress.state.has_guardian && self.guardian.is_lost() {
            self.apply(Event::GuardianLost("the guardian was stopped"));
        }
    }

    fn check_deadline(&mut self) {
        if self.progress.is_late() {
            self.apply(Event::DeadlinePassed);
        }
        let waits_for_pipes = matches!(self.phase(), Phase::Draining | Phase::Emptying);
        if waits_for_pipes && self.streams.are_closed() {
            self.apply(Event::PipesClosed);
        }
    }
}
