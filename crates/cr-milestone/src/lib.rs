//! The next run of a milestone, as `cr-ledger milestone next` answers.
//!
//! The ledger is asked as a process: only cr-ledger has a database.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, anyhow};
use cr_io::{Exit, find_tool};
use serde::{Deserialize, Serialize};

/// The variable by which the stages of a run know the id of its milestone.
pub const VARIABLE: &str = "CR_MILESTONE";

/// What the next run of a milestone is.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub struct NextRun {
    /// The id of the milestone.
    pub milestone_id: String,
    /// The session.
    pub session_id: String,
    /// The session is there and is resumed; otherwise it begins with this run.
    pub resume: bool,
    /// The text before the prompt of the task; empty if the session is resumed.
    pub prompt_prefix: String,
    /// Why, in one sentence.
    pub why: String,
}

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The milestone, by its name or its id.
    pub milestone: &'a OsStr,
    /// The directory of the agent.
    pub project: &'a Path,
    /// The work plan, with which a milestone is started that is not there.
    pub plan: Option<&'a Path>,
    /// The session must be a new one.
    pub is_new: bool,
}

impl Question<'_> {
    /// Asks the ledger. Its notes go to standard error.
    pub fn ask(&self) -> anyhow::Result<NextRun> {
        let program = find_tool("cr-ledger");
        let shown = program.display().to_string();
        let mut command = Command::new(program);
        command.args(["milestone", "next"]);
        command.arg("--project").arg(self.project);
        if let Some(plan) = self.plan {
            command.arg("--plan").arg(plan);
        }
        if self.is_new {
            command.arg("--new");
        }
        command.arg("--").arg(self.milestone);
        let output = command
            .stdin(std::process::Stdio::null())
            .output()
            .context(shown)
            .context(Exit::Tool)?;
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            let code = output
                .status
                .code()
                .and_then(|code| u8::try_from(code).ok());
            let exit = Exit::Code(code.unwrap_or(Exit::Tool.code()));
            return Err(anyhow!(why(&said)).context("--milestone").context(exit));
        }
        // A standard error that is closed stops nothing.
        let _ = io::stderr().write_all(said.as_bytes());
        serde_json::from_slice(&output.stdout)
            .context("cr-ledger milestone next")
            .context(Exit::Tool)
    }
}

/// What the tool said, without its name.
fn why(said: &str) -> String {
    let text = said.trim();
    let text = text.strip_prefix("cr-ledger: ").unwrap_or(text);
    match text {
        "" => "cr-ledger failed".to_owned(),
        text => text.to_owned(),
    }
}
