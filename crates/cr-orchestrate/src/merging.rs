//! Finished work of an attempt with a worktree of its own: it is checked, merged
//! into the branch of the run, and the merged tree is verified.
//!
//! All of it happens in the process of the attempt. The attempts of a run take
//! turns, so work is merged one at a time, and the engine does not wait.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use cr_glob::Glob;
use cr_rundir::{RunDir, file};
use cr_verdict::Outcome;
use cr_worktree::{
    Commit as GitCommit, Ignored, Outcome as MergeOutcome, ProtectedChange, Removal, Repository,
    Verdict, Work, Worktree,
};

use crate::attempt::{End, Spec};
use crate::gate::{self, Surroundings};
use crate::isolation::{self, Made, Place, ensure_below, in_tree};
use crate::layout::RunLayout;
use crate::stop::{self, Stop};
use crate::task::{Commit, Task};
use crate::{judge, plan_gates, report, sandbox};

/// The lock that an attempt holds while it merges.
const TURN: &str = "merge.turn";

/// The most names that a finding lists.
const NAMED: usize = 20;

/// What became of the work.
#[derive(Debug)]
pub(crate) enum Proved {
    /// The work is merged, with this commit, or there is nothing to merge.
    Good(Option<String>),
    /// Something is wrong with it.
    Finding(Finding),
    /// The process was asked to stop.
    Stopped,
}

/// What is wrong with the work of an attempt.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) outcome: Outcome,
    pub(crate) error: String,
    /// The next attempt begins in a new worktree, from the merged work.
    pub(crate) needs_new_base: bool,
}

impl Finding {
    pub(crate) fn new(outcome: Outcome, error: impl Into<String>) -> Self {
        Self {
            outcome,
            error: error.into(),
            needs_new_base: false,
        }
    }
}

/// The work of an attempt that ended well.
struct Merging<'a> {
    dir: &'a RunDir,
    spec: &'a Spec,
    place: &'a Place,
    stop: &'a mut Stop,
    repository: Repository,
    made: Made,
}

/// The state of a worktree.
struct WorkDone {
    head: String,
    commits: Vec<GitCommit>,
    uncommitted: Vec<PathBuf>,
}

/// Checks and merges the work of the attempt in `dir`, whose end is `end`.
pub(crate) fn prove(
    dir: &RunDir,
    (spec, place): (&Spec, &Place),
    end: &End,
    stop: &mut Stop,
) -> anyhow::Result<Proved> {
    if let Ok(sha) = std::fs::read_to_string(dir.path().join(file::ATTEMPT_MERGED)) {
        // The process before this one was killed after the merge.
        return Ok(Proved::Good(Some(sha).filter(|sha| !sha.is_empty())));
    }
    let mut merging = Merging {
        repository: place.worktrees.open()?,
        made: Place::made(dir.path())?,
        dir,
        spec,
        place,
        stop,
    };
    let proved = merging.checked(end)?;
    if let Proved::Good(sha) = &proved {
        let text = sha.as_deref().unwrap_or_default();
        dir.write_once(file::ATTEMPT_MERGED, text.as_bytes())?;
        merging.clean_up();
    }
    Ok(proved)
}

impl Merging<'_> {
    fn checked(&mut self, end: &End) -> anyhow::Result<Proved> {
        let work = match self.work_done() {
            Ok(work) => work,
            Err(finding) => return Ok(Proved::Finding(finding)),
        };
        let task = &self.spec.task;
        if let Some((outcome, error)) = judge::commits(task, !work.commits.is_empty(), end) {
            return Ok(Proved::Finding(Finding::new(outcome, error)));
        }
        if let Some(finding) = uncommitted(task, &work) {
            return Ok(Proved::Finding(finding));
        }
        if let Some(error) = gate::outside(self.dir, self.spec, Some(&self.made.base))? {
            // What is outside is left behind with the worktree.
            let error = format!("{error}\n\n{}", self.whereabouts());
            return Ok(Proved::Finding(Finding {
                needs_new_base: true,
                ..Finding::new(Outcome::ScopeViolation, error)
            }));
        }
        // What can be seen in the task's own tree does not take a turn. Without
        // other work, the merged tree is the same.
        if self.tip()? != self.made.base {
            let dir = self.place.dir.clone();
            if let Some(error) = self.gates("verify", &dir, false)? {
                return Ok(self.unless_stopped(Finding::new(Outcome::VerifyFailed, error)));
            }
        }
        let run_dir = self.dir.path().ancestors().nth(3).context("no run")?;
        let turn = RunDir::existing(run_dir)?.create_file(TURN)?;
        if !stop::lock(&turn, self.stop)? {
            return Ok(Proved::Stopped);
        }
        self.merge(&work, &turn)
    }

    /// What the agent has left in its worktree.
    fn work_done(&self) -> Result<WorkDone, Finding> {
        let anew = |err: anyhow::Error| Finding {
            needs_new_base: true,
            ..Finding::new(
                Outcome::Failed,
                format!("the worktree is not usable: {}", cr_io::message(&err)),
            )
        };
        let own = Repository::open(&self.place.dir).map_err(anew)?;
        if own.common_dir() != self.repository.common_dir() {
            return Err(anew(anyhow!("it belongs to another repository")));
        }
        let (base, head) = (&self.made.base, own.base());
        if !self.repository.is_ancestor(base, head).map_err(anew)? {
            let text = format!("HEAD does not come from {base}, where the task began");
            return Err(anew(anyhow!(text)));
        }
        Ok(WorkDone {
            commits: self.repository.commits(base, head).map_err(anew)?,
            uncommitted: own.dirty().to_vec(),
            head: head.to_owned(),
        })
    }

    fn tip(&self) -> anyhow::Result<String> {
        let (run, base) = (&self.place.run, &self.place.worktrees.base);
        self.repository.run_tip(run, base)
    }

    /// Merges. The caller holds the turn, so nobody else moves the branch.
    fn merge(&mut self, done: &WorkDone, _turn: &File) -> anyhow::Result<Proved> {
        let tip = self.tip()?;
        let spec = self.spec;
        let protect = spec.gates.protect.iter();
        let protect: Vec<Glob> = protect.map(|text| Glob::new(text.as_bytes())).collect();
        let verify = [&spec.task.verify[..], &spec.gates.verify].concat();
        let message = match &spec.task.title {
            Some(title) => format!("Merge task {}: {}", spec.task.id, cr_io::sanitized(title)),
            None => format!("Merge task {}", spec.task.id),
        };
        let place = self.place;
        let merge_dir = place.merge_dir();
        let repository = self.repository.clone();
        let work = Work {
            run: &place.run,
            task: &spec.task.id,
            attempt: spec.number,
            base: &place.worktrees.base,
            head: &done.head,
            message: &message,
            dir: &merge_dir,
            protect: &protect,
            protected_change: ProtectedChange::Refuse,
            ignored: Ignored::Keep,
            verify: &verify,
            cost_usd: self.cost()?,
        };
        let outcome = repository.merge(&work, |dir| self.verdict(dir))?;
        self.merged_or_not(outcome, &tip)
    }

    /// What comes of a merge with the commit `tip`.
    fn merged_or_not(&self, outcome: MergeOutcome, tip: &str) -> anyhow::Result<Proved> {
        let is_alone = tip == self.made.base;
        let finding = match outcome {
            MergeOutcome::Merged { sha } | MergeOutcome::AlreadyMerged { sha } => {
                return Ok(Proved::Good(Some(sha)));
            }
            MergeOutcome::Nothing => return Ok(Proved::Good(None)),
            MergeOutcome::Protected { files } => {
                let text = format!(
                    "protected files were changed, and no task may change them; take the \
                     changes back: {}",
                    names(&files)
                );
                return Ok(Proved::Finding(Finding::new(Outcome::VerifyFailed, text)));
            }
            MergeOutcome::Conflict { files, text } => {
                let (others, files) = (self.others(tip)?, names(&files));
                let text = format!("the work conflicts with {others} in {files}:\n{text}");
                Finding::new(Outcome::Conflict, text.trim_end())
            }
            MergeOutcome::Red { output } if is_alone => Finding::new(Outcome::VerifyFailed, output),
            MergeOutcome::Red { output } => {
                let text = format!("merged with {}, {output}", self.others(tip)?);
                Finding::new(Outcome::VerifyFailed, text)
            }
        };
        if is_alone {
            return Ok(self.unless_stopped(finding));
        }
        let error = format!("{}\n\n{}", finding.error, self.whereabouts());
        Ok(self.unless_stopped(Finding {
            error,
            needs_new_base: true,
            ..finding
        }))
    }

    /// A command that was ended by a stop says nothing about the work.
    fn unless_stopped(&self, finding: Finding) -> Proved {
        if self.stop.is_asked() {
            return Proved::Stopped;
        }
        Proved::Finding(finding)
    }

    /// Verifies the merged tree in `dir`: as it is, and with the programs of the
    /// verification as they were in the base commit if the work has changed them.
    fn verdict(&mut self, dir: &Path) -> anyhow::Result<Verdict> {
        if let Some(error) = self.gates("merged", dir, true)? {
            return Ok(Verdict::Red(error));
        }
        let programs = self.programs(dir)?;
        let base = &self.place.worktrees.base;
        if !self.repository.put_back(dir, base, &programs)? {
            return Ok(Verdict::Green);
        }
        let error = self.gates("merged-base", dir, true)?;
        Ok(error.map_or(Verdict::Green, |error| {
            let text = format!("with {} of the base commit, {error}", names(&programs));
            Verdict::Red(text)
        }))
    }

    /// The files in the tree `dir` that the verification runs, from the top. Those
    /// that the task was asked to change by name are not among them.
    fn programs(&self, dir: &Path) -> anyhow::Result<Vec<PathBuf>> {
        let task = &self.spec.task;
        let mut programs = Vec::new();
        for (cwd, commands) in [
            (self.cwd(dir)?, &task.verify),
            (self.plan_cwd(dir)?, &self.spec.gates.verify),
        ] {
            let below = cwd.strip_prefix(dir).unwrap_or(Path::new(""));
            let named = commands.iter().flat_map(|text| plan_gates::programs(text));
            programs.extend(named.filter_map(|program| plan_gates::joined(below, &program)));
        }
        programs.retain(|path| !task.files.iter().any(|name| Path::new(name) == path));
        Ok(programs)
    }

    /// The task's working directory in the worktree `dir`.
    fn cwd(&self, dir: &Path) -> anyhow::Result<PathBuf> {
        let cwd = in_tree(&self.place.worktrees.top, &self.spec.task.cwd, dir)?;
        ensure_below(&cwd, dir)?;
        Ok(cwd)
    }

    fn plan_cwd(&self, dir: &Path) -> anyhow::Result<PathBuf> {
        isolation::plan_cwd(&self.place.worktrees, &self.spec.gates, dir)
    }

    /// Runs the verification in the worktree `dir`, after the setup if that is
    /// wanted; returns the output of the first command that fails.
    fn gates(&mut self, name: &str, dir: &Path, is_new: bool) -> anyhow::Result<Option<String>> {
        let (task, gates) = (&self.spec.task, &self.spec.gates);
        let (cwd, plan_cwd) = (self.cwd(dir)?, self.plan_cwd(dir)?);
        let env = self.spec.env();
        let sandbox = sandbox::of_gates(self.spec, dir)?;
        let around = Surroundings {
            dir: self.dir,
            env: &env,
            sandbox: sandbox.as_ref(),
        };
        let setup = [(&*plan_cwd, &gates.setup[..]), (&*cwd, &task.setup[..])];
        if is_new
            && let Some(error) = gate::run(around, (&format!("{name}-setup"), &setup), self.stop)?
        {
            return Ok(Some(format!("setup: {error}")));
        }
        let verify = [(&*cwd, &task.verify[..]), (&*plan_cwd, &gates.verify[..])];
        gate::run(around, (name, &verify), self.stop)
    }

    /// The tasks that were merged since this one began.
    fn others(&self, tip: &str) -> anyhow::Result<String> {
        let since = self.repository.commits(&self.made.base, tip)?;
        let receipts = self.repository.receipts(&self.place.run)?;
        let mut tasks: Vec<String> = receipts
            .into_iter()
            .filter(|(sha, _)| since.iter().any(|commit| commit.sha == *sha))
            .map(|(_, receipt)| receipt.task)
            .collect();
        tasks.dedup();
        let word = if tasks.len() == 1 { "task" } else { "tasks" };
        Ok(format!("the work of {word} {}", tasks.join(", ")))
    }

    /// Where the next attempt finds the work of this one.
    fn whereabouts(&self) -> String {
        let Made { base, branch } = &self.made;
        format!(
            "A further attempt begins in a new worktree, from all work that is merged by \
             then. The earlier commits are on the branch {branch}; `git cherry-pick \
             {base}..{branch}` takes them over where they are right."
        )
    }

    /// What the task has cost so far.
    fn cost(&self) -> anyhow::Result<Option<f64>> {
        let run_dir = self.dir.path().ancestors().nth(3).context("no run")?;
        let layout = RunLayout {
            dir: RunDir::existing(run_dir)?,
        };
        let before = report::cost(&layout.attempts(&self.spec.task.id)?.ended);
        let own = judge::by_summary(self.dir, self.spec)?.cost_usd;
        Ok(before.into_iter().chain(own).reduce(|a, b| a + b))
    }

    /// Removes the worktree of merged work. One that cannot be removed stays, and
    /// its log says why.
    fn clean_up(&self) {
        sandbox::remove(&self.place.dir);
        let worktree = Worktree {
            run: self.place.run.clone(),
            task: self.spec.task.id.clone(),
            attempt: self.place.made_for,
            base: self.made.base.clone(),
            branch: self.made.branch.clone(),
            dir: self.place.dir.clone(),
        };
        let removed = self.repository.remove(&worktree, Removal::IfMerged);
        let text = match removed {
            Ok(cr_worktree::Removed::Gone) => return,
            Ok(cr_worktree::Removed::Kept { reason }) => reason,
            Err(err) => cr_io::message(&err),
        };
        let text = format!("{}: kept: {text}", self.place.dir.display());
        let _ = self.dir.append_line(file::ATTEMPT_STDERR, text.as_bytes());
    }
}

/// Work that would be lost, since only commits are merged.
fn uncommitted(task: &Task, work: &WorkDone) -> Option<Finding> {
    if !work.commits.is_empty() || work.uncommitted.is_empty() || task.commit == Commit::None {
        return None;
    }
    let names = names(&work.uncommitted);
    let text = format!("the work is not committed, and only commits are merged: {names}");
    Some(Finding::new(Outcome::NoCommit, text))
}

/// The first of `files`, on one line.
fn names(files: &[PathBuf]) -> String {
    let shown = files.iter().take(NAMED);
    let shown: Vec<String> = shown
        .map(|path| cr_io::sanitized(&path.display().to_string()))
        .collect();
    let rest = match files.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{rest}", shown.join(", "))
}
