//! `cr-filter`: a stream as one line of progress an event, or as flat rows.
//!
//! Most lines are never shown. They are known by their head, checked for being
//! whole and dropped without being parsed, or even held.

mod args;
mod filter;
mod github;
mod sink;
mod stats;

pub use args::{Args, Format, Time};
pub use filter::{Source, run, run_on};
