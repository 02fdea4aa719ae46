//! The user's budgets, as cr-ledger keeps them.

use std::path::Path;
use std::process::{Command, Stdio};

use cr_io::find_tool;

/// The code of cr-ledger for a budget that is used up.
const EXHAUSTED: i32 = 3;

/// Why no agent may start in `cwd`, if a budget is used up. A ledger that cannot be
/// asked stops nothing.
pub(crate) fn exhausted(cwd: &Path, milestone: Option<&str>) -> Option<String> {
    if std::env::var_os(cr_pipeline::NO_LEDGER).is_some_and(|value| !value.is_empty()) {
        return None;
    }
    let mut command = Command::new(find_tool("cr-ledger"));
    command.args(["budget", "check", "--project"]).arg(cwd);
    if let Some(milestone) = milestone {
        command.arg("--milestone").arg(milestone);
    }
    let output = command.stdin(Stdio::null()).output().ok()?;
    if output.status.code() != Some(EXHAUSTED) {
        return None;
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Some(cr_io::sanitized(text.lines().next().unwrap_or_default()))
}
