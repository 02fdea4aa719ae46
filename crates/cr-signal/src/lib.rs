//! Signals, the same way for every tool.
//!
//! - [`Ignored`]: the signals that this process was told to ignore (nohup, a
//!   shell's background job).
//! - [`Signals`]: the wanted signals as a descriptor to poll. Ignored ones stay
//!   ignored.
//! - [`Interrupts`]: the rule that the second SIGINT ends a filter with 130.
//! - [`Starter`]: the process that started this one. Its death counts as SIGTERM.
//! - [`ControlChannel`]: signals that a starter passes on through a descriptor
//!   instead of sending them; its writer is a [`ControlSender`].

mod control;
mod delivery;
mod ignored;
mod interrupt;
mod starter;

pub use control::{ControlChannel, ControlMessage, ControlSender};
pub use delivery::{Delivered, Signals, flag_of, ignore_here, keep_children};
pub use ignored::Ignored;
pub use interrupt::{Interrupted, Interrupts};
pub use signal_hook::consts::{
    SIGALRM, SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2,
};
pub use starter::Starter;
