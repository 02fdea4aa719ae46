//! One line: the fields that every event has, in both dialects.

use crate::json::{Cursor, Malformed, Raw, Text};
use crate::message::Message;

/// The `type` of lines of our own. It is compared here only: other crates ask
/// for [`Kind::Cr`].
pub const OWN_TYPE: &str = "cr";

const OWN_TYPE_BYTES: &[u8] = OWN_TYPE.as_bytes();

/// The kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// The model, or a subagent, said something or called a tool.
    Assistant,
    /// A tool's result, a prompt, a reminder of the CLI.
    User,
    /// The end of a turn.
    Result,
    /// A message of the CLI about itself; `subtype` says which.
    System,
    /// A piece of a message, with `--include-partial-messages`.
    StreamEvent,
    /// A line of our own.
    Cr,
    /// A long tool is still running.
    ToolProgress,
    /// How much of a subscription's limit is used.
    RateLimit,
    /// The totals of a session, in its log.
    CostState,
    /// A question of the CLI to its host, or an answer.
    Control,
    /// The conversation was cleared.
    Reset,
    /// Everything else, known or new.
    Other,
}

impl Kind {
    /// The kind with the type `name`.
    pub fn of(name: &[u8]) -> Self {
        match name {
            b"assistant" => Self::Assistant,
            b"user" => Self::User,
            b"result" => Self::Result,
            b"system" => Self::System,
            b"stream_event" => Self::StreamEvent,
            OWN_TYPE_BYTES => Self::Cr,
            b"tool_progress" => Self::ToolProgress,
            b"rate_limit_event" => Self::RateLimit,
            b"cost-state" => Self::CostState,
            b"control_request" | b"control_response" | b"control_cancel_request" => Self::Control,
            b"conversation_reset" => Self::Reset,
            _ => Self::Other,
        }
    }

    /// The kind of a line by its first bytes alone, which may be all there is
    /// of it so far; `None` where its `type` is not the first key.
    ///
    /// This is a shortcut for lines that are dropped; [`Event::parse`] finds the
    /// type at any place.
    pub fn of_head(head: &[u8]) -> Option<Self> {
        // By far the most frequent, where there are any.
        if head.starts_with(br#"{"type":"stream_event""#) {
            return Some(Self::StreamEvent);
        }
        let value = head.strip_prefix(br#"{"type":""#)?;
        // The longest known name has 22 letters.
        let name = &value[..value.len().min(24)];
        let end = name.iter().position(|&b| b == b'"' || b == b'\\')?;
        (name[end] == b'"').then(|| Self::of(&name[..end]))
    }
}

/// The parts of a line that are common to many kinds.
#[derive(Clone, Debug)]
pub struct Event<'a> {
    /// What the line is about.
    pub kind: Kind,
    /// The `type` as written.
    pub name: Text<'a>,
    /// The finer kind.
    pub subtype: Option<Text<'a>>,
    /// The session the line belongs to.
    pub session_id: Option<Text<'a>>,
    /// When it happened: `timestamp` of the agent's lines, `at` of our own.
    pub at: Option<Text<'a>>,
    /// The call of a subagent that this line is part of.
    pub parent: Option<Text<'a>>,
    /// The id of the line.
    pub uuid: Option<Text<'a>>,
    /// The run, on lines of our own.
    pub run_id: Option<Text<'a>>,
    /// The version of the CLI, in a turn's banner and on lines of a session log.
    pub cli_version: Option<Text<'a>>,
    /// How long the prompt cache was asked to keep a message, in a session log.
    pub cache_requested: Option<Text<'a>>,
    /// A subagent's line in a session log.
    pub is_sidechain: bool,
    /// The line has the shape of a session log's.
    pub is_log: bool,
    /// No person typed it: a reminder, a replay, a note of the CLI.
    pub is_synthetic: bool,
    /// The message.
    pub message: Option<Message<'a>>,
    /// The structured twin of a tool's result.
    pub tool_result: Option<Raw<'a>>,
    /// All of the line.
    pub line: Raw<'a>,
}

impl<'a> Event<'a> {
    /// Reads a line. The first of two fields with one name counts.
    pub fn parse(line: &'a [u8]) -> Result<Self, Malformed> {
        let line = strip(line);
        let mut event = Event {
            kind: Kind::Other,
            name: Text::default(),
            subtype: None,
            session_id: None,
            at: None,
            parent: None,
            uuid: None,
            run_id: None,
            cli_version: None,
            cache_requested: None,
            is_sidechain: false,
            is_log: false,
            is_synthetic: false,
            message: None,
            tool_result: None,
            line: Raw::new(line),
        };
        if line.first() != Some(&b'{') {
            return Err(Malformed {
                column: 1,
                reason: "expected an object",
            });
        }
        let mut cursor = Cursor::new(line);
        let mut name = None;
        cursor.object(|cursor, key| match key {
            b"type" => keep(&mut name, cursor.text()?),
            _ => event.field(cursor, key),
        })?;
        cursor.end()?;
        event.name = name.unwrap_or_default();
        event.kind = event.name.with_bytes(Kind::of);
        Ok(event)
    }

    fn field(&mut self, cursor: &mut Cursor<'a>, key: &[u8]) -> Result<(), Malformed> {
        match key {
            b"subtype" => keep(&mut self.subtype, cursor.text()?),
            b"session_id" => keep(&mut self.session_id, cursor.text()?),
            b"sessionId" => {
                self.is_log = true;
                keep(&mut self.session_id, cursor.text()?)
            }
            b"timestamp" | b"at" => keep(&mut self.at, cursor.text()?),
            b"parent_tool_use_id" => keep(&mut self.parent, cursor.text()?),
            b"uuid" => keep(&mut self.uuid, cursor.text()?),
            b"run_id" => keep(&mut self.run_id, cursor.text()?),
            b"version" | b"claude_code_version" => keep(&mut self.cli_version, cursor.text()?),
            b"promptCacheRequested" => keep(&mut self.cache_requested, cursor.text()?),
            b"isSidechain" => {
                self.is_sidechain = cursor.raw()?.bool() == Some(true);
                Ok(())
            }
            b"isSynthetic" | b"isReplay" | b"isMeta" => {
                self.is_synthetic |= cursor.raw()?.bool() == Some(true);
                Ok(())
            }
            b"message" => keep(&mut self.message, Some(Message::read(cursor)?)),
            b"tool_use_result" | b"toolUseResult" => {
                keep(&mut self.tool_result, Some(cursor.raw()?))
            }
            _ => cursor.skip(),
        }
    }

    /// Whether the agent repeats a message that it takes up.
    pub fn is_replay(&self) -> bool {
        let flag = || self.line.get("isReplay").and_then(Raw::bool);
        self.is_synthetic && flag() == Some(true)
    }

    /// Whether the line belongs to the main thread, and not to a subagent.
    pub fn is_main(&self) -> bool {
        self.parent.is_none() && !self.is_sidechain
    }

    /// The subagent's line that a log's `progress` line carries, as a line of the
    /// same log.
    pub fn carried(&self) -> Option<Event<'a>> {
        if !self.name.is("progress") {
            return None;
        }
        let data = self.line.get("data")?;
        let is_agents = data.get("type").and_then(Raw::text)?.is("agent_progress");
        let carried = data.get("message").filter(|_| is_agents)?;
        let mut event = Event::parse(carried.bytes()).ok()?;
        event.session_id = self.session_id;
        event.at = event.at.or(self.at);
        event.parent = self.line.get("parentToolUseID").and_then(Raw::text);
        (event.is_log, event.is_sidechain) = (self.is_log, true);
        Some(event)
    }

    /// The subagent whose message a log's `progress` line carries.
    pub fn carried_agent(&self) -> Option<Text<'a>> {
        self.line.at(&["data", "agentId"]).and_then(Raw::text)
    }

    /// The subagent, if the line is from its own log.
    pub fn agent_of_log(&self) -> Option<Text<'a>> {
        let is_agents = self.is_log && self.is_sidechain && self.parent.is_none();
        let line = is_agents.then_some(self.line)?;
        line.get("agentId").and_then(Raw::text)
    }

    /// Whether the line is from a subagent's own log.
    pub fn is_from_agents_log(&self) -> bool {
        self.agent_of_log().is_some()
    }

    /// Whether the CLI reports a failed call of the API in place of an answer.
    /// Newer releases name the `error`; the session logs of 1.0.x have only the
    /// flag.
    pub fn is_api_error(&self) -> bool {
        let flag = |key| self.line.get(key).and_then(Raw::bool) == Some(true);
        self.message.as_ref().is_some_and(Message::is_synthetic)
            && (self.line.get("error").is_some_and(|error| !error.is_null())
                || flag("isApiErrorMessage")
                || flag("is_api_error_message"))
    }

    /// Whether the subtype is `name`.
    pub fn is(&self, name: &str) -> bool {
        self.subtype.is_some_and(|subtype| subtype.is(name))
    }
}

/// The first value of a field stays.
#[expect(
    clippy::unnecessary_wraps,
    reason = "the arm of a match over fallible reads"
)]
fn keep<T>(field: &mut Option<T>, value: Option<T>) -> Result<(), Malformed> {
    if field.is_none() {
        *field = value;
    }
    Ok(())
}

/// `line` without a byte order mark and without blanks around it.
pub fn strip(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xEF\xBB\xBF")
        .unwrap_or(line)
        .trim_ascii()
}

/// Whether `line` claims to be a line of our own: one of its top-level `type`
/// fields, unescaped, is `cr`.
///
/// A line that breaks off is searched as far as it goes.
pub fn claims_to_be_own(line: &[u8]) -> bool {
    let mut is_own = false;
    let _ = Cursor::new(strip(line)).object(|cursor, key| {
        if key == b"type" {
            is_own |= cursor.text()?.is_some_and(|kind| kind.is(OWN_TYPE));
            return Ok(());
        }
        cursor.skip()
    });
    is_own
}
