//! Makes worktrees.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail, ensure};
use cr_io::Exit;

use crate::admin::{Admin, Owner, discard};
use crate::include::include;
use crate::names;
use crate::repository::{Repository, names_in, path_of};

/// A worktree to make.
#[derive(Clone, Copy, Debug)]
pub struct NewWorktree<'a> {
    /// The id of the run.
    pub run: &'a str,
    /// The id of the task.
    pub task: &'a str,
    /// The number of the attempt.
    pub attempt: u32,
    /// The commit to start from.
    pub base: &'a str,
    /// Where the worktree will be. Only its parent may exist.
    pub dir: &'a Path,
}

/// The worktree of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worktree {
    /// The id of the run.
    pub run: String,
    /// The id of the task.
    pub task: String,
    /// The number of the attempt.
    pub attempt: u32,
    /// The commit that it was made at.
    pub base: String,
    /// Its branch, without `refs/heads/`.
    pub branch: String,
    /// Its directory.
    pub dir: PathBuf,
}

/// A worktree, and how it came about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Created {
    /// The worktree.
    pub worktree: Worktree,
    /// Whether it was there, complete, from an earlier call.
    pub reused: bool,
    /// How many files were copied because of `.worktreeinclude`.
    pub copied: usize,
    /// What the user should know: files that were not copied, submodules.
    pub notes: Vec<String>,
}

impl Repository {
    /// Makes the worktree of an attempt on a branch of its own.
    ///
    /// A complete worktree of the same attempt is reused as it is. An incomplete
    /// one is removed first: nobody has worked in it.
    pub fn create(&self, new: &NewWorktree<'_>) -> anyhow::Result<Created> {
        let branch = names::task_branch(new.run, new.task, new.attempt)?;
        let owner = Owner {
            schema: 1,
            run: new.run.to_owned(),
            task: Some((new.task.to_owned(), new.attempt)),
            base: self.repo.commit(new.base).context(Exit::Usage)?,
        };
        let made = self.ensure_worktree(new.dir, &owner, Some(&branch))?;
        Ok(Created {
            worktree: Worktree {
                run: owner.run,
                task: new.task.to_owned(),
                attempt: new.attempt,
                base: made.base,
                branch,
                dir: made.dir,
            },
            reused: made.reused,
            copied: made.copied,
            notes: made.notes,
        })
    }

    /// Makes a worktree on the new branch `branch`, or with a detached HEAD, unless
    /// it is there.
    pub(crate) fn ensure_worktree(
        &self,
        dir: &Path,
        owner: &Owner,
        branch: Option<&str>,
    ) -> anyhow::Result<Made> {
        let dir = real_place(dir)?;
        let reference = branch.map(|branch| format!("refs/heads/{branch}"));
        let lock = self.lock()?;
        if let Some(found) = self.complete(&dir, owner, reference.as_deref())? {
            return Ok(Made {
                base: found.base,
                dir,
                reused: true,
                copied: 0,
                notes: Vec::new(),
            });
        }
        self.make_room(&dir)?;
        if let Some(reference) = &reference {
            self.free_branch(reference, &owner.base)?;
        }
        self.add(&dir, &owner.base, branch, lock)?;
        let (copied, notes) = self.fill(&dir)?;
        let admin = Admin::of(self.common_dir(), &dir)?;
        let admin = admin.ok_or_else(|| anyhow!("{}: the worktree is gone", dir.display()))?;
        admin.set_owner(owner)?;
        Ok(Made {
            base: owner.base.clone(),
            dir,
            reused: false,
            copied,
            notes,
        })
    }

    /// The owner of the worktree at `dir`, if it is complete and for the same
    /// attempt.
    fn complete(
        &self,
        dir: &Path,
        owner: &Owner,
        reference: Option<&str>,
    ) -> anyhow::Result<Option<Owner>> {
        let admin = Admin::of(self.common_dir(), dir)?;
        let found = admin.and_then(|admin| admin.owner());
        let is_same = |found: &Owner| found.run == owner.run && found.task == owner.task;
        let Some(found) = found.filter(is_same) else {
            return Ok(None);
        };
        match reference {
            Some(name) if self.reference(name)?.is_none() => Ok(None),
            _ => Ok(Some(found)),
        }
    }

    /// Removes an incomplete worktree at `dir`. Other files are not ours.
    fn make_room(&self, dir: &Path) -> anyhow::Result<()> {
        let is_ours = Admin::all(self.common_dir())?
            .iter()
            .any(|admin| admin.worktree.as_deref() == Some(dir));
        let is_used = fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_some());
        let is_file = fs::symlink_metadata(dir).is_ok_and(|meta| !meta.is_dir());
        if is_file || (is_used && !is_ours) {
            let text = format!("{}: exists and is no worktree of ours", dir.display());
            return Err(anyhow!(text).context(Exit::Usage));
        }
        discard(self.common_dir(), dir)
    }

    /// Deletes the branch of an attempt that has not begun, so that it has no
    /// commits beside those of `base`.
    fn free_branch(&self, reference: &str, base: &str) -> anyhow::Result<()> {
        let Some(tip) = self.reference(reference)? else {
            return Ok(());
        };
        let branch = reference.trim_start_matches("refs/heads/");
        ensure!(
            self.repo.is_ancestor(&tip, base)?,
            "the branch {branch} has commits and no worktree; look at them, then run `git branch \
             -D {branch}`"
        );
        if !self.move_reference(reference, (Some(&tip), None), "cr: begin anew")? {
            bail!("the branch {branch} has moved");
        }
        Ok(())
    }

    /// Registers the worktree, and releases the lock. Killed, git would leave a
    /// lock on the branch, or a registration with which `git worktree list` and
    /// `git fsck` end in an error. The files come afterwards, from a git that may be
    /// killed.
    fn add(
        &self,
        dir: &Path,
        base: &str,
        branch: Option<&str>,
        lock: Option<File>,
    ) -> anyhow::Result<()> {
        let mut args: Vec<&std::ffi::OsStr> = Vec::new();
        for arg in ["worktree", "add", "--quiet", "--no-checkout"] {
            args.push(arg.as_ref());
        }
        match branch {
            Some(branch) => {
                for arg in ["--no-track", "-b", branch] {
                    args.push(arg.as_ref());
                }
            }
            None => args.push("--detach".as_ref()),
        }
        args.push(dir.as_os_str());
        args.push(base.as_ref());
        let git = self.changing(self.top()).completing_under(lock);
        git.ask(&args).context(Exit::Tool).map(drop)
    }

    /// Checks the files out and copies the included ones.
    fn fill(&self, dir: &Path) -> anyhow::Result<(usize, Vec<String>)> {
        let git = self.changing(dir);
        // `git reset` would also lock the branch, and leave the lock if it is killed.
        git.ask(&["read-tree", "--reset", "-u", "HEAD"])
            .context(Exit::Tool)?;
        let index = git.ask(&["ls-files", "--stage", "-z"])?;
        let mut tracked = BTreeSet::new();
        let mut submodules = Vec::new();
        for record in names_in(&index) {
            let Some(tab) = record.iter().position(|&b| b == b'\t') else {
                continue;
            };
            let path = &record[tab + 1..];
            if record.starts_with(b"160000 ") {
                submodules.push(path_of(path).display().to_string());
            }
            tracked.insert(path.to_vec());
        }
        let mut included = include(self, dir, &tracked)?;
        if !submodules.is_empty() {
            let list = submodules.join(", ");
            let note = format!("submodules are not initialised: {list}");
            included.notes.push(note);
        }
        Ok((included.copied, included.notes))
    }
}

/// A worktree that is there now.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) base: String,
    pub(crate) dir: PathBuf,
    pub(crate) reused: bool,
    pub(crate) copied: usize,
    pub(crate) notes: Vec<String>,
}

/// `dir` without links, as git writes it down. Its parent is made.
pub(crate) fn real_place(dir: &Path) -> anyhow::Result<PathBuf> {
    let place = || dir.display().to_string();
    let dir = std::path::absolute(dir).with_context(place)?;
    let (Some(parent), Some(name)) = (dir.parent(), dir.file_name()) else {
        return Err(anyhow!("{}: no place for a worktree", place()).context(Exit::Usage));
    };
    fs::create_dir_all(parent).with_context(place)?;
    Ok(fs::canonicalize(parent).with_context(place)?.join(name))
}
