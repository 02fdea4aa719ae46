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
mod start;
mod stderr;
mod stdout;
mod supervisor;

pub use guardian::guard;

use cr_agent::AgentOptions;
use cr_io::Exit;

/// Runs the agent that `options` ask for, to the end; the stream goes to standard
/// output.
pub fn run(options: &AgentOptions) -> anyhow::Result<Exit> {
    start::run(options)
}
