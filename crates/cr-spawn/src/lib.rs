//! Run one agent, supervised to the end.
//!
//! Two processes: the front, which the user sees, has the lines, the clocks and
//! the signals; the guardian is the agent's parent and outlives the front if it
//! must. Each notices when the other is killed or stopped, and either of them
//! alone ends everything that the agent has started.

mod activity;
mod cause;
mod clocks;
mod ending;
mod guardian;
mod guardian_link;
mod guardian_protocol;
mod input_queue;
mod isolate;
mod output;
mod poll_set;
mod prepare;
mod read_budget;
mod record;
mod recording;
mod signals;
mod start;
mod starter;
mod stderr;
mod stdout;
mod supervisor;

pub use cr_agent::AgentOptions as Args;
pub use guardian::guard;

use cr_io::Exit;

/// Runs the agent that `args` ask for, to the end; the stream goes to standard
/// output.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    start::run(args)
}
