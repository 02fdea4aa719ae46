//! The state directory, one directory for each run, and the files in them.
//!
//! Writers go through a descriptor of the directory, opened once and checked: no
//! name that another user could have prepared is followed. [`Run`] reads a run's
//! directory, also one of a run that is still going on.

mod dir;
pub mod file;
mod id;
mod orchestrated;
mod reader;
mod retention;
mod schema;
mod session;
mod state_dir;

pub use dir::{Lock, RunDir};
pub use id::{Refused, RunId};
pub use reader::{EndRecord, Run, RunState, StartRecord, runs_in};
pub use retention::{Retention, prune, prune_daily};
pub use schema::{SCHEMA, parse_state, state_text};
pub use session::{
    AnswerLine, ControlOperation, ControlReply, ControlRequest, Decision, Delivery, QueueLine,
};
pub use state_dir::{StateDir, Unsafe};
