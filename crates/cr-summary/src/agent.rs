//! The agent's program, its account, and what it did to its context.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The fields of a summary about the agent itself.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct AgentFields {
    /// Each compaction of the main thread's context, the last ones if there are many.
    ///
    /// Example: `[]`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub compaction_list: Vec<Compaction>,
    /// The usage limits of the account, as the agent last reported each one. The keys
    /// are the agent's names of their windows, such as `five_hour` and `seven_day`.
    ///
    /// Null: if the input says nothing of them: an API key has none.
    pub quota: Option<BTreeMap<String, QuotaWindow>>,
    /// The version of the agent: as it says itself, else as `cr/start` says it.
    ///
    /// Null: if no line says it.
    /// Example: `"2.1.326"`
    pub cli_version: Option<String>,
}

/// One compaction of the context.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(default)]
pub struct Compaction {
    /// When it was; if its line has no time, the last time before it.
    ///
    /// Null: if no line before it has a time.
    /// Example: `"2026-11-18T03:15:40.120Z"`
    #[serde(with = "crate::timestamp")]
    pub at: Option<Timestamp>,
    /// What caused it: `auto` or `manual`.
    ///
    /// Null: if the input does not say it.
    /// Example: `"auto"`
    pub trigger: Option<String>,
    /// Tokens in the context before it.
    ///
    /// Null: if the input does not say it.
    /// Example: `991012`
    pub pre_tokens: Option<u64>,
    /// Tokens in the context after it.
    ///
    /// Null: if the input does not say it.
    /// Example: `2712`
    pub post_tokens: Option<u64>,
}

/// A usage limit of the account, for one window of time.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct QuotaWindow {
    /// The share that is used, 0 to 1.
    ///
    /// Null: if the agent does not say it.
    /// Example: `0.91`
    pub used: Option<f64>,
    /// When the window ends and the share is 0 again.
    ///
    /// Null: if the agent does not say it.
    /// Example: `"2026-11-18T22:00:00.000Z"`
    #[serde(with = "crate::timestamp")]
    pub resets_at: Option<Timestamp>,
    /// The agent's word for it, such as `allowed`, `allowed_warning`, `rejected`.
    ///
    /// Null: if the agent does not say it.
    /// Example: `"allowed_warning"`
    pub status: Option<String>,
    /// When the agent reported it; if the line has no time, the last time before it.
    ///
    /// Null: if no line before it has a time.
    /// Example: `"2026-11-18T03:16:12.870Z"`
    #[serde(with = "crate::timestamp")]
    pub at: Option<Timestamp>,
}
