//! Bytes and lines: reading, writing, inputs by name, exit codes.
//!
//! The meaning of a line is in `cr-event`.

mod duration;
mod exit;
mod gunzip;
mod input;
mod lines;
mod live_input;
mod out;
mod output_file;
mod quote;
mod redact;
mod scan;
mod schema;
mod size;
mod text;
mod tool;
mod trickle;

pub use duration::{parse_duration, show_duration};
pub use exit::{Exit, exit_of, message, note, report};
pub use input::{Input, Watched, inputs, read_failure, uncompressed_name};
pub use lines::{Line, Lines, MAX_LINE};
pub use live_input::expect_grace;
pub use out::{Out, print_schema};
pub use output_file::{OutputFile, OutputFileRecord, check_output_file, write_output_file};
pub use quote::quote;
pub use redact::Redactor;
pub use scan::is_object;
pub use schema::NewerSchema;
pub use size::parse_max_line;
pub use text::{counted, first_chars, is_hidden, json_string, sanitize, sanitized, visible_json};
pub use tool::find_tool;
pub use trickle::Trickle;
