//! The tool as a process, on recordings and on made-up input.

#![allow(missing_docs, reason = "an integration test is a crate of its own")]

mod agent;
mod expected;
mod forms;
mod many;
mod memory;
mod nasty;
mod output;
mod recordings;
mod resume;
mod run_dir;
mod shared;
mod size;
mod subagents;
mod supervised;
mod terminal;
mod tokens;
mod tool;
mod truth;
