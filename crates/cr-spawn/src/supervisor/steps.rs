//! From the first line to the last: what each phase waits for.

use std::time::{Duration, Instant};

use cr_proc::{Process, Swept};

use super::{DRAIN, Phase, Supervisor};
use crate::activity::Activity;
use crate::cause::Cause;
use crate::guardian::PATIENCE;
use crate::guardian_protocol::{Order, Report};
use crate::read_budget::BudgetedRead;
use crate::record::millis;

/// How long the guardian may take to end everything.
const SWEEP: Duration = Duration::from_millis(2500);

impl Supervisor<'_> {
    pub(super) fn heed(&mut self, report: Report) {
        match report {
            Report::Started { pid } => {
                self.agent = Some(pid);
                if self.phase == Phase::Starting {
                    self.enter(Phase::Running, None);
                }
                let now = Instant::now();
                self.started = now;
                self.activity = Activity::new(now);
                self.activity.is_resumed = self.args.resumes_session();
            }
            Report::Failed { errno, what } => {
                self.cause = Some(crate::start::cannot_run(
                    errno,
                    &what,
                    self.args.claude.as_deref(),
                ));
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

    /// Asks the agent to end, once.
    pub(super) fn stop(&mut self, cause: Cause) {
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
    pub(super) fn kill(&mut self) {
        self.guard.order(&Order::Sweep { patience_ms: 0 }, &[]);
        self.enter(Phase::Sweeping, Some(SWEEP));
    }

    pub(super) fn check_phase(&mut self) {
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
                let order = if self.args.keep_children {
                    Order::List
                } else {
                    Order::Sweep { patience_ms }
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
    pub(super) fn take_over(&mut self, why: &'static str) {
        self.is_alone = true;
        if matches!(self.phase, Phase::Emptying | Phase::Done) {
            // Nobody was left to guard.
            return;
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

    pub(super) fn enter(&mut self, phase: Phase, limit: Option<Duration>) {
        self.phase = phase;
        self.until = limit.map(|limit| Instant::now() + limit);
    }
}
