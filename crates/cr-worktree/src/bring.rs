//! Brings the work of a run into a branch of the user.
//!
//! The commit is made of objects first. Then the branch is only moved forward: by
//! itself if it is not checked out, else together with its clean work tree.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use cr_io::Exit;
use cr_repository::{Repo, Status, Untracked};

use crate::candidate::{self, MergedTree, merge_trees};
use crate::names;
use crate::repository::Repository;

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Brought {
    /// The branch is now where the run's branch is.
    FastForward {
        /// That commit.
        sha: String,
    },
    /// The branch had commits of its own, so there is a merge commit. Nobody has
    /// verified that tree yet.
    Merged {
        /// The merge commit.
        sha: String,
    },
    /// The branch has all work of the run already.
    AlreadyThere,
    /// Both branches have changed the same place. Nothing has changed.
    Conflict {
        /// The files, from the top of the work tree.
        files: Vec<PathBuf>,
        /// What git says about them, one conflict a line.
        text: String,
    },
    /// The work tree of the branch is not ready. Nothing has changed.
    Refused {
        /// Why.
        reason: String,
        /// The command with which the user can do it later.
        command: String,
    },
}

impl Repository {
    /// Brings the branch `cr/RUN` into the user's branch `branch`, which must
    /// exist. The user's work tree changes only if it has that branch checked out
    /// and no file in it is changed.
    pub fn bring_into(&self, run: &str, branch: &str) -> anyhow::Result<Brought> {
        let source = names::run_branch(run)?;
        let run_tip = self.branch_commit(&source)?;
        let _lock = self.lock()?;
        let tip = self.branch_commit(branch)?;
        if self.repo.is_ancestor(&run_tip, &tip)? {
            return Ok(Brought::AlreadyThere);
        }
        let reference = format!("refs/heads/{branch}");
        let place = self.checked_out_at(&reference)?;
        let refused = |reason| {
            let command = format!("git merge {source}");
            Ok(Brought::Refused { reason, command })
        };
        let reason = match &place {
            Some(place) => not_ready(place, self)?,
            None => self.rebase_of(&reference),
        };
        if let Some(reason) = reason {
            return refused(reason);
        }
        let dir = place.as_deref().unwrap_or(self.top());
        let message = format!("Merge branch '{source}' into {branch}\n");
        let brought = self.target(dir, [&tip, &run_tip], &message)?;
        let (Brought::FastForward { sha } | Brought::Merged { sha }) = &brought else {
            return Ok(brought);
        };
        if let Some(place) = place {
            if let Some(reason) = self.forward(&place, sha)? {
                return refused(reason);
            }
            return Ok(brought);
        }
        let why = format!("merge {source}: by cr");
        if !self.move_reference(&reference, (Some(&tip), Some(sha)), &why)? {
            let text = format!("{branch} has moved meanwhile");
            return Err(anyhow!(text).context(Exit::Retry));
        }
        Ok(brought)
    }

    /// The commit that the branch at `tip` has to move to. Attributes are those of
    /// the work tree `dir`.
    fn target(
        &self,
        dir: &Path,
        [tip, run_tip]: [&str; 2],
        message: &str,
    ) -> anyhow::Result<Brought> {
        if self.repo.is_ancestor(tip, run_tip)? {
            return Ok(Brought::FastForward {
                sha: run_tip.to_owned(),
            });
        }
        let git = self.changing(dir);
        Ok(match merge_trees(&git, tip, run_tip)? {
            MergedTree::Clean(tree) => Brought::Merged {
                sha: candidate::commit(&git, &tree, [tip, run_tip], message)?,
            },
            MergedTree::Conflict { files, text } => Brought::Conflict { files, text },
        })
    }

    /// Moves the work tree at `place` forward to `target`. Returns why git does not
    /// do so, for instance because of a new file in the way.
    fn forward(&self, place: &Path, target: &str) -> anyhow::Result<Option<String>> {
        // This is the user's tree: better whole without us than half.
        let git = self.changing(place).completing();
        let args = ["merge", "--quiet", "--ff-only", "--no-autostash", target];
        let answer = git.answer(&args, b"")?;
        Ok((!answer.yes).then_some(answer.complaint))
    }

    fn branch_commit(&self, branch: &str) -> anyhow::Result<String> {
        let found = self.reference(&format!("refs/heads/{branch}"))?;
        found
            .ok_or_else(|| anyhow!("{branch}: no such branch"))
            .context(Exit::Usage)
    }

    /// Why the branch must not move: a rebase of it in some worktree would move it
    /// back.
    fn rebase_of(&self, reference: &str) -> Option<String> {
        let common = self.common_dir();
        let worktrees = fs::read_dir(common.join("worktrees"));
        let worktrees = worktrees.into_iter().flatten().flatten();
        let mut dirs = worktrees
            .map(|entry| entry.path())
            .chain([common.to_owned()]);
        let is_rebased = |dir: &Path, state: &str| {
            let name = fs::read_to_string(dir.join(state).join("head-name"));
            name.is_ok_and(|name| name.trim_end() == reference)
        };
        let found = dirs.any(|dir| {
            let states = ["rebase-merge", "rebase-apply"];
            states.iter().any(|state| is_rebased(&dir, state))
        });
        found.then(|| "a rebase of the branch is in progress".to_owned())
    }
}

/// Why the work tree at `place` must not change.
fn not_ready(place: &Path, repository: &Repository) -> anyhow::Result<Option<String>> {
    let repo = Repo::open(place, repository.repo.git.limit())?;
    let place = place.display();
    if let Some(operation) = repo.operation_in_progress() {
        return Ok(Some(format!("{place}: a {operation} is in progress")));
    }
    let status = Status::read(&repo, Untracked::Directories)?;
    // git itself takes care of files that it does not know.
    let changed = status
        .entries
        .iter()
        .filter(|entry| !entry.is_new())
        .count();
    Ok((changed > 0).then(|| {
        let what = if changed == 1 { "file is" } else { "files are" };
        format!("{place}: {changed} {what} changed and not committed")
    }))
}
