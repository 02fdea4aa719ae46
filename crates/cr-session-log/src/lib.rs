//! What a session log on disk holds that a ledger counts.
//!
//! [`find_logs`] finds the logs, [`scan`] reads one and gives its [`Fact`]s to a
//! [`Sink`], [`scan_files`] reads many in threads and gives them in batches.
//! Three rules follow:
//!
//! - **A fact is no sum.** A message has several lines, and several files may
//!   have a copy of it. Each is reported; whoever stores facts merges those of
//!   one key by the larger of each count ([`Tokens::max`]).
//! - **A log grows.** Only whole lines are read. [`Scanned`] says where to go on,
//!   and what the head of the file said.
//! - **Most lines hold no fact.** They are left as soon as that is certain, by
//!   their keys and never by a search for text.

mod batch;
mod body;
mod fact;
mod facts_of_line;
mod files;
mod find;
mod line;
mod scan;
mod time;

pub use batch::Batch;
pub use fact::{
    Compaction, CompactionOf, Fact, FactOf, Message, MessageOf, ModelTotal, ModelTotalOf,
    SessionTotal, SessionTotalOf, Sink, Tokens, ToolCall, ToolCallOf, ToolFailed, ToolFailedOf,
    Turn, TurnOf,
};
pub use files::{FileToScan, Report, scan_files};
pub use find::{LogFile, find_logs, find_readable_logs};
pub use scan::{Head, Resume, Scanned, scan};
