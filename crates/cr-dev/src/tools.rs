//! The tools. A new one is one line here.

use clap::{Command, CommandFactory};

/// The arguments of every tool that is shipped, in the order of the manual.
pub(crate) fn all() -> Vec<Command> {
    vec![
        // The script, whose command line cr-runs reads.
        cr_runs::Runner::command(),
        cr_agent::AgentOptions::command(),
        cr_git::Args::command(),
        cr_filter::Args::command(),
        cr_summarize::Args::command(),
        cr_extract::Args::command(),
        cr_runs::Args::command(),
        cr_orchestrate::Args::command(),
        // A script, which hands its command line on.
        cr_orchestrate::sprint_loop(),
        cr_replay::Args::command(),
    ]
}
