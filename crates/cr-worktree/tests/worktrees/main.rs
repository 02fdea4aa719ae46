//! Worktrees and merges on real repositories.

#![allow(missing_docs, reason = "an integration test is a crate of its own")]

mod bringing;
mod case;
mod crashing;
mod creating;
mod merging;
mod removing;
mod untouched;
