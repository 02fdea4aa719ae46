//! Sessions of many turns that are killed, refused, filled and resumed: what was
//! acknowledged is delivered, once.

#![allow(missing_docs, reason = "an integration test is a crate of its own")]
#![allow(clippy::print_stdout, reason = "shown when a test fails")]

mod campaign;
mod check;
mod edges;
mod place;
mod questions;
mod senders;
