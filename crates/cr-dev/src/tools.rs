//! The tools. A new one is one line here.

use clap::Command;

/// The arguments of every tool that is shipped, in the order of the manual.
pub(crate) fn all() -> Vec<Command> {
    [].map(|command: Command| command.version(env!("CARGO_PKG_VERSION")))
        .to_vec()
}
