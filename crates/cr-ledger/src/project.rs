//! A project, by the directory of its agents.

use std::path::Path;

use anyhow::{Context, anyhow};
use cr_io::Exit;

/// The name of a project in the ledger: the directory without links, as the agents
/// in it see it. One that is gone keeps its name.
pub(crate) fn name(dir: &Path) -> anyhow::Result<String> {
    let path = std::fs::canonicalize(dir).or_else(|_| std::path::absolute(dir));
    let path = path
        .with_context(|| format!("--project: {}", dir.display()))
        .context(Exit::Usage)?;
    let text = path.to_str().map(|text| text.trim_end_matches('/'));
    text.map(str::to_owned)
        .ok_or_else(|| anyhow!("--project: its name is not UTF-8").context(Exit::Usage))
}
