//! Reads a run directory.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use cr_event::Event;
use cr_io::Exit;
use cr_stream::OwnLine;
use cr_summary::Summary;
use jiff::Timestamp;
use rustix::fs::{FlockOperation, OFlags, flock};

use crate::file;

/// A run that has not started after this time is lost.
const START_TIMEOUT: Duration = Duration::from_mins(1);

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// Its directory is there, and nothing else yet.
    Starting,
    /// Its lock is held.
    Running,
    /// It has ended and left its record.
    Ended,
    /// It was cut off and left no record of its end.
    Lost,
}

impl RunState {
    /// Its name in the output of `cr-runs`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Ended => "ended",
            Self::Lost => "lost",
        }
    }

    /// Whether it has ended, in any way.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Ended | Self::Lost)
    }
}

/// The `cr/start` line of a run.
#[derive(Clone, Debug, Default)]
pub struct StartRecord {
    /// The run.
    pub run_id: Option<String>,
    /// When the line was written.
    pub at: Option<Timestamp>,
    /// The name that the user gave it.
    pub name: Option<String>,
    /// The supervisor's process id.
    pub pid: Option<i32>,
    /// The agent's directory.
    pub cwd: Option<String>,
    /// The model that was asked for.
    pub model: Option<String>,
    /// The session that is resumed.
    pub resume: Option<String>,
    /// The run that is resumed.
    pub resumed_run: Option<String>,
}

impl StartRecord {
    fn read(line: &[u8]) -> Option<Self> {
        let event = Event::parse(line).ok()?;
        let Some(OwnLine::Start(start)) = OwnLine::read(&event) else {
            return None;
        };
        Some(Self {
            run_id: event.run_id.map(|id| id.decode().into_owned()),
            at: time_of(&event),
            name: start.name.map(Cow::into_owned),
            pid: start.pid.and_then(|pid| i32::try_from(pid).ok()),
            cwd: start.cwd.map(Cow::into_owned),
            model: start.model.map(Cow::into_owned),
            resume: start.resume.map(Cow::into_owned),
            resumed_run: start.resumed_run.map(Cow::into_owned),
        })
    }
}

/// The `cr/exit` line of a run.
#[derive(Clone, Debug, Default)]
pub struct EndRecord {
    /// When the line was written.
    pub at: Option<Timestamp>,
    /// Why the run ended.
    pub reason: Option<String>,
    /// How long it took.
    pub duration_ms: Option<u64>,
}

impl EndRecord {
    fn read(line: &[u8]) -> Option<Self> {
        let event = Event::parse(line).ok()?;
        let Some(OwnLine::Exit(exit)) = OwnLine::read(&event) else {
            return None;
        };
        let reason = exit.reason.as_str();
        Some(Self {
            at: time_of(&event),
            reason: (!reason.is_empty()).then(|| reason.to_owned()),
            duration_ms: exit.duration_ms,
        })
    }
}

fn time_of(event: &Event<'_>) -> Option<Timestamp> {
    event.at?.decode().parse().ok()
}

/// A run's directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Its path.
    pub dir: PathBuf,
}

impl Run {
    /// A run by its directory.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// The name of the directory, which is the run's unless it was chosen.
    pub fn id(&self) -> String {
        let name = self.dir.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// The path of one of its files.
    pub fn file(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Whether a file of that name is there.
    pub fn has(&self, name: &str) -> bool {
        self.file(name).exists()
    }

    /// Its state. The lock is asked first: when it is free, every file that the
    /// run wrote under it is there.
    pub fn state(&self) -> RunState {
        if is_locked(&self.file(file::LOCK)) {
            return RunState::Running;
        }
        if self.has(file::EXIT) || self.has(file::SUMMARY) {
            return RunState::Ended;
        }
        if self.has(file::STARTED) {
            return RunState::Lost;
        }
        match self.age() {
            Some(age) if age < START_TIMEOUT => RunState::Starting,
            _ => RunState::Lost,
        }
    }

    /// How long ago something was added to the directory.
    fn age(&self) -> Option<Duration> {
        let changed = fs::metadata(&self.dir).ok()?.modified().ok()?;
        SystemTime::now().duration_since(changed).ok()
    }

    /// What its first line said.
    pub fn started(&self) -> StartRecord {
        StartRecord::read(&self.bytes(file::STARTED)).unwrap_or_default()
    }

    /// What its last line said.
    pub fn ended(&self) -> EndRecord {
        EndRecord::read(&self.bytes(file::EXIT)).unwrap_or_default()
    }

    /// The summary, if there is one that can be read. One with a newer schema
    /// is an error: another version wrote it, and nothing may replace it.
    pub fn summary(&self) -> anyhow::Result<Option<Summary>> {
        match cr_summary::read(&self.file(file::SUMMARY)) {
            Err(err) if cr_io::exit_of(&err) != Exit::Config => Ok(None),
            read => read,
        }
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.file(name)).unwrap_or_default()
    }

    /// When it began: as it says, else by its directory.
    pub fn began(&self) -> Option<Timestamp> {
        let by_name = || {
            let id = self.id();
            let time = jiff::fmt::strtime::parse("%Y%m%dT%H%M%SZ", id.get(..16)?).ok()?;
            let time = time.to_datetime().ok()?;
            Some(time.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
        };
        let by_clock = || {
            let changed = fs::metadata(&self.dir).ok()?.modified().ok()?;
            Timestamp::try_from(changed).ok()
        };
        self.started().at.or_else(by_name).or_else(by_clock)
    }

    /// The id of its session, from the summary or the stream's beginning.
    pub fn session(&self) -> Option<String> {
        if let Ok(Some(summary)) = self.summary()
            && summary.session_id.is_some()
        {
            return summary.session_id;
        }
        let mut head = Vec::new();
        let stream = File::open(self.file(file::STREAM)).ok()?;
        stream.take(256 << 10).read_to_end(&mut head).ok()?;
        let mut lines = head.split(|&byte| byte == b'\n');
        lines.find_map(|line| {
            let event = Event::parse(line).ok()?;
            if event.kind == cr_event::Kind::Cr {
                return None;
            }
            Some(event.line.string("session_id")?.into_owned())
        })
    }

    /// The last lines of the stream, whole ones.
    pub fn last_lines(&self, bytes: u64) -> io::Result<Vec<u8>> {
        let mut stream = File::open(self.file(file::STREAM))?;
        let length = stream.metadata()?.len();
        stream.seek(SeekFrom::Start(length.saturating_sub(bytes)))?;
        let mut tail = Vec::new();
        stream.read_to_end(&mut tail)?;
        if length > bytes {
            let start = tail.iter().position(|&byte| byte == b'\n');
            tail.drain(..start.map_or(tail.len(), |at| at + 1));
        }
        Ok(tail)
    }
}

/// Every run in `runs`, the latest first.
pub fn runs_in(runs: &Path) -> Vec<Run> {
    let entries = fs::read_dir(runs).into_iter().flatten().flatten();
    let mut found: Vec<(Option<Timestamp>, Run)> = entries
        .filter(|entry| {
            let name = entry.file_name();
            let is_id = name.to_str().and_then(crate::RunId::parse).is_some();
            is_id && entry.file_type().is_ok_and(|kind| kind.is_dir())
        })
        .map(|entry| {
            let run = Run::new(entry.path());
            (run.began(), run)
        })
        .collect();
    found.sort_by(|(a, one), (b, other)| b.cmp(a).then_with(|| other.dir.cmp(&one.dir)));
    found.into_iter().map(|(_, run)| run).collect()
}

/// Whether a process holds the lock `path`. It is opened for reading, so that
/// those who watch for its end are not woken by us.
pub(crate) fn is_locked(path: &Path) -> bool {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let opened = File::options()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path);
    opened.is_ok_and(|lock| {
        flock(&lock, FlockOperation::NonBlockingLockShared) == Err(rustix::io::Errno::WOULDBLOCK)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_of_a_newer_version_is_refused_and_a_broken_one_is_none() {
        let dir = tempfile::tempdir().expect("a directory");
        let run = Run::new(dir.path());
        assert!(matches!(run.summary(), Ok(None)));
        fs::write(run.file("summary.json"), b"{\"schema\":1,").expect("write");
        assert!(matches!(run.summary(), Ok(None)));
        fs::write(run.file("summary.json"), b"{\"schema\":2}").expect("write");
        let err = run.summary().expect_err("refused");
        assert_eq!(cr_io::exit_of(&err), Exit::Config);
    }
}
