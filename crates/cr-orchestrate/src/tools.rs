//! The other tools: beside this one, else on the PATH.

use std::ffi::OsString;
use std::process::Command;

/// The command that runs `tool`.
pub(crate) fn tool(tool: &str) -> Command {
    Command::new(find(tool))
}

fn find(tool: &str) -> OsString {
    let beside = std::env::current_exe()
        .ok()
        .and_then(|path| Some(path.parent()?.join(tool)))
        .filter(|path| path.is_file());
    beside.map_or_else(|| tool.into(), Into::into)
}
