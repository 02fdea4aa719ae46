//! The state directory, one directory for each run, and the files in them.
//!
//! Writers go through a descriptor of the directory, opened once and checked: no
//! name that another user could have prepared is followed. [`Run`] reads a run's
//! directory, also one of a run that is still going on.

mod dir;
pub mod file;
mod find;
mod id;
mod orchestrated;
mod questions;
mod queue;
mod reader;
mod recording;
mod retention;
mod schema;
mod session;
mod state_dir;

pub use dir::{Lock, RunDir};
pub use find::{find_run, last_run};
pub use id::{Refused, RunId};
pub use questions::{keep_answer, open_questions, questions};
pub use queue::waiting_messages;
pub use reader::{EndRecord, Run, RunState, StartRecord, runs_in};
pub use recording::Recording;
pub use retention::{Retention, prune, prune_daily};
pub use schema::{SCHEMA, parse_state, state_text};
pub use session::{
    AnswerLine, ContextUse, ControlOperation, ControlReply, ControlRequest, Decision, Delivery,
    Interrupted, MessageState, QuestionLine, QueueLine,
};
pub use state_dir::{StateDir, Unsafe};
