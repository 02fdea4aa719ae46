//! How the tasks of a run are kept apart: all in one work tree, or each attempt in
//! a git worktree of its own, of which only proven work is merged.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use cr_io::Exit;
use cr_rundir::{RunDir, file, state_text};
use cr_worktree::{NewWorktree, Repository, Worktree};
use serde::{Deserialize, Serialize};

use crate::args::Args;
use crate::attempt::{Ended, read_state};
use crate::finish;
use crate::layout::{Run, RunLayout, Settings};
use crate::plan_gates::PlanGates;
use crate::sandbox::{self, SandboxSettings};
use crate::task::Task;

/// The directory of the worktrees, in the directory of a run.
const WORKTREES: &str = "worktrees";

/// The worktree in which a run merges, beside those.
const MERGE: &str = "merge";

/// How many ports each slot has.
const PORTS: u32 = 10;

/// The ports of all slots: below those that a kernel gives to clients.
const FIRST_PORT: u32 = 20_000;

/// How many ranges there are.
const PORT_RANGES: u32 = 1200;

/// How tasks are kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Isolation {
    /// A worktree for each attempt
    Worktree,
    /// All in one work tree
    Shared,
}

/// The repository of a run whose attempts have worktrees of their own.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct Worktrees {
    /// The top of the user's work tree.
    #[serde(with = "cr_agent::os_path")]
    pub(crate) top: PathBuf,
    /// The commit that the run began at.
    pub(crate) base: String,
}

impl Worktrees {
    /// Of the repository that all `tasks` are in. Also returns how many files of the
    /// user are changed, which the tasks do not see.
    pub(crate) fn of(tasks: &[Task]) -> anyhow::Result<(Self, usize)> {
        let Some(first) = tasks.first() else {
            return Err(anyhow!("no tasks").context(Exit::Usage));
        };
        let repository = Repository::open(&first.cwd)
            .context("--isolation worktree needs a git repository with a commit; --isolation shared needs none")?;
        let top = fs::canonicalize(repository.top())?;
        for task in tasks {
            let repository = Repository::open(&task.cwd);
            let own = repository.and_then(|own| Ok(fs::canonicalize(own.top())?));
            if own.ok().as_ref() != Some(&top) {
                let (id, top) = (&task.id, top.display());
                let text = format!(
                    "`{id}`: its directory is not in {top}; all tasks must be in one \
                     repository, or use --isolation shared"
                );
                return Err(anyhow!(text).context(Exit::Usage));
            }
        }
        let found = Self {
            base: repository.base().to_owned(),
            top,
        };
        Ok((found, repository.dirty().len()))
    }

    pub(crate) fn open(&self) -> anyhow::Result<Repository> {
        Repository::open(&self.top)
    }
}

/// Decides how the tasks of a new run are kept apart.
pub(crate) fn begin(args: &Args, settings: &mut Settings, tasks: &[Task]) -> anyhow::Result<()> {
    let usual = if settings.slots > 1 || settings.sandbox.is_some() {
        Isolation::Worktree
    } else {
        Isolation::Shared
    };
    if args.isolation.unwrap_or(usual) == Isolation::Worktree {
        let (worktrees, dirty) = Worktrees::of(tasks)?;
        if dirty > 0 && !args.quiet {
            let top = worktrees.top.display();
            let count = cr_io::counted(dirty as u64, "file");
            let text = anyhow!("{top}: {count} not committed, which no task sees");
            cr_io::note(args.program(), std::io::stderr(), &text);
        }
        settings.worktrees = Some(worktrees);
    }
    check(settings, tasks)
}

/// Checks the settings of a run that is resumed with `tasks`.
pub(crate) fn resume(args: &Args, settings: &Settings, tasks: &[Task]) -> anyhow::Result<()> {
    let before = match &settings.worktrees {
        Some(_) => Isolation::Worktree,
        None => Isolation::Shared,
    };
    if args.isolation.is_some_and(|given| given != before) {
        let text = "--isolation: a run keeps the one that it began with";
        return Err(anyhow!(text).context(Exit::Usage));
    }
    if args.sandbox.sandbox && SandboxSettings::of(&args.sandbox)? != settings.sandbox {
        let text = "--sandbox: a run keeps the one that it began with";
        return Err(anyhow!(text).context(Exit::Usage));
    }
    if let Some(worktrees) = &settings.worktrees
        && args.plan.is_some()
        && Worktrees::of(tasks)?.0.top != worktrees.top
    {
        let top = worktrees.top.display();
        let text = format!("the tasks are not in {top}, where the run works");
        return Err(anyhow!(text).context(Exit::Usage));
    }
    check(settings, tasks)
}

fn check(settings: &Settings, tasks: &[Task]) -> anyhow::Result<()> {
    let is_one = settings.slots <= 1 && settings.worktrees.is_none();
    let is_shared = settings.slots > 1 && settings.worktrees.is_none();
    let text = if settings.milestone.is_some() && !is_one {
        "--milestone: its session has one agent at a time, in one work tree"
    } else if is_shared && tasks.iter().any(|task| Repository::open(&task.cwd).is_ok()) {
        "--max-agents: in a shared work tree of git one agent works at a time"
    } else if settings.sandbox.is_some() && settings.worktrees.is_none() {
        "--sandbox: only a worktree of its own can be all that an agent writes; leave out \
         --isolation shared"
    } else {
        if let (Some(_), Some(worktrees)) = (&settings.sandbox, &settings.worktrees) {
            sandbox::probe(worktrees)?;
        }
        return finish::check(settings);
    };
    Err(anyhow!(text).context(Exit::Usage))
}

/// The worktree of an attempt, as it is planned.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(crate) struct Place {
    /// The id of the run.
    pub(crate) run: String,
    #[serde(flatten)]
    pub(crate) worktrees: Worktrees,
    /// The attempt that it was made for. Attempts that continue use it too.
    pub(crate) made_for: u32,
    #[serde(with = "cr_agent::os_path")]
    pub(crate) dir: PathBuf,
    /// The agent's working directory in it.
    #[serde(with = "cr_agent::os_path")]
    pub(crate) cwd: PathBuf,
}

/// The worktree of an attempt, as it was made.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Made {
    /// The commit that it began at.
    pub(crate) base: String,
    pub(crate) branch: String,
}

impl Place {
    /// The place of attempt `number` at `task`, after `last`.
    pub(crate) fn of(
        layout: &RunLayout,
        (run, worktrees): (&str, &Worktrees),
        task: &Task,
        number: u32,
        last: Option<&Ended>,
    ) -> anyhow::Result<Self> {
        let before = last.filter(|last| !begins_anew(task, last));
        let before = before.and_then(|last| last.spec.place.as_ref());
        let made_for = before.map_or(number, |before| before.made_for);
        let run_dir = fs::canonicalize(layout.dir.path())?;
        let dir = run_dir
            .join(WORKTREES)
            .join(format!("{}.{made_for}", task.id));
        Ok(Self {
            run: run.to_owned(),
            cwd: in_tree(&worktrees.top, &task.cwd, &dir)?,
            worktrees: worktrees.clone(),
            made_for,
            dir,
        })
    }

    /// Makes the worktree, unless it is there, and records it in `dir`, the
    /// directory of the attempt.
    pub(crate) fn make(&self, dir: &RunDir, task: &str) -> anyhow::Result<Made> {
        let repository = self.worktrees.open()?;
        let tip = repository.run_tip(&self.run, &self.worktrees.base)?;
        let created = repository.create(&NewWorktree {
            run: &self.run,
            task,
            attempt: self.made_for,
            base: &tip,
            dir: &self.dir,
        })?;
        for note in &created.notes {
            dir.append_line(file::ATTEMPT_STDERR, note.as_bytes())?;
        }
        let Worktree { base, branch, .. } = created.worktree;
        let made = Made { base, branch };
        dir.write(file::ATTEMPT_WORKTREE, &state_text(&made)?)?;
        ensure_below(&self.cwd, &self.dir)?;
        Ok(made)
    }

    /// What [`Place::make`] has recorded in `dir`.
    pub(crate) fn made(dir: &Path) -> anyhow::Result<Made> {
        let path = dir.join(file::ATTEMPT_WORKTREE);
        read_state(&path)?.with_context(|| format!("{}: not there", path.display()))
    }

    /// The worktree in which the run merges.
    pub(crate) fn merge_dir(&self) -> PathBuf {
        let run_dir = self.dir.ancestors().nth(2);
        run_dir.unwrap_or(&self.dir).join(MERGE)
    }
}

/// The merge worktree with the files of the base commit of `run`: it, and the
/// directory in it for the plan's own commands.
pub(crate) fn base_tree(
    layout: &RunLayout,
    run: &Run,
    worktrees: &Worktrees,
) -> anyhow::Result<(PathBuf, PathBuf)> {
    let dir = layout.dir.path().join(MERGE);
    let repository = worktrees.open()?;
    let dir = repository.check_out(&run.id, &worktrees.base, &dir)?;
    let cwd = plan_cwd(worktrees, &run.settings.gates, &dir)?;
    Ok((dir, cwd))
}

/// The working directory of the plan's own commands in the worktree `dir`: the run's
/// own, or the top if that is not in the repository.
pub(crate) fn plan_cwd(
    worktrees: &Worktrees,
    gates: &PlanGates,
    dir: &Path,
) -> anyhow::Result<PathBuf> {
    let cwd = fs::canonicalize(&gates.cwd).unwrap_or_default();
    if !cwd.starts_with(&worktrees.top) {
        return Ok(dir.to_owned());
    }
    let cwd = in_tree(&worktrees.top, &cwd, dir)?;
    ensure_below(&cwd, dir)?;
    Ok(cwd)
}

/// `path`, which is below `top`, in the other tree `dir`.
pub(crate) fn in_tree(top: &Path, path: &Path, dir: &Path) -> anyhow::Result<PathBuf> {
    let path = fs::canonicalize(path).with_context(|| path.display().to_string())?;
    let below = path
        .strip_prefix(top)
        .with_context(|| path.display().to_string())?;
    // An empty part would add a slash.
    Ok(if below.as_os_str().is_empty() {
        dir.to_owned()
    } else {
        dir.join(below)
    })
}

/// Makes the directory `path`, and refuses one that a link leads out of `top`.
pub(crate) fn ensure_below(path: &Path, top: &Path) -> anyhow::Result<()> {
    let shown = || path.display().to_string();
    // Links first: nothing is made outside.
    let there = path.ancestors().find(|part| part.exists());
    let is_below = |part: &Path| -> anyhow::Result<bool> {
        Ok(fs::canonicalize(part)?.starts_with(fs::canonicalize(top)?))
    };
    if !is_below(there.unwrap_or(path)).with_context(shown)? {
        return Err(anyhow!("{}: leads out of the worktree", shown()).context(Exit::Data));
    }
    fs::create_dir_all(path).with_context(shown)
}

/// Whether the attempt after `last` begins in a new worktree, from the work that is
/// merged by then.
pub(crate) fn begins_anew(task: &Task, last: &Ended) -> bool {
    last.end.lost || last.end.needs_new_base || last.spec.task != *task
}

/// The first of the ports that slot `slot` of run `run` has for itself. Runs at the
/// same time probably have others.
pub(crate) fn port(run: &str, slot: u32) -> u32 {
    let spread = run.bytes().fold(0_u32, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(byte.into())
    });
    let range = (spread % PORT_RANGES + slot) % PORT_RANGES;
    FIRST_PORT + PORTS * range
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_of_a_run_has_ports_of_its_own() {
        let run = "20261118T031500Z-1f0c22ab";
        let ports: std::collections::BTreeSet<u32> =
            (0..1024).map(|slot| port(run, slot)).collect();
        assert_eq!(ports.len(), 1024);
        assert!(ports.iter().all(|port| (20_000..32_000).contains(port)));
    }

    #[test]
    fn a_directory_that_a_link_leads_out_of_the_tree_is_refused() {
        let temp = tempfile::tempdir().expect("a directory");
        let top = temp.path().join("top");
        fs::create_dir(&top).expect("made");
        ensure_below(&top.join("a/b"), &top).expect("below");
        assert!(top.join("a/b").is_dir());
        std::os::unix::fs::symlink(temp.path(), top.join("out")).expect("linked");
        assert!(ensure_below(&top.join("out/new"), &top).is_err());
        assert!(!temp.path().join("new").exists());
    }
}
