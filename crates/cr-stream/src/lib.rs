//! The lines that the tools themselves add to a stream, as cr-stream(5)
//! documents them: `cr/start`, `cr/exit` and so on. They are read and written
//! here only.
//!
//! - **Write:** fill a type such as [`Exit`] and give it to [`compose`].
//! - **Read:** [`cr_event::Event`] says whether a line is our own
//!   ([`cr_event::Kind::Cr`]; it is the only place that compares the type), and
//!   [`OwnLine::read`] gives its content. [`Finder`] does both for a filter that
//!   looks at no other lines.
//!
//! Reading is tolerant: unknown subtypes and fields are normal, and a field of
//! the wrong type counts as absent.

mod ask;
mod exit;
mod field;
mod git;
mod input;
mod limit;
mod open_enum;
mod output;
mod own_line;
mod run;
mod start;
mod state;
mod time;
mod write;

pub use ask::{Ask, AskKind, AskState};
pub use exit::{
    AgentStderr, Exit, ExitWithoutAgent, LeftoverProcess, OutputFileState, Reason, RelayEnd,
    with_output_file,
};
pub use field::Json;
pub use git::{ChangedFile, DirtyFile, GitEnd, GitStart, IndexLock, OtherRef};
pub use input::{Input, InputState};
pub use limit::{AgentActivity, Clock, Doing, Limit};
pub use open_enum::{Named, OpenEnum};
pub use output::{Cut, Forged, Noise, Oversize, Stderr};
pub use own_line::{Finder, OwnLine, Subtype};
pub use run::{Run, Task, Wave, begins_attempt};
pub use start::{AgentProgram, Limits, RetryStart, Start};
pub use state::{State, StateName, TurnCause};
pub use time::{now, timestamp};
pub use write::{LineBody, compose, compose_line};

/// The version of the format. Additions do not raise it. A reader of state
/// files refuses a newer one with code 78.
pub const SCHEMA: u32 = 1;

/// Every object of our own lines and its fields, by the heading that
/// cr-stream(5) gives it. `type`, `subtype`, `at` and `run_id` are in all lines.
pub const OBJECTS: &[(&str, &[&str])] = &[
    ("cr/start", Start::FIELDS),
    ("cr/start", AgentProgram::FIELDS),
    ("cr/start", Limits::FIELDS),
    ("cr/stderr", Stderr::FIELDS),
    ("cr/noise", Noise::FIELDS),
    ("cr/forged", Forged::FIELDS),
    ("cr/oversize", Oversize::FIELDS),
    ("cr/cut", Cut::FIELDS),
    ("cr/limit", Limit::FIELDS),
    ("cr/limit", Doing::FIELDS),
    ("cr/state", State::FIELDS),
    ("cr/exit", Exit::FIELDS),
    ("cr/exit", AgentStderr::FIELDS),
    ("cr/exit", LeftoverProcess::FIELDS),
    ("cr/exit", OutputFileState::FIELDS),
    ("cr/exit", RelayEnd::FIELDS),
    ("cr/git start", GitStart::FIELDS),
    ("cr/git start", DirtyFile::FIELDS),
    ("cr/git start", IndexLock::FIELDS),
    ("cr/git end", GitEnd::FIELDS),
    ("cr/git end", ChangedFile::FIELDS),
    ("cr/git end", OtherRef::FIELDS),
    ("cr/task", Task::FIELDS),
    ("cr/run", Run::FIELDS),
    ("cr/wave", Wave::FIELDS),
    ("cr/input", Input::FIELDS),
    ("cr/ask", Ask::FIELDS),
];
