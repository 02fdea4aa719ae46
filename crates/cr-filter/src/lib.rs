//! `cr-filter`: a stream as one progress line per event, or as flat rows.
//!
//! Most lines are never shown. They are recognised by their first bytes and
//! dropped without being parsed, or even held.

mod args;
mod filter;
mod github;
mod sink;
mod stats;

pub use args::{Args, Format, Time};
pub use filter::{InputOptions, run, run_on};
