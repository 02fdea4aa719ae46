//! Lines that the supervisor writes while the agent runs.

use std::time::Instant;

use cr_agent::TurnTimeoutAction;
use cr_stream::{Clock, Doing, Limit, State, StateName, compose};

use super::Supervisor;
use super::timing::STOPPED_GAP;
use crate::cause::Cause;
use crate::phases::{Event, Phase};
use crate::record::millis;

impl Supervisor<'_> {
    /// Writes `cr/limit` and stops the agent if a clock has run out.
    pub(super) fn check_clocks(&mut self) {
        if self.phase() != Phase::Running || self.timing.last_round.elapsed() > STOPPED_GAP {
            return;
        }
        let now = Instant::now();
        if self
            .session
            .ignores_interrupt(self.context.options.clocks.grace)
        {
            return self.apply(Event::StopWanted(Cause::Clock(Clock::Turn)));
        }
        let clocks = &self.context.options.clocks;
        let clock = self.timing.clock(clocks, self.session.expects_turn());
        let Some(clock) = clock.filter(|clock| clock.until() <= now) else {
            return;
        };
        let mut limit = Limit {
            clock: clock.name.into(),
            limit_ms: Some(millis(clock.limit)),
            elapsed_ms: Some(millis(now.saturating_duration_since(clock.since))),
            doing: Some(self.doing(now)),
            action: "terminate".into(),
            ..Limit::default()
        };
        let interrupts = clock.name == Clock::Turn
            && self.context.options.session.on_turn_timeout() == TurnTimeoutAction::Interrupt
            && self.session.interrupt_turn(&mut limit);
        let line = compose(Some(self.context.run_id), &limit);
        self.streams.output.line(&line);
        if interrupts {
            // The clock of the next turn starts with it.
            self.timing.activity.turn_since = None;
            return self.advance_session();
        }
        self.apply(Event::StopWanted(Cause::Clock(clock.name)));
    }

    /// Writes `cr/state` if the agent has been silent for a while: only a write
    /// shows that the reader of our reader has left.
    pub(super) fn show_life(&mut self) {
        let now = Instant::now();
        let output = &self.streams.output;
        let is_due = output.last() + self.timing.heartbeat <= now;
        let is_shown = self.phase() == Phase::Running && self.streams.reader_may_leave;
        if !is_shown || !is_due || output.is_full() {
            return;
        }
        let activity = &self.timing.activity;
        let silent = now.saturating_duration_since(self.timing.last_heard);
        let name = self.session.state_name();
        let state = State {
            state: name.into(),
            turn: activity.turns,
            silent_ms: Some(millis(silent)),
            doing: (name == StateName::Running).then(|| self.doing(now)),
            ..State::default()
        };
        let line = compose(Some(self.context.run_id), &state);
        self.streams.output.line(&line);
        self.timing.heartbeat_written();
    }

    /// What the agent is doing, with secrets masked.
    fn doing(&self, now: Instant) -> Doing<'static> {
        let mut doing = self.timing.activity.doing(now);
        let target = doing.target.as_deref();
        let redactor = self.context.redactor;
        doing.target = target.map(|text| redactor.redact(text).into_owned().into());
        doing
    }
}
