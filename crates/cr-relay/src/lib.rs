//! Runs one agent on another machine, behind a command that relays its streams:
//! `ssh host`, `srun`, `podman run -i`.
//!
//! `near` takes the place of cr-spawn in a pipeline. It starts the command with
//! `cr-relay far` behind it. The far end runs cr-spawn, in a work directory of
//! its own. The prompt and the repository travel through the command's standard
//! streams, and so does the work: no shared file system is needed.
//!
//! Two rules hold throughout. The end of the command proves nothing, only the
//! far end's `cr/exit` does, and it is released when the work has arrived. And
//! the far end has a lease: without news from the near end it ends its agent.

mod args;
mod far;
mod frame;
mod git;
mod message;
mod near;
mod tail;

pub use args::{Action, Args, NearArgs};

use cr_io::Exit;

/// Runs one end of a relay.
pub fn run(args: &Args) -> anyhow::Result<Exit> {
    match &args.action {
        Action::Near(args) => near::run(args),
        Action::Far => far::run(),
    }
}

/// A note to the user. That it cannot be written is no reason to stop.
fn note(text: &str) {
    let line = format!("cr-relay: {}\n", cr_io::sanitized(text));
    let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
}
