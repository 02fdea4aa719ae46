//! Removes the worktree of an attempt.

use cr_repository::{Repo, Status, Untracked};

use crate::admin::{Admin, discard};
use crate::create::{Worktree, real_place};
use crate::names;
use crate::repository::Repository;

/// When a worktree may be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// Only if everything in it is on the branch of the run.
    IfMerged,
    /// In any case; work that was not merged is lost.
    Force,
}

/// What became of a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Removed {
    /// It is gone, and so is its branch.
    Gone,
    /// It is as before.
    Kept {
        /// Why.
        reason: String,
    },
}

impl Repository {
    /// Removes `worktree` and its branch. Something that is gone already is no
    /// error, so a caller that was killed repeats the call.
    pub fn remove(&self, worktree: &Worktree, removal: Removal) -> anyhow::Result<Removed> {
        let dir = real_place(&worktree.dir)?;
        let reference = format!("refs/heads/{}", worktree.branch);
        let _lock = self.lock()?;
        let tip = self.reference(&reference)?;
        if removal == Removal::IfMerged
            && let Some(reason) = self.unmerged(worktree, tip.as_deref())?
        {
            return Ok(Removed::Kept { reason });
        }
        let is_ours = Admin::all(self.common_dir())?
            .iter()
            .any(|admin| admin.worktree.as_deref() == Some(&*dir));
        if is_ours {
            discard(self.common_dir(), &dir)?;
        } else if dir.exists() {
            let reason = format!("{}: no worktree of this repository", dir.display());
            return Ok(Removed::Kept { reason });
        }
        self.delete_branch(&reference, tip.as_deref())
    }

    /// Deletes the branch of a task, if it is still at `tip`.
    pub(crate) fn delete_branch(
        &self,
        reference: &str,
        tip: Option<&str>,
    ) -> anyhow::Result<Removed> {
        // The last check before a deletion: no other branch is ours to delete.
        if names::run_of(reference).is_none() {
            let reason = format!("{reference} is no branch of a task");
            return Ok(Removed::Kept { reason });
        }
        if tip.is_some() && !self.move_reference(reference, (tip, None), "cr: remove")? {
            let reason = format!("{reference} has moved");
            return Ok(Removed::Kept { reason });
        }
        Ok(Removed::Gone)
    }

    /// The work that would be lost.
    fn unmerged(&self, worktree: &Worktree, tip: Option<&str>) -> anyhow::Result<Option<String>> {
        if let Some(tip) = tip {
            let run = format!("refs/heads/{}", names::run_branch(&worktree.run)?);
            let merged = self.reference(&run)?.unwrap_or(worktree.base.clone());
            if !self.repo.is_ancestor(tip, &merged)? {
                let branch = &worktree.branch;
                return Ok(Some(format!("{branch} has commits that are not merged")));
            }
        }
        let is_there = Admin::of(self.common_dir(), &real_place(&worktree.dir)?)?.is_some();
        if !is_there {
            return Ok(None);
        }
        let repo = Repo::open(&worktree.dir, self.repo.git.limit())?;
        let status = Status::read(&repo, Untracked::Directories)?;
        // HEAD may be elsewhere than on the branch.
        if let Some(head) = &status.head
            && Some(&**head) != tip
            && !self.repo.is_ancestor(head, tip.unwrap_or(&worktree.base))?
        {
            return Ok(Some(format!("HEAD {head} is not on {}", worktree.branch)));
        }
        Ok((!status.entries.is_empty()).then(|| {
            let count = status.entries.len();
            format!("{count} files are changed and not committed")
        }))
    }
}
