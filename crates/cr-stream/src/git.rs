//! `cr/git`: the repository before and after a run.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::field::object;
use crate::{LineBody, Subtype};

object! {
    /// The repository at the start.
    pub struct GitStart<'a> {
        /// There is a repository.
        repository: bool,
        /// The directory of the run, never masked: the run goes on in it.
        cwd: Cow<'a, str>,
        /// Its bytes in base64, if they are not text.
        #[serde(skip_serializing_if = "Option::is_none")]
        cwd_b64: Option<Cow<'a, str>>,
        /// The top of the work tree.
        toplevel: Option<Cow<'a, str>>,
        /// The directory that all work trees share.
        common_dir: Option<Cow<'a, str>>,
        /// HEAD, seven digits.
        start_sha: Option<Cow<'a, str>>,
        /// HEAD, all digits.
        start_sha_full: Option<Cow<'a, str>>,
        /// The branch; `null` if HEAD is detached.
        branch: Option<Cow<'a, str>>,
        /// `sha1` or `sha256`.
        object_format: Option<Cow<'a, str>>,
        /// The history is cut off.
        shallow: bool,
        /// A linked work tree.
        linked_worktree: bool,
        /// A merge, rebase or the like that has not ended.
        in_progress: Option<Cow<'a, str>>,
        /// The lock of the index.
        index_lock: Option<IndexLock>,
        /// How many files were not clean.
        dirty_total: u64,
        /// The first of them.
        dirty: Vec<DirtyFile<'a>>,
        /// The fingerprints of the others, in base64.
        #[serde(skip_serializing_if = "Option::is_none")]
        dirty_rest: Option<Cow<'a, str>>,
        /// Branches, tags and stashes with their commits.
        refs: BTreeMap<Cow<'a, str>, Cow<'a, str>>,
        /// All of them are listed.
        refs_complete: bool,
        /// Why something is missing here.
        error: Option<Cow<'a, str>>,
    }
}

impl LineBody for GitStart<'_> {
    const SUBTYPE: Subtype = Subtype::Git;
    const PHASE: Option<&'static str> = Some("start");
}

object! {
    /// A file that was not clean at the start.
    pub struct DirtyFile<'a> {
        /// Its path.
        path: Cow<'a, str>,
        /// Its bytes in base64, if they are not text.
        #[serde(skip_serializing_if = "Option::is_none")]
        path_b64: Option<Cow<'a, str>>,
        /// git's two letters.
        status: Cow<'a, str>,
        /// A hash of its path.
        id: Cow<'a, str>,
        /// A hash of its state.
        print: Cow<'a, str>,
    }
}

object! {
    /// A lock that another git holds or left.
    #[derive(Copy, Eq)]
    pub struct IndexLock {
        /// Its age.
        age_seconds: u64,
        /// The process that may hold it; `null`: it is stale.
        holder: Option<u32>,
    }
}

object! {
    /// The repository at the end, compared with the start. Unknown is `null`.
    pub struct GitEnd<'a> {
        /// There is a repository.
        repository: bool,
        /// What is known of the start: `commit`, `unborn` or `unknown`.
        start: Cow<'a, str>,
        /// HEAD at the start, seven digits.
        start_sha: Option<Cow<'a, str>>,
        /// HEAD at the start, all digits.
        start_sha_full: Option<Cow<'a, str>>,
        /// HEAD now, seven digits.
        end_sha: Option<Cow<'a, str>>,
        /// HEAD now, all digits.
        end_sha_full: Option<Cow<'a, str>>,
        /// The branch at the start.
        start_branch: Option<Cow<'a, str>>,
        /// The branch now.
        branch: Option<Cow<'a, str>>,
        /// New commits, "sha subject", newest first.
        commits: Option<Vec<Cow<'a, str>>>,
        /// For each of them the run that made it; `null` without evidence.
        commits_by: Option<Vec<Option<Cow<'a, str>>>>,
        /// How many more there are.
        commits_more: u64,
        /// How many files changed.
        changed_files: Option<u64>,
        /// Lines added.
        insertions: Option<u64>,
        /// Lines deleted.
        deletions: Option<u64>,
        /// Files that are not clean now, and were changed by the run.
        uncommitted_changes: Option<u64>,
        /// Files that were not clean at the start.
        dirty_before: Option<u64>,
        /// The changed files; the first 50.
        files: Vec<ChangedFile<'a>>,
        /// How many more there are.
        files_more: u64,
        /// The history before the start was rewritten.
        rewritten: Option<bool>,
        /// HEAD went back.
        rewound: Option<bool>,
        /// The commits on all branches that are the agent's, with evidence.
        agent_commits: Option<Vec<Cow<'a, str>>>,
        /// Other branches, tags and stashes that changed.
        other_refs: Option<Vec<OtherRef<'a>>>,
        /// How many more there are.
        other_refs_more: u64,
        /// The history is cut off.
        shallow: bool,
        /// A merge, rebase or the like that has not ended.
        in_progress: Option<Cow<'a, str>>,
        /// The lock of the index.
        index_lock: Option<IndexLock>,
        /// Why something is missing here.
        error: Option<Cow<'a, str>>,
    }
}

impl LineBody for GitEnd<'_> {
    const SUBTYPE: Subtype = Subtype::Git;
    const PHASE: Option<&'static str> = Some("end");
}

object! {
    /// A file that the run changed.
    #[derive(Eq)]
    pub struct ChangedFile<'a> {
        /// Its path.
        path: Cow<'a, str>,
        /// Its bytes in base64, if they are not text.
        #[serde(skip_serializing_if = "Option::is_none")]
        path_b64: Option<Cow<'a, str>>,
        /// git's letter for a committed change, its two letters for another.
        status: Cow<'a, str>,
        /// Its path before it was renamed.
        #[serde(skip_serializing_if = "Option::is_none")]
        from: Option<Cow<'a, str>>,
        /// The bytes of that in base64, if they are not text.
        #[serde(skip_serializing_if = "Option::is_none")]
        from_b64: Option<Cow<'a, str>>,
        /// Lines added; `null` for a binary file.
        insertions: Option<u64>,
        /// Lines deleted.
        deletions: Option<u64>,
        /// Changed by a commit.
        committed: bool,
        /// Changed without a commit.
        uncommitted: bool,
    }
}

object! {
    /// A branch, tag or stash, not the current branch, that changed.
    #[derive(Eq)]
    pub struct OtherRef<'a> {
        /// Its name.
        name = "ref": Cow<'a, str>,
        /// Its commit at the start; `null`: it is new.
        from: Option<Cow<'a, str>>,
        /// Its commit now; `null`: it was deleted.
        to: Option<Cow<'a, str>>,
        /// Its new commits.
        commits: Vec<Cow<'a, str>>,
        /// How many more there are.
        commits_more: u64,
    }
}
