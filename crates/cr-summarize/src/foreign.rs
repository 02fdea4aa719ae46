//! Recognises Claude Code's lines, and the recordings of other programs.

use cr_event::{Content, Event, Kind};

/// What an input looks like that has no line of Claude Code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    /// For use after "it looks like".
    pub(crate) name: &'static str,
    /// What to do about it.
    pub(crate) next: &'static str,
}

const OTHER_AGENT: &str = "Use the tools of that program: only recordings of Claude Code are read.";
const COMPRESSED: &str = "Decompress it first, for example: zcat FILE | cr-summarize.";
const UNKNOWN: &str = "Look at what wrote it: the agent may not have started.";

/// Whether the line has the shape of Claude Code's. A `type` alone does not
/// tell: other agents use the same words.
pub(crate) fn is_claudes(event: &Event<'_>) -> bool {
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

/// Whether a `result` line is one of Claude Code: another agent's has a
/// `status`.
pub(crate) fn is_claudes_result(event: &Event<'_>) -> bool {
    let has = |key: &str| event.line.get(key).is_some();
    event.subtype.is_some() || has("is_error") || has("result")
}

/// What a line looks like that is not Claude Code's.
pub(crate) fn look(event: &Event<'_>) -> Look {
    let has = |key: &str| event.line.get(key).is_some();
    let name = event.name.decode();
    let is_codex = ["thread.", "turn.", "item."]
        .iter()
        .any(|start| name.starts_with(start))
        || has("payload");
    let is_qwen = has("systemPayload") || event.line.at(&["message", "parts"]).is_some();
    let agent = if is_codex {
        "a recording of Codex"
    } else if has("sessionID") {
        "a recording of opencode"
    } else if is_qwen {
        "a recording of Qwen Code"
    } else if has("stats") || matches!(&*name, "init" | "message" | "tool_use" | "tool_result") {
        "a recording of Gemini CLI"
    } else {
        return Look {
            name: "JSON of another program",
            next: UNKNOWN,
        };
    };
    Look {
        name: agent,
        next: OTHER_AGENT,
    }
}

/// What a line looks like that is no JSON object.
pub(crate) fn look_of_bytes(line: &[u8]) -> Look {
    let name = match line {
        [0x1f, 0x8b, ..] => "a gzip file",
        [0x28, 0xb5, 0x2f, 0xfd, ..] => "a zstd file",
        [0xfd, b'7', b'z', b'X', b'Z', ..] => "an xz file",
        _ => {
            return Look {
                name: "text",
                next: UNKNOWN,
            };
        }
    };
    Look {
        name,
        next: COMPRESSED,
    }
}
