//! Worktrees of tasks, and the merging of proven work.
//!
//! Each attempt of a task works in a git worktree of its own, on the branch
//! `cr-task/RUN/TASK.N`. Finished work is merged one task at a time into the
//! branch `cr/RUN`, and only if the merged tree passes the verification.
//!
//! * The user's branch, index and work tree stay as they are, except in
//!   [`Repository::bring_into`]. New in the repository are refs below
//!   `refs/heads/cr/` and `refs/heads/cr-task/`, the notes `refs/notes/cr`, the
//!   administration of the worktrees, and the lock file.
//! * A merge is made of objects first (`git merge-tree`, git 2.38 or newer). The
//!   branch moves at the end, from the commit that was merged with to the merge
//!   commit. So a process that is killed leaves no half of a merge.
//! * Hooks do not run. Filters and merge drivers do: they are the user's
//!   configuration, and a checkout without them has other files. Merge commits are
//!   not signed, because nobody is there to enter a passphrase.
//! * Submodules are not initialised.

mod admin;
mod bring;
mod candidate;
mod collect;
mod commits;
mod copy;
mod create;
mod include;
mod merge;
mod names;
mod receipt;
mod remove;
mod repository;
mod work;

pub use bring::Brought;
pub use collect::Collected;
pub use commits::Commit;
pub use create::{Created, NewWorktree, Worktree};
pub use merge::Outcome;
pub use names::{run_branch, task_branch};
pub use receipt::{Receipt, VerifyResult};
pub use remove::{Removal, Removed};
pub use repository::Repository;
pub use work::{Ignored, ProtectedChange, Verdict, Work};
