//! The real CLI, two versions of it, under `cr-spawn`, against a scripted API.
//!
//! These tests check what the tools depend on. A failure after a new
//! version of the CLI means that the protocol has changed.

#![allow(missing_docs, reason = "an integration test is a crate of its own")]
#![allow(clippy::print_stdout, reason = "shown when a test fails")]

mod answers;
mod cli;
mod ends;
mod failures;
mod ledger;
mod leftovers;
mod limits;
mod milestone;
mod place;
mod prompts;
mod questions;
mod run;
mod runner;
mod sandbox;
mod script;
mod session_limits;
mod sessions;
mod signals;
mod sprint;
mod talk;
mod team;
mod versions;
mod waves;
mod work;
