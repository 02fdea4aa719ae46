//! Removes what runs that ended long ago have left.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::admin::{Admin, discard};
use crate::names::{TASK_BRANCHES, run_of};
use crate::remove::Removed;
use crate::repository::Repository;

/// What was removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    /// The directories of worktrees.
    pub worktrees: Vec<PathBuf>,
    /// The branches of tasks, without `refs/heads/`.
    pub branches: Vec<String>,
}

impl Repository {
    /// Removes the worktrees below `state_dir` and the branches of tasks whose run
    /// is finished, as `is_finished` says, and in which nothing has happened for
    /// `older_than`. Work that was not merged goes too. Branches other than
    /// `cr-task/…`, also those of runs, stay.
    pub fn gc(
        &self,
        state_dir: &Path,
        older_than: Duration,
        is_finished: impl Fn(&str) -> bool,
    ) -> anyhow::Result<Collected> {
        let state_dir = fs::canonicalize(state_dir).unwrap_or_else(|_| state_dir.to_owned());
        let before = SystemTime::now().checked_sub(older_than);
        let before = before.unwrap_or(SystemTime::UNIX_EPOCH);
        let _lock = self.lock()?;
        let mut collected = Collected::default();
        let mut kept = BTreeSet::new();
        for admin in Admin::all(self.common_dir())? {
            let branch = admin.head();
            let owner = admin.owner().map(|owner| owner.run);
            // An incomplete worktree has no owner yet, but may have its branch.
            let run = owner.or_else(|| Some(run_of(branch.as_deref()?)?.to_owned()));
            let is_old = admin.last_use() <= before;
            let dir = admin.worktree.clone().unwrap_or_default();
            let is_below = dir.starts_with(&state_dir);
            if is_below && is_old && run.is_some_and(|run| is_finished(&run)) {
                discard(self.common_dir(), &dir)?;
                collected.worktrees.push(dir);
            } else {
                kept.extend(branch);
            }
        }
        for (branch, tip) in self.task_branches()? {
            let is_used = kept.contains(&branch) || self.last_change(&branch) > before;
            if is_used || !run_of(&branch).is_some_and(&is_finished) {
                continue;
            }
            if self.delete_branch(&branch, Some(&tip))? == Removed::Gone {
                let name = branch.trim_start_matches("refs/heads/");
                collected.branches.push(name.to_owned());
            }
        }
        Ok(collected)
    }

    /// The branches of tasks, as refs, with their commits.
    fn task_branches(&self) -> anyhow::Result<Vec<(String, String)>> {
        let args = ["for-each-ref", "--format=%(refname) %(objectname)"];
        let args = [&args[..], &[TASK_BRANCHES]].concat();
        let text = self.repo.git.ask(&args)?;
        let text = String::from_utf8_lossy(&text);
        let pairs = text.lines().filter_map(|line| line.split_once(' '));
        Ok(pairs.map(|(name, id)| (name.into(), id.into())).collect())
    }

    /// When the ref `name` has changed last. Without a log nobody knows, and it
    /// counts as old: its run is finished.
    fn last_change(&self, name: &str) -> SystemTime {
        let log = self.common_dir().join("logs").join(name);
        let changed = fs::metadata(log).and_then(|meta| meta.modified());
        changed.unwrap_or(SystemTime::UNIX_EPOCH)
    }
}
