//! The harness of every test that starts a process. Nothing here is shipped.
//!
//! * [`World`]: a directory, a HOME, a state directory, a locale, a time zone
//!   and a git identity for one test, and nothing of the caller's environment.
//!   When it is dropped, no process of it may be left.
//! * [`Command`] and [`Child`]: like those of the standard library, but a child
//!   starts with default signals, its standard input stays as the test holds
//!   it, and every wait has a limit. A wait that passes the limit kills the
//!   process tree and panics with the command and its output.
//! * [`until`], [`appears`], [`line_with`], [`Fifo`], [`Terminal`]: bounded waits
//!   for other things.
//! * [`bin`], [`root`], [`fixture`]: where the tools and the test data are.
//!
//! `CR_TEST_RUNNING` names a directory in which each running test leaves its
//! name, `CR_TEST_LEFT_OUT` a file for what could not be tested here.
//! `CR_TEST_LIMIT` is the limit of a wait in seconds.

#![allow(clippy::missing_panics_doc, reason = "a test harness fails by a panic")]

use std::io::Write;

mod bins;
mod child;
mod command;
mod fifo;
mod left_out;
mod names;
mod process;
mod program;
mod terminal;
mod wait;
mod world;

pub use bins::{bin, bin_dir, fixture, root, runner_script};
pub use child::{Child, Pipe};
pub use command::Command;
pub use fifo::Fifo;
pub use left_out::{has_namespaces, left_out};
pub use process::{Found, is_alive, is_stopped, kill, signal_named, state};
pub use rustix::process::Signal;
pub use terminal::Terminal;
pub use wait::{appears, limit, line_with, until};
pub use world::World;

/// A tool of this workspace, in a [`World`] of its own.
pub fn tool(name: &str) -> Command {
    World::new().tool(name)
}

/// `bytes` as gzip compresses them.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let level = flate2::Compression::fast();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
    encoder.write_all(bytes).expect("compressed");
    encoder.finish().expect("compressed")
}

/// How often to repeat a test that gains by repetition: `full` times in the
/// campaign, `few` times otherwise.
pub fn repeats(few: usize, full: usize) -> usize {
    let is_full = std::env::var_os("CR_CAMPAIGN").is_some_and(|value| value == "full");
    if is_full { full } else { few }
}
