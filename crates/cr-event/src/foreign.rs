//! Recognises Claude Code's lines, and the recordings of other programs.

use crate::line::{Event, Kind};
use crate::message::Content;

/// What an input looks like that has no line of Claude Code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// For use after "it looks like".
    pub name: &'static str,
    /// What to do about it.
    pub next: &'static str,
    /// It is nothing else: no answer of a model looks like that.
    pub is_sure: bool,
}

const OTHER_AGENT: &str = "Use the tools of that program: only recordings of Claude Code are read.";
const UNKNOWN: &str = "Look at what wrote it: the agent may not have started.";

/// Whether the line has the shape of Claude Code's. A `type` alone does not
/// tell: other agents use the same words.
pub fn is_claudes(event: &Event<'_>) -> bool {
    let has = |key: &str| event.line.get(key).is_some();
    match event.kind {
        Kind::Assistant | Kind::User => {
            let content = event.message.as_ref().map(|message| &message.content);
            content.is_some_and(|content| *content != Content::Nothing)
        }
        Kind::Result => is_claudes_result(event),
        Kind::System => event.subtype.is_some() && !has("systemPayload"),
        Kind::StreamEvent => has("event"),
        Kind::Other => {
            // Bookkeeping in a session's log.
            event.is_log || has("leafUuid") || event.name.is("file-history-snapshot")
        }
        _ => true,
    }
}

/// Whether the first line of a stream says that another program wrote it, whose
/// other lines are like Claude Code's. What they say of success is not the same:
/// an error of the API is a good result there.
pub fn names_another(event: &Event<'_>) -> bool {
    event.kind == Kind::System && event.line.get("qwen_code_version").is_some()
}

/// Whether a `result` line is one of Claude Code: another agent's has a
/// `status`.
pub fn is_claudes_result(event: &Event<'_>) -> bool {
    let has = |key: &str| event.line.get(key).is_some();
    event.subtype.is_some() || has("is_error") || has("result")
}

/// What a line looks like that is not Claude Code's.
pub fn look(event: &Event<'_>) -> Look {
    let has = |key: &str| event.line.get(key).is_some();
    let name = event.name.decode();
    let is_named = !name.is_empty();
    let is_event = ["thread.", "turn.", "item."]
        .iter()
        .any(|start| name.starts_with(start));
    let is_message = matches!(&*name, "init" | "message" | "tool_use" | "tool_result");
    let has_parts = event.line.at(&["message", "parts"]).is_some();
    let (agent, is_sure) = if is_event || has("payload") {
        let is_log = is_named && has("payload") && event.at.is_some();
        ("a recording of Codex", is_event || is_log)
    } else if has("sessionID") {
        ("a recording of opencode", is_named)
    } else if has("systemPayload") || has_parts || names_another(event) {
        let is_sure = is_named && (event.is_log || names_another(event));
        ("a recording of Qwen Code", is_sure)
    } else if has("stats") || is_message {
        let is_banner = name == "init" && has("model") && event.session_id.is_some();
        ("a recording of Gemini CLI", is_banner)
    } else {
        return Look {
            name: "JSON of another program",
            next: UNKNOWN,
            is_sure: false,
        };
    };
    Look {
        name: agent,
        next: OTHER_AGENT,
        is_sure,
    }
}

/// What a line looks like that is no JSON object.
pub fn look_of_bytes(line: &[u8]) -> Look {
    let (name, next) = match line {
        [0x28, 0xb5, 0x2f, 0xfd, ..] => (
            "a zstd file",
            "Decompress it first, for example: zstdcat FILE | cr-summarize.",
        ),
        [0xfd, b'7', b'z', b'X', b'Z', ..] => (
            "an xz file",
            "Decompress it first, for example: xzcat FILE | cr-summarize.",
        ),
        _ => ("text", UNKNOWN),
    };
    Look {
        name,
        next,
        is_sure: name != "text",
    }
}
