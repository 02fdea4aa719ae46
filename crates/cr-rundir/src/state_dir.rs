//! The state directory, and the checks that a directory is safe to write to.

use std::env;
use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, Stat, fchmod, fstat, mkdirat, openat};
use rustix::process::geteuid;

/// An unsafe directory or file: others could have prepared it or could change
/// it. It is refused, and not worked around.
#[derive(Debug)]
pub struct Unsafe(pub(crate) String);

impl fmt::Display for Unsafe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unsafe {}

/// The state directory: `CR_STATE_DIR`, else `claude-runner` in the user's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateDir {
    path: PathBuf,
}

impl StateDir {
    /// The directory that the environment names.
    pub fn from_env() -> Option<Self> {
        let named = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
        let base = named("XDG_STATE_HOME")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
            .or_else(|| named("HOME").map(|home| Path::new(&home).join(".local/state")));
        let path = named("CR_STATE_DIR")
            .map(PathBuf::from)
            .or_else(|| base.map(|base| base.join("claude-runner")))?;
        Some(Self {
            path: std::path::absolute(path).ok()?,
        })
    }

    /// The directory at `path`.
    pub fn at(path: &Path) -> Option<Self> {
        let path = std::path::absolute(path).ok()?;
        Some(Self { path })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens it, and creates what is missing of it.
    pub fn open(&self) -> anyhow::Result<OwnedFd> {
        if let Some(parent) = self.path.parent() {
            create_all(parent)?;
        }
        open_dir(CWD, &self.path, &self.path)
    }

    /// Opens the directory `name` in it.
    pub fn open_part(&self, name: &str) -> anyhow::Result<OwnedFd> {
        let state = self.open()?;
        private_dir(&state, Path::new(name), &self.path.join(name))
    }
}

/// Creates the directories above a state directory; they belong to the
/// user, and existing ones are not changed.
fn create_all(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    std::os::unix::fs::DirBuilderExt::mode(std::fs::DirBuilder::new().recursive(true), 0o700)
        .create(path)
}

/// Opens or creates the directory `name`, which must be ours and which nobody
/// else may write to. `shown` is its path in messages.
pub(crate) fn open_dir(
    at: impl std::os::fd::AsFd,
    name: &Path,
    shown: &Path,
) -> anyhow::Result<OwnedFd> {
    match mkdirat(&at, name, Mode::RWXU) {
        Ok(()) | Err(rustix::io::Errno::EXIST) => {}
        Err(err) => return Err(at_path(err, shown)),
    }
    open_existing(at, name, shown)
}

/// As [`open_dir`], for a directory that must be there.
pub(crate) fn open_existing(
    at: impl std::os::fd::AsFd,
    name: &Path,
    shown: &Path,
) -> anyhow::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
    let dir = openat(&at, name, flags, Mode::empty()).map_err(|err| match err {
        rustix::io::Errno::LOOP | rustix::io::Errno::NOTDIR => {
            Unsafe(format!("{}: not a directory of its own", shown.display())).into()
        }
        err => at_path(err, shown),
    })?;
    let stat = fstat(&dir).map_err(|err| at_path(err, shown))?;
    refuse_foreign(&stat, shown)?;
    if stat.st_mode & 0o022 != 0 {
        return Err(Unsafe(format!("{}: others may write to it", shown.display())).into());
    }
    Ok(dir)
}

/// As [`open_dir`], and nobody else may look into it.
pub(crate) fn private_dir(
    at: impl std::os::fd::AsFd,
    name: &Path,
    shown: &Path,
) -> anyhow::Result<OwnedFd> {
    let dir = open_dir(at, name, shown)?;
    let stat = fstat(&dir).map_err(|err| at_path(err, shown))?;
    if stat.st_mode & 0o077 != 0 {
        fchmod(&dir, Mode::RWXU).map_err(|err| at_path(err, shown))?;
    }
    Ok(dir)
}

/// Refuses what belongs to somebody else.
pub(crate) fn refuse_foreign(stat: &Stat, shown: &Path) -> Result<(), Unsafe> {
    if stat.st_uid == geteuid().as_raw() {
        return Ok(());
    }
    Err(Unsafe(format!(
        "{}: belongs to user {}",
        shown.display(),
        stat.st_uid
    )))
}

/// Refuses a file that is not a plain one of ours with a single name.
pub(crate) fn refuse_odd(stat: &Stat, shown: &Path) -> Result<(), Unsafe> {
    refuse_foreign(stat, shown)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || stat.st_nlink != 1 {
        return Err(Unsafe(format!("{}: not a plain file", shown.display())));
    }
    Ok(())
}

pub(crate) fn at_path(err: impl Into<io::Error>, shown: &Path) -> anyhow::Error {
    anyhow::Error::from(err.into()).context(shown.display().to_string())
}
