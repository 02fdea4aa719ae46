//! Merges proven work into the branch of a run.
//!
//! The merge commit is made of objects, checked out in the merge worktree, and
//! verified there. Then the branch moves to it, if it is still where it was. Every
//! first parent of the branch is therefore one task that was green on top of all
//! before it. A process that is killed leaves at most a merge commit that nothing
//! points to, and a merge worktree that the next call cleans.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use cr_io::Exit;
use cr_repository::Git;
use rustix::fs::OFlags;

use crate::admin::{Admin, Owner, discard};
use crate::candidate::{self, MergedTree, changed, merge_trees};
use crate::copy::bytes_of;
use crate::create::real_place;
use crate::names;
use crate::receipt::Receipt;
use crate::repository::{Repository, path_of};
use crate::work::{Ignored, ProtectedChange, Verdict, Work};

/// How many times the branch may move while a merge is verified.
const TRIES: usize = 3;

/// What came of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The work is on the branch.
    Merged {
        /// The merge commit.
        sha: String,
    },
    /// The work was on the branch already.
    AlreadyMerged {
        /// The merge commit.
        sha: String,
    },
    /// The task has no commit that the branch does not have.
    Nothing,
    /// Both sides have changed the same place. The branch is as before.
    Conflict {
        /// The files, from the top of the work tree.
        files: Vec<PathBuf>,
        /// What git says about them, one conflict a line.
        text: String,
    },
    /// The merged tree does not pass the verification. The branch is as before.
    Red {
        /// The output of the verification.
        output: String,
    },
    /// The task has changed protected files. The branch is as before.
    Protected {
        /// The files, from the top of the work tree.
        files: Vec<PathBuf>,
    },
}

/// One merge on top of a commit of the branch.
struct Attempt<'a> {
    work: &'a Work<'a>,
    /// The commit of the task.
    head: String,
    /// The commit of the branch.
    tip: String,
    dir: PathBuf,
    git: Git,
}

impl Repository {
    /// Merges `work` into the branch `cr/RUN`, if `verify` says that the merged
    /// tree is green. It gets the directory of that tree and must leave no process
    /// behind. It runs again if someone else has moved the branch meanwhile.
    ///
    /// Work that is on the branch already is not merged again, so a caller that
    /// was killed repeats the call.
    pub fn merge<E: Into<anyhow::Error>>(
        &self,
        work: &Work<'_>,
        mut verify: impl FnMut(&Path) -> Result<Verdict, E>,
    ) -> anyhow::Result<Outcome> {
        let reference = format!("refs/heads/{}", names::run_branch(work.run)?);
        names::task_branch(work.run, work.task, work.attempt)?;
        let base = self.repo.commit(work.base).context(Exit::Usage)?;
        let head = self.repo.commit(work.head).context(Exit::Usage)?;
        let dir = real_place(work.dir)?;
        let _turn = turn(&dir)?;
        for _ in 0..TRIES {
            let tip = self.branch_tip(&reference, &base)?;
            if self.repo.is_ancestor(&head, &tip)? {
                return self.already_merged(work, &head, (&base, &tip));
            }
            let git = self.prepare(&dir, work, &tip)?;
            let attempt = Attempt {
                work,
                head: head.clone(),
                tip,
                dir: dir.clone(),
                git,
            };
            let outcome = self.attempt(&attempt, &reference, &mut verify);
            let is_merged = matches!(outcome, Ok(Some(Outcome::Merged { .. })));
            if !is_merged {
                // The reason of the failure matters more than the cleaning, which
                // the next merge repeats.
                let _ = clean(&attempt.git, &attempt.tip);
            }
            if let Some(outcome) = outcome? {
                return Ok(outcome);
            }
        }
        let text = format!("{reference} moves while it is merged into");
        Err(anyhow!(text).context(Exit::Retry))
    }

    /// Merges once; `None` if the branch has moved meanwhile.
    fn attempt<E: Into<anyhow::Error>>(
        &self,
        attempt: &Attempt<'_>,
        reference: &str,
        verify: &mut impl FnMut(&Path) -> Result<Verdict, E>,
    ) -> anyhow::Result<Option<Outcome>> {
        let (work, git) = (attempt.work, &attempt.git);
        let tree = match merge_trees(git, &attempt.tip, &attempt.head)? {
            MergedTree::Clean(tree) => tree,
            MergedTree::Conflict { files, text } => {
                return Ok(Some(Outcome::Conflict { files, text }));
            }
        };
        let protected = protected(git, work, &attempt.tip, &tree)?;
        if !protected.is_empty() && work.protected_change == ProtectedChange::Refuse {
            let files = protected.iter().map(|path| path_of(path)).collect();
            return Ok(Some(Outcome::Protected { files }));
        }
        let parents = [&*attempt.tip, &*attempt.head];
        let sha = candidate::commit(git, &tree, parents, &message(work))?;
        clean(git, &sha)?;
        if work.protected_change == ProtectedChange::VerifyWithOld {
            restore(git, &attempt.tip, &protected)?;
        }
        match verify(&attempt.dir).map_err(Into::into)? {
            Verdict::Red(output) => return Ok(Some(Outcome::Red { output })),
            Verdict::Green => {}
        }
        let _lock = self.lock()?;
        if let Some(place) = self.checked_out_at(reference)? {
            let (branch, place) = (names::run_branch(work.run)?, place.display());
            let text = format!("{branch} is checked out in {place}; check out another branch");
            return Err(anyhow!(text).context(Exit::Retry));
        }
        let reason = format!("cr: merge {}", work.task);
        let ids = (Some(&*attempt.tip), Some(&*sha));
        if !self.move_reference(reference, ids, &reason)? {
            return Ok(None);
        }
        self.write_receipt(&sha, &Receipt::of(work))?;
        // What the verification has left is not part of the work.
        let _ = clean(git, &sha);
        Ok(Some(Outcome::Merged { sha }))
    }

    /// The last commit of the branch `cr/RUN`, or `base` if there is no branch yet.
    pub fn run_tip(&self, run: &str, base: &str) -> anyhow::Result<String> {
        let reference = format!("refs/heads/{}", names::run_branch(run)?);
        Ok(self
            .reference(&reference)?
            .unwrap_or_else(|| base.to_owned()))
    }

    /// Gives the merge worktree at `dir` the files of `commit`, for a verification
    /// without a merge. `run` is the run that it belongs to.
    pub fn check_out(&self, run: &str, commit: &str, dir: &Path) -> anyhow::Result<PathBuf> {
        names::run_branch(run)?;
        let dir = real_place(dir)?;
        let _turn = turn(&dir)?;
        self.clean_worktree(&dir, run, commit)?;
        Ok(dir)
    }

    /// Gives those of `files` in the merge worktree at `dir` that differ from
    /// `commit` the content that they have there. Returns whether there were any.
    /// The next merge takes it back.
    pub fn put_back(&self, dir: &Path, commit: &str, files: &[PathBuf]) -> anyhow::Result<bool> {
        let git = self.changing(dir);
        let mut differing = changed(&git, commit, "HEAD")?;
        differing.retain(|path| files.iter().any(|file| bytes_of(file) == path));
        restore(&git, commit, &differing)?;
        Ok(!differing.is_empty())
    }

    /// The commit of the run's branch, which is made if it is missing.
    fn branch_tip(&self, reference: &str, base: &str) -> anyhow::Result<String> {
        if let Some(tip) = self.reference(reference)? {
            if !self.repo.is_ancestor(base, &tip)? {
                let text = format!("{reference} does not come from the base commit {base}");
                return Err(anyhow!(text).context(Exit::Data));
            }
            return Ok(tip);
        }
        let _lock = self.lock()?;
        self.move_reference(reference, (None, Some(base)), "cr: begin the run")?;
        let tip = self.reference(reference)?;
        tip.ok_or_else(|| anyhow!("{reference}: cannot be made"))
    }

    /// Finds the merge of `head`, and completes what a killed process has left
    /// undone.
    fn already_merged(
        &self,
        work: &Work<'_>,
        head: &str,
        (base, tip): (&str, &str),
    ) -> anyhow::Result<Outcome> {
        let range = format!("{base}..{tip}");
        let args = ["rev-list", "--first-parent", "--parents", &range];
        let text = self.repo.git.ask(&args)?;
        let text = String::from_utf8_lossy(&text);
        let merge = text.lines().find_map(|line| {
            let (sha, parents) = line.split_once(' ')?;
            let is_merge = parents.split(' ').skip(1).any(|parent| parent == head);
            is_merge.then(|| sha.to_owned())
        });
        let Some(sha) = merge else {
            return Ok(Outcome::Nothing);
        };
        if self.receipt(&sha)?.is_none() {
            let _lock = self.lock()?;
            self.write_receipt(&sha, &Receipt::of(work))?;
        }
        Ok(Outcome::AlreadyMerged { sha })
    }

    /// The merge worktree with the files of `tip`. One that cannot be cleaned is
    /// made anew.
    fn prepare(&self, dir: &Path, work: &Work<'_>, tip: &str) -> anyhow::Result<Git> {
        if work.ignored == Ignored::Remove {
            self.discard_merge_worktree(dir)?;
        }
        self.clean_worktree(dir, work.run, tip)
    }

    fn clean_worktree(&self, dir: &Path, run: &str, tip: &str) -> anyhow::Result<Git> {
        let owner = Owner {
            schema: 1,
            run: run.to_owned(),
            task: None,
            base: tip.to_owned(),
        };
        self.ensure_worktree(dir, &owner, None)?;
        let git = self.changing(dir);
        let cleaned = || -> anyhow::Result<()> {
            if let Some(admin) = Admin::of(self.common_dir(), dir)? {
                admin.break_locks()?;
            }
            clean(&git, tip)
        };
        if cleaned().is_err() {
            self.discard_merge_worktree(dir)?;
            self.ensure_worktree(dir, &owner, None)?;
            clean(&git, tip)?;
        }
        Ok(git)
    }

    /// Removes the merge worktree at `dir`, and nothing else that may be there.
    fn discard_merge_worktree(&self, dir: &Path) -> anyhow::Result<()> {
        let _lock = self.lock()?;
        let is_ours = Admin::of(self.common_dir(), dir)?
            .and_then(|admin| admin.owner())
            .is_some_and(|owner| owner.task.is_none());
        if is_ours {
            discard(self.common_dir(), dir)?;
        }
        Ok(())
    }
}

/// Makes the merge worktree exactly `commit`, except for ignored files.
fn clean(git: &Git, commit: &str) -> anyhow::Result<()> {
    // `git checkout` would also lock the packed refs of the repository, and leave
    // the lock if it is killed.
    git.ask(&["read-tree", "--reset", "-u", commit])?;
    // HEAD alone, so that no branch moves with it.
    git.completing()
        .ask(&["update-ref", "--no-deref", "HEAD", commit])?;
    // Twice the force: also repositories in the work tree.
    git.ask(&["clean", "--quiet", "-d", "--force", "--force"])?;
    Ok(())
}

/// The protected files that the merge to `tree` would change on the branch.
fn protected(git: &Git, work: &Work<'_>, tip: &str, tree: &str) -> anyhow::Result<Vec<Vec<u8>>> {
    if work.protect.is_empty() {
        return Ok(Vec::new());
    }
    let mut files = changed(git, tip, tree)?;
    files.retain(|path| work.protect.iter().any(|glob| glob.allows(path)));
    Ok(files)
}

/// Gives `files` the content that they have in `commit`; those that it does not
/// have are removed.
fn restore(git: &Git, commit: &str, files: &[Vec<u8>]) -> anyhow::Result<()> {
    if files.is_empty() {
        return Ok(());
    }
    let source = format!("--source={commit}");
    let args = [
        "restore",
        &source,
        "--staged",
        "--worktree",
        "--pathspec-from-file=-",
        "--pathspec-file-nul",
    ];
    git.ask_with(&args, &files.join(&0))?;
    Ok(())
}

/// The message of the merge commit. The trailers are its last paragraph.
fn message(work: &Work<'_>) -> String {
    let Work {
        run, task, attempt, ..
    } = work;
    let text = work.message.replace('\0', " ");
    let text = match text.trim() {
        "" => format!("Merge task {task}"),
        text => text.to_owned(),
    };
    format!("{text}\n\nCr-Task: {task}\nCr-Run: {run}\nCr-Attempt: {attempt}\n")
}

/// Waits until no other process merges in `dir`. The lock is a file beside it,
/// not the lock of the repository: a verification can take long.
fn turn(dir: &Path) -> anyhow::Result<fs::File> {
    let mut name = bytes_of(dir).to_vec();
    name.extend_from_slice(b".lock");
    let path = path_of(&name);
    let open = || {
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
            .open(&path)?;
        file.lock().map(|()| file)
    };
    open().with_context(|| path.display().to_string())
}
