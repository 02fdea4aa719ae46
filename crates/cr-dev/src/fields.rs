//! The fields of what the tools print, from the doc comments on the types.
//!
//! `source` reads the types, `comment` their comments. From them come the JSON
//! Schemas (`schema`) and the lists in the manual pages (`page`). `documents` says
//! which type is what.
//!
//! The comment of a field is its meaning, and then lines that begin with a label:
//!
//! - `Null:` says when it is null; every field that may be null has it.
//! - `Absent:` says when it is not there; every field that may be absent has it,
//!   unless an empty value is what is left out.
//! - `Example:` is a value, as JSON in backquotes.
//! - `Values:` lists the only values, separated by commas.
//! - `Form:` is the type of a value that the code does not look into.
//!
//! A type with one unnamed field is described by `Called:`, its name for people, and
//! `Schema:`, its schema.

mod comment;
mod documents;
mod json;
mod page;
mod schema;
mod source;

pub(crate) use documents::{check, of_page, schemas, tasks_page};
