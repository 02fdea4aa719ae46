//! The turns that finished tasks took, as the ledger knows them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use cr_io::find_tool;

/// Asks cr-ledger, once for each kind of task.
#[derive(Debug)]
pub(crate) struct History {
    project: PathBuf,
    known: RefCell<HashMap<String, Result<Vec<u64>, String>>>,
}

impl History {
    /// Of the tasks in `project`.
    pub(crate) fn new(project: PathBuf) -> Self {
        Self {
            project,
            known: RefCell::default(),
        }
    }

    /// The turns of finished tasks of one kind, or why they are not known.
    pub(crate) fn turns(&self, task_type: Option<&str>) -> Result<Vec<u64>, String> {
        let Some(task_type) = task_type.filter(|kind| !kind.is_empty()) else {
            return Err("the task has no type".to_owned());
        };
        let mut known = self.known.borrow_mut();
        let turns = known
            .entry(task_type.to_lowercase())
            .or_insert_with(|| self.ask(task_type));
        turns.clone()
    }

    fn ask(&self, task_type: &str) -> Result<Vec<u64>, String> {
        let mut command = Command::new(find_tool("cr-ledger"));
        command.arg("task-turns").arg("--project");
        command
            .arg(&self.project)
            .arg(format!("--type={task_type}"));
        command.stdin(Stdio::null());
        let output = command
            .output()
            .map_err(|err| format!("cr-ledger: {err}"))?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr);
            let line = text.lines().next().unwrap_or("cr-ledger failed");
            return Err(cr_io::sanitized(line));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text.lines().filter_map(|line| line.parse().ok()).collect())
    }
}
