//! The end of a run whose work is merged: it is brought to the user's branch, and a
//! command of the user's learns of it.

use anyhow::anyhow;
use cr_io::Exit;
use cr_worktree::{Brought, run_branch};
use serde::{Deserialize, Serialize};

use crate::gate::{self, Surroundings};
use crate::layout::{Run, RunLayout};
use crate::schedule::{Ending, TaskRecord};
use crate::stop::Stopping;

/// The file that says that the user's command was run.
const TOLD: &str = "on-merged.done";

/// What happens with merged work when all tasks are done.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct OnMerged {
    /// The user's branch that gets it.
    pub(crate) into: Option<String>,
    /// A command to run.
    pub(crate) command: Option<String>,
}

/// What became of the merged work of a run.
#[derive(Clone, Debug)]
pub(crate) struct MergedWork {
    /// The branch that has it.
    pub(crate) branch: String,
    /// How many tasks it is of.
    pub(crate) tasks: usize,
    /// The user's work tree.
    pub(crate) top: String,
    /// What was done with it, or why nothing was.
    pub(crate) notes: Vec<String>,
    /// The command that brings it to the user's branch, unless that is done.
    pub(crate) command: Option<String>,
}

impl MergedWork {
    /// The merged work of `run`; `None` if there is none.
    pub(crate) fn of(run: &Run, tasks: &[TaskRecord]) -> anyhow::Result<Option<Self>> {
        let Some(worktrees) = &run.settings.worktrees else {
            return Ok(None);
        };
        let is_merged = |record: &&TaskRecord| {
            let mut ended = record.attempts.ended.iter();
            ended.any(|attempt| attempt.end.merged.is_some())
        };
        let count = tasks.iter().filter(is_merged).count();
        if count == 0 {
            return Ok(None);
        }
        let branch = run_branch(&run.id)?;
        Ok(Some(Self {
            command: Some(format!("git merge {branch}")),
            top: worktrees.top.display().to_string(),
            tasks: count,
            notes: Vec::new(),
            branch,
        }))
    }

    /// Does with it what the user wants when all tasks are done. Returns the end of
    /// the run if that fails.
    pub(crate) fn finish(
        &mut self,
        (layout, run): (&RunLayout, &Run),
        stop: &mut dyn Stopping,
    ) -> anyhow::Result<Option<Ending>> {
        let wanted = &run.settings.on_merged;
        if let Some(branch) = &wanted.into
            && let Some(ending) = self.bring(run, branch)?
        {
            return Ok(Some(ending));
        }
        match &wanted.command {
            Some(command) if !layout.dir.has(TOLD) => self.tell((layout, run), command, stop),
            _ => Ok(None),
        }
    }

    fn bring(&mut self, run: &Run, branch: &str) -> anyhow::Result<Option<Ending>> {
        let Some(worktrees) = &run.settings.worktrees else {
            return Ok(None);
        };
        let brought = worktrees.open()?.bring_into(&run.id, branch)?;
        let why = match brought {
            Brought::FastForward { .. } | Brought::AlreadyThere => {
                self.notes.push(format!("It is in {branch}."));
                self.command = None;
                return Ok(None);
            }
            Brought::Merged { sha } => {
                self.notes.push(format!(
                    "It is in {branch} by the merge commit {sha}. {branch} had commits of its \
                     own, so nothing has verified that merge."
                ));
                self.command = None;
                return Ok(None);
            }
            Brought::Conflict { text, .. } => format!("a conflict: {}", text.trim_end()),
            Brought::Refused { reason, .. } => reason,
        };
        let why = format!("not merged into {branch}: {why}");
        self.notes.push(why.clone());
        Ok(Some(Ending::new(Exit::Code(4), "ended", why)))
    }

    /// Runs the user's command.
    fn tell(
        &mut self,
        (layout, run): (&RunLayout, &Run),
        command: &str,
        stop: &mut dyn Stopping,
    ) -> anyhow::Result<Option<Ending>> {
        let Some(worktrees) = &run.settings.worktrees else {
            return Ok(None);
        };
        let text = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let into = run.settings.on_merged.into.as_deref().unwrap_or_default();
        let env = [
            text("CR_RUN_ID", &run.id),
            text("CR_BRANCH", &self.branch),
            text("CR_BASE", &worktrees.base),
            text("CR_INTO", into),
            text("CR_REPORT_DIR", &layout.dir.path().to_string_lossy()),
        ];
        let around = Surroundings {
            dir: &layout.dir,
            env: &env,
            // It publishes the work, with rights that no agent has.
            sandbox: None,
        };
        let command = [command.to_owned()];
        let commands = [(&*worktrees.top, &command[..])];
        let Some(error) = gate::run(around, ("on-merged", &commands), stop)? else {
            layout.dir.write_once(TOLD, b"")?;
            return Ok(None);
        };
        let why = format!("--on-merged: {}", error.lines().next().unwrap_or_default());
        self.notes.push(why.clone());
        Ok(Some(Ending::new(Exit::No, "ended", why)))
    }
}

/// Refuses a branch that is not there, before anything is done.
pub(crate) fn check(run_settings: &crate::layout::Settings) -> anyhow::Result<()> {
    let wanted = &run_settings.on_merged;
    let Some(worktrees) = &run_settings.worktrees else {
        if wanted.into.is_some() || wanted.command.is_some() {
            let text = "--into and --on-merged: only with --isolation worktree";
            return Err(anyhow!(text).context(Exit::Usage));
        }
        return Ok(());
    };
    match &wanted.into {
        Some(branch) if !worktrees.open()?.has_branch(branch)? => {
            let text = format!("--into: no branch is called `{}`", cr_io::sanitized(branch));
            Err(anyhow!(text).context(Exit::Usage))
        }
        _ => Ok(()),
    }
}
