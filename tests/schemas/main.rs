//! The JSON Schemas that the tools print: what they print satisfies them, and no
//! field is described that never has a value.

#![allow(missing_docs, reason = "an integration test is a crate of its own")]

mod checker;
mod examples;
mod outputs;
mod runs;
mod tasks;
