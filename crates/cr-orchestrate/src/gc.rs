//! `cr-orchestrate gc`: removes what runs have left in repositories.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use cr_io::{Exit, Out};
use cr_rundir::{RunState, file};
use cr_worktree::Repository;

use crate::args::GcArgs;
use crate::layout::RunLayout;
use crate::sandbox;

/// Removes worktrees and branches of tasks, in all repositories that runs on record
/// have worked in, and in that of the current directory.
pub(crate) fn run(args: &GcArgs, out: impl Write) -> anyhow::Result<Exit> {
    let mut out = Out::new(out);
    let state = cr_config::state_dir()?.path().join(file::ORCHESTRATED);
    let mut failed = None;
    for top in repositories()? {
        // A repository that is gone has nothing to remove.
        let Ok(repository) = Repository::open(&top) else {
            continue;
        };
        let collected = repository.gc(&state, args.older_than, is_over);
        match collected.with_context(|| top.display().to_string()) {
            Ok(collected) => {
                for dir in collected.worktrees {
                    sandbox::remove(&dir);
                    out.line(cr_io::sanitized(&dir.display().to_string()).as_bytes())?;
                }
                for branch in collected.branches {
                    out.line(branch.as_bytes())?;
                }
            }
            Err(err) => failed = Some(err),
        }
    }
    out.flush()?;
    failed.map_or(Ok(Exit::Ok), Err)
}

/// The work trees of the repositories to look into.
fn repositories() -> anyhow::Result<BTreeSet<PathBuf>> {
    let mut found = BTreeSet::new();
    if let Ok(repository) = Repository::open(&std::env::current_dir()?) {
        found.insert(repository.top().to_owned());
    }
    for id in RunLayout::ids()? {
        // A run that cannot be read, of a newer version for instance, is left alone.
        let run = RunLayout::open(&id).and_then(|layout| layout.run());
        let worktrees = run.ok().and_then(|run| run.settings.worktrees);
        found.extend(worktrees.map(|worktrees| worktrees.top));
    }
    Ok(found)
}

/// Whether nothing of run `id` is at work or to be merged. One of which there is no
/// record is over.
fn is_over(id: &str) -> bool {
    let Ok(ids) = RunLayout::ids() else {
        return false;
    };
    if !ids.iter().any(|known| known == id) {
        return true;
    }
    let is_over = || -> anyhow::Result<bool> {
        let layout = RunLayout::open(id)?;
        if cr_rundir::Run::new(layout.dir.path()).state() == RunState::Running {
            return Ok(false);
        }
        for task in layout.run()?.tasks {
            if layout.attempts(&task.id)?.open.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    };
    is_over().unwrap_or(false)
}
