//! The rows of a report as JSON.

use cr_ledger_db::dollars;
use serde::Serialize;

use super::sums::Usage;

/// What was used in one day, of one project, of one model and so on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct UsageRow {
    /// The day, the hour of the day, the directory, the model, the session or the
    /// milestone that the row stands for.
    ///
    /// Null: if it is not known, or if there is none.
    /// Example: `"2026-11-18"`
    pub(super) key: Option<String>,
    /// The name of the milestone.
    ///
    /// Absent: in rows that are not of a milestone with a name.
    /// Example: `"parser"`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    /// The directory of the session.
    ///
    /// Absent: in rows that are not of a session, or if it is not known.
    /// Example: `"/home/dev/repo"`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) project: Option<String>,
    /// Answers of the model. Of a run whose log was not imported, those of its main
    /// thread.
    ///
    /// Example: `120`
    pub(super) messages: i64,
    /// Tokens that were neither read from the cache nor written to it.
    ///
    /// Example: `5200`
    pub(super) input: i64,
    /// Tokens that the model wrote.
    ///
    /// Example: `48000`
    pub(super) output: i64,
    /// Tokens that were read from the cache.
    ///
    /// Example: `9100000`
    pub(super) cache_read: i64,
    /// Tokens that were written to the cache.
    ///
    /// Example: `410000`
    pub(super) cache_creation: i64,
    /// The part of them that the cache keeps for five minutes, as far as it is known.
    ///
    /// Example: `10000`
    pub(super) cache_creation_5m: i64,
    /// The part that it keeps for an hour.
    ///
    /// Example: `400000`
    pub(super) cache_creation_1h: i64,
    /// All tokens.
    ///
    /// Example: `9563200`
    pub(super) tokens: i64,
    /// The cost in dollars.
    ///
    /// Null: if nothing of it is known.
    /// Example: `12.5`
    pub(super) cost_usd: Option<f64>,
    /// The part of the cost that is an estimate from a table of prices.
    ///
    /// Example: `0.75`
    pub(super) estimated_usd: f64,
    /// Messages without a known price. If there is one, the cost is higher than
    /// `cost_usd`.
    ///
    /// Example: `0`
    pub(super) unpriced: i64,
}

impl From<&Usage> for UsageRow {
    fn from(usage: &Usage) -> Self {
        let sums = &usage.sums;
        Self {
            key: usage.key.clone(),
            name: usage.name.clone(),
            project: usage.project.clone(),
            messages: sums.messages,
            input: sums.input,
            output: sums.output,
            cache_read: sums.cache_read,
            cache_creation: sums.cache_creation,
            cache_creation_5m: sums.cache_creation_5m,
            cache_creation_1h: sums.cache_creation_1h,
            tokens: sums.tokens(),
            cost_usd: sums.cost().map(dollars),
            estimated_usd: dollars(sums.estimated_nano.max(0)),
            unpriced: sums.unpriced,
        }
    }
}

/// The calls of one tool.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct ToolRow {
    /// The name of the tool.
    ///
    /// Null: if it is not known.
    /// Example: `"Bash"`
    pub(super) key: Option<String>,
    /// Calls.
    ///
    /// Example: `310`
    pub(super) calls: i64,
    /// The calls of them that failed. Of a run whose log was not imported, failures
    /// are not known.
    ///
    /// Example: `12`
    pub(super) failures: i64,
}
