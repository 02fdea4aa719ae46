//! Where the agent keeps the log of a session.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// The log of the session `id`: in the directory of any project, because a
/// session may be resumed elsewhere.
pub fn find_session_log(id: &str) -> Option<PathBuf> {
    let config = env::var_os("CLAUDE_CONFIG_DIR").filter(|dir| !dir.is_empty());
    let home = || env::var_os("HOME").map(|home| Path::new(&home).join(".claude"));
    let config = config.map(PathBuf::from).or_else(home)?;
    let projects = fs::read_dir(config.join("projects")).ok()?;
    let name = format!("{id}.jsonl");
    let mut logs = projects.flatten().map(|project| project.path().join(&name));
    logs.find(|log| log.is_file())
}
