//! Counts of lines, and the lengths of lists.

use serde::{Deserialize, Serialize};

/// Lines of the input by fate; the fates add up to `lines`.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Counts {
    /// All lines.
    ///
    /// Example: `58`
    pub lines: u64,
    /// Lines that changed the summary.
    ///
    /// Example: `55`
    pub used: u64,
    /// Whole lines of a kind that changes nothing.
    ///
    /// Example: `3`
    pub ignored: u64,
    /// Lines that are no object, or broken.
    ///
    /// Example: `0`
    pub bad_json: u64,
    /// Lines over the limit.
    ///
    /// Example: `0`
    pub oversize: u64,
    /// Lines of blanks.
    ///
    /// Example: `0`
    pub blank: u64,
}

/// The lengths of lists that are not shown in full.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Totals {
    /// Length of `errors`.
    ///
    /// Absent: if all are shown.
    /// Example: `120`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors_total: Option<u64>,
    /// Length of `turns`.
    ///
    /// Absent: if all are shown.
    /// Example: `120`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns_total: Option<u64>,
    /// Length of `questions`.
    ///
    /// Absent: if all are shown.
    /// Example: `120`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub questions_total: Option<u64>,
    /// Number of `models`.
    ///
    /// Absent: if all are shown.
    /// Example: `120`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub models_total: Option<u64>,
    /// Number of `tools`.
    ///
    /// Absent: if all are shown.
    /// Example: `120`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools_total: Option<u64>,
    /// Length of `permission_denials`.
    ///
    /// Absent: if all are shown.
    /// Example: `120`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_denials_total: Option<u64>,
    /// Length of `compaction_list`.
    ///
    /// Absent: if all are shown.
    /// Example: `120`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compaction_list_total: Option<u64>,
    /// Length of `background_unfinished`.
    ///
    /// Absent: if all are shown.
    /// Example: `120`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background_unfinished_total: Option<u64>,
    /// Length of `attempts`.
    ///
    /// Absent: if all are shown.
    /// Example: `120`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts_total: Option<u64>,
    /// Length of `leaked`.
    ///
    /// Absent: if all are shown.
    /// Example: `120`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaked_total: Option<u64>,
    /// Length of `git.commits`.
    ///
    /// Absent: if all are shown.
    /// Example: `120`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commits_total: Option<u64>,
    /// Length of `git.agent_commits`.
    ///
    /// Absent: if all are shown.
    /// Example: `120`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_commits_total: Option<u64>,
}
