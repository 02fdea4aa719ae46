//! `cr/limit`: a clock ran out.

use std::borrow::Cow;

use crate::field::object;
use crate::open_enum::named;
use crate::{LineBody, OpenEnum, Subtype};

named! {
    /// The clocks of a run.
    pub enum Clock {
        /// The whole run.
        Timeout = "timeout",
        /// One turn.
        Turn = "turn",
        /// One tool call.
        Tool = "tool",
        /// From the result to the agent's exit.
        PostResult = "post_result",
        /// Silence while the model works.
        Idle = "idle",
        /// To the first line.
        Startup = "startup",
        /// From the end of a background task to the turn that reports it. It never
        /// ends a run.
        Wake = "wake",
    }
}

named! {
    /// What the agent is doing.
    pub enum AgentActivity {
        /// It has not written a line yet.
        Starting = "starting",
        /// It waits for the model.
        Model = "model",
        /// It waits for a tool call.
        Tool = "tool",
        /// It waits for background tasks after a result.
        Background = "background",
        /// It should exit after the result.
        AfterResult = "after_result",
        /// It is being ended.
        Ending = "ending",
    }
}

object! {
    /// A clock that ran out.
    pub struct Limit<'a> {
        /// Which one.
        clock: OpenEnum<'a, Clock>,
        /// Its setting.
        limit_ms: Option<u64>,
        /// How long it ran.
        elapsed_ms: Option<u64>,
        /// What the agent was doing.
        doing: Option<Doing<'a>>,
        /// What was done about it: `terminate`, `interrupt` or `remind`.
        action: Cow<'a, str>,
        /// The background agents that ended with the turn.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        stopped_tasks: Vec<Cow<'a, str>>,
    }
}

impl LineBody for Limit<'_> {
    const SUBTYPE: Subtype = Subtype::Limit;
}

object! {
    /// What the agent was doing.
    pub struct Doing<'a> {
        /// In one word.
        ///
        /// Example: `"tool"`
        what: OpenEnum<'a, AgentActivity>,
        /// The tool that it called.
        ///
        /// Absent: if it called none.
        /// Example: `"Bash"`
        #[serde(skip_serializing_if = "Option::is_none")]
        tool: Option<Cow<'a, str>>,
        /// The id of that call.
        ///
        /// Absent: if it called none.
        /// Example: `"toolu_01"`
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_use_id: Option<Cow<'a, str>>,
        /// The file, command or pattern of that call.
        ///
        /// Absent: if it called none.
        /// Example: `"cargo test"`
        #[serde(skip_serializing_if = "Option::is_none")]
        target: Option<Cow<'a, str>>,
        /// For how long, in milliseconds.
        ///
        /// Example: `900003`
        since_ms: u64,
    }
}
