//! The event model: one line of the stream to one borrowed value.
//!
//! [`Event`] finds what every line says about itself and skips the rest without
//! building it; [`Message`] and [`TurnEnd`] then read what their kinds hold.
//! Four rules follow:
//!
//! - **Unknown is normal.** A type or field that this crate does not know is
//!   [`Kind::Other`] or ignored, never an error; filters pass it on.
//! - **Borrow.** [`Text`] and [`Raw`] are slices of the line; nothing is decoded
//!   before it is used, so a part that cannot be decoded does not lose the line.
//! - **Both dialects.** The stream of `--output-format stream-json` and the logs
//!   that a session leaves on disk are read by the same fields.
//! - **The line is the truth.** A filter writes the bytes it read, not an event
//!   written again, so fields that this crate does not know are not lost.

mod document;
mod foreign;
mod json;
mod line;
mod message;
mod origin;
mod result;

pub use document::Documents;
pub use foreign::{Look, is_claudes, is_claudes_result, look, look_of_bytes, names_another};
pub use json::{Cursor, Malformed, Raw, Text};
pub use line::{Event, Kind, OWN_TYPE, claims_to_be_own, strip};
pub use message::{Block, Content, Message, ToolResult, ToolUse, Usage, is_filler};
pub use origin::Origin;
pub use result::{ModelUsage, TurnEnd, by_model};
