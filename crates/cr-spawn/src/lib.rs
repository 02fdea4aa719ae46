//! Run one agent, supervised to the end.
//!
//! Two processes: the supervisor, which the user sees, has the lines, the clocks
//! and the signals; the guardian is the agent's parent and outlives the
//! supervisor if it must. Each notices when the other is killed or stopped, and
//! each can end everything that the agent has started without the other.

mod activity;
mod cause;
mod clocks;
mod context;
mod ending;
mod guardian;
mod guardian_link;
mod guardian_protocol;
mod input_queue;
mod isolate;
mod output;
mod phases;
mod pipes;
mod poll_set;
mod prepare;
mod read_budget;
mod record;
mod recording;
mod requests;
mod session;
mod start;
mod stderr;
mod stdout;
mod supervisor;
mod tasks;

pub use guardian::guard;

use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::Context;
use cr_agent::{AGENT_PATH, AgentOptions};
use cr_io::Exit;

/// Runs the agent that `options` ask for, to the end; the stream goes to standard
/// output.
pub fn run(options: &AgentOptions) -> anyhow::Result<Exit> {
    take_agent_path()?;
    start::run(options)
}

/// Starts this program anew with the PATH that is for it alone, if there is one.
fn take_agent_path() -> anyhow::Result<()> {
    let Some(path) = std::env::var_os(AGENT_PATH) else {
        return Ok(());
    };
    let program = std::env::current_exe().context(Exit::Tool)?;
    let mut command = Command::new(program);
    command.args(std::env::args_os().skip(1));
    command.env_remove(AGENT_PATH).env("PATH", path);
    Err(command.exec()).context(AGENT_PATH).context(Exit::Tool)
}
