//! The runs of one session: each resumes the one before it.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use cr_io::Exit;
use cr_rundir::{Run, RunDir, file};
use rustix::fs::{FlockOperation, flock};

use super::old_queue::{Queue, taken_over_by};

/// The earlier runs of a session, the first one first. As long as it lives, no
/// other run can resume the session.
#[derive(Debug)]
pub(crate) struct Chain {
    pub(crate) runs: Vec<RunDir>,
    /// What the runs have left in their queues.
    pub(super) queue: Queue,
    /// The lock of the session: that of the first run's queue.
    _claim: File,
}

impl Chain {
    /// Finds the runs of the session that the run `name` belongs to; it is a path,
    /// or the id of a run in `runs`. Whichever of them is named, it finds all.
    pub(crate) fn claim(name: &str, runs: &Path) -> anyhow::Result<Self> {
        let mut all = vec![place(name, runs)];
        while let Some(earlier) = earlier(&all[all.len() - 1], runs)
            && !all.contains(&earlier)
        {
            all.push(earlier);
        }
        let claim = claim(&all[all.len() - 1], name)?;
        let mut next = 0;
        while next < all.len() {
            let later = taken_over_by(&all[next].join(file::QUEUE))?;
            let later = later.into_iter().map(|id| runs.join(id));
            for dir in later.filter(|dir| dir.is_dir()) {
                if !all.contains(&dir) {
                    all.push(dir);
                }
            }
            next += 1;
        }
        // A session has one run at a time.
        all.sort_by_cached_key(|dir| Run::new(dir).began());
        let mut queue = Queue::default();
        for dir in &all {
            queue.read(&dir.join(file::QUEUE))?;
        }
        let dirs = all.iter().map(|dir| RunDir::existing(dir));
        Ok(Self {
            runs: dirs.collect::<anyhow::Result<_>>().context(Exit::NoInput)?,
            queue,
            _claim: claim,
        })
    }
}

fn place(name: &str, runs: &Path) -> PathBuf {
    if name.contains('/') {
        PathBuf::from(name)
    } else {
        runs.join(name)
    }
}

/// The run that the one in `dir` resumed, if it is still there.
fn earlier(dir: &Path, runs: &Path) -> Option<PathBuf> {
    let name = Run::new(dir).started().resumed_run?;
    Some(place(&name, runs)).filter(|dir| dir.is_dir())
}

/// Locks the session of the run in `dir`.
fn claim(dir: &Path, name: &str) -> anyhow::Result<File> {
    let queue = RunDir::existing(dir).context(Exit::NoInput)?;
    let queue = queue.append_file(file::QUEUE).context(Exit::Io)?;
    match flock(&queue, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(queue),
        Err(rustix::io::Errno::WOULDBLOCK) => {
            let text = format!("{name}: another run is resuming its session");
            Err(anyhow!(text).context(Exit::Retry))
        }
        Err(err) => Err(anyhow::Error::from(io::Error::from(err)).context(Exit::Io)),
    }
}
