//! What the model says, in the stream and in the log.

use crate::agent::ids;
use crate::agent::object::{Json, json, object};
use crate::agent::output::Nested;
use crate::agent::session::Session;

impl Session {
    /// The model begins a message, which may have several blocks.
    pub(crate) fn begin_message(&mut self) {
        self.used.call();
        self.message_id = format!("msg_mock_{}", ids::hex(8));
    }

    /// A block of the model; `stop` is the stop reason of its message.
    pub(crate) fn say(&mut self, block: &Json, stop: Option<&str>) -> anyhow::Result<()> {
        let aborted = if stop.is_none() && self.dialect().is_new() {
            vec![("aborted", json(&true))]
        } else {
            Vec::new()
        };
        self.say_with(block, stop, aborted)
    }

    /// The same, with fields that only some of these lines have.
    pub(crate) fn say_with(
        &mut self,
        block: &Json,
        stop: Option<&str>,
        mut extra: Vec<(&'static str, Json)>,
    ) -> anyhow::Result<()> {
        extra.extend(self.speak()?);
        let uuid = ids::uuid();
        let id = &self.message_id;
        let in_stream = model_message(&self.options.model, id, block, None);
        self.out.assistant(&in_stream, &uuid, None, &extra)?;
        let in_log = model_message(&self.options.model, id, block, stop);
        self.log.assistant(&in_log, &uuid);
        Ok(())
    }

    /// Replays the messages of the turn before its first block, and names them.
    pub(crate) fn speak(&mut self) -> anyhow::Result<Vec<(&'static str, Json)>> {
        let Some(turn) = self.turn.as_mut().filter(|turn| !turn.has_spoken) else {
            return Ok(Vec::new());
        };
        turn.has_spoken = true;
        if let Some(last) = turn.starters.last() {
            let content = turn.content();
            self.out.replay(&content, &last.uuid, Some(&last.at))?;
        }
        if let Some(wakeup) = turn.wakeup.as_ref().filter(|it| it.is_peer()) {
            self.out
                .replay_synthetic(&wakeup.prompt(), &wakeup.origin(self.options.dialect))?;
        }
        let is_new = self.options.dialect.is_new();
        Ok(match turn.lead().filter(|_| is_new) {
            Some(lead) => vec![
                ("user_message_uuid", json(&lead)),
                ("user_message_uuids", json(&turn.uuids(false))),
            ],
            None => Vec::new(),
        })
    }

    /// A nested agent says something.
    pub(crate) fn say_nested(&mut self, text: &str, nested: &Nested) -> anyhow::Result<()> {
        let block = object! {"type": "text", "text": text}.json();
        let id = format!("msg_mock_{}", ids::hex(8));
        let message = model_message(&self.options.model, &id, &block, None);
        self.out
            .assistant(&message, &ids::uuid(), Some(nested), &[])?;
        Ok(())
    }
}

/// A message of the model with one block. The stream shows it before it is
/// complete, so without a stop reason.
fn model_message(model: &str, id: &str, block: &Json, stop: Option<&str>) -> Json {
    let usage = object! {
        "input_tokens": 100,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": 1,
    };
    object! {
        "id": id,
        "type": "message",
        "role": "assistant",
        "model": model.trim_end_matches("[1m]"),
        "content": [block],
        "stop_reason": stop,
        "stop_sequence": (),
        "usage": usage.json(),
        "context_management": (),
    }
    .json()
}
