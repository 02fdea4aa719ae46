//! The process that the user sees: lines, clocks, signals.
//!
//! One `poll` over everything there is to wait for, with the next deadline as
//! its timeout, is the whole loop. What blocks is done elsewhere: the guardian
//! waits for processes, a thread for the reader of standard output.

mod polling;
mod relay;
mod steps;

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use cr_io::Redactor;
use cr_proc::Swept;
use cr_rundir::RunDir;
use signal_hook::consts::{SIGHUP, SIGTSTP};

use self::polling::Ready;
use self::relay::Relay;
use crate::activity::Activity;
use crate::cause::Cause;
use crate::clocks;
use crate::guardian_link::GuardianLink;
use crate::guardian_protocol::{End, Order, Received};
use crate::input_queue::InputQueue;
use crate::output::{Fate, Output};
use crate::poll_set::is_pipe;
use crate::read_budget::BudgetedRead;
use crate::record::millis;
use crate::signals::Signals;
use crate::starter::Starter;
use crate::stderr::Stderr;
use crate::stdout::{Maker, Stdout};
use cr_agent::AgentOptions;
use cr_stream::{Doing, Limit, State, StateName, compose};

/// From the agent's end to the end of its pipes.
pub(crate) const DRAIN: Duration = Duration::from_secs(1);

/// How long the guardian may take to start the agent.
const START: Duration = Duration::from_secs(10);

/// Silence after which a sign of life is written, and the longest between two:
/// only a write shows that the reader of our reader has left.
const BEAT: Duration = Duration::from_secs(1);
const RAREST_BEAT: Duration = Duration::from_mins(1);

/// More than this between two rounds, and we were stopped.
const GAP: Duration = Duration::from_secs(2);

/// What is going on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The guardian was asked to start the agent.
    Starting,
    Running,
    /// The agent was asked to end; it is killed when the time is up.
    Stopping,
    /// The agent is gone; what is in its pipes is read.
    Draining,
    /// The guardian ends what is left.
    Sweeping,
    /// Nobody is left; the rest of the pipes is read.
    Emptying,
    Done,
}

/// A run as long as it lasts.
pub(crate) struct Supervisor<'a> {
    pub(crate) args: &'a AgentOptions,
    pub(crate) run_id: &'a str,
    pub(crate) redactor: &'a Redactor,
    pub(crate) run_dir: Option<&'a RunDir>,
    pub(crate) guard: GuardianLink,
    pub(crate) signals: Signals,
    pub(crate) starter: Option<Starter>,
    pub(crate) out: Output,
    pub(crate) stdout: Stdout,
    pub(crate) stderr: Stderr,
    pub(crate) feed: Option<InputQueue>,
    phase: Phase,
    /// When the phase ends by itself.
    until: Option<Instant>,
    pub(crate) started: Instant,
    pub(crate) stopped: Duration,
    /// When the last wait ended.
    seen: Instant,
    pub(crate) activity: Activity,
    beat: Duration,
    reader_may_leave: bool,
    pub(crate) cause: Option<Cause>,
    pub(crate) killed: bool,
    pub(crate) agent: Option<i32>,
    /// The guardian is gone.
    is_alone: bool,
    pub(crate) end: Option<End>,
    pub(crate) swept: Swept,
}

/// The parts that a run is made of.
pub(crate) struct Parts {
    pub(crate) guard: GuardianLink,
    pub(crate) signals: Signals,
    pub(crate) starter: Option<Starter>,
    pub(crate) out: Output,
    pub(crate) stdout: Stdout,
    pub(crate) stderr: Stderr,
    pub(crate) feed: InputQueue,
}

impl<'a> Supervisor<'a> {
    pub(crate) fn new(
        args: &'a AgentOptions,
        run_id: &'a str,
        redactor: &'a Redactor,
        run_dir: Option<&'a RunDir>,
        parts: Parts,
    ) -> Self {
        let now = Instant::now();
        let stdout = std::io::stdout();
        Self {
            args,
            run_id,
            redactor,
            run_dir,
            guard: parts.guard,
            signals: parts.signals,
            starter: parts.starter,
            out: parts.out,
            stdout: parts.stdout,
            stderr: parts.stderr,
            feed: Some(parts.feed),
            phase: Phase::Starting,
            until: Some(now + START),
            started: now,
            stopped: Duration::ZERO,
            seen: now,
            activity: Activity::new(now),
            beat: BEAT,
            reader_may_leave: !stdout.is_terminal() && is_pipe(&stdout),
            cause: None,
            killed: false,
            agent: None,
            is_alone: false,
            end: None,
            swept: Swept::default(),
        }
    }

    /// Waits until the agent runs or cannot. Nothing is read before that, so
    /// that the first line is ours.
    pub(crate) fn start(&mut self) {
        while self.phase == Phase::Starting {
            self.round();
        }
    }

    /// Goes on until nobody is left.
    pub(crate) fn run(&mut self) {
        while self.phase != Phase::Done {
            self.round();
        }
        self.out.flush();
    }

    fn round(&mut self) {
        let was_starting = self.phase == Phase::Starting;
        let before = Instant::now();
        let blocked = self.out.is_full();
        let is_waiting = self.stdout.is_waiting() || self.stderr.is_waiting();
        let limit = if is_waiting && !blocked {
            Duration::ZERO
        } else {
            self.next_deadline().saturating_duration_since(before)
        };
        let ready = self.poll(limit, blocked);
        // Since the last time here, not since the poll: a stop may come anywhere.
        let took = self.seen.elapsed();
        self.seen = Instant::now();
        if took > limit + GAP {
            self.forgive(took.saturating_sub(limit));
        } else if blocked {
            // The agent may be waiting for our reader: its silence is not its own.
            self.activity.shift(took);
        }
        if ready.signals {
            self.take_signals();
        }
        if ready.guard {
            self.take_reports();
        }
        if was_starting {
            // The first line is ours, and it is not written yet.
            return self.check_phase();
        }
        self.move_bytes(ready);
        self.watch(ready);
        self.check_clocks();
        self.check_phase();
        self.show_life();
        self.out.flush();
    }

    fn next_deadline(&self) -> Instant {
        let mut next = self.guard.due();
        if let Some(due) = self.out.due() {
            next = next.min(due);
        }
        if let Some(until) = self.until {
            next = next.min(until);
        }
        if let (Phase::Running, Some(clock)) = (self.phase, self.clock()) {
            next = next.min(clock.until());
        }
        if self.phase == Phase::Running && self.reader_may_leave {
            next = next.min(self.out.last() + self.beat);
        }
        next
    }

    fn clock(&self) -> Option<clocks::Running> {
        clocks::next(&self.args.clocks, &self.activity, self.started)
    }

    fn take_signals(&mut self) {
        for number in self.signals.pending() {
            if number == SIGTSTP {
                self.suspend();
                continue;
            }
            match &self.cause {
                // A terminal that goes away says so more than once.
                Some(Cause::Signal(SIGHUP)) if number == SIGHUP => {}
                Some(_) if self.phase == Phase::Stopping => self.kill(),
                _ => self.stop(Cause::Signal(number)),
            }
        }
    }

    /// Stops with everything below, as the terminal wishes, until SIGCONT.
    fn suspend(&mut self) {
        self.guard.order(&Order::Pause, &[]);
        let before = Instant::now();
        let _ = signal_hook::low_level::emulate_default_handler(SIGTSTP);
        self.guard.order(&Order::Resume, &[]);
        self.forgive(before.elapsed());
        self.seen = Instant::now();
    }

    /// Time in which we were stopped counts for nobody.
    fn forgive(&mut self, gap: Duration) {
        self.stopped += gap;
        self.started += gap;
        self.activity.shift(gap);
        self.guard.shift(gap);
        self.until = self.until.map(|until| until + gap);
    }

    fn take_reports(&mut self) {
        loop {
            match self.guard.report() {
                Received::Nothing => return,
                Received::Closed => return self.take_over("the guardian was killed"),
                Received::Message(report, _) => self.heed(report),
            }
        }
    }

    fn move_bytes(&mut self, ready: Ready) {
        self.out.acknowledge();
        if ready.feed && self.feed.as_mut().is_some_and(|feed| !feed.write()) {
            self.feed = None;
        }
        let maker = Maker {
            run_id: self.run_id,
            redactor: self.redactor,
            run_dir: self.run_dir,
            max_line: self.args.max_line,
            max_record: self.args.max_record,
        };
        let now = Instant::now();
        let before = self.stdout.counts().lines;
        let mut sink = Relay {
            out: &mut self.out,
            activity: Some(&mut self.activity),
            now,
        };
        if ready.stdout {
            self.stdout.read(&maker, &mut sink);
        }
        // Noise on standard error is no sign that the model works.
        sink.activity = None;
        if ready.stderr {
            self.stderr.read(&maker, &mut sink);
        }
        if self.stdout.counts().lines > before {
            self.beat = BEAT;
            // What we take to read is not the agent's silence.
            self.activity.sign_of_life(Instant::now());
        }
    }

    fn watch(&mut self, ready: Ready) {
        if ready.reader_left {
            self.out.abandon();
        }
        match self.out.fate() {
            Fate::Open => {}
            Fate::Gone => self.stop(Cause::ReaderGone),
            Fate::Failed(text) => self.stop(Cause::OutputFailed(text)),
        }
        if ready.starter_left {
            let counts = self.starter.as_ref().is_some_and(Starter::counts);
            self.starter = None;
            if counts {
                self.stop(Cause::Orphaned);
            }
        }
        if !self.is_alone && self.guard.is_lost() {
            self.take_over("the guardian was stopped");
        }
    }

    /// What the agent is about, fit to be shown.
    fn doing(&self, now: Instant) -> Doing<'static> {
        let mut doing = self.activity.doing(now);
        let target = doing.target.as_deref();
        doing.target = target.map(|text| self.redactor.redact(text).into_owned().into());
        doing
    }

    fn check_clocks(&mut self) {
        let now = Instant::now();
        let Some(clock) = self.clock().filter(|clock| clock.until() <= now) else {
            return;
        };
        if self.phase != Phase::Running || self.seen.elapsed() > GAP {
            return;
        }
        let doing = self.doing(now);
        let limit = Limit {
            clock: clock.name.into(),
            limit_ms: Some(millis(clock.limit)),
            elapsed_ms: Some(millis(now.saturating_duration_since(clock.since))),
            doing: Some(doing),
            action: "terminate".into(),
        };
        self.out.line(&compose(Some(self.run_id), &limit));
        self.stop(Cause::Clock(clock.name));
    }

    fn show_life(&mut self) {
        let now = Instant::now();
        let is_due = self.out.last() + self.beat <= now;
        if self.phase != Phase::Running || !self.reader_may_leave || !is_due || self.out.is_full() {
            return;
        }
        let doing = self.doing(now);
        let state = State {
            state: StateName::Running.into(),
            turn: self.activity.turns,
            silent_ms: Some(millis(
                now.saturating_duration_since(self.activity.last_line),
            )),
            doing: Some(doing),
            ..State::default()
        };
        self.out.line(&compose(Some(self.run_id), &state));
        self.beat = (self.beat * 2).min(RAREST_BEAT);
    }
}
