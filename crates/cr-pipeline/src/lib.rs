//! Starts the pipeline that the second half of `scripts/claude-runner` defines,
//! for `claude-runner` and for each attempt of the engine.
//!
//! A shell that waits for a pipeline handles no signal until the pipeline has
//! ended. So the pipeline has a parent that is not a shell, the starter: it
//! keeps the process id that a caller knows, has the pipeline ignore the signals
//! that ask a process to end, and passes them on to the stage that runs the
//! agent, through the pipe that `cr_signal::ControlChannel` describes.

mod ledger;
mod pipeline;
mod record;
mod starter;

pub use ledger::{MILESTONE, NO_LEDGER, TASK, TASK_TYPE};
pub use pipeline::{Output, Pipeline, Script, Source, Streams};
pub use record::{Summary, summarize_record};
pub use starter::{READER_LEFT, SIGNALS, take_signals};
