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
    AgentFields, Attempt, BackgroundTask, Counts, Denial, Git, Limit, ModelSpend, Retry,
    SessionFields, Tokens, Totals, Turn,
};

/// The version of the format; additions do not raise it.
pub const SCHEMA: u32 = 1;

/// The JSON Schema of a summary. `scripts/schemas` makes it from the comments on
/// the fields, as it does the list in the manual page.
pub const JSON_SCHEMA: &str = include_str!("../schema.json");

/// One run, or one session.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and none excludes another"
)]
pub struct Summary {
    /// The name of the input.
    ///
    /// Absent: if there is only one input.
    /// Example: `"run.ndjson"`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The agent's session; the last one, if there are several.
    ///
    /// Null: if no line names it.
    /// Example: `"80f8ae6e-b027-4253-8e9c-1ffd717366a1"`
    pub session_id: Option<String>,
    /// The model that spoke last on the main thread, else the one that was asked for.
    ///
    /// Null: if no line names one.
    /// Example: `"claude-sonnet-5-5"`
    pub model: Option<String>,
    /// The agent's own exit code; -1 if it was killed.
    ///
    /// Null: if it is not known: the input has no `cr/exit` line, or the agent did not
    /// start.
    /// Example: `0`
    pub exit_code: Option<i32>,
    /// How long the run took: `duration_ms`, rounded.
    ///
    /// Null: as `duration_ms`.
    /// Example: `74`
    pub duration_seconds: Option<u64>,
    /// What this run cost, in US dollars: not the session's earlier runs. The sum
    /// of all attempts.
    ///
    /// Null: without evidence, never 0.
    /// Example: `0.023604`
    pub cost_usd: Option<f64>,
    /// Tokens that the run used, and how full the context is.
    pub tokens: Tokens,
    /// Calls of tools, those of subagents too: the sum of `tools`.
    ///
    /// Example: `13`
    pub tool_calls: u64,
    /// What the run did to the repository, from `cr-git`.
    ///
    /// Null: if the input has no `cr/git` line of the end.
    pub git: Option<Git>,
    /// The errors, in the words of the program that reported them; empty if the code
    /// is 0.
    ///
    /// Example: `["Prompt is too long"]`
    pub errors: Vec<String>,
    /// The context is more than 60 % full; false also if that is not known.
    ///
    /// Example: `false`
    pub context_warning: bool,
    /// The command line that resumes the session, for a shell.
    ///
    /// Null: if the session cannot be resumed: its id is no UUID, it was not saved, or
    /// it never began.
    /// Example: `"cd /home/dev/repo && claude-runner --resume 80f8ae6e-b027-4253-8e9c-1ffd717366a1"`
    pub resume_command: Option<String>,
    /// There is no result, or the end of the stream is missing.
    ///
    /// Example: `false`
    pub incomplete: bool,
    /// A clock, a signal or the supervisor ended the agent.
    ///
    /// Example: `false`
    pub killed: bool,
    /// The version of the format; additions do not raise it.
    ///
    /// Example: `1`
    pub schema: u32,
    /// Whether `code` is 0.
    ///
    /// Null: only in the file of a task without a summary.
    /// Example: `true`
    pub ok: Option<bool>,
    /// The verdict in one word.
    ///
    /// Null: as `ok`.
    /// Values: `success`, `spawn_failed`, `interrupted`, `timeout`, `limit_turns`,
    /// `limit_budget`, `rate_limited`, `overloaded`, `network`, `context_exhausted`,
    /// `auth`, `billing`, `failed`, `killed`, `incomplete`, `no_answer`, `needs_input`,
    /// `no_commit`, `scope_violation`, `verify_failed`, `conflict`, `looping`
    /// Example: `"success"`
    pub outcome: Option<Cow<'static, str>>,
    /// The verdict's exit code, which is that of `cr-summarize`; see EXIT STATUS.
    ///
    /// Null: as `ok`.
    /// Example: `0`
    pub code: Option<u8>,
    /// The class of the failure, for a retry policy.
    ///
    /// Null: if the run succeeded or was interrupted.
    /// Values: `rate-limit`, `network`, `timeout`, `validation`, `logic`
    /// Example: `"network"`
    pub category: Option<Cow<'static, str>>,
    /// One sentence: why this verdict.
    ///
    /// Example: `"The run ended with a good result."`
    pub why: String,
    /// One sentence: what to do next. After a success it names calls that were
    /// denied, and says if no commit was made then.
    ///
    /// Example: `"Retry with a higher --max-turns, or resume the session with one."`
    pub next: String,
    /// `next` for a program.
    pub retry: Retry,
    /// What is wrong with the order of the lines of the other tools; the code is then 65.
    ///
    /// Absent: if nothing is.
    /// Example: `"there are lines after the cr/exit line"`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream_error: Option<Cow<'static, str>>,
    /// The input has lines of `cr-spawn` or of the other tools.
    ///
    /// Example: `true`
    pub supervised: bool,
    /// The run, as `cr-runs` names it.
    ///
    /// Null: if the run was not supervised.
    /// Example: `"20261118T031500Z-1f0c22ab"`
    pub run_id: Option<String>,
    /// The directory of the run; with several attempts, that of all of them.
    ///
    /// Null: if the run was not supervised or has none.
    /// Example: `"/home/dev/.local/state/claude-runner/runs/20261118T031500Z-1f0c22ab"`
    pub run_dir: Option<String>,
    /// The file that holds the stream: in the run directory, else the input itself.
    ///
    /// Null: if the input is standard input, and there is no run directory.
    /// Example: `"run.ndjson"`
    pub transcript: Option<String>,
    /// Whether the run left its files in `run_dir`.
    ///
    /// Null: if the run was not supervised, or its end is missing.
    /// Example: `true`
    pub recorded: Option<bool>,
    /// Why the run is not in the ledger.
    ///
    /// Absent: unless the ledger could not be written; only in the run directory.
    /// Example: `"the disk is full; this change was not made"`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ledger_error: Option<String>,
    /// The file of `--output-file`.
    ///
    /// Absent: without that option.
    /// Form: `OutputFileState`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_file: Option<Box<RawValue>>,
    /// `subtype` of the last result.
    ///
    /// Null: if there is no result.
    /// Example: `"success"`
    pub subtype: Option<String>,
    /// `terminal_reason` of the last result.
    ///
    /// Null: if there is no result, or it does not say it.
    /// Example: `"completed"`
    pub terminal_reason: Option<String>,
    /// Why the agent's process ended, from `cr/exit`; see cr-stream(5).
    ///
    /// Null: if the input has no `cr/exit` line.
    /// Example: `"exit"`
    pub reason: Option<String>,
    /// The signal that ended the agent, else the one that the supervisor got.
    ///
    /// Null: if there was none, or the input has no `cr/exit` line.
    /// Example: `15`
    pub signal: Option<i32>,
    /// The clock that ran out last.
    ///
    /// Absent: if none did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// The last line of the agent was cut off: no success, unless we ended it.
    ///
    /// Example: `true`
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub torn_tail: bool,
    /// Processes that the agent left behind; they were killed, unless
    /// `--keep-children` was given.
    ///
    /// Form: `Vec<LeftoverProcess>`
    /// Example: `[{"pid": 4711, "comm": "sleep", "age_ms": 5012}]`
    pub leaked: Vec<Box<RawValue>>,
    /// Calls of the model, as the last result says it.
    ///
    /// Null: if there is no result.
    /// Example: `14`
    pub num_turns: Option<u64>,
    /// Results in the input.
    ///
    /// Example: `1`
    pub results: u64,
    /// One entry for each turn that has a result, the last ones if there are many.
    /// An empty result, which the agent may write before that of a turn, has none.
    ///
    /// Example: `[]`
    pub turns: Vec<Turn>,
    /// What only a session of many turns has.
    #[serde(flatten)]
    pub session: SessionFields,
    /// The answer: the text of the last result. The last words of the model, if a
    /// limit was reached or a result is missing.
    ///
    /// Null: if there is no text, or none yet in work after the last result.
    /// Example: `"All done."`
    pub result: Option<String>,
    /// JSON found in the answer; see cr-extract(1).
    ///
    /// Null: if there is none, if `structured_output` has it, or if the last result is
    /// an error.
    /// Example: `{"status": "done"}`
    pub json: Option<Box<RawValue>>,
    /// The answer to a schema.
    ///
    /// Null: if there is none.
    /// Example: `{"bugs": []}`
    pub structured_output: Option<Box<RawValue>>,
    /// Tokens and cost by model, those of subagents too. The keys are names of
    /// models.
    ///
    /// Example: `{}`
    pub models: BTreeMap<String, ModelSpend>,
    /// Calls by tool, the most used first. The keys are names of tools; without
    /// `--full` rare ones are counted as `(other)`.
    ///
    /// Form: `BTreeMap<String, u64>`
    /// Example: `{"Bash": 9, "Edit": 4}`
    pub tools: Tools,
    /// Subagents that were started.
    ///
    /// Example: `0`
    pub subagents: u64,
    /// Calls that were denied.
    ///
    /// Example: `[]`
    pub permission_denials: Vec<Denial>,
    /// Requests to the service that were repeated.
    ///
    /// Example: `0`
    pub api_retries: u64,
    /// How often the context was compacted.
    ///
    /// Example: `0`
    pub compactions: u64,
    /// The agent's program, its account, and what it did to its context.
    #[serde(flatten)]
    pub agent: AgentFields,
    /// Background work that was open at the end.
    ///
    /// Example: `[]`
    pub background_unfinished: Vec<BackgroundTask>,
    /// Lines of the agent that claimed to be own lines.
    ///
    /// Example: `1`
    #[serde(skip_serializing_if = "is_zero")]
    pub forged: u64,
    /// The agent's directory.
    ///
    /// Null: if no line names it.
    /// Example: `"/home/dev/repo"`
    pub cwd: Option<String>,
    /// When the run began: the first time in the input.
    ///
    /// Null: if no line has a time.
    /// Example: `"2026-11-18T03:15:00.000Z"`
    #[serde(with = "crate::timestamp")]
    pub started_at: Option<Timestamp>,
    /// When it ended: the last time in the input.
    ///
    /// Null: if no line has a time.
    /// Example: `"2026-11-18T03:16:14.201Z"`
    #[serde(with = "crate::timestamp")]
    pub ended_at: Option<Timestamp>,
    /// How long the run took, by `cr/exit`, else by the times of the lines and the
    /// results, in milliseconds.
    ///
    /// Null: if the input does not say it.
    /// Example: `74201`
    pub duration_ms: Option<u64>,
    /// What the session cost so far, earlier runs included.
    ///
    /// Null: if the input does not say it.
    /// Example: `0.05`
    pub session_cost_usd: Option<f64>,
    /// Where `cost_usd` comes from: the results, the log of a session, or a table
    /// of prices (`--estimate-cost`, `--prices`), at least in part; `copy` means that
    /// another file of the same call counts everything.
    ///
    /// Values: `result`, `log`, `estimate`, `none`, `copy`
    /// Example: `"result"`
    pub cost_source: Cow<'static, str>,
    /// The fields whose number is only a lower bound: `tokens`, `tokens.output`,
    /// `models`, `cost_usd`. A call that no result covers and that was cut off has
    /// only a provisional count of its output; work after the last result has no
    /// cost; `progress` lines lack a subagent's last message.
    ///
    /// Example: `["tokens.output", "cost_usd"]`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lower_bounds: Vec<Cow<'static, str>>,
    /// The number of sessions, if there are several: tokens, cost and turns are those
    /// of all, the verdict, result and `num_turns` those of the last.
    ///
    /// Example: `2`
    #[serde(skip_serializing_if = "is_zero")]
    pub sessions: u64,
    /// `uuid` of the first message of the main thread. The stream and the log of a
    /// run have the same.
    ///
    /// Null: if there is no message.
    /// Example: `"2f6b4c1e-3f0e-4b43-9d3c-0c8d1b6a7e55"`
    pub first_uuid: Option<String>,
    /// `uuid` of the last message of the main thread.
    ///
    /// Null: if there is no message.
    /// Example: `"7be0a1a3-6b39-4f3c-8f2f-5a0d3c9d7a10"`
    pub last_uuid: Option<String>,
    /// Messages of the main thread, those with one id counted once.
    ///
    /// Example: `9`
    pub messages: u64,
    /// SHA-256, in hex, of the ids of these messages in their order, each with a
    /// newline behind it. The same digest means the same conversation.
    ///
    /// Null: if there is no message.
    /// Example: `"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
    pub messages_digest: Option<String>,
    /// Messages, subagents' included, that another file of the same call has too
    /// and counts: they are in no number of this summary.
    ///
    /// Absent: if there are none.
    /// Example: `12`
    #[serde(skip_serializing_if = "is_zero")]
    pub copied_messages: u64,
    /// The attempts of `claude-runner --retry`, the last ones if there are many.
    ///
    /// Example: `[]`
    pub attempts: Vec<Attempt>,
    /// The same without its directory, as arguments.
    ///
    /// Null: as `resume_command`.
    /// Example: `["claude-runner", "--resume-run", "20261118T090000Z-0a1b2c3d"]`
    pub resume_argv: Option<Vec<String>>,
    /// Why `resume_command` is null.
    ///
    /// Null: if there is a command.
    /// Example: `"the settings of the run are not known; claude --resume ID continues the session"`
    pub resume_why_null: Option<Cow<'static, str>>,
    /// The session is on disk: who knows its settings can resume it.
    ///
    /// Example: `true`
    pub resumable: bool,
    /// Lines by fate.
    pub counts: Counts,
    /// The lengths of lists that are not shown in full.
    #[serde(flatten)]
    pub totals: Totals,
    /// The fields that are not shown in full: they are cut, or null. `--full` shows
    /// them. `session`: another line has its beginning; see `--per-session`.
    ///
    /// Example: `["result"]`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub truncated: Vec<Cow<'static, str>>,
}
