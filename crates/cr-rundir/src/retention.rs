//! `cr-runs prune`: removes old runs, the oldest first.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::RunDir;
use crate::file;
use anyhow::Context;
use cr_io::{Exit, Out};
use jiff::Timestamp;

use crate::orchestrated::{self, has_attempt};
use crate::reader;

/// How often a new run removes old ones.
const PRUNE_INTERVAL: Duration = Duration::from_hours(24);

/// Which runs are kept.
#[derive(Clone, Copy, Debug)]
pub struct Retention {
    /// Runs younger than this stay.
    pub younger_than: Duration,
    /// Older runs go until the rest has at most so many bytes.
    pub bytes: u64,
}

/// A directory that may be removed.
#[derive(Debug)]
struct Candidate {
    dir: PathBuf,
    /// When it was last of use.
    at: Option<Timestamp>,
    /// It is going on, or the user keeps it.
    is_kept: bool,
    /// It can still be resumed, and is removed only when it is too old.
    is_unfinished: bool,
    /// Held while it is removed, so that nobody takes it up meanwhile.
    has_lock: bool,
}

/// Removes what is too old in the state directory, and then the oldest until the
/// rest fits; prints what is removed. A run that is going on, or that has a file
/// `keep`, stays.
pub fn prune(state: &Path, keep: Retention, is_dry: bool, out: impl Write) -> anyhow::Result<Exit> {
    let mut out = Out::new(out);
    let now = Timestamp::now();
    let mut room = keep.bytes;
    for run in candidates(state) {
        let size = size_of(&run.dir);
        let is_old = run.at.is_some_and(|at| {
            let age = Duration::try_from(now.duration_since(at));
            age.is_ok_and(|age| age > keep.younger_than)
        });
        let fits = size <= room;
        if run.is_kept || (!is_old && (fits || run.is_unfinished)) {
            room = room.saturating_sub(size);
            continue;
        }
        if !is_dry && !remove(&run)? {
            continue;
        }
        out.line(run.dir.as_os_str().as_encoded_bytes())?;
    }
    out.flush()?;
    Ok(Exit::Ok)
}

/// Everything that takes up room, the latest first.
fn candidates(state: &Path) -> Vec<Candidate> {
    let single = reader::runs_in(&state.join(file::RUNS));
    let single = single.into_iter().map(|run| Candidate {
        at: run.began(),
        is_kept: run.has(file::KEEP) || !run.state().is_over() || has_attempt(&run.dir),
        is_unfinished: false,
        has_lock: false,
        dir: run.dir,
    });
    let many = orchestrated::all(&state.join(file::ORCHESTRATED));
    let many = many.into_iter().map(|run| Candidate {
        at: run.last_change(),
        is_kept: run.dir.join(file::KEEP).exists() || run.is_running(),
        is_unfinished: !run.is_finished(),
        has_lock: true,
        dir: run.dir,
    });
    let mut all: Vec<Candidate> = single.chain(many).collect();
    all.sort_by(|one, other| (other.at, &other.dir).cmp(&(one.at, &one.dir)));
    all
}

/// Removes a run, unless a process has just locked it.
fn remove(run: &Candidate) -> anyhow::Result<bool> {
    let lock = run.has_lock.then(|| RunDir::at(&run.dir)?.lock());
    let Ok(_lock) = lock.transpose() else {
        return Ok(false);
    };
    fs::remove_dir_all(&run.dir)
        .with_context(|| run.dir.display().to_string())
        .context(Exit::Io)?;
    Ok(true)
}

/// Prunes if nobody has done so for a day. An error is left for the next time:
/// it must not stop the run that starts.
pub fn prune_daily(state: &Path, keep: Retention) {
    let mark = state.join(".pruned");
    let age = fs::metadata(&mark)
        .and_then(|meta| meta.modified())
        .ok()
        .and_then(|then| SystemTime::now().duration_since(then).ok());
    if age.is_some_and(|age| age < PRUNE_INTERVAL) || fs::write(&mark, "").is_err() {
        return;
    }
    let _ = prune(state, keep, false, std::io::sink());
}

/// The bytes of the files below `dir`.
fn size_of(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(meta) if meta.is_dir() => size_of(&entry.path()),
        Ok(meta) => meta.len(),
        Err(_) => 0,
    });
    sizes.sum()
}
