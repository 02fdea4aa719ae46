//! The objects inside a summary.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Tokens that the run used, and how full the context is.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Tokens {
    /// Input tokens that were neither read from nor written to the cache.
    pub input: u64,
    /// Output tokens; null where the stream has only provisional counts.
    pub output: Option<u64>,
    /// Input tokens read from the cache.
    pub cache_read: u64,
    /// Input tokens written to the cache.
    pub cache_creation: u64,
    /// The part of `cache_creation` that is kept for five minutes; null where
    /// that is not known of all of it.
    pub cache_creation_5m: Option<u64>,
    /// The part that is kept for an hour.
    pub cache_creation_1h: Option<u64>,
    /// Tokens in the main thread's context.
    pub context_used: Option<u64>,
    /// The size of its window.
    pub context_window: Option<u64>,
    /// The share in use, in percent, rounded down.
    pub context_used_pct: Option<u64>,
    /// The most output tokens of one answer.
    pub max_output: Option<u64>,
}

/// Tokens of one model, and their cost.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct ModelSpend {
    /// As in [`Tokens`], and so are the next five.
    pub input: u64,
    /// Output tokens.
    pub output: Option<u64>,
    /// Input tokens read from the cache.
    pub cache_read: u64,
    /// Input tokens written to the cache.
    pub cache_creation: u64,
    /// The part that is kept for five minutes.
    pub cache_creation_5m: Option<u64>,
    /// The part that is kept for an hour.
    pub cache_creation_1h: Option<u64>,
    /// The cost; null without evidence.
    pub cost_usd: Option<f64>,
}

/// Whether and how to try again.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Retry {
    /// Whether the run may be repeated as it is.
    pub retryable: bool,
    /// What to do: one of `cr_verdict::ACTIONS`.
    pub action: Cow<'static, str>,
    /// Not before this moment.
    #[serde(with = "crate::timestamp")]
    pub at: Option<Timestamp>,
}

/// A clock that ran out.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Limit {
    /// Its name.
    pub clock: String,
    /// Its setting.
    pub limit_ms: Option<u64>,
    /// How long it ran.
    pub elapsed_ms: Option<u64>,
    /// The reaction to it.
    pub action: String,
    /// What the agent was doing.
    pub doing: Option<Box<RawValue>>,
}

/// A call that was denied.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Denial {
    /// The tool.
    pub tool_name: String,
    /// The id of the call.
    pub tool_use_id: String,
    /// The arguments of the call.
    pub tool_input: Option<Box<RawValue>>,
}

/// One turn, as its result reports it.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Turn {
    /// `subtype` of the result.
    pub subtype: String,
    /// `is_error` of the result.
    pub is_error: bool,
    /// `terminal_reason` of the result.
    pub terminal_reason: Option<String>,
    /// Calls of the model in it.
    pub num_turns: Option<u64>,
    /// How long it took.
    pub duration_ms: Option<u64>,
    /// What it cost.
    pub cost_usd: Option<f64>,
    /// The cause of the turn, where it was no prompt.
    pub origin: Option<String>,
}

/// A shell or an agent that was still at work at the end.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(default)]
pub struct BackgroundTask {
    /// Its id.
    pub task_id: String,
    /// What kind of task it is.
    pub task_type: Option<String>,
    /// What it does.
    pub description: Option<String>,
}

/// One attempt of a run that had several.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Attempt {
    /// Its number, from 1.
    #[serde(rename = "attempt")]
    pub number: u64,
    /// How it ended.
    pub outcome: Option<String>,
    /// Why it ended so.
    pub why: Option<String>,
    /// What it cost.
    pub cost_usd: Option<f64>,
    /// Calls of the model in it.
    pub num_turns: Option<u64>,
    /// When it began.
    pub started_at: Option<String>,
    /// When it ended.
    pub ended_at: Option<String>,
    /// Its run directory.
    pub run_dir: Option<String>,
}

/// What the run did to the repository.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Git {
    /// HEAD at the start, 7 characters.
    pub start_sha: Option<String>,
    /// HEAD at the end.
    pub end_sha: Option<String>,
    /// `sha subject` of the commits in between, newest first.
    pub commits: Option<Vec<String>>,
    /// For each of them the run that made it; `null` without evidence.
    pub commits_by: Option<Vec<Option<String>>>,
    /// Further commits that are not listed.
    #[serde(skip_serializing_if = "is_zero")]
    pub commits_more: u64,
    /// Files that the commits change.
    pub changed_files: Option<u64>,
    /// Lines added.
    pub insertions: Option<u64>,
    /// Lines removed.
    pub deletions: Option<u64>,
    /// Files with changes that are not committed.
    pub uncommitted_changes: Option<u64>,
    /// The branch at the end.
    pub branch: Option<String>,
    /// Files with such changes before the run.
    pub dirty_before: Option<u64>,
    /// The start is no ancestor of the end.
    pub rewritten: Option<bool>,
    /// The end is an ancestor of the start.
    pub rewound: Option<bool>,
    /// The commits on all branches that are the agent's, with evidence.
    pub agent_commits: Option<Vec<String>>,
    /// Why nothing is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Lines of the input by fate; the fates add up to `lines`.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Counts {
    /// All lines.
    pub lines: u64,
    /// Lines that changed the summary.
    pub used: u64,
    /// Whole lines of a kind that changes nothing.
    pub ignored: u64,
    /// Lines that are no object, or broken.
    pub bad_json: u64,
    /// Lines over the limit.
    pub oversize: u64,
    /// Lines of blanks.
    pub blank: u64,
}

/// The lengths of lists that are not shown in full.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Totals {
    /// Length of `errors`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors_total: Option<u64>,
    /// Length of `turns`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns_total: Option<u64>,
    /// Number of `models`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub models_total: Option<u64>,
    /// Number of `tools`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools_total: Option<u64>,
    /// Length of `permission_denials`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_denials_total: Option<u64>,
    /// Length of `background_unfinished`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background_unfinished_total: Option<u64>,
    /// Length of `attempts`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts_total: Option<u64>,
    /// Length of `leaked`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaked_total: Option<u64>,
    /// Length of `git.commits`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commits_total: Option<u64>,
    /// Length of `git.agent_commits`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_commits_total: Option<u64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
pub(crate) fn is_zero(count: &u64) -> bool {
    *count == 0
}
