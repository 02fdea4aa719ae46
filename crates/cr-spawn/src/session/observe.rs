//! What the agent's lines change in a session.

use std::time::Instant;

use cr_event::{Raw, TurnEnd};
use cr_rundir::{ControlReply, MessageState};
use cr_stream::{InputState, Named, TurnCause};
use serde_json::value::RawValue;

use super::agent_line::Fact;
use super::inbox::{Message, Stage};
use super::{Completion, Effect, Session};
use crate::context::Context;
use crate::tasks::EndedTask;

/// The code for a sender whose message was interrupted.
const INTERRUPTED: u8 = 130;

impl Session {
    /// Takes note of a fact.
    pub(super) fn observe(&mut self, fact: Fact<'_>, context: &Context<'_>, now: Instant) {
        match fact {
            Fact::TurnBegan => {
                let cause = self.expected_cause();
                self.has_peer_message = false;
                self.turns.begin(cause);
                // Its own result may be too long to be read.
                self.last_result = None;
                self.note_possible_start();
            }
            Fact::Spoke => self.turns.spoke(),
            Fact::TurnEnded(end) => self.turn_ended(&end, context),
            Fact::Idle => self.agent_is_idle(context),
            Fact::Busy => self.turns.told_busy(),
            Fact::Lifecycle { id, state } => {
                self.has_lifecycle = true;
                self.lifecycle(&id, &state, context);
            }
            // Newer versions have said it before, more exactly.
            Fact::Replayed(id) => {
                self.has_replay = true;
                if !self.has_lifecycle {
                    self.start_message(&id, context);
                }
            }
            Fact::PeerMessage => self.peer_message(),
            Fact::Task(fact) => {
                let ended = self.tasks.changed(fact);
                self.task_ended(ended, now);
            }
            Fact::TaskList(tasks) => self.tasks.listed(tasks),
            Fact::CallReturned(call) => {
                self.allowed_calls.retain(|allowed| *allowed != call);
                self.tasks.call_returned(&call);
            }
            Fact::AgentResumed(id) => self.tasks.resumed(id),
            Fact::Question(line) => self.question(line, context, now),
            Fact::Withdrawn(id) => self.withdrawn(&id, context),
            Fact::Reply(reply) => self.agent_replied(&reply, context),
        }
    }

    /// What most likely begins the turn that is announced now. Its result tells
    /// for certain.
    fn expected_cause(&self) -> Option<TurnCause> {
        let next = self.turns.number + 1;
        let is_begun = |it: &Message| it.stage == Stage::Started && it.turn == Some(next);
        let is_sent = |it: &Message| it.stage == Stage::Sent;
        let messages = &self.inbox.messages;
        if messages.iter().any(is_begun) {
            Some(TurnCause::Message)
        } else if self.has_peer_message {
            Some(TurnCause::Peer)
        } else if self.turns.unreported_since.is_some() {
            Some(TurnCause::Task)
        } else {
            messages.iter().any(is_sent).then_some(TurnCause::Message)
        }
    }

    fn peer_message(&mut self) {
        if !self.turns.is_running {
            self.has_peer_message = true;
        } else if !self.turns.has_spoken {
            self.turns.cause = Some(TurnCause::Peer);
        }
    }

    fn task_ended(&mut self, task: Option<EndedTask>, now: Instant) {
        // A task that ends in a turn is reported in it, or in the next one.
        let Some(task) = task.filter(|_| !self.turns.is_running) else {
            return;
        };
        // An interrupt kills agents, and no turn reports that.
        if !task.is_killed || self.requests.was_stopped(&task.id) {
            self.turns.unreported_since.get_or_insert(now);
        }
    }

    /// The agent takes up a message.
    fn start_message(&mut self, id: &str, context: &Context<'_>) {
        let is_folded = self.turns.is_running && self.turns.has_spoken;
        self.start_message_as(id, is_folded, context);
    }

    fn start_message_as(&mut self, id: &str, is_folded: bool, context: &Context<'_>) {
        let (number, is_running) = (self.turns.number, self.turns.is_running);
        let Some(message) = self.inbox.get(id) else {
            return;
        };
        if message.stage == Stage::Started {
            return;
        }
        message.stage = Stage::Started;
        message.folded = Some(is_folded);
        message.turn = Some(if is_running { number } else { number + 1 });
        self.tell_input(id, InputState::Started, None, context);
    }

    fn lifecycle(&mut self, id: &str, state: &str, context: &Context<'_>) {
        let is_running = self.turns.is_running;
        let number = self.turns.number;
        match state {
            "started" => return self.start_message(id, context),
            "completed" | "cancelled" => {}
            _ => return,
        }
        let Some(message) = self.inbox.get(id) else {
            return;
        };
        let is_over = !is_running && message.turn.is_some_and(|turn| turn <= number);
        match message.stage {
            Stage::Started if is_over => self.finish_by_result(id, context),
            // Its turn has not ended yet.
            Stage::Started => message.is_completed = true,
            _ if state == "cancelled" => {
                self.finish(id, InputState::Cancelled, Some("cancelled"), context);
            }
            _ => {
                let reason = "the agent had it already";
                self.finish(id, InputState::Done, Some(reason), context);
            }
        }
    }

    /// Notes which messages may be those of the turn that begins. Only versions
    /// without a lifecycle need this: they repeat a message with the first block of
    /// the answer, and never if there is none.
    fn note_possible_start(&mut self) {
        let (turn, has_lifecycle) = (self.turns.number, self.has_lifecycle);
        let sent = self.inbox.messages.iter_mut();
        for message in sent.filter(|it| it.stage == Stage::Sent && !has_lifecycle) {
            message.turn = Some(turn);
        }
    }

    /// Takes the messages of a turn that fails before it says anything as started.
    fn start_unannounced(&mut self, end: &TurnEnd<'_>, context: &Context<'_>) {
        let turn = Some(self.turns.number);
        let of_turn = |stage| move |it: &&Message| it.stage == stage && it.turn == turn;
        let mut messages = self.inbox.messages.iter();
        // Some versions never tell that they take a message.
        let is_told = self.has_lifecycle || self.has_replay;
        // A command such as /clear is never repeated, and has a turn of its own that
        // no model took part in.
        let is_own = end.num_turns() == Some(0) && !end.is_error() && end.origin().is_none();
        let is_command = is_own && self.turns.has_spoken && !self.has_lifecycle;
        let is_known = !end.is_error() && is_told && !is_command;
        if is_known || messages.any(|it| of_turn(Stage::Started)(&it)) {
            return;
        }
        let sent = self.inbox.messages.iter().filter(of_turn(Stage::Sent));
        let mut sent: Vec<String> = sent.map(|it| it.id.clone()).collect();
        if is_command {
            sent.truncate(1);
        }
        for id in sent {
            self.start_message_as(&id, false, context);
        }
    }

    fn turn_ended(&mut self, end: &TurnEnd<'_>, context: &Context<'_>) {
        self.start_unannounced(end, context);
        if !self.turns.has_result(end) {
            return;
        }
        // The result tells for certain what began the turn.
        self.tell_state(context);
        self.turns.end();
        self.interrupted_at = None;
        self.allowed_calls.clear();
        self.tasks.turn_ended();
        let text = std::str::from_utf8(end.line().bytes()).ok();
        self.last_result = text.and_then(|text| RawValue::from_string(text.to_owned()).ok());
        let is_through =
            |it: &&Message| it.stage == Stage::Started && (it.is_completed || !self.has_lifecycle);
        let through = self.inbox.messages.iter().filter(is_through);
        let through: Vec<String> = through.map(|it| it.id.clone()).collect();
        for id in through {
            self.finish_by_result(&id, context);
        }
        self.check_field(end);
    }

    /// `--until-field`: the structured output says that the work is complete.
    fn check_field(&mut self, end: &TurnEnd<'_>) {
        let Some(field) = &self.options.until_field else {
            return;
        };
        let value = end.line().at(&["structured_output", field]);
        if value.and_then(Raw::bool) == Some(true) && self.completion.is_none() {
            self.completion = Some(Completion::Field);
            self.effects.push_back(Effect::CloseInput);
        }
    }

    fn agent_is_idle(&mut self, context: &Context<'_>) {
        self.turns.idle();
        for id in self.inbox.ids_in(Stage::Started) {
            self.finish_by_result(&id, context);
        }
    }

    /// Ends a message whose turn has ended.
    fn finish_by_result(&mut self, id: &str, context: &Context<'_>) {
        if self.is_last_interrupted() {
            self.finish(id, InputState::Cancelled, Some("interrupted"), context);
        } else {
            self.finish(id, InputState::Done, None, context);
        }
    }

    /// Whether the last result is that of a turn that was interrupted.
    fn is_last_interrupted(&self) -> bool {
        let line = self.last_result.as_deref().map(RawValue::get);
        let line = line.and_then(|text| Raw::of(text.as_bytes()));
        let reason = line.and_then(|line| line.string("terminal_reason"));
        reason.is_some_and(|reason| reason.starts_with("aborted"))
    }

    /// Ends a message, and tells whoever waits for it.
    pub(super) fn finish(
        &mut self,
        id: &str,
        state: InputState,
        reason: Option<&str>,
        context: &Context<'_>,
    ) {
        self.tell_input(id, state, reason, context);
        let Some(message) = self.inbox.end(id, state) else {
            return;
        };
        let is_done = state == InputState::Done;
        let data = MessageState {
            state: state.as_str().to_owned(),
            turn: message.turn,
            folded: message.folded,
            result: self.last_result.clone().filter(|_| message.turn.is_some()),
        };
        let reply = ControlReply {
            code: (!is_done).then_some(INTERRUPTED),
            error: reason
                .filter(|_| !is_done)
                .map(|why| format!("the message was {why}")),
            id: Some(message.id),
            data: serde_json::value::to_raw_value(&data).ok(),
            ..ControlReply::new(is_done)
        };
        for client in message.waiters {
            self.reply(client, &reply);
        }
    }
}
