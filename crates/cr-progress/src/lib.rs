//! Progress of a run: what an event means to a person, as a line of text, and
//! to a program, as a flat row.
//!
//! [`ProgressTracker`] turns events into [`ProgressLine`]s and [`LineFormatter`]
//! turns these into text; [`write_progress`] does both for a whole recording.
//! [`RowBuilder`] turns events into [`Row`]s. What they are made of is here too:
//! a call in a few words ([`describe`]), the error of a failed one ([`first_line`])
//! and the commits that it made ([`reported`]).

mod calls;
mod clock;
mod commit;
mod failure;
mod format;
mod line;
mod open_rows;
mod own_lines;
mod own_rows;
mod recording;
mod row;
mod rows;
mod session_lines;
mod system;
mod tools;
mod tracker;
mod turn_end;

pub use clock::{Clock, TimeSource};
pub use commit::{Commit, may_commit, reported};
pub use failure::{exit_code, first_line, text as result_text};
pub use format::{LineFormatter, wants_colour};
pub use line::{Level, ProgressLine, Tone};
pub use own_lines::grace;
pub use recording::{TextOptions, write_progress};
pub use row::{ROW_SCHEMA, Row};
pub use rows::RowBuilder;
pub use system::KNOWN as KNOWN_SYSTEM_SUBTYPES;
pub use tools::{Call, describe};
pub use tracker::ProgressTracker;
