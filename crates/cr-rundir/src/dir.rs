//! One run's directory, and the files in it.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{
    Access, AtFlags, CWD, FlockOperation, Mode, OFlags, RenameFlags, accessat, flock, fstat, fsync,
    openat, renameat, renameat_with, unlinkat,
};

use crate::RunId;
use crate::file;
use crate::state_dir::{
    StateDir, Unsafe, at_path, open_dir, open_existing, private_dir, refuse_odd,
};

/// How long to retry for a lock that may be free in a moment.
const LOCK_RETRY_LIMIT: Duration = Duration::from_millis(800);

/// A run's directory, held open.
#[derive(Debug)]
pub struct RunDir {
    dir: OwnedFd,
    path: PathBuf,
}

/// The lock that is held while a run is going on.
#[derive(Debug)]
pub struct Lock {
    file: OwnedFd,
}

impl RunDir {
    /// The directory of run `id` in `state`; a second run of one name gets a
    /// directory of its own.
    pub fn create(state: &StateDir, id: &RunId) -> anyhow::Result<Self> {
        let runs = state.open_part(file::RUNS)?;
        let mut name = id.as_str().to_owned();
        for again in 2.. {
            let path = state.path().join(file::RUNS).join(&name);
            let dir = private_dir(&runs, Path::new(&name), &path)?;
            let run = Self { dir, path };
            if !run.has(file::STARTED) {
                return Ok(run);
            }
            name = format!("{id}.{again}");
        }
        unreachable!("the names do not run out");
    }

    /// A directory that was named; it is created if it is missing.
    pub fn at(path: &Path) -> anyhow::Result<Self> {
        let path = std::path::absolute(path)?;
        let dir = open_dir(CWD, &path, &path)?;
        Ok(Self { dir, path })
    }

    /// A directory that is there already; none is created.
    pub fn existing(path: &Path) -> anyhow::Result<Self> {
        let path = std::path::absolute(path)?;
        let dir = open_existing(CWD, &path, &path)?;
        Ok(Self { dir, path })
    }

    /// A directory by the descriptor of another process.
    pub fn from_fd(dir: OwnedFd, path: PathBuf) -> Self {
        Self { dir, path }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates the file `name`, or empties it, and opens it for appending.
    pub fn create_file(&self, name: &str) -> anyhow::Result<File> {
        let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::APPEND;
        let file = self.open(name, flags)?;
        rustix::fs::ftruncate(&file, 0).map_err(|err| at_path(err, &self.path.join(name)))?;
        Ok(file.into())
    }

    /// Opens the file `name` for appending; it is created if it is missing.
    pub fn append_file(&self, name: &str) -> anyhow::Result<File> {
        let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::APPEND;
        Ok(self.open(name, flags)?.into())
    }

    /// Appends `line` to `name`, which is created if it is missing. It survives a
    /// loss of power. An incomplete last line is ended first, so that it cannot
    /// take this one with it.
    pub fn append_line(&self, name: &str, line: &[u8]) -> anyhow::Result<()> {
        let shown = self.path.join(name);
        let flags = OFlags::CREATE | OFlags::RDWR | OFlags::APPEND;
        let mut file = File::from(self.open(name, flags)?);
        let appended = (|| {
            let length = file.metadata()?.len();
            let mut text = Vec::with_capacity(line.len() + 2);
            if length > 0 {
                let mut last = [0];
                file.read_exact_at(&mut last, length - 1)?;
                text.extend((last != *b"\n").then_some(b'\n'));
            }
            text.extend_from_slice(line);
            text.push(b'\n');
            file.write_all(&text)?;
            file.sync_all()?;
            // The name of a new file has to last, too.
            Ok::<_, std::io::Error>(fsync(&self.dir)?)
        })();
        appended.map_err(|err| at_path(err, &shown))
    }

    /// The content of `name`, at most `most` bytes of it; `None` if there is no
    /// such file.
    pub fn read(&self, name: &str, most: u64) -> anyhow::Result<Option<Vec<u8>>> {
        if !self.has(name) {
            return Ok(None);
        }
        let file = File::from(self.open(name, OFlags::RDONLY)?);
        let mut bytes = Vec::new();
        let read = file.take(most).read_to_end(&mut bytes);
        read.map_err(|err| at_path(err, &self.path.join(name)))?;
        Ok(Some(bytes))
    }

    /// Opens `name` and refuses whatever is not a plain file of ours.
    fn open(&self, name: &str, flags: OFlags) -> anyhow::Result<OwnedFd> {
        let shown = self.path.join(name);
        // NONBLOCK, so that opening a FIFO of that name cannot block.
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file =
            openat(&self.dir, name, flags, Mode::RUSR | Mode::WUSR).map_err(|err| match err {
                rustix::io::Errno::LOOP | rustix::io::Errno::NXIO => {
                    Unsafe(format!("{}: not a plain file", shown.display())).into()
                }
                err => at_path(err, &shown),
            })?;
        let stat = fstat(&file).map_err(|err| at_path(err, &shown))?;
        refuse_odd(&stat, &shown)?;
        Ok(file)
    }

    /// Writes `name` by a rename: a reader finds it whole or not at all. It is not
    /// forced to the disk, which takes longer than all else at a run's start.
    pub fn write(&self, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
        let (temporary, _) = self.fill_temporary(name, bytes)?;
        renameat(&self.dir, &temporary, &self.dir, name)
            .map_err(|err| at_path(err, &self.path.join(name)))?;
        Ok(())
    }

    /// Writes `name` for good, unless it is there already; returns whether this
    /// call did it. It survives a loss of power.
    pub fn write_once(&self, name: &str, bytes: &[u8]) -> anyhow::Result<bool> {
        let (temporary, file) = self.fill_temporary(name, bytes)?;
        let shown = self.path.join(name);
        let (dir, keep) = (&self.dir, RenameFlags::NOREPLACE);
        if let Err(err) = file.sync_all() {
            let _ = unlinkat(dir, &temporary, AtFlags::empty());
            return Err(at_path(err, &shown));
        }
        let renamed = renameat_with(dir, &temporary, dir, name, keep).or_else(|err| match err {
            // A file system that cannot refuse to replace.
            rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS => {
                rustix::fs::linkat(dir, &temporary, dir, name, AtFlags::empty())?;
                unlinkat(dir, &temporary, AtFlags::empty())
            }
            err => Err(err),
        });
        match renamed {
            Ok(()) => {}
            Err(rustix::io::Errno::EXIST) => {
                let _ = unlinkat(dir, &temporary, AtFlags::empty());
                return Ok(false);
            }
            Err(err) => return Err(at_path(err, &shown)),
        }
        fsync(dir).map_err(|err| at_path(err, &shown))?;
        Ok(true)
    }

    /// Writes a file beside `name`; returns what it is called, and it.
    fn fill_temporary(&self, name: &str, bytes: &[u8]) -> anyhow::Result<(String, File)> {
        let temporary = format!(".{name}.{}", std::process::id());
        let written = (|| {
            let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY;
            let _ = unlinkat(&self.dir, &temporary, AtFlags::empty());
            let mut file = File::from(self.open(&temporary, flags)?);
            file.write_all(bytes)?;
            anyhow::Ok(file)
        })();
        match written {
            Ok(file) => Ok((temporary, file)),
            Err(err) => {
                let _ = unlinkat(&self.dir, &temporary, AtFlags::empty());
                Err(err.context(self.path.join(name).display().to_string()))
            }
        }
    }

    /// Takes the lock that says that this run is going on. It lasts until every
    /// copy of it is closed, in whatever process.
    pub fn lock(&self) -> anyhow::Result<Lock> {
        let file = self.open(file::LOCK, OFlags::CREATE | OFlags::RDWR)?;
        flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(|err| match err {
            rustix::io::Errno::WOULDBLOCK => {
                Unsafe(format!("{}: a run is going on there", self.path.display())).into()
            }
            err => at_path(err, &self.path.join(file::LOCK)),
        })?;
        Ok(Lock { file })
    }

    /// Takes the lock, with retries: a process that was killed while it started
    /// another leaves a copy of the lock there for a moment.
    pub fn lock_patiently(&self) -> anyhow::Result<Lock> {
        let start = Instant::now();
        loop {
            match self.lock() {
                Err(err) if err.is::<Unsafe>() && start.elapsed() < LOCK_RETRY_LIMIT => {
                    thread::sleep(LOCK_RETRY_LIMIT / 20);
                }
                result => return result,
            }
        }
    }

    /// Whether there is something called `name`.
    pub fn has(&self, name: &str) -> bool {
        accessat(&self.dir, name, Access::EXISTS, AtFlags::empty()).is_ok()
    }
}

impl AsFd for RunDir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.dir.as_fd()
    }
}

impl Lock {
    /// The lock by the descriptor of another process.
    pub fn from_fd(file: OwnedFd) -> Self {
        Self { file }
    }
}

impl AsFd for Lock {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
