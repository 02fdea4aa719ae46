//! The process that the user sees: lines, clocks, signals.
//!
//! One `poll` over everything there is to wait for, with the next deadline as
//! its timeout, is the whole loop. What blocks is done elsewhere: the guardian
//! waits for processes, a thread for the reader of standard output.

use std::io::IsTerminal;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use cr_io::Redactor;
use cr_proc::{Process, Swept};
use cr_run::RunDir;
use rustix::event::{PollFd, PollFlags};
use signal_hook::consts::{SIGHUP, SIGTSTP};

use crate::activity::Activity;
use crate::args::Args;
use crate::cause::Cause;
use crate::clocks;
use crate::feed::Feed;
use crate::guard::Guard;
use crate::guardian::PATIENCE;
use crate::output::{Fate, Output};
use crate::record::{Limit, Still, compose, millis};
use crate::signals::Signals;
use crate::starter::Starter;
use crate::stderr::Stderr;
use crate::stdout::{Maker, Sink, Stdout};
use crate::wait::polled;
use crate::wire::{End, Order, Received, Report};

/// From the agent's end to the end of its pipes.
pub(crate) const DRAIN: Duration = Duration::from_secs(1);

/// How long the guardian may take to end everything.
const SWEEP: Duration = Duration::from_millis(2500);

/// How long the guardian may take to start the agent.
const START: Duration = Duration::from_secs(10);

/// Silence after which a sign of life is written, and the longest between two:
/// only a write shows that the reader of our reader has left.
const BEAT: Duration = Duration::from_secs(1);
const RAREST_BEAT: Duration = Duration::from_secs(60);

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
pub(crate) struct Front<'a> {
    pub(crate) args: &'a Args,
    pub(crate) run_id: &'a str,
    pub(crate) redactor: &'a Redactor,
    pub(crate) run_dir: Option<&'a RunDir>,
    pub(crate) guard: Guard,
    pub(crate) signals: Signals,
    pub(crate) starter: Option<Starter>,
    pub(crate) out: Output,
    pub(crate) stdout: Stdout,
    pub(crate) stderr: Stderr,
    pub(crate) feed: Option<Feed>,
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
    pub(crate) end: Option<End>,
    pub(crate) swept: Swept,
}

/// The parts that a run is made of.
pub(crate) struct Parts {
    pub(crate) guard: Guard,
    pub(crate) signals: Signals,
    pub(crate) starter: Option<Starter>,
    pub(crate) out: Output,
    pub(crate) stdout: Stdout,
    pub(crate) stderr: Stderr,
    pub(crate) feed: Feed,
}

/// Where lines go while they are read: the output, with the activity beside.
struct Passing<'a> {
    out: &'a mut Output,
    activity: Option<&'a mut Activity>,
    now: Instant,
}

impl Sink for Passing<'_> {
    fn pass(&mut self, line: &[u8]) {
        if let Some(activity) = &mut self.activity {
            activity.line(line, self.now);
        }
        self.out.line(line);
    }

    fn replace(&mut self, line: &[u8]) {
        if let Some(activity) = &mut self.activity {
            activity.sign_of_life(self.now);
        }
        self.out.line(line);
    }

    fn is_full(&self) -> bool {
        self.out.is_full()
    }
}

impl<'a> Front<'a> {
    pub(crate) fn new(
        args: &'a Args,
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
        let limit = match is_waiting && !blocked {
            true => Duration::ZERO,
            false => self.next_deadline().saturating_duration_since(before),
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
        self.take_signals();
        self.take_reports();
        if was_starting {
            // The first line is ours, and it is not written yet.
            return self.check_phase();
        }
        self.move_bytes();
        self.watch(&ready);
        self.check_clocks();
        self.check_phase();
        self.show_life();
        self.out.flush();
    }

    fn next_deadline(&self) -> Instant {
        let mut next = self.guard.due();
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

    /// Waits; returns what happened to whom we only watch.
    fn poll(&self, limit: Duration, blocked: bool) -> Watched {
        let stdout = std::io::stdout();
        let nothing = PollFlags::empty();
        let open = self.phase != Phase::Starting && !blocked;
        let starter = self
            .starter
            .as_ref()
            .filter(|_| self.phase == Phase::Running);
        // Asking for nothing still reports an error condition.
        let mut fds = vec![PollFd::new(&stdout, nothing)];
        if let Some(starter) = starter {
            fds.push(PollFd::new(starter, PollFlags::IN));
        }
        fds.push(PollFd::new(&self.signals, PollFlags::IN));
        fds.push(PollFd::new(&self.guard, PollFlags::IN));
        fds.push(PollFd::new(&self.out, PollFlags::IN));
        if open && !self.stdout.is_over() {
            fds.push(PollFd::new(&self.stdout, PollFlags::IN));
        }
        if open && !self.stderr.is_over() {
            fds.push(PollFd::new(&self.stderr, PollFlags::IN));
        }
        if let Some(feed) = self.feed.as_ref().filter(|_| self.phase != Phase::Starting) {
            fds.push(PollFd::new(feed, PollFlags::OUT));
        }
        if self.out.fate() != Fate::Open {
            // Known; it would only end every wait at once.
            fds.remove(0);
        }
        polled(&mut fds, limit);
        let failed = |fd: &PollFd<'_>| fd.revents().intersects(PollFlags::ERR | PollFlags::HUP);
        let is_open = self.out.fate() == Fate::Open;
        let starter_at = usize::from(is_open);
        Watched {
            reader_left: is_open && failed(&fds[0]),
            starter_left: starter.is_some() && !fds[starter_at].revents().is_empty(),
        }
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

    fn heed(&mut self, report: Report) {
        match report {
            Report::Started { pid } => {
                self.agent = Some(pid);
                if self.phase == Phase::Starting {
                    self.enter(Phase::Running, None);
                }
                let now = Instant::now();
                self.started = now;
                self.activity = Activity::new(now);
            }
            Report::Failed { errno, what } => {
                self.cause = Some(crate::start::cannot_run(errno, &what, &self.args.claude));
                self.enter(Phase::Emptying, Some(DRAIN));
            }
            Report::Exited(end) => {
                self.end = Some(end);
                self.feed = None;
                if matches!(self.phase, Phase::Running | Phase::Stopping) {
                    self.enter(Phase::Draining, Some(DRAIN));
                }
            }
            Report::Pong => {}
            Report::Swept { leaked, unkillable } => {
                let agent = self.agent;
                let strangers = |list: Vec<Process>| -> Vec<Process> {
                    list.into_iter()
                        .filter(|process| Some(process.pid) != agent)
                        .collect()
                };
                self.swept = Swept {
                    leaked: strangers(leaked),
                    unkillable,
                };
                self.enter(Phase::Emptying, Some(DRAIN / 4));
            }
        }
    }

    fn move_bytes(&mut self) {
        self.out.acknowledge();
        if self.feed.as_mut().is_some_and(|feed| !feed.write()) {
            self.feed = None;
        }
        let maker = Maker {
            run_id: self.run_id,
            redactor: self.redactor,
            run_dir: self.run_dir,
            max_line: self.args.max_line,
        };
        let now = Instant::now();
        let before = self.stdout.counts().lines;
        let mut sink = Passing {
            out: &mut self.out,
            activity: Some(&mut self.activity),
            now,
        };
        self.stdout.read(&maker, &mut sink);
        // Noise on standard error is no sign that the model works.
        sink.activity = None;
        self.stderr.read(&maker, &mut sink);
        if self.stdout.counts().lines > before {
            self.beat = BEAT;
            // What we take to read is not the agent's silence.
            self.activity.sign_of_life(Instant::now());
        }
    }

    fn watch(&mut self, ready: &Watched) {
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
        if self.phase != Phase::Done && self.guard.is_lost() {
            self.take_over("the guardian was stopped");
        }
    }

    fn check_clocks(&mut self) {
        let now = Instant::now();
        let Some(clock) = self.clock().filter(|clock| clock.until() <= now) else {
            return;
        };
        if self.phase != Phase::Running || self.seen.elapsed() > GAP {
            return;
        }
        let mut doing = self.activity.doing(now);
        doing.target = doing
            .target
            .map(|text| self.redactor.redact(&text).into_owned());
        let limit = Limit {
            clock: clock.name,
            limit_ms: millis(clock.limit),
            elapsed_ms: millis(now.saturating_duration_since(clock.since)),
            doing: &doing,
            action: "terminate",
        };
        self.out.line(&compose("limit", self.run_id, &limit));
        self.stop(Cause::Clock(clock.name));
    }

    /// Asks the agent to end, once.
    fn stop(&mut self, cause: Cause) {
        match self.phase {
            Phase::Running => {}
            // The agent is about to start; it shall not get far.
            Phase::Starting => {
                self.cause.get_or_insert(cause);
                return;
            }
            _ => return,
        }
        self.guard.order(&Order::Signal(cause.signal()), &[]);
        self.killed = true;
        self.cause = Some(cause);
        self.enter(Phase::Stopping, Some(self.args.clocks.grace));
    }

    /// Kills the agent and everything else.
    fn kill(&mut self) {
        self.guard.order(&Order::Sweep { patience_ms: 0 }, &[]);
        self.enter(Phase::Sweeping, Some(SWEEP));
    }

    fn check_phase(&mut self) {
        let is_late = self.until.is_some_and(|until| until <= Instant::now());
        let is_empty = self.stdout.is_over() && self.stderr.is_over();
        match self.phase {
            Phase::Running => {
                if let Some(cause) = self.cause.take() {
                    self.stop(cause);
                }
            }
            Phase::Stopping if is_late => self.kill(),
            Phase::Draining if is_late || is_empty => {
                let patience_ms = millis(PATIENCE);
                let order = match self.args.keep_children {
                    true => Order::List,
                    false => Order::Sweep { patience_ms },
                };
                self.guard.order(&order, &[]);
                self.enter(Phase::Sweeping, Some(SWEEP));
            }
            Phase::Starting | Phase::Sweeping if is_late => {
                self.take_over("the guardian does not answer");
            }
            Phase::Emptying if is_late || is_empty => self.enter(Phase::Done, None),
            _ => {}
        }
    }

    /// Without a guardian we end everything ourselves.
    fn take_over(&mut self, why: &'static str) {
        if matches!(self.phase, Phase::Emptying | Phase::Done) {
            // Nobody was left to guard.
            return self.enter(Phase::Done, None);
        }
        // An agent that has ended by itself has done so whatever came after.
        if self.end.is_none() && !matches!(self.cause, Some(Cause::Clock(_) | Cause::Signal(_))) {
            self.cause = Some(Cause::GuardianDied(why));
        }
        self.killed |= self.end.is_none();
        let (swept, end) = self.guard.outlive(self.agent, PATIENCE);
        self.end = self.end.or(end);
        self.swept = swept;
        self.enter(Phase::Emptying, Some(DRAIN / 4));
    }

    fn enter(&mut self, phase: Phase, limit: Option<Duration>) {
        self.phase = phase;
        self.until = limit.map(|limit| Instant::now() + limit);
    }

    fn show_life(&mut self) {
        let now = Instant::now();
        let is_due = self.out.last() + self.beat <= now;
        if self.phase != Phase::Running || !self.reader_may_leave || !is_due || self.out.is_full() {
            return;
        }
        let mut doing = self.activity.doing(now);
        doing.target = doing
            .target
            .map(|text| self.redactor.redact(&text).into_owned());
        let still = Still {
            state: "running",
            turn: self.activity.turns,
            silent_ms: millis(now.saturating_duration_since(self.activity.last_line)),
            doing: &doing,
        };
        self.out.line(&compose("state", self.run_id, &still));
        self.beat = (self.beat * 2).min(RAREST_BEAT);
    }
}

/// What was seen of those we only watch.
struct Watched {
    reader_left: bool,
    starter_left: bool,
}

/// Whether somebody reads at the other end, and may stop doing so.
fn is_pipe(fd: &impl AsFd) -> bool {
    let fd: BorrowedFd<'_> = fd.as_fd();
    rustix::fs::fstat(fd).is_ok_and(|stat| {
        let kind = rustix::fs::FileType::from_raw_mode(stat.st_mode);
        matches!(
            kind,
            rustix::fs::FileType::Fifo | rustix::fs::FileType::Socket
        )
    })
}
