//! When messages are given to the agent, and when the work is complete.

use std::time::{Duration, Instant};

use cr_stream::{Clock, InputState, Limit, State, StateName};

use super::inbox::{Next, Readiness, Stage};
use super::message::agent_line;
use super::requests::Purpose;
use super::{Completion, Effect, Session};
use crate::context::Context;
use crate::record::millis;

/// The reminder of a background task that nobody reported.
const REMINDER: &str = "A background task has ended. Read its result and go on.";

impl Session {
    /// Does what can be done now: gives messages to the agent, lets questions time
    /// out, and closes the agent's input when the work is complete.
    pub(crate) fn advance(&mut self, context: &Context<'_>, has_room: bool) {
        if !self.is_interactive() {
            return;
        }
        let now = Instant::now();
        if self.completion.is_none() {
            self.take_own_input(context);
            if has_room {
                self.deliver(context);
            }
            self.check_questions(context, now);
            self.check_unreported(context, now);
            self.check_complete();
        }
        self.tell_state(context);
    }

    /// When [`Session::advance`] has something to do at the latest.
    pub(crate) fn due(&self, grace: Duration) -> Option<Instant> {
        if !self.is_interactive() || self.completion.is_some() {
            return None;
        }
        let ask = self.options.ask_timeout;
        let oldest = self.questions.iter().map(|question| question.since).min();
        let wake = self.options.wake_timeout;
        let times = [
            oldest.filter(|_| !ask.is_zero()).map(|since| since + ask),
            self.turns
                .unreported_since
                .filter(|_| !wake.is_zero())
                .map(|since| since + wake),
            self.interrupted_at.map(|at| at + grace),
        ];
        times.into_iter().flatten().min()
    }

    /// Leaves `gap` out of the clocks of the session.
    pub(crate) fn exclude(&mut self, gap: Duration) {
        let times = self
            .questions
            .iter_mut()
            .map(|question| &mut question.since);
        times.for_each(|since| *since += gap);
        let times = [&mut self.turns.unreported_since, &mut self.interrupted_at];
        times.into_iter().flatten().for_each(|at| *at += gap);
    }

    fn deliver(&mut self, context: &Context<'_>) {
        loop {
            let ready = Readiness {
                is_running: self.turns.is_running,
                is_asking: !self.questions.is_empty() || !self.allowed_calls.is_empty(),
            };
            match self.inbox.next(ready) {
                Some(Next::Send(index)) => self.give(index),
                Some(Next::Interrupt(index)) => {
                    // What follows an interrupt begins the next turn.
                    self.interrupt(None);
                    self.give(index);
                }
                Some(Next::Hold(index)) => {
                    let message = &mut self.inbox.messages[index];
                    message.is_held = true;
                    let id = message.id.clone();
                    let reason = "it waits until the open question is answered";
                    self.tell_input(&id, InputState::Queued, Some(reason), context);
                }
                None => return,
            }
        }
    }

    /// Writes a message to the agent.
    fn give(&mut self, index: usize) {
        let message = &mut self.inbox.messages[index];
        message.stage = Stage::Sent;
        let line = agent_line(&message.id, &message.content);
        let id = message.id.clone();
        self.keep(&id, "sent", None);
        self.effects.push_back(Effect::ToAgent(line));
    }

    /// Interrupts the turn. The background agents end with it.
    pub(super) fn interrupt(&mut self, client: Option<super::ClientId>) {
        let agents = self.tasks.agents();
        let purpose = Purpose::Interrupt { client, agents };
        let line = self.requests.compose(purpose, r#"{"subtype":"interrupt"}"#);
        self.effects.push_back(Effect::ToAgent(line));
    }

    /// Interrupts a turn that takes too long. Returns whether it could be asked
    /// for: the second time the turn does not end by asking.
    pub(crate) fn interrupt_turn(&mut self, limit: &mut Limit<'_>) -> bool {
        if self.interrupted_at.is_some() || !self.turns.is_running {
            return false;
        }
        limit.action = "interrupt".into();
        limit.stopped_tasks = self.tasks.agents().into_iter().map(Into::into).collect();
        self.interrupted_at = Some(Instant::now());
        self.interrupt(None);
        true
    }

    /// Whether a turn that was interrupted has not ended within `grace`.
    pub(crate) fn ignores_interrupt(&self, grace: Duration) -> bool {
        self.interrupted_at.is_some_and(|at| at.elapsed() >= grace)
    }

    /// Reminds the agent, once, of a background task that it has not reported.
    fn check_unreported(&mut self, context: &Context<'_>, now: Instant) {
        let limit = self.options.wake_timeout;
        let Some(since) = self.turns.unreported_since.filter(|_| !limit.is_zero()) else {
            return;
        };
        if now < since + limit {
            return;
        }
        self.turns.unreported_since = None;
        let line = Limit {
            clock: Clock::Wake.into(),
            limit_ms: Some(millis(limit)),
            elapsed_ms: Some(millis(now.saturating_duration_since(since))),
            action: "remind".into(),
            ..Limit::default()
        };
        self.tell(context, &line);
        self.accept_own(REMINDER, context);
    }

    /// Closes the agent's input when nothing can come any more. The agent finishes
    /// what it has and ends.
    fn check_complete(&mut self) {
        let is_complete = self.is_input_over()
            && self.inbox.messages.is_empty()
            && self.questions.is_empty()
            && self.turns.is_quiet()
            && !self.tasks.is_any_open();
        if is_complete {
            self.complete(Completion::InputEnd);
        }
    }

    /// Ends the session: the agent gets no more input.
    pub(super) fn complete(&mut self, how: Completion) {
        if self.completion.is_none() {
            self.completion = Some(how);
            self.effects.push_back(Effect::CloseInput);
        }
    }

    /// Writes `cr/state` if the state has changed.
    pub(super) fn tell_state(&mut self, context: &Context<'_>) {
        let name = self.state_name();
        let cause = self.turns.cause.filter(|_| name == StateName::Running);
        let told = Some((name, self.turns.number, cause));
        if self.told == told {
            return;
        }
        self.told = told;
        let state = State {
            state: name.into(),
            turn: self.turns.number,
            cause: cause.map(Into::into),
            ..State::default()
        };
        self.tell(context, &state);
    }

    /// The state of the session. A run with a single prompt is always running.
    pub(crate) fn state_name(&self) -> StateName {
        if !self.is_interactive() {
            StateName::Running
        } else if self.completion.is_some() && !self.turns.is_running {
            StateName::Stopping
        } else if !self.questions.is_empty() {
            StateName::Asking
        } else if self.turns.is_running {
            StateName::Running
        } else if !self.has_spoken && self.inbox.is_agent_busy() {
            StateName::Starting
        } else if self.inbox.is_agent_busy() || self.is_input_over() {
            StateName::Running
        } else {
            StateName::WaitingForInput
        }
    }
}
