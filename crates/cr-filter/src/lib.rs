//! `cr-filter`: a stream as one line of progress an event, or as flat rows.
//!
//! Most lines are never shown. They are known by their head, checked for being
//! whole and dropped without being parsed, or even held.

mod args;
mod clock;
mod commit;
mod filter;
mod github;
mod narrate;
mod note;
mod ours;
mod print;
mod rows;
mod sink;
mod stats;
mod system;
mod thread;
mod tools;

pub use args::{Args, Format};
pub use clock::Time;
pub use filter::{Source, run, run_on};
