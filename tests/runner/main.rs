//! `claude-runner` as a user has it: a script over the tools, with an agent that
//! does what a test needs.

#![allow(missing_docs, reason = "an integration test is a crate of its own")]

mod again;
mod answer;
mod case;
mod commits;
mod config;
mod detach;
mod faults;
mod old_runs;
mod output;
mod program;
mod resume;
mod retry;
mod runs;
mod signals;
mod stages;
mod starter;
