//! The objects of a session of many turns.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::parts::is_zero;

/// The fields of a summary that only a session of many turns has.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct SessionFields {
    /// Why the agent's input was closed, in a session of many turns; see cr-stream(5).
    ///
    /// Absent: if the run is no session, or was ended in another way.
    /// Values: `input_end`, `field`, `stop`, `ask_timeout`
    /// Example: `"input_end"`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed_by: Option<String>,
    /// Turns that another agent or session began.
    ///
    /// Example: `1`
    #[serde(skip_serializing_if = "is_zero")]
    pub peer_turns: u64,
    /// The messages of a session of many turns.
    ///
    /// Absent: if the run is no such session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Inputs>,
    /// Messages that have no answer: `queued` and `started` of `inputs`.
    ///
    /// Example: `2`
    #[serde(skip_serializing_if = "is_zero")]
    pub inputs_unanswered: u64,
    /// Questions of the agent that nobody answered: they were open at the end, or
    /// denied by `--ask-timeout`.
    ///
    /// Example: `[]`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<Question>,
}

/// One turn, as its result reports it.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Turn {
    /// Its number, from 1, as in the lines of `cr-spawn`.
    ///
    /// Example: `2`
    pub number: u64,
    /// What began it: a message, a background task that finished, another agent or
    /// session, or a schedule.
    ///
    /// Absent: if that is not known.
    /// Values: `message`, `task`, `peer`, `schedule`
    /// Example: `"message"`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cow<'static, str>>,
    /// The ids of the messages that were taken up in it.
    ///
    /// Example: `["6f0e4c1e-3f0e-4b43-9d3c-0c8d1b6a7e55"]`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<String>,
    /// How many there were.
    ///
    /// Absent: if all are shown.
    /// Example: `120`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages_total: Option<u64>,
    /// The verdict on the turn in one word, by its result alone; as `outcome` of the
    /// summary.
    ///
    /// Example: `"success"`
    pub outcome: Cow<'static, str>,
    /// Tokens in the main thread's context at its end, as `tokens.context_used`.
    ///
    /// Null: if that is not known.
    /// Example: `21344`
    pub context_used: Option<u64>,
    /// Tokens that it used.
    pub tokens: TurnTokens,
    /// `subtype` of the result.
    ///
    /// Example: `"success"`
    pub subtype: String,
    /// `is_error` of the result.
    ///
    /// Example: `false`
    pub is_error: bool,
    /// `terminal_reason` of the result.
    ///
    /// Null: if it has none.
    /// Example: `"completed"`
    pub terminal_reason: Option<String>,
    /// Calls of the model in it.
    ///
    /// Null: if the result does not say it.
    /// Example: `14`
    pub num_turns: Option<u64>,
    /// How long it took, in milliseconds.
    ///
    /// Null: if the result does not say it.
    /// Example: `1203`
    pub duration_ms: Option<u64>,
    /// What it cost, in US dollars.
    ///
    /// Null: without evidence.
    /// Example: `0.023604`
    pub cost_usd: Option<f64>,
    /// What began the turn, where it was no prompt: `origin.kind` of the result.
    ///
    /// Null: if it was a prompt, or the result does not say it.
    /// Example: `"task-notification"`
    pub origin: Option<String>,
}

/// Tokens of one turn: what its result adds to the results before it.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct TurnTokens {
    /// Input tokens that were neither read from nor written to the cache.
    ///
    /// Example: `310`
    pub input: u64,
    /// Output tokens.
    ///
    /// Example: `1204`
    pub output: u64,
    /// Input tokens read from the cache.
    ///
    /// Example: `181002`
    pub cache_read: u64,
    /// Input tokens written to the cache.
    ///
    /// Example: `9034`
    pub cache_creation: u64,
}

/// The messages of a session by their last state.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(default)]
pub struct Inputs {
    /// All messages.
    ///
    /// Example: `4`
    pub total: u64,
    /// Accepted, and never taken up.
    ///
    /// Example: `0`
    pub queued: u64,
    /// Taken up, and their turn has not ended.
    ///
    /// Example: `0`
    pub started: u64,
    /// Answered.
    ///
    /// Example: `3`
    pub done: u64,
    /// Withdrawn, or their turn was interrupted.
    ///
    /// Example: `1`
    pub cancelled: u64,
    /// Refused.
    ///
    /// Example: `0`
    pub rejected: u64,
    /// Their turn was cut off, and another message continued it.
    ///
    /// Example: `0`
    pub continued: u64,
}

/// A question of the agent that nobody answered.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(default)]
pub struct Question {
    /// Its id.
    ///
    /// Example: `"620fc37b-7b98-4b9c-a0de-3c9fd08b6daf"`
    pub id: String,
    /// Its kind.
    ///
    /// Values: `permission`, `choice`, `plan`
    /// Example: `"permission"`
    pub kind: String,
    /// The tool that asks.
    ///
    /// Null: if that is not known.
    /// Example: `"Bash"`
    pub tool: Option<String>,
    /// The subagent that asks.
    ///
    /// Null: if the main thread asks.
    /// Example: `"a231c96bcd74e42ab"`
    pub agent: Option<String>,
    /// The question in one line.
    ///
    /// Example: `"touch x.txt"`
    pub text: String,
    /// `open` at the end, or denied because nobody answered in time.
    ///
    /// Values: `open`, `timeout`
    /// Example: `"timeout"`
    pub state: Cow<'static, str>,
}
