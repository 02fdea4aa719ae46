//! The tool as a process.

#![allow(missing_docs, reason = "an integration test is a crate of its own")]

#[path = "../../../../tests/pipeline/bins.rs"]
#[expect(dead_code, reason = "shared with the tests across tools")]
mod bins;
mod conformance;
mod fences;
mod forms;
mod hostile;
mod manners;
mod recordings;
mod schema;
mod tool;
mod verdict;
