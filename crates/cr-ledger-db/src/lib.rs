//! The ledger: one `SQLite` file with what every run used.
//!
//! Facts are recorded under keys of the agent's or of the run's own (a message's
//! id, a run's id), so that recording a fact again changes nothing, in whatever
//! order it comes: from a summary, from a session log, from another ledger. Sums
//! are derived from the facts; see `sums`.
//!
//! It holds numbers, ids, paths and hashes; no text of a prompt or of an answer,
//! except the handoff of a milestone.

mod conflict;
mod fact;
mod file;
mod forget;
mod import;
mod merge;
mod message;
mod milestone;
mod money;
mod record;
mod run_fact;
mod sums;
mod text;
mod time;
mod writer;

pub use fact::{Compaction, Message, ModelTotal, SessionHead, ToolCall};
pub use file::{APPLICATION_ID, Access, Ledger, SCHEMA, explain};
pub use forget::{Forgotten, Selection};
pub use import::{Import, LogPlace};
pub use merge::Merged;
pub use milestone::{Milestone, MilestoneSession, MilestoneStatus};
pub use money::{dollars, nano};
pub use record::{Recorded, RunLabels};
pub use run_fact::RunKey;
pub use time::{from_ms, to_ms};
pub use writer::Writer;

/// Re-exported for queries of the tools.
pub use rusqlite;
