//! The state of a run: one object for programs, one line for people.

mod conversation;
mod status;

pub use status::{SCHEMA, Status, last_action, seconds};
