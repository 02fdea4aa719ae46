//! The tool as a process.

#![allow(missing_docs, reason = "an integration test is a crate of its own")]

mod conformance;
mod fences;
mod forms;
mod hostile;
mod manners;
mod recordings;
mod schema;
mod sessions;
mod tool;
mod verdict;
