//! The runs of `cr-orchestrate`, as far as retention needs them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use cr_stream::OwnLine;
use jiff::Timestamp;

use crate::file;
use crate::reader::{Run, is_locked};

/// A run that has not started after this time is not going on.
const START_TIMEOUT: Duration = Duration::from_mins(1);

/// The most of a log that is read for its last line.
const LAST_LINE: usize = 64 << 10;

/// A run of many tasks.
#[derive(Clone, Debug)]
pub(crate) struct Orchestrated {
    pub(crate) dir: PathBuf,
}

impl Orchestrated {
    /// Whether it, or an attempt that outlived it, is going on.
    pub(crate) fn is_running(&self) -> bool {
        let is_new = !self.dir.join(file::RUN).exists() && self.age() < START_TIMEOUT;
        is_new || is_locked(&self.dir.join(file::LOCK)) || has_attempt(&self.dir)
    }

    /// Whether it came to its end; one that was stopped or waits can be resumed.
    pub(crate) fn is_finished(&self) -> bool {
        let bytes = fs::read(self.dir.join(file::SESSION_LOG)).unwrap_or_default();
        let tail = &bytes[bytes.len().saturating_sub(LAST_LINE)..];
        let mut lines = tail.split(|&byte| byte == b'\n');
        let last = lines.rfind(|line| !line.is_empty()).unwrap_or_default();
        matches!(OwnLine::parse(last), Some(OwnLine::Run(run)) if run.state == "ended")
    }

    /// When something last happened in it.
    pub(crate) fn last_change(&self) -> Option<Timestamp> {
        Timestamp::try_from(self.changed()?).ok()
    }

    fn changed(&self) -> Option<SystemTime> {
        let log = fs::metadata(self.dir.join(file::SESSION_LOG));
        let meta = log.or_else(|_| fs::metadata(&self.dir)).ok()?;
        meta.modified().ok()
    }

    fn age(&self) -> Duration {
        let age = self
            .changed()
            .map(|then| SystemTime::now().duration_since(then));
        age.and_then(Result::ok).unwrap_or_default()
    }
}

/// Whether an attempt of the run in `dir` is going on, even without the process
/// that started it.
pub(crate) fn has_attempt(dir: &Path) -> bool {
    let mut attempts = attempts(dir);
    attempts.any(|dir| is_locked(&dir.join(file::LOCK)) || is_locked(&dir.join(file::ATTEMPT_LOCK)))
}

/// The directories of the attempts of the run in `dir`.
fn attempts(dir: &Path) -> impl Iterator<Item = PathBuf> {
    let names = |dir: PathBuf| {
        let entries = fs::read_dir(dir).into_iter().flatten();
        entries.filter_map(|entry| Some(entry.ok()?.path()))
    };
    names(dir.join(file::ATTEMPTS)).flat_map(names)
}

impl Run {
    /// The attempt of a run with `--retry` whose agent is running.
    pub fn current_attempt(&self) -> Option<Self> {
        let mut running = attempts(&self.dir).filter(|dir| is_locked(&dir.join(file::LOCK)));
        running.next().map(Self::new)
    }
}

/// Every run below `dir`.
pub(crate) fn all(dir: &Path) -> Vec<Orchestrated> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let runs = entries.filter(|entry| {
        let name = entry.file_name();
        let is_id = name.to_str().and_then(crate::RunId::parse).is_some();
        is_id && entry.file_type().is_ok_and(|kind| kind.is_dir())
    });
    runs.map(|entry| Orchestrated { dir: entry.path() })
        .collect()
}
