//! Progress of a run: what an event means to a person, as a line of text, and
//! to a program, as a flat row.
//!
//! [`Narrator`] turns events into [`Note`]s, [`Printer`] turns a note into a line
//! of text, [`Rows`] turns events into [`Row`]s. [`write_progress`] does the
//! first two for a whole recording.

mod clock;
mod commit;
mod narrate;
mod note;
mod ours;
mod print;
mod recording;
mod rows;
mod system;
mod thread;
mod tools;

pub use clock::{Clock, TimeSource};
pub use narrate::Narrator;
pub use note::{Note, Tone, Weight};
pub use ours::grace;
pub use print::{Printer, wants_colour};
pub use recording::{TextOptions, write_progress};
pub use rows::{Row, Rows};
pub use system::KNOWN as KNOWN_SYSTEM_SUBTYPES;
