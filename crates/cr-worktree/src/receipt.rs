//! Receipts: a note on each merge commit says what was proven, and how.

use anyhow::Context;
use cr_io::Exit;
use serde::{Deserialize, Serialize};

use crate::names;
use crate::repository::Repository;
use crate::work::Work;

/// Where the notes are. `git log --notes=cr` shows them.
const NOTES: &str = "--ref=refs/notes/cr";

/// What is known about merged work.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Receipt {
    /// The version of this format.
    pub schema: u32,
    /// The id of the run.
    pub run: String,
    /// The id of the task.
    pub task: String,
    /// The number of the attempt.
    pub attempt: u32,
    /// The last commit of the task.
    pub head: String,
    /// The commands of the verification.
    pub verify: Vec<String>,
    /// What the verification said.
    pub result: VerifyResult,
    /// What the task has cost, in US dollars.
    pub cost_usd: Option<f64>,
}

/// What the verification said. Only green work is merged.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum VerifyResult {
    /// The merged tree is good.
    Green,
}

impl Receipt {
    pub(crate) fn of(work: &Work<'_>) -> Self {
        Self {
            schema: 1,
            run: work.run.to_owned(),
            task: work.task.to_owned(),
            attempt: work.attempt,
            head: work.head.to_owned(),
            verify: work.verify.to_vec(),
            result: VerifyResult::Green,
            cost_usd: work.cost_usd,
        }
    }
}

impl Repository {
    /// The receipt of the merge commit `sha`, `None` if it has none that we can
    /// read.
    pub fn receipt(&self, sha: &str) -> anyhow::Result<Option<Receipt>> {
        let sha = self.repo.commit(sha)?;
        let answer = self.repo.git.answer(&["notes", NOTES, "show", &sha], b"")?;
        Ok(answer
            .yes
            .then(|| serde_json::from_slice(&answer.text).ok())
            .flatten())
    }

    /// The merge commits of `run` that have a receipt, oldest first.
    pub fn receipts(&self, run: &str) -> anyhow::Result<Vec<(String, Receipt)>> {
        let reference = format!("refs/heads/{}", names::run_branch(run)?);
        if self.reference(&reference)?.is_none() {
            return Ok(Vec::new());
        }
        let args = ["rev-list", "--first-parent", "--merges", "--reverse"];
        let notes = self.repo.git.ask(&["notes", NOTES, "list"])?;
        let notes = String::from_utf8_lossy(&notes);
        let has_note = |sha: &str| notes.lines().any(|line| line.ends_with(sha));
        let text = self.repo.git.ask(&[&args[..], &[&reference]].concat())?;
        let mut found = Vec::new();
        for sha in String::from_utf8_lossy(&text)
            .lines()
            .filter(|sha| has_note(sha))
        {
            let receipt = self.receipt(sha)?.filter(|receipt| receipt.run == run);
            found.extend(receipt.map(|receipt| (sha.to_owned(), receipt)));
        }
        Ok(found)
    }

    /// Writes the receipt of `sha`. The caller holds the lock.
    pub(crate) fn write_receipt(&self, sha: &str, receipt: &Receipt) -> anyhow::Result<()> {
        let text = serde_json::to_vec(receipt)?;
        let args = ["notes", NOTES, "add", "--force", "-F", "-", sha];
        // Killed, it would leave a lock on the notes.
        let git = self.changing(self.top()).completing();
        let written = git.ask_with(&args, &text);
        written.context("receipt").context(Exit::Tool)?;
        Ok(())
    }
}
