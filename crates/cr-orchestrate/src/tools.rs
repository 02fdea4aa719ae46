//! The other tools: beside this one, else on the PATH.

use std::process::Command;

/// The command that runs `tool`.
pub(crate) fn tool(tool: &str) -> Command {
    Command::new(cr_io::find_tool(tool))
}
