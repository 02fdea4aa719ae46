//! Run one agent, supervised to the end.
//!
//! Two processes: the front, which the user sees, has the lines, the clocks and
//! the signals; the guardian is the agent's parent and outlives the front if it
//! must. Each notices when the other is killed or stopped, and either of them
//! alone ends everything that the agent has started.

mod activity;
mod cause;
mod clocks;
mod end;
mod feed;
mod front;
mod guard;
mod guardian;
mod isolate;
mod output;
mod prepare;
mod ration;
mod record;
mod recording;
mod signals;
mod start;
mod starter;
mod stderr;
mod stdout;
mod wait;
mod wire;

pub use cr_agent::AgentOptions as Args;
pub use guardian::guard;

use cr_io::Exit;

/// Runs the agent that `args` ask for, to the end; the stream goes to standard
/// output.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    start::run(args)
}
