//! The phases of a run, as a pure function: a state and an event give the next
//! state and the actions to take. Nothing here reads a clock, polls a
//! descriptor or knows a process, so every transition can be tested.

use std::time::Duration;

use cr_signal::SIGHUP;

use crate::cause::Cause;
use crate::guardian_protocol::End;

/// How long the guardian may take to start the agent.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// From the agent's end to the end of its pipes.
pub(crate) const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// How long the guardian may take to end everything.
const SWEEP_TIMEOUT: Duration = Duration::from_millis(2500);

/// From the end of the last process to the end of the agent's pipes.
const EMPTY_TIMEOUT: Duration = Duration::from_millis(250);

/// How long leftover processes may take to follow SIGTERM.
pub(crate) const SWEEP_TERM_GRACE: Duration = Duration::from_millis(200);

/// Where a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The guardian was asked to start the agent.
    Starting,
    /// The agent runs.
    Running,
    /// The agent was asked to end; it is killed when the grace is over.
    Stopping,
    /// The agent is gone; the rest of its pipes is read.
    Draining,
    /// The leftover processes are ended.
    Sweeping,
    /// No process is left; the rest of the pipes is read.
    Emptying,
    /// Everything is read.
    Done,
}

/// What can happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The agent runs.
    Started,
    /// The agent could not be started.
    StartFailed(Cause),
    /// The agent ended.
    AgentEnded(End),
    /// The guardian has ended the leftover processes, or listed them.
    Swept,
    /// A signal came, from wherever.
    Signal(i32),
    /// A clock, the reader, the starter or the output ends the run.
    StopWanted(Cause),
    /// The time of the phase is over.
    DeadlinePassed,
    /// Both pipes of the agent are at their end.
    PipesClosed,
    /// The guardian is dead or cannot be reached, and why.
    GuardianLost(&'static str),
    /// Everything was ended without the guardian; the agent ended like this, if
    /// it is known.
    TookOver(Option<End>),
}

/// What has to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Send this signal to the agent.
    SignalAgent(i32),
    /// Have the guardian end all processes that are left; each has this long to
    /// follow SIGTERM.
    Sweep(Duration),
    /// Have the guardian list the processes that are left.
    ListLeftovers,
    /// End everything without the guardian, then report [`Event::TookOver`].
    TakeOver,
    /// Close the agent's standard input.
    CloseInput,
    /// Report [`Event::DeadlinePassed`] after this time; `None` is never.
    SetDeadline(Option<Duration>),
}

/// The state of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) phase: Phase,
    /// What ended the agent, or will, if it was not the agent itself.
    pub(crate) cause: Option<Cause>,
    /// Whether the agent was signalled or killed by us.
    pub(crate) killed: bool,
    /// How the agent ended.
    pub(crate) end: Option<End>,
    pub(crate) has_guardian: bool,
    grace: Duration,
    keep_children: bool,
}

type Step = (State, Vec<Action>);

impl State {
    /// A run whose agent is about to be started. `grace` is the time from the
    /// first signal to SIGKILL; with `keep_children` leftovers are only listed.
    pub(crate) fn new(grace: Duration, keep_children: bool) -> Step {
        let state = Self {
            phase: Phase::Starting,
            cause: None,
            killed: false,
            end: None,
            has_guardian: true,
            grace,
            keep_children,
        };
        (state, vec![Action::SetDeadline(Some(START_TIMEOUT))])
    }

    /// The state after `event`, and what has to be done, in order.
    pub(crate) fn on(mut self, event: Event) -> Step {
        match event {
            Event::Started => self.started(),
            Event::StartFailed(cause) => {
                self.cause = Some(cause);
                self.enter(Phase::Emptying, DRAIN_TIMEOUT, None)
            }
            Event::AgentEnded(end) => self.agent_ended(end),
            Event::Swept if self.phase == Phase::Sweeping => {
                self.enter(Phase::Emptying, EMPTY_TIMEOUT, None)
            }
            Event::Signal(number) => self.signalled(number),
            Event::StopWanted(cause) => self.stop(cause),
            Event::DeadlinePassed => self.deadline_passed(),
            Event::PipesClosed => match self.phase {
                Phase::Draining => self.sweep(),
                Phase::Emptying => self.finish(),
                _ => self.stay(),
            },
            Event::GuardianLost(why) => self.lose_guardian(why),
            Event::TookOver(end) => {
                self.end = self.end.or(end);
                self.enter(Phase::Emptying, EMPTY_TIMEOUT, None)
            }
            Event::Swept => self.stay(),
        }
    }

    fn started(mut self) -> Step {
        if self.phase != Phase::Starting {
            return self.stay();
        }
        self.phase = Phase::Running;
        match self.cause.take() {
            // It was asked to stop before it ran.
            Some(cause) => self.stop(cause),
            None => (self, vec![Action::SetDeadline(None)]),
        }
    }

    fn agent_ended(mut self, end: End) -> Step {
        self.end = Some(end);
        if matches!(self.phase, Phase::Running | Phase::Stopping) {
            return self.enter(Phase::Draining, DRAIN_TIMEOUT, Some(Action::CloseInput));
        }
        (self, vec![Action::CloseInput])
    }

    fn signalled(self, number: i32) -> Step {
        match (self.phase, &self.cause) {
            // A terminal that goes away says so more than once.
            (Phase::Stopping, Some(Cause::Signal(SIGHUP))) if number == SIGHUP => self.stay(),
            (Phase::Stopping, _) => self.kill(),
            _ => self.stop(Cause::Signal(number)),
        }
    }

    /// Asks the agent to end, once.
    fn stop(mut self, cause: Cause) -> Step {
        match self.phase {
            Phase::Running => {}
            Phase::Starting => {
                self.cause.get_or_insert(cause);
                return self.stay();
            }
            _ => return self.stay(),
        }
        let signal = Action::SignalAgent(cause.signal());
        self.killed = true;
        self.cause = Some(cause);
        let grace = self.grace;
        self.enter(Phase::Stopping, grace, Some(signal))
    }

    /// Kills the agent and everything else.
    fn kill(self) -> Step {
        let kill = Action::Sweep(Duration::ZERO);
        self.enter(Phase::Sweeping, SWEEP_TIMEOUT, Some(kill))
    }

    fn sweep(self) -> Step {
        let action = if self.keep_children {
            Action::ListLeftovers
        } else {
            Action::Sweep(SWEEP_TERM_GRACE)
        };
        self.enter(Phase::Sweeping, SWEEP_TIMEOUT, Some(action))
    }

    fn deadline_passed(self) -> Step {
        match self.phase {
            Phase::Starting | Phase::Sweeping => self.lose_guardian("the guardian does not answer"),
            Phase::Stopping => self.kill(),
            Phase::Draining => self.sweep(),
            Phase::Emptying => self.finish(),
            Phase::Running | Phase::Done => self.stay(),
        }
    }

    /// Without a guardian we end everything ourselves.
    fn lose_guardian(mut self, why: &'static str) -> Step {
        self.has_guardian = false;
        if matches!(self.phase, Phase::Emptying | Phase::Done) {
            // No process is left.
            return self.stay();
        }
        // An agent that has ended by itself has done so, whatever came after.
        if self.end.is_none() && !matches!(self.cause, Some(Cause::Clock(_) | Cause::Signal(_))) {
            self.cause = Some(Cause::GuardianDied(why));
        }
        self.killed |= self.end.is_none();
        self.phase = Phase::Sweeping;
        (self, vec![Action::SetDeadline(None), Action::TakeOver])
    }

    fn finish(mut self) -> Step {
        self.phase = Phase::Done;
        (self, vec![Action::SetDeadline(None)])
    }

    fn enter(mut self, phase: Phase, limit: Duration, action: Option<Action>) -> Step {
        self.phase = phase;
        let deadline = Action::SetDeadline(Some(limit));
        (self, action.into_iter().chain([deadline]).collect())
    }

    fn stay(self) -> Step {
        (self, Vec::new())
    }
}

#[cfg(test)]
#[path = "phases_tests.rs"]
mod tests;
