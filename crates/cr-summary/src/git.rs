//! What a run did to the repository.

use serde::{Deserialize, Serialize};

use crate::parts::is_zero;

/// What the run did to the repository.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Git {
    /// HEAD at the start, 7 characters.
    ///
    /// Null: if there was no commit yet, or the start is not known.
    /// Example: `"1f0c22a"`
    pub start_sha: Option<String>,
    /// HEAD at the end, 7 characters.
    ///
    /// Null: if there is no commit or no repository.
    /// Example: `"9ab41de"`
    pub end_sha: Option<String>,
    /// `sha subject` of the commits in between, newest first, whoever made them.
    ///
    /// Null: if they are not known.
    /// Example: `["9ab41de fix the parser"]`
    pub commits: Option<Vec<String>>,
    /// For each of them the run that made it; `null` without evidence.
    ///
    /// Null: as `commits`, and from a version that does not write it.
    /// Example: `["20261118T031500Z-1f0c22ab"]`
    pub commits_by: Option<Vec<Option<String>>>,
    /// Further commits, which `cr-git` did not list.
    ///
    /// Example: `12`
    #[serde(skip_serializing_if = "is_zero")]
    pub commits_more: u64,
    /// Files that the commits change.
    ///
    /// Null: as `commits`.
    /// Example: `2`
    pub changed_files: Option<u64>,
    /// Lines added.
    ///
    /// Null: as `commits`.
    /// Example: `31`
    pub insertions: Option<u64>,
    /// Lines removed.
    ///
    /// Null: as `commits`.
    /// Example: `4`
    pub deletions: Option<u64>,
    /// Files with changes that are not committed, those from before the run too.
    ///
    /// Null: if git could not say it.
    /// Example: `0`
    pub uncommitted_changes: Option<u64>,
    /// The branch at the end.
    ///
    /// Null: if HEAD is detached.
    /// Example: `"main"`
    pub branch: Option<String>,
    /// Of `uncommitted_changes`, the files that were so before the run and have not
    /// changed since.
    ///
    /// Null: if the start is not known.
    /// Example: `0`
    pub dirty_before: Option<u64>,
    /// The start is no ancestor of the end.
    ///
    /// Null: if that is not known.
    /// Example: `false`
    pub rewritten: Option<bool>,
    /// The end is an ancestor of the start.
    ///
    /// Null: if that is not known.
    /// Example: `false`
    pub rewound: Option<bool>,
    /// The commits on all branches that are the agent's, with evidence, 7 characters
    /// each.
    ///
    /// Null: if they are not known.
    /// Example: `["9ab41de"]`
    pub agent_commits: Option<Vec<String>>,
    /// Why nothing is known, or not all.
    ///
    /// Absent: if nothing went wrong.
    /// Example: `"not a git repository"`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
