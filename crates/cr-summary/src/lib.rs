//! The summary of a run: one type, written by `cr-summarize` and read by every
//! tool that wants to know how a run ended.
//!
//! A reader ignores fields it does not know and takes a missing field as null.
//! A summary with a newer [`SCHEMA`] is refused with code 78.

mod agent;
mod answers;
mod git;
mod parts;
mod print;
mod read;
mod session;
mod summary;
mod timestamp;
mod tools;
mod total;
mod totals;
mod truncate;

pub use agent::{AgentFields, Compaction, QuotaWindow};
pub use git::Git;
pub use parts::{Attempt, BackgroundTask, Denial, Limit, ModelSpend, Retry, Tokens};
pub use read::read;
pub use session::{Inputs, Question, SessionFields, Turn, TurnTokens};
pub use summary::{JSON_SCHEMA, SCHEMA, Summary};
pub use tools::{OTHER_TOOLS, Tools};
pub use total::{Total, TotalTokens};
pub use totals::{Counts, Totals};
