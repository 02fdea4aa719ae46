//! The tool as a process.

#![allow(missing_docs, reason = "an integration test is a crate of its own")]
