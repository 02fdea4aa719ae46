//! The summary of a run: one type, written by `cr-summarize` and read by every
//! tool that wants to know how a run ended.
//!
//! A reader ignores fields it does not know and takes a missing field as null.
//! A summary with a newer [`SCHEMA`] is refused with code 78.

mod parts;
mod read;
mod summary;
mod timestamp;
mod tools;
mod truncate;

pub use parts::{
    Attempt, BackgroundTask, Counts, Denial, Git, Limit, ModelSpend, Retry, Tokens, Totals, Turn,
};
pub use read::read;
pub use summary::{SCHEMA, Summary};
pub use tools::{OTHER_TOOLS, Tools};
