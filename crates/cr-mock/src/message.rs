//! An answer as the model gives it: whole, or as a stream of events.

use std::io;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::http::Connection;
use crate::request::Request;
use crate::scenario::{Block, Cut, Scenario, Step};

/// How many characters a delta has, unless the step says otherwise.
const CHUNK: usize = 24;

/// How often a file is looked for that lets an answer go on.
const GATE_POLL: Duration = Duration::from_millis(20);

/// The message that `step` describes, in the form of an unstreamed answer.
pub(crate) fn whole(step: &Step, request: &Request, scenario: &Scenario) -> Value {
    let text = step.text.clone().unwrap_or_else(|| "ok".to_owned());
    let blocks = match step.blocks.as_slice() {
        [] => &[Block::Text { text }],
        blocks => blocks,
    };
    let calls = |block: &Block| matches!(block, Block::ToolUse { .. });
    let natural = if blocks.iter().any(calls) {
        "tool_use"
    } else {
        "end_turn"
    };
    let content: Vec<Value> = blocks.iter().map(|it| content(it, scenario)).collect();
    json!({
        "id": scenario.name("msg_mock"),
        "type": "message",
        "role": "assistant",
        "model": step.model.as_ref().unwrap_or(&request.model),
        "content": content,
        "stop_reason": step.stop_reason.as_deref().unwrap_or(natural),
        "stop_sequence": null,
        "usage": step.usage,
    })
}

fn content(block: &Block, scenario: &Scenario) -> Value {
    match block {
        Block::Text { text } => json!({"type": "text", "text": text}),
        Block::Thinking { thinking } => {
            json!({"type": "thinking", "thinking": thinking, "signature": "c2lnbmVk"})
        }
        Block::ToolUse { name, id, input } => {
            let id = id.clone().unwrap_or_else(|| scenario.name("toolu_mock"));
            json!({"type": "tool_use", "id": id, "name": name, "input": input})
        }
    }
}

/// Whether an answer came to its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// To the last event.
    Whole,
    /// Cut, as the step asked for.
    Cut,
}

/// Streams `message` to `connection`, with what `step` does to it on the way.
pub(crate) fn stream(
    message: &Value,
    step: &Step,
    connection: &mut Connection,
) -> io::Result<Delivery> {
    let mut opening = message.clone();
    opening["content"] = json!([]);
    opening["stop_reason"] = Value::Null;
    opening["usage"]["output_tokens"] = json!(step.usage.output_tokens.min(1));
    let mut out = Events { step, connection };
    out.send(&json!({"type": "message_start", "message": opening}))?;
    if step.hang {
        return out.stall();
    }
    let blocks = message["content"].as_array().into_iter().flatten();
    for (index, block) in blocks.enumerate() {
        if out.block(index, block)? == Delivery::Cut {
            return Ok(Delivery::Cut);
        }
    }
    out.send(&json!({
        "type": "message_delta",
        "delta": {"stop_reason": message["stop_reason"], "stop_sequence": null},
        "usage": message["usage"],
    }))?;
    out.send(&json!({"type": "message_stop"}))?;
    out.connection.end()?;
    Ok(Delivery::Whole)
}

/// The events of one answer on their way out.
struct Events<'a> {
    step: &'a Step,
    connection: &'a mut Connection,
}

impl Events<'_> {
    fn send(&mut self, event: &Value) -> io::Result<()> {
        let name = event["type"].as_str().unwrap_or_default();
        let text = format!("event: {name}\ndata: {event}\n\n");
        self.connection.chunk(text.as_bytes())
    }

    /// Says that it is alive, and nothing else, until the client goes away.
    fn stall(&mut self) -> io::Result<Delivery> {
        loop {
            self.send(&json!({"type": "ping"}))?;
            thread::sleep(Duration::from_secs(1));
        }
    }

    /// Sends one content block: its start, its text bit by bit, its stop.
    fn block(&mut self, index: usize, block: &Value) -> io::Result<Delivery> {
        let mut start = block.clone();
        let (delta, field) = match block["type"].as_str() {
            Some("thinking") => ("thinking_delta", "thinking"),
            Some("tool_use") => ("input_json_delta", "partial_json"),
            _ => ("text_delta", "text"),
        };
        let text = if delta == "input_json_delta" {
            start["input"] = json!({});
            block["input"].to_string()
        } else {
            start[field] = json!("");
            block[field].as_str().unwrap_or_default().to_owned()
        };
        self.send(&json!({"type": "content_block_start", "index": index, "content_block": start}))?;
        let characters: Vec<char> = text.chars().collect();
        for piece in characters.chunks(self.step.chunk_size.unwrap_or(CHUNK).max(1)) {
            let piece: String = piece.iter().collect();
            self.delta(index, json!({"type": delta, field: piece}))?;
            if self.fault()? == Delivery::Cut {
                return Ok(Delivery::Cut);
            }
            thread::sleep(Duration::from_millis(self.step.chunk_delay_ms));
        }
        if let Some(signature) = block.get("signature") {
            let delta = json!({"type": "signature_delta", "signature": signature});
            self.delta(index, delta)?;
        }
        self.send(&json!({"type": "content_block_stop", "index": index}))?;
        Ok(Delivery::Whole)
    }

    #[expect(clippy::needless_pass_by_value, reason = "made for this call alone")]
    fn delta(&mut self, index: usize, delta: Value) -> io::Result<()> {
        self.send(&json!({"type": "content_block_delta", "index": index, "delta": delta}))
    }

    /// What the step does to the answer after its first delta, if anything.
    fn fault(&mut self) -> io::Result<Delivery> {
        if self.step.drop == Some(Cut::Mid) {
            self.connection.cut()?;
            return Ok(Delivery::Cut);
        }
        if let Some(error) = &self.step.stream_error {
            let kind = error.kind.as_deref().unwrap_or("overloaded_error");
            let message = error.message.as_deref().unwrap_or("scripted error");
            self.send(&json!({"type": "error", "error": {"type": kind, "message": message}}))?;
            self.connection.end()?;
            return Ok(Delivery::Cut);
        }
        // It ends when the client goes away, since a ping then fails.
        while self.step.gate.as_ref().is_some_and(|file| !file.exists()) {
            self.send(&json!({"type": "ping"}))?;
            thread::sleep(GATE_POLL);
        }
        Ok(Delivery::Whole)
    }
}
