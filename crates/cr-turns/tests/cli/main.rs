//! The tool as a process.

#![allow(missing_docs, reason = "an integration test is a crate of its own")]

mod bad_input;
mod estimates;
mod forms;
mod history;
mod manners;
mod tool;
