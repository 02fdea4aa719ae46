//! The repository inside: what of it is private, and what is read-only.
//!
//! ```text
//! COMMON                  private/git/common, so that git can make lock files
//! COMMON/*                the user's, read-only: config, hooks, packed-refs, …
//! COMMON/objects          private/git/objects; its alternate is the user's store
//! COMMON/refs             private/git/refs, so that a stash is possible
//! COMMON/refs/heads, …    the user's, read-only
//! the branch's directory  private/git/branch, a copy
//! COMMON/logs             private/git/logs
//! COMMON/worktrees/NAME   writable; where it leads to is read-only
//! WORK_TREE/.git          read-only
//! ```
//!
//! git updates a ref by a lock file beside it, so the directory of the branch
//! must be writable. It can hold other branches, so it is a copy.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::mounts::Mounts;
use crate::{canonical, make_private};

/// Where the user's object store is, inside.
const STORE: &str = "/run/cr-objects";

/// Files of a worktree's git directory that say where the repository is, or how
/// git behaves in it. git runs programs that a configuration names.
const FIXED: [&str; 4] = ["gitdir", "commondir", "config.worktree", "locked"];

/// The git directories of a linked worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitDirs {
    /// The repository's directory.
    pub common: PathBuf,
    /// The worktree's own directory, `worktrees/NAME` of the repository.
    pub own: PathBuf,
    /// The task's branch, `refs/heads/NAME`.
    pub branch: String,
}

impl GitDirs {
    /// The directories of `work_tree`, which must be a linked worktree, and its
    /// branch, `refs/heads/NAME`. An agent may have left another one in HEAD.
    pub fn of(work_tree: &Path, branch: &str) -> io::Result<Self> {
        let wrong = |text: &str| io::Error::other(format!("{}: {text}", work_tree.display()));
        let link = fs::read_to_string(work_tree.join(".git"))
            .map_err(|_| wrong("the sandbox needs a worktree made by `git worktree add`"))?;
        let own = link.trim_end().strip_prefix("gitdir: ");
        let own = own.ok_or_else(|| wrong("its file .git names no directory"))?;
        let own = canonical(&work_tree.join(own));
        let common = fs::read_to_string(own.join("commondir"))?;
        let common = canonical(&own.join(common.trim_end()));
        if common.join("reftable").exists() {
            return Err(wrong(
                "the sandbox cannot protect refs in the reftable format",
            ));
        }
        Ok(Self {
            branch: branch.to_owned(),
            common,
            own,
        })
    }

    /// The directory of the branch's ref.
    fn branch_dir(&self) -> PathBuf {
        let path = self.common.join(&self.branch);
        path.parent().map_or_else(|| path.clone(), Path::to_owned)
    }

    /// Makes the private parts, for the next attempt.
    pub(crate) fn prepare(&self, private: &Path) -> io::Result<()> {
        let git = private.join("git");
        if git.exists() {
            fs::remove_dir_all(&git)?;
        }
        for name in [
            "common",
            "objects/info",
            "objects/pack",
            "refs",
            "branch",
            "logs",
        ] {
            make_private(&git.join(name))?;
        }
        let stores = stores(&self.common).into_iter().skip(1);
        let mut alternates = format!("{STORE}\n").into_bytes();
        for store in stores {
            alternates.extend(store.as_os_str().as_encoded_bytes());
            alternates.push(b'\n');
        }
        fs::write(git.join("objects/info/alternates"), alternates)?;
        // The places of mounts, which cannot be made in what is read-only.
        fs::create_dir_all(self.branch_dir())?;
        let own_config = self.own.join("config.worktree");
        if !own_config.exists() {
            fs::write(own_config, "")?;
        }
        copy_flat(&self.common.join("refs"), &git.join("refs"))?;
        copy_flat(&self.branch_dir(), &git.join("branch"))
    }

    pub(crate) fn mount(&self, mounts: &mut Mounts, work_tree: &Path, private: &Path) {
        let git = private.join("git");
        let common = &self.common;
        mounts.write_from(&git.join("common"), common);
        // Each is a mount, which cannot be removed or replaced.
        for entry in fs::read_dir(common).into_iter().flatten().flatten() {
            mounts.read(&entry.path());
        }
        mounts.write_from(&git.join("objects"), &common.join("objects"));
        // A directory that is a mount cannot be renamed, and so not be replaced.
        mounts.read_from(&git.join("objects/info"), &common.join("objects/info"));
        mounts.read_from(&common.join("objects"), Path::new(STORE));
        for store in stores(&self.common).iter().skip(1) {
            mounts.read(store);
        }
        mounts.write_from(&git.join("refs"), &common.join("refs"));
        for dir in directories(&common.join("refs")) {
            mounts.read(&dir);
        }
        let branch_dir = self.branch_dir();
        mounts.write_from(&git.join("branch"), &branch_dir);
        for dir in directories(&branch_dir) {
            mounts.read(&dir);
        }
        mounts.write_from(&git.join("logs"), &common.join("logs"));
        mounts.write(&self.own);
        for name in FIXED {
            mounts.read(&self.own.join(name));
        }
        mounts.read(&work_tree.join(".git"));
    }

    /// Takes out of the worktree's own directory what could make git write
    /// elsewhere, and sets HEAD to the task's branch again.
    ///
    /// git follows a symbolic link in place of its index or its reflog.
    pub(crate) fn restore(&self) -> io::Result<()> {
        remove_special(&self.own)?;
        let head = format!("ref: {}\n", self.branch);
        let path = self.own.join("HEAD");
        if fs::read_to_string(&path).is_ok_and(|text| text == head) {
            return Ok(());
        }
        let new = self.own.join("HEAD.sandbox");
        let _ = fs::remove_file(&new);
        fs::write(&new, head)?;
        fs::rename(new, path)
    }
}

/// The object store of the repository `common`, and all that it borrows from.
fn stores(common: &Path) -> Vec<PathBuf> {
    let mut stores = vec![common.join("objects")];
    let mut next = 0;
    while let Some(store) = stores.get(next).cloned() {
        next += 1;
        let text = fs::read_to_string(store.join("info/alternates")).unwrap_or_default();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let other = canonical(&store.join(line));
            if other.is_dir() && !stores.contains(&other) {
                stores.push(other);
            }
        }
    }
    stores
}

/// Shows the repository `common` read-only.
pub(crate) fn mount_read_only(mounts: &mut Mounts, common: &Path) {
    mounts.read(common);
    for store in stores(common).iter().skip(1) {
        mounts.read(store);
    }
}

/// Copies the files of `from`, and makes an empty directory for each directory.
fn copy_flat(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, copy) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            make_private(&copy)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), copy)?;
        }
    }
    Ok(())
}

/// The directories in `dir`.
fn directories(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let dirs = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    dirs.map(|entry| entry.path()).collect()
}

/// Removes everything below `dir` that is neither a file nor a directory.
fn remove_special(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            remove_special(&entry.path())?;
        } else if !kind.is_file() {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Takes the right to run as its owner from every file below `dir`.
///
/// A process of root can make such a file of its own, and another user could run
/// it outside.
pub(crate) fn remove_setuid(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let meta = entry.metadata()?;
        let kind = meta.file_type();
        let mode = meta.permissions().mode();
        if kind.is_dir() {
            remove_setuid(&entry.path())?;
        } else if kind.is_file() && mode & 0o6000 != 0 {
            let plain = fs::Permissions::from_mode(mode & 0o1777);
            fs::set_permissions(entry.path(), plain)?;
        } else if kind.is_char_device() || kind.is_block_device() {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}
