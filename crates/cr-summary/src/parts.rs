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
    ///
    /// Example: `310`
    pub input: u64,
    /// Output tokens; only a lower bound if `lower_bounds` says so.
    ///
    /// Null: if the input has only the provisional counts of calls that no result covers.
    /// Example: `1204`
    pub output: Option<u64>,
    /// Input tokens read from the cache.
    ///
    /// Example: `181002`
    pub cache_read: u64,
    /// Input tokens written to the cache.
    ///
    /// Example: `9034`
    pub cache_creation: u64,
    /// The part of `cache_creation` that is kept for five minutes.
    ///
    /// Null: if that is not known of all of it.
    /// Example: `9034`
    pub cache_creation_5m: Option<u64>,
    /// The part of `cache_creation` that is kept for an hour.
    ///
    /// Null: as `cache_creation_5m`.
    /// Example: `0`
    pub cache_creation_1h: Option<u64>,
    /// Tokens in the main thread's context: input, cache and, where it is final,
    /// output of its last message.
    ///
    /// Null: if no message of a model has a usage.
    /// Example: `21344`
    pub context_used: Option<u64>,
    /// The size of its window: as the last result says it, else `--context-window`.
    ///
    /// Null: if it is not known.
    /// Example: `1000000`
    pub context_window: Option<u64>,
    /// The share in use, in percent, rounded down.
    ///
    /// Null: if one of the two is not known.
    /// Example: `2`
    pub context_used_pct: Option<u64>,
    /// When the main thread's last message was.
    ///
    /// Null: if that message has no time, or there is none.
    /// Example: `"2026-11-18T03:16:12.870Z"`
    #[serde(with = "crate::timestamp")]
    pub context_at: Option<Timestamp>,
    /// How long the prompt cache keeps the main thread's messages after their last
    /// use: as the last message says that wrote to it, else as the session's log says
    /// what was asked for.
    ///
    /// Null: if no line says it.
    /// Values: `5m`, `1h`
    /// Example: `"1h"`
    pub cache_ttl: Option<Cow<'static, str>>,
    /// Tokens in the context at which the agent compacts it by itself, as its last
    /// answer to a question about the context says (see `--context` of cr-send(1)).
    ///
    /// Absent: if it was not asked, or does not do so.
    /// Example: `967000`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_compact_threshold: Option<u64>,
    /// The most output tokens of one answer of the model.
    ///
    /// Null: if no result says it.
    /// Example: `128000`
    pub max_output: Option<u64>,
}

/// Tokens of one model, and their cost.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct ModelSpend {
    /// As in `tokens`, and so are the next five.
    ///
    /// Example: `310`
    pub input: u64,
    /// Output tokens.
    ///
    /// Null: as in `tokens`.
    /// Example: `1204`
    pub output: Option<u64>,
    /// Input tokens read from the cache.
    ///
    /// Example: `181002`
    pub cache_read: u64,
    /// Input tokens written to the cache.
    ///
    /// Example: `9034`
    pub cache_creation: u64,
    /// The part that is kept for five minutes.
    ///
    /// Null: as in `tokens`.
    /// Example: `9034`
    pub cache_creation_5m: Option<u64>,
    /// The part that is kept for an hour.
    ///
    /// Null: as in `tokens`.
    /// Example: `0`
    pub cache_creation_1h: Option<u64>,
    /// The cost, in US dollars.
    ///
    /// Null: without evidence.
    /// Example: `0.023604`
    pub cost_usd: Option<f64>,
}

impl ModelSpend {
    /// Adds what another run spent. A sum with an unknown part is null, except
    /// the cost and the output, which are sums of what is known.
    pub fn add(&mut self, other: &Self) {
        let is_new = self.input == 0 && self.cache_read == 0 && self.cache_creation == 0;
        if is_new && self.output.unwrap_or(0) == 0 {
            *self = other.clone();
            return;
        }
        self.input = self.input.saturating_add(other.input);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_creation = self.cache_creation.saturating_add(other.cache_creation);
        let both = |sum: Option<u64>, part: Option<u64>| Some(sum?.saturating_add(part?));
        self.cache_creation_5m = both(self.cache_creation_5m, other.cache_creation_5m);
        self.cache_creation_1h = both(self.cache_creation_1h, other.cache_creation_1h);
        let sum = |sum: u64| sum.saturating_add(other.output.unwrap_or(0));
        self.output = self.output.map(sum).or(other.output);
        let sum = |sum: f64| sum + other.cost_usd.unwrap_or(0.0);
        self.cost_usd = self.cost_usd.map(sum).or(other.cost_usd);
    }
}

/// Whether and how to try again.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Retry {
    /// Whether another run may succeed: `action` is `wait`, `resume` or a kind of
    /// `retry`. False if something else must change first, or nothing is to do.
    ///
    /// Example: `true`
    pub retryable: bool,
    /// What to do. `wait`: run it again at `at`, or after a growing pause; `resume`:
    /// resume the session, once; `fresh_session`: start a new session with a handoff;
    /// `fix`: change the command, for the same one fails again; `look`: the evidence
    /// contradicts itself; `ask`: a person must answer or permit something; `stop`: every
    /// run of this account would fail.
    ///
    /// Values: `none`, `retry`, `retry_with_more_turns`, `retry_with_more_budget`,
    /// `retry_with_more_time`, `wait`, `resume`, `fresh_session`, `fix`, `look`, `ask`,
    /// `stop`
    /// Example: `"wait"`
    pub action: Cow<'static, str>,
    /// Not before this moment.
    ///
    /// Null: if `action` is not `wait`, or the end of the limit is not known.
    /// Example: `"2026-11-18T22:00:00.000Z"`
    #[serde(with = "crate::timestamp")]
    pub at: Option<Timestamp>,
}

/// A clock that ran out.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Limit {
    /// Its name; see cr-stream(5).
    ///
    /// Example: `"idle"`
    pub clock: String,
    /// Its setting, in milliseconds.
    ///
    /// Null: if the line does not say it.
    /// Example: `900000`
    pub limit_ms: Option<u64>,
    /// How long it ran, in milliseconds.
    ///
    /// Null: if the line does not say it.
    /// Example: `900003`
    pub elapsed_ms: Option<u64>,
    /// The reaction to it.
    ///
    /// Example: `"terminate"`
    pub action: String,
    /// The background agents that ended with the turn.
    ///
    /// Example: `["a231c96bcd74e42ab"]`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stopped_tasks: Vec<String>,
    /// What the agent was doing.
    ///
    /// Null: if that is not known.
    /// Form: `Option<Doing>`
    pub doing: Option<Box<RawValue>>,
}

/// A call that was denied.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Denial {
    /// The tool.
    ///
    /// Example: `"Bash"`
    pub tool_name: String,
    /// The id of the call.
    ///
    /// Example: `"toolu_01"`
    pub tool_use_id: String,
    /// The arguments of the call.
    ///
    /// Null: if they are not known, or too long.
    /// Example: `{"command": "git commit"}`
    pub tool_input: Option<Box<RawValue>>,
}

/// A shell or an agent that was still at work at the end.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(default)]
pub struct BackgroundTask {
    /// Its id.
    ///
    /// Example: `"b1x2"`
    pub task_id: String,
    /// What kind of task it is.
    ///
    /// Null: if the input does not say it.
    /// Example: `"local_bash"`
    pub task_type: Option<String>,
    /// What it does.
    ///
    /// Null: if the input does not say it.
    /// Example: `"Run the server"`
    pub description: Option<String>,
}

/// One attempt of a run that had several.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Attempt {
    /// Its number, from 1.
    ///
    /// Example: `1`
    #[serde(rename = "attempt")]
    pub number: u64,
    /// The agent's session in it.
    ///
    /// Null: if it had none, or that was not written.
    /// Example: `"80f8ae6e-b027-4253-8e9c-1ffd717366a1"`
    pub session_id: Option<String>,
    /// How it ended, as `outcome` of the summary.
    ///
    /// Null: if that was not written.
    /// Example: `"limit_turns"`
    pub outcome: Option<String>,
    /// Why it ended so.
    ///
    /// Null: if that was not written.
    /// Example: `"The run reached its limit of turns (2)."`
    pub why: Option<String>,
    /// What it cost, in US dollars.
    ///
    /// Null: without evidence.
    /// Example: `0.011802`
    pub cost_usd: Option<f64>,
    /// Calls of the model in it.
    ///
    /// Null: if it had no result.
    /// Example: `2`
    pub num_turns: Option<u64>,
    /// When it began.
    ///
    /// Null: if it did not start.
    /// Example: `"2026-11-18T03:15:00.000Z"`
    pub started_at: Option<String>,
    /// When it ended.
    ///
    /// Null: if that was not written.
    /// Example: `"2026-11-18T03:15:31.000Z"`
    pub ended_at: Option<String>,
    /// Its run directory.
    ///
    /// Null: if that was not written.
    /// Example: `"/home/dev/.local/state/claude-runner/runs/20261118T031500Z-1f0c22ab/attempts/run/1"`
    pub run_dir: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
pub(crate) fn is_zero(count: &u64) -> bool {
    *count == 0
}
