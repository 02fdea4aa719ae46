//! The tool as a process, against a scripted server.

#![allow(missing_docs, reason = "an integration test is a crate of its own")]

mod actions;
mod ended;
mod hostile;
mod messages;
mod senders;
mod server;
mod waits;
