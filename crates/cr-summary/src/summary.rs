//! The summary: its fields in the order in which they are printed. The fields of
//! the first version come first.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::parts::is_zero;
use crate::tools::Tools;
use crate::{
    Attempt, BackgroundTask, Counts, Denial, Git, Limit, ModelSpend, Retry, Tokens, Totals, Turn,
};

/// The version of the format; additions do not raise it.
pub const SCHEMA: u32 = 1;

/// One run, or one session.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and none excludes another"
)]
pub struct Summary {
    /// The name of the input, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The agent's session.
    pub session_id: Option<String>,
    /// The model that spoke last.
    pub model: Option<String>,
    /// The agent's own exit code; -1 where it was killed.
    pub exit_code: Option<i32>,
    /// How long the run took.
    pub duration_seconds: Option<u64>,
    /// What the run cost.
    pub cost_usd: Option<f64>,
    /// Tokens that the run used.
    pub tokens: Tokens,
    /// The sum of `tools`.
    pub tool_calls: u64,
    /// What the run did to the repository.
    pub git: Option<Git>,
    /// The errors, in the words of the program that reported them.
    pub errors: Vec<String>,
    /// The context is more than 60 % full.
    pub context_warning: bool,
    /// The command line that resumes the session.
    pub resume_command: Option<String>,
    /// There is no result, or the end of the stream is missing.
    pub incomplete: bool,
    /// A clock, a signal or the supervisor ended the agent.
    pub killed: bool,
    /// The version of the format.
    pub schema: u32,
    /// Whether `code` is 0.
    pub ok: Option<bool>,
    /// The verdict's name.
    pub outcome: Option<Cow<'static, str>>,
    /// The verdict's exit code.
    pub code: Option<u8>,
    /// The class of the failure.
    pub category: Option<Cow<'static, str>>,
    /// One sentence: why this verdict.
    pub why: String,
    /// One sentence: what to do next.
    pub next: String,
    /// The same for a program.
    pub retry: Retry,
    /// What is wrong with the order of the own lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream_error: Option<Cow<'static, str>>,
    /// The stream has own lines.
    pub supervised: bool,
    /// The run.
    pub run_id: Option<String>,
    /// The directory of the run.
    pub run_dir: Option<String>,
    /// The file that holds the stream.
    pub transcript: Option<String>,
    /// Whether the run left its files there.
    pub recorded: Option<bool>,
    /// The file that the stream was to be kept in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_file: Option<Box<RawValue>>,
    /// `subtype` of the last result.
    pub subtype: Option<String>,
    /// `terminal_reason` of the last result.
    pub terminal_reason: Option<String>,
    /// Why the agent's process ended.
    pub reason: Option<String>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// The clock that ran out last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// The last line of the agent had no newline.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub torn_tail: bool,
    /// Processes that the agent left behind.
    pub leaked: Vec<Box<RawValue>>,
    /// Calls of the model in the last turn.
    pub num_turns: Option<u64>,
    /// Results in the stream.
    pub results: u64,
    /// One entry a result.
    pub turns: Vec<Turn>,
    /// The answer.
    pub result: Option<String>,
    /// JSON found in the answer.
    pub json: Option<Box<RawValue>>,
    /// The answer to a schema.
    pub structured_output: Option<Box<RawValue>>,
    /// Tokens and cost by model.
    pub models: BTreeMap<String, ModelSpend>,
    /// Calls by tool.
    pub tools: Tools,
    /// Subagents that were started.
    pub subagents: u64,
    /// Calls that were denied.
    pub permission_denials: Vec<Denial>,
    /// Requests that were repeated.
    pub api_retries: u64,
    /// How often the context was compacted.
    pub compactions: u64,
    /// Background work that was open at the end.
    pub background_unfinished: Vec<BackgroundTask>,
    /// Lines of the agent that claimed to be own lines.
    #[serde(skip_serializing_if = "is_zero")]
    pub forged: u64,
    /// The agent's directory.
    pub cwd: Option<String>,
    /// When the run began.
    #[serde(with = "crate::timestamp")]
    pub started_at: Option<Timestamp>,
    /// When it ended.
    #[serde(with = "crate::timestamp")]
    pub ended_at: Option<Timestamp>,
    /// How long the run took.
    pub duration_ms: Option<u64>,
    /// What the session cost so far, earlier runs included.
    pub session_cost_usd: Option<f64>,
    /// `result`, `log`, `estimate` or `none`.
    pub cost_source: Cow<'static, str>,
    /// The fields whose number is only a lower bound.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lower_bounds: Vec<Cow<'static, str>>,
    /// Sessions in the input, if there are several.
    #[serde(skip_serializing_if = "is_zero")]
    pub sessions: u64,
    /// The attempts of a run that had several.
    pub attempts: Vec<Attempt>,
    /// `resume_command` without its directory, as arguments.
    pub resume_argv: Option<Vec<String>>,
    /// Lines by fate.
    pub counts: Counts,
    /// The lengths of lists that are not shown in full.
    #[serde(flatten)]
    pub totals: Totals,
    /// The fields that are not shown in full.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub truncated: Vec<Cow<'static, str>>,
}

impl Summary {
    /// The clock that ended the run, if one did: the last one may have run out
    /// without that.
    pub fn ended_by_clock(&self) -> Option<&Limit> {
        let limit = self.limit.as_ref();
        limit.filter(|limit| self.reason.as_ref() == Some(&limit.clock))
    }

    /// The session, if it can be resumed: the last word of `claude-runner
    /// --resume ID`.
    pub fn resumable_session(&self) -> Option<&str> {
        Some(self.resume_argv.as_ref()?.get(2)?)
    }

    /// One line of JSON, without its newline. Characters that could pass for
    /// the end of a line, or turn text around on a terminal, are escaped.
    #[expect(clippy::missing_panics_doc, reason = "every key is a string")]
    pub fn line(&self) -> String {
        let json = serde_json::to_string(self).expect("no map with keys other than strings");
        cr_io::visible_json(&json).into_owned()
    }

    /// The same over many lines, for people.
    #[expect(clippy::missing_panics_doc, reason = "every key is a string")]
    pub fn pretty(&self) -> String {
        let json = serde_json::to_string_pretty(self).expect("as above");
        cr_io::visible_json(&json).into_owned()
    }
}
