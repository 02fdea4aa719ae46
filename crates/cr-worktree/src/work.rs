//! Work that is to be merged, and what the caller decides about it.

use std::path::Path;

use cr_glob::Glob;

/// Finished work of one task.
#[derive(Clone, Copy, Debug)]
pub struct Work<'a> {
    /// The id of the run.
    pub run: &'a str,
    /// The id of the task.
    pub task: &'a str,
    /// The number of the attempt.
    pub attempt: u32,
    /// The commit that the run started from. The run's branch is made there.
    pub base: &'a str,
    /// The last commit of the task.
    pub head: &'a str,
    /// The message of the merge commit. Trailers are added.
    pub message: &'a str,
    /// The worktree in which the run merges. It is made on first use and belongs
    /// to the run alone.
    pub dir: &'a Path,
    /// The files that decide whether work is proven.
    pub protect: &'a [Glob],
    /// What a change of a protected file means.
    pub protected_change: ProtectedChange,
    /// What happens to ignored files in the merge worktree.
    pub ignored: Ignored,
    /// The commands of the verification, for the receipt.
    pub verify: &'a [String],
    /// What the task has cost, in US dollars, for the receipt.
    pub cost_usd: Option<f64>,
}

/// What a change of a protected file means.
///
/// "Old" is the file on the run's branch. That is the file of the base commit,
/// unless the caller has let an earlier task change it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProtectedChange {
    /// The work is refused, and the files are named.
    #[default]
    Refuse,
    /// The change is merged, but the verification of this work runs with the old
    /// files, so the task cannot weaken its own proof.
    VerifyWithOld,
    /// The change is merged and the verification runs with the new files: the
    /// task was asked to change them.
    VerifyWithNew,
}

/// What happens before each merge to ignored files in the merge worktree: results
/// of builds, and the copies that `.worktreeinclude` names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ignored {
    /// They stay, so that a build need not begin from nothing.
    #[default]
    Keep,
    /// The worktree is made anew.
    Remove,
}

/// What the verification says about the merged tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The merged tree is good.
    Green,
    /// It is not; the output says why.
    Red(String),
}
