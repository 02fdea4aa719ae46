//! Messages come in: from standard input, from clients, and from ourselves.

use cr_agent::uuid;
use cr_rundir::{ControlReply, MessageState, QueueLine};
use cr_stream::{Input, InputState, Named};
use serde_json::value::RawValue;

use super::Session;
use super::clients::ClientId;
use super::inbox::{Message, Stage};
use super::message::{Draft, Invalid};
use super::own_input::InputLine;
use crate::context::Context;

/// The sender of messages that come by standard input.
const STDIN: &str = "stdin";

/// The sender of messages of our own.
pub(crate) const OWN: &str = "claude-runner";

/// The longest name of a sender, in characters.
const MAX_SENDER: usize = 100;

/// Why a message was not taken: the exit code for the sender, and the reason.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) code: cr_io::Exit,
    pub(crate) reason: String,
}

impl Session {
    /// Reads standard input once.
    pub(crate) fn read_own_input(&mut self, context: &Context<'_>) {
        if let Some(input) = &mut self.own_input {
            input.read();
        }
        self.take_own_input(context);
    }

    /// Takes the lines of standard input for which there is room; the others wait.
    pub(super) fn take_own_input(&mut self, context: &Context<'_>) {
        let Some(input) = &mut self.own_input else {
            return;
        };
        let count = self.inbox.room_for(input.lengths());
        if count == 0 {
            return;
        }
        let lines = input.next_lines(count);
        let drafts = lines.into_iter().filter_map(|line| match line {
            InputLine::Whole(line) => Draft::of_line(&line).transpose(),
            InputLine::TooLong => Some(Err(Invalid("the line is too long".to_owned()))),
        });
        // One sync for all that came together.
        let accepted = self.accept_all(drafts.collect(), STDIN, None);
        self.tell_accepted(accepted, context);
    }

    /// Takes a message of a client, and replies.
    pub(super) fn accept_from(
        &mut self,
        client: ClientId,
        draft: Draft,
        from: &str,
        waits: bool,
        context: &Context<'_>,
    ) {
        if let Some(state) = draft.id.as_deref().and_then(|id| self.inbox.state(id)) {
            return self.reply_known(client, &draft, state, waits);
        }
        let mut accepted = self.accept_all(vec![Ok(draft)], from, waits.then_some(client));
        match accepted.pop() {
            Some(Ok(id)) => {
                self.reply_state(client, &id, InputState::Queued);
                self.tell_accepted(vec![Ok(id)], context);
            }
            Some(Err((_, refused))) => self.refuse(client, refused.code, &refused.reason),
            None => {}
        }
    }

    /// A sender that did not get the acknowledgement sends a message again: it is
    /// the same message.
    fn reply_known(&mut self, client: ClientId, draft: &Draft, state: InputState, waits: bool) {
        let id = draft.id.clone().unwrap_or_default();
        self.reply_state(client, &id, state);
        if !waits {
            return;
        }
        if let Some(message) = self.inbox.get(&id) {
            message.waiters.push(client);
            return;
        }
        let text = format!(
            "it is {} already; its answer is in the record",
            state.as_str()
        );
        let reply = ControlReply {
            id: Some(id),
            code: Some(cr_io::Exit::Data.code()),
            error: Some(text),
            ..ControlReply::new(false)
        };
        self.reply(client, &reply);
    }

    /// Queues a message of our own.
    pub(super) fn accept_own(&mut self, text: &str, context: &Context<'_>) {
        if let Ok(draft) = Draft::of_text(text) {
            let accepted = self.accept_all(vec![Ok(draft)], OWN, None);
            self.tell_accepted(accepted, context);
        }
    }

    /// Queues messages: on disk first, then in memory. Each has its id, or the
    /// reason why it is refused.
    pub(super) fn accept_all(
        &mut self,
        drafts: Vec<Result<Draft, Invalid>>,
        from: &str,
        waiter: Option<ClientId>,
    ) -> Vec<Result<String, (Option<String>, Refused)>> {
        self.accept_with(drafts, from, waiter, Vec::new())
    }

    /// The same, with `changes` of other messages that are kept with them.
    pub(super) fn accept_with(
        &mut self,
        drafts: Vec<Result<Draft, Invalid>>,
        from: &str,
        waiter: Option<ClientId>,
        changes: Vec<QueueLine>,
    ) -> Vec<Result<String, (Option<String>, Refused)>> {
        let mut results = Vec::new();
        let mut messages = Vec::new();
        for draft in drafts {
            let given = draft.as_ref().ok().and_then(|draft| draft.id.clone());
            let message = match draft {
                Ok(draft) => self.message(draft, from, waiter, &messages),
                Err(Invalid(reason)) => Err(Refused {
                    code: cr_io::Exit::Data,
                    reason,
                }),
            };
            match message {
                Ok(message) => {
                    results.push(Ok(message.id.clone()));
                    messages.push(message);
                }
                Err(refused) => results.push(Err((given, refused))),
            }
        }
        let mut lines: Vec<QueueLine> = messages.iter().map(first_line).collect();
        lines.extend(changes);
        let written = match &mut self.journal {
            Some(journal) if !lines.is_empty() => journal.accept(&lines),
            _ => Ok(()),
        };
        match written {
            Ok(()) => messages.into_iter().for_each(|it| self.inbox.add(it)),
            Err(err) => {
                for result in &mut results {
                    if let Ok(id) = result {
                        let refused = Refused {
                            code: cr_io::Exit::Io,
                            reason: format!("it cannot be recorded: {err}"),
                        };
                        *result = Err((Some(std::mem::take(id)), refused));
                    }
                }
            }
        }
        results
    }

    fn message(
        &self,
        draft: Draft,
        from: &str,
        waiter: Option<ClientId>,
        before: &[Message],
    ) -> Result<Message, Refused> {
        let refused = |code, reason| Err(Refused { code, reason });
        if self.completion.is_some() {
            return refused(cr_io::Exit::Retry, "the session is ending".to_owned());
        }
        // What was accepted by an earlier run is not refused now, and standard input
        // waits for room.
        let is_bounded = from != OWN && from != STDIN;
        let reason = self.inbox.refusal(draft.content.get().len());
        if let Some(reason) = reason.filter(|_| is_bounded) {
            return refused(cr_io::Exit::Retry, reason);
        }
        let is_known = |id: &str| {
            self.inbox.state(id).is_some() || before.iter().any(|message| message.id == id)
        };
        let id = match draft.id {
            Some(id) if is_known(&id) => {
                return refused(cr_io::Exit::Data, "its id was used before".to_owned());
            }
            Some(id) => id,
            None => uuid::random().map_err(|err| Refused {
                code: cr_io::Exit::Tool,
                reason: err.to_string(),
            })?,
        };
        let from = draft.from.as_deref().unwrap_or(from);
        Ok(Message {
            id,
            from: Some(sender(from)),
            when: draft.when.unwrap_or_default(),
            content: draft.content,
            stage: Stage::Waiting,
            is_completed: false,
            turn: None,
            folded: None,
            waiters: waiter.into_iter().collect(),
            is_held: false,
        })
    }

    pub(super) fn tell_accepted(
        &mut self,
        results: Vec<Result<String, (Option<String>, Refused)>>,
        context: &Context<'_>,
    ) {
        for result in results {
            match result {
                Ok(id) => self.tell_input(&id, InputState::Queued, None, context),
                Err((id, refused)) => self.reject(id, STDIN, &refused.reason, context),
            }
        }
    }

    /// Says that a message of standard input is refused.
    fn reject(&mut self, id: Option<String>, from: &str, reason: &str, context: &Context<'_>) {
        let input = Input {
            id: id.unwrap_or_default().into(),
            from: Some(from.into()),
            state: InputState::Rejected.into(),
            reason: Some(context.redactor.redact(reason)),
            ..Input::default()
        };
        self.tell(context, &input);
    }

    /// Writes the `cr/input` line of a message that is not answered yet, and keeps
    /// its state.
    pub(super) fn tell_input(
        &mut self,
        id: &str,
        state: InputState,
        reason: Option<&str>,
        context: &Context<'_>,
    ) {
        let Some(message) = self.inbox.get(id) else {
            return;
        };
        let input = Input {
            id: message.id.clone().into(),
            from: message.from.clone().map(Into::into),
            state: state.into(),
            folded: message.folded,
            turn: message.turn,
            reason: reason.map(|text| text.to_owned().into()),
        };
        self.tell(context, &input);
        if state != InputState::Queued {
            self.keep(id, state.as_str(), reason);
        }
    }

    /// Keeps a change of a message on disk. That it cannot be written changes
    /// nothing: the agent's session log tells it too.
    pub(super) fn keep(&mut self, id: &str, state: &str, reason: Option<&str>) {
        let line = QueueLine {
            id: id.to_owned(),
            at: cr_stream::now(),
            from: None,
            when: None,
            message: None,
            state: state.to_owned(),
            reason: reason.map(str::to_owned),
        };
        if let Some(journal) = &mut self.journal {
            let _ = journal.change(&line);
        }
    }

    fn reply_state(&mut self, client: ClientId, id: &str, state: InputState) {
        let data = MessageState {
            state: state.as_str().to_owned(),
            ..MessageState::default()
        };
        let reply = ControlReply {
            id: Some(id.to_owned()),
            data: serde_json::value::to_raw_value(&data).ok(),
            ..ControlReply::new(true)
        };
        self.reply(client, &reply);
    }
}

/// The first line of a message in `queue`.
fn first_line(message: &Message) -> QueueLine {
    QueueLine {
        id: message.id.clone(),
        at: cr_stream::now(),
        from: message.from.clone(),
        when: Some(message.when),
        message: user_message(&message.content),
        state: InputState::Queued.as_str().to_owned(),
        reason: None,
    }
}

/// The agent's user message with this content.
fn user_message(content: &RawValue) -> Option<Box<RawValue>> {
    let text = format!(r#"{{"role":"user","content":{content}}}"#);
    RawValue::from_string(text).ok()
}

/// A sender's name as it may be shown.
fn sender(name: &str) -> String {
    let name = cr_io::sanitized(name);
    cr_io::first_chars(&name, MAX_SENDER).0.to_owned()
}
