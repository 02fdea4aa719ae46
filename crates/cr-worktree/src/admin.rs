//! What git keeps about a worktree: a directory below `worktrees/` of the
//! repository. A file of ours in it says whose worktree it is. It is written last,
//! so a worktree without it is incomplete.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::copy;
use crate::repository::path_of;

/// Our file.
const OWNER: &str = "cr-owner.json";

/// Whose worktree it is.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(crate) struct Owner {
    pub(crate) schema: u32,
    pub(crate) run: String,
    /// The task and its attempt; `None` for the worktree in which a run merges.
    pub(crate) task: Option<(String, u32)>,
    /// The commit that it was made at.
    pub(crate) base: String,
}

/// The administration of one worktree.
#[derive(Clone, Debug)]
pub(crate) struct Admin {
    /// The directory below `worktrees/`.
    pub(crate) dir: PathBuf,
    /// The worktree, `None` if git was killed before it wrote it down.
    pub(crate) worktree: Option<PathBuf>,
}

impl Admin {
    /// The administrations of all worktrees of the repository.
    pub(crate) fn all(common: &Path) -> io::Result<Vec<Self>> {
        let entries = match fs::read_dir(common.join("worktrees")) {
            Ok(entries) => entries,
            Err(err) if err.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(err) => return Err(err),
        };
        let mut found = Vec::new();
        for entry in entries {
            let dir = entry?.path();
            let text = fs::read(dir.join("gitdir")).unwrap_or_default();
            let link = text.strip_suffix(b"\n").unwrap_or(&text);
            let link = (!link.is_empty()).then(|| dir.join(path_of(link)));
            found.push(Self {
                worktree: link.and_then(|link| Some(link.parent()?.to_owned())),
                dir,
            });
        }
        Ok(found)
    }

    /// The administration of the worktree at `dir` that the worktree agrees with.
    pub(crate) fn of(common: &Path, dir: &Path) -> io::Result<Option<Self>> {
        let text = fs::read(dir.join(".git")).unwrap_or_default();
        let link = text.strip_prefix(b"gitdir: ").unwrap_or_default();
        let link = path_of(link.strip_suffix(b"\n").unwrap_or(link));
        let found = Self::all(common)?.into_iter().find(|admin| {
            let is_same = || fs::canonicalize(&link).ok() == fs::canonicalize(&admin.dir).ok();
            admin.worktree.as_deref() == Some(dir) && is_same()
        });
        Ok(found)
    }

    /// Whose worktree it is; `None` if it is not ours, or incomplete.
    pub(crate) fn owner(&self) -> Option<Owner> {
        let text = fs::read(self.dir.join(OWNER)).ok()?;
        let owner: Owner = serde_json::from_slice(&text).ok()?;
        (owner.schema == 1).then_some(owner)
    }

    /// Marks the worktree as complete.
    pub(crate) fn set_owner(&self, owner: &Owner) -> anyhow::Result<()> {
        let text = serde_json::to_vec(owner)?;
        let new = self.dir.join(format!("{OWNER}.new"));
        let write = || -> io::Result<()> {
            fs::write(&new, text)?;
            fs::rename(&new, self.dir.join(OWNER))
        };
        write().with_context(|| new.display().to_string())
    }

    /// Removes the locks of a git that was killed in this worktree. Only for a
    /// worktree in which nobody else works.
    pub(crate) fn break_locks(&self) -> io::Result<()> {
        for name in ["index.lock", "HEAD.lock", "config.worktree.lock"] {
            absent_is_fine(fs::remove_file(self.dir.join(name)))?;
        }
        Ok(())
    }

    /// The last time that something was done in the worktree.
    pub(crate) fn last_use(&self) -> SystemTime {
        let names = [".", "HEAD", "index", "logs/HEAD", OWNER];
        let times = names.iter().filter_map(|name| {
            let meta = fs::symlink_metadata(self.dir.join(name)).ok()?;
            meta.modified().ok()
        });
        times.max().unwrap_or(SystemTime::UNIX_EPOCH)
    }

    /// The branch that is checked out, as a ref.
    pub(crate) fn head(&self) -> Option<String> {
        let text = fs::read_to_string(self.dir.join("HEAD")).ok()?;
        Some(text.strip_prefix("ref: ")?.trim_end().to_owned())
    }
}

/// Removes the worktree at `dir` and every administration of it. The directory
/// gets another name first: a part of a worktree never looks like one.
pub(crate) fn discard(common: &Path, dir: &Path) -> anyhow::Result<()> {
    let name = dir.file_name().unwrap_or_default();
    for admin in Admin::all(common)? {
        // A git that was killed early has only locked its directory.
        let is_unfinished = || {
            let own = admin.dir.file_name().unwrap_or_default().as_bytes();
            let rest = own.strip_prefix(name.as_bytes());
            let is_number = |rest: &[u8]| rest.iter().all(u8::is_ascii_digit);
            admin.worktree.is_none()
                && rest.is_some_and(is_number)
                && fs::read(admin.dir.join("locked"))
                    .is_ok_and(|why| why.starts_with(b"initializing"))
        };
        if admin.worktree.as_deref() == Some(dir) || is_unfinished() {
            // From here on it is incomplete.
            absent_is_fine(fs::remove_file(admin.dir.join(OWNER)))?;
            move_away(dir)?;
            copy::remove_tree(&admin.dir)?;
        }
    }
    move_away(dir)
}

/// Removes the directory `dir`, and what is left of an earlier removal of it.
fn move_away(dir: &Path) -> anyhow::Result<()> {
    let mut name = b".removed-".to_vec();
    name.extend_from_slice(dir.file_name().unwrap_or_default().as_bytes());
    let away = dir.with_file_name(std::ffi::OsString::from_vec(name));
    copy::remove_tree(&away)?;
    absent_is_fine(fs::rename(dir, &away)).with_context(|| dir.display().to_string())?;
    copy::remove_tree(&away)
}

/// Something that is gone already is as good as removed.
pub(crate) fn absent_is_fine(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(err) if err.kind() == ErrorKind::NotFound => Ok(()),
        result => result,
    }
}
