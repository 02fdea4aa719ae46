//! What can be shown: the runs of this machine, or recordings that were named.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use cr_io::{Exit, Input};
use cr_rundir::{Run, RunId, file};
use tokio::sync::watch;

use crate::watcher::{Changes, Watcher};

/// A transcript, and what is known about it besides.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// A run directory.
    Run(Run),
    /// A file, or standard input.
    Recording(Arc<Recording>),
}

/// A recording that was named on the command line.
#[derive(Debug)]
pub(crate) struct Recording {
    /// `file-1`, `file-2`: a path may hold anything.
    pub(crate) id: String,
    /// Its name for people.
    pub(crate) label: String,
    file: Arc<File>,
    /// The directory of a file that may grow.
    dir: Option<PathBuf>,
    /// Of what is copied: told with each piece.
    copied: watch::Sender<u64>,
    is_over: AtomicBool,
}

impl Recording {
    /// Opens the inputs. What cannot be read at any place, such as standard input and
    /// compressed files, is copied into a file without a name.
    pub(crate) fn open_all(inputs: &[Input]) -> anyhow::Result<Vec<Arc<Self>>> {
        let numbered = (1..).zip(inputs);
        numbered
            .map(|(number, input)| Self::open(number, input))
            .collect()
    }

    fn open(number: usize, input: &Input) -> anyhow::Result<Arc<Self>> {
        let recording = |file: File, dir: Option<PathBuf>| Self {
            id: format!("file-{number}"),
            label: input.label(),
            file: Arc::new(file),
            dir,
            copied: watch::Sender::new(0),
            is_over: AtomicBool::new(false),
        };
        let Some(path) = input.name() else {
            // Signals end the server as they would without an input.
            return Self::copy(recording, io::stdin());
        };
        let stream = input.open()?;
        if stream.file().is_none() {
            return Self::copy(recording, stream);
        }
        let file = File::open(path).with_context(|| input.label());
        let file = file.context(Exit::NoInput)?;
        let path = std::path::absolute(path)?;
        let dir = path.parent().map(PathBuf::from);
        Ok(Arc::new(recording(file, dir)))
    }

    /// Copies `input` on a thread, for as long as there is more.
    fn copy(
        recording: impl FnOnce(File, Option<PathBuf>) -> Self,
        mut input: impl Read + Send + 'static,
    ) -> anyhow::Result<Arc<Self>> {
        let file = tempfile::tempfile().context("a temporary file");
        let mut copy = file.context(Exit::Io)?;
        let reader = copy.try_clone().context(Exit::Io)?;
        let recording = Arc::new(recording(reader, None));
        let told = Arc::clone(&recording);
        std::thread::spawn(move || {
            let mut buffer = vec![0; 64 << 10];
            let more = |number: &mut u64| *number += 1;
            loop {
                match input.read(&mut buffer) {
                    Ok(length) if length > 0 && copy.write_all(&buffer[..length]).is_ok() => {
                        told.copied.send_modify(more);
                    }
                    Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
                    _ => break,
                }
            }
            told.is_over.store(true, Ordering::Release);
            told.copied.send_modify(more);
        });
        Ok(recording)
    }

    /// Whether nothing more can come: the input has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }
}

impl Source {
    /// The run in `runs` with exactly this id.
    pub(crate) fn run(runs: &Path, id: &str) -> Option<Self> {
        let id = RunId::parse(id)?;
        let dir = runs.join(id.as_str());
        let is_dir = fs::symlink_metadata(&dir).is_ok_and(|meta| meta.is_dir());
        is_dir.then(|| Self::Run(Run::new(dir)))
    }

    /// The transcript, if there is one yet.
    pub(crate) fn open(&self) -> io::Result<Option<Arc<File>>> {
        match self {
            Self::Recording(recording) => Ok(Some(Arc::clone(&recording.file))),
            Self::Run(run) => match File::open(transcript(run)) {
                Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(None),
                opened => Ok(Some(Arc::new(opened?))),
            },
        }
    }

    /// What tells that the transcript has grown, or that the run has ended.
    pub(crate) fn changes(&self, watcher: &Watcher) -> Changes {
        match self {
            Self::Run(run) => watcher.changes(&run.dir),
            Self::Recording(recording) => match &recording.dir {
                Some(dir) => watcher.changes(dir),
                None => Changes::told_by(&recording.copied),
            },
        }
    }

    /// Whether nothing more can come.
    pub(crate) fn is_over(&self) -> bool {
        match self {
            Self::Run(run) => run.state().is_over(),
            Self::Recording(recording) => recording.is_over(),
        }
    }
}

/// The path of a run's transcript.
pub(crate) fn transcript(run: &Run) -> PathBuf {
    run.file(file::STREAM)
}
