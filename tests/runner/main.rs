//! `claude-runner` as a user has it: a script over the tools, with an agent that
//! does what a test needs.

#![allow(missing_docs, reason = "an integration test is a crate of its own")]

mod again;
mod answer;
mod case;
mod commits;
mod completions;
mod config;
mod ctrl_c;
mod detach;
mod faults;
mod ledger;
mod milestone;
mod old_runs;
mod output;
mod places;
mod printed;
mod processes;
mod program;
mod reader;
mod resume;
mod retry;
mod runs;
mod signals;
mod skill;
mod stages;
mod starter;
