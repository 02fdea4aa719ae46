//! The stream of one task, for `claude-runner --retry`: the lines of all its
//! attempts on standard output, as if one agent had written them.
//!
//! Attempts write to files, and the relay follows these. A `cr/task` line says
//! how an attempt ended, so there is one `cr/exit` line, at the end.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::anyhow;
use cr_io::{OutputFile, OutputFileRecord};
use cr_rundir::{RunDir, file};
use rustix::event::PollFlags;
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};

use crate::observer::{Finished, Interest, Observer};
use crate::retry;

/// The most bytes that wait for the reader. The rest waits in its file.
const PENDING_LIMIT: usize = 1 << 20;

/// A pipe that is writable takes this many bytes without blocking.
const SAFE_WRITE: usize = 4096;

/// How long the reader may take for the rest once the run is asked to stop.
const STUCK_READER_LIMIT: Duration = Duration::from_secs(5);

/// How often the reader's progress is looked at meanwhile.
const STUCK_READER_CHECK: Duration = Duration::from_secs(1);

/// Relays the stream of one task.
#[derive(Debug)]
pub(crate) struct Relay {
    /// The record in the run directory; none if it cannot be written.
    record: Option<File>,
    /// The file that the user asked for, and what became of it.
    output_file: Option<OutputFile>,
    output_file_record: Option<OutputFileRecord>,
    pending: VecDeque<u8>,
    finder: cr_stream::Finder,
    source: Option<Source>,
    file_events: OwnedFd,
    stdout: io::Stdout,
    /// No process reads standard output any more.
    has_reader_left: bool,
    /// When the reader last took something, or had everything.
    last_progress: Instant,
}

/// The attempt that is followed.
#[derive(Debug)]
struct Source {
    path: PathBuf,
    file: Option<File>,
    /// A line whose end is not written yet.
    partial_line: Vec<u8>,
    /// The line of `cr-git start` comes before the first attempt.
    is_first: bool,
}

impl Relay {
    /// A relay whose stream is recorded in `dir`, and in `file` if there is one.
    pub(crate) fn new(dir: &RunDir, file: Option<&Path>) -> anyhow::Result<Self> {
        let output_file = file.map(OutputFile::create).transpose()?;
        Ok(Self {
            record: Some(dir.create_file(file::STREAM)?),
            output_file_record: output_file.as_ref().map(OutputFile::record),
            output_file,
            pending: VecDeque::new(),
            finder: cr_stream::Finder::new(),
            source: None,
            file_events: inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?,
            stdout: io::stdout(),
            has_reader_left: false,
            last_progress: Instant::now(),
        })
    }

    /// Adds a whole line, or several.
    fn lines(&mut self, bytes: &[u8]) {
        use io::Write;
        if let Some(mut record) = self.record.take() {
            // A record that cannot be written does not stop the run.
            self.record = record.write_all(bytes).is_ok().then_some(record);
        }
        if let Some(file) = &mut self.output_file
            && let Err(err) = file.write_all(bytes)
        {
            self.output_file = None;
            if let Some(record) = &mut self.output_file_record {
                record.error = Some(err.to_string());
            }
        }
        if self.pending.is_empty() {
            self.last_progress = Instant::now();
        }
        if !self.has_reader_left {
            self.pending.extend(bytes);
        }
    }

    /// Follows the attempt in `path` from now on.
    fn follow(&mut self, path: &Path, is_first: bool) -> io::Result<()> {
        let what = WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::MODIFY;
        inotify::add_watch(&self.file_events, path, what)?;
        self.source = Some(Source {
            path: path.to_owned(),
            file: None,
            partial_line: Vec::new(),
            is_first,
        });
        Ok(())
    }

    /// Takes what the attempt has written since; returns whether that was all.
    fn take(&mut self) -> io::Result<bool> {
        let mut buffer = [0; 16 << 10];
        // An event says only that something has changed.
        while matches!(rustix::io::read(&self.file_events, &mut buffer), Ok(n) if n > 0) {}
        while self.pending.len() < PENDING_LIMIT {
            let Some(source) = &mut self.source else {
                return Ok(true);
            };
            let (first, read) = source.read(&mut buffer)?;
            self.lines(&first);
            if read == 0 {
                return Ok(true);
            }
            self.split(&buffer[..read]);
        }
        Ok(false)
    }

    /// Passes whole lines on.
    fn split(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|&byte| byte == b'\n') {
            let Some(source) = &mut self.source else {
                return;
            };
            source.partial_line.extend_from_slice(part);
            if !part.ends_with(b"\n") {
                return;
            }
            let line = std::mem::take(&mut source.partial_line);
            if !self.finder.is_exit(&line) {
                self.lines(&line);
            }
        }
    }

    /// The attempt is over, and all of it was taken.
    fn unfollow(&mut self) {
        let partial_line = self.source.take().map(|source| source.partial_line);
        if let Some(mut line) = partial_line.filter(|line| !line.is_empty()) {
            // The writer was killed in the middle of it.
            line.push(b'\n');
            self.lines(&line);
        }
    }

    /// Writes as much as the reader has room for, if `came` says it has.
    fn write(&mut self, came: PollFlags) {
        if came.intersects(PollFlags::ERR | PollFlags::NVAL) {
            self.drop_reader();
        } else if came.contains(PollFlags::OUT) {
            let (head, _) = self.pending.as_slices();
            match rustix::io::write(&self.stdout, &head[..head.len().min(SAFE_WRITE)]) {
                Ok(written) => {
                    self.pending.drain(..written);
                    self.last_progress = Instant::now();
                }
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
                Err(_) => self.drop_reader(),
            }
        }
    }

    /// Writes no more to standard output.
    fn drop_reader(&mut self) {
        self.has_reader_left = true;
        self.pending.clear();
    }

    /// Says how the last attempt ended, as the last line.
    fn last_line(&mut self, finished: &Finished<'_>) -> anyhow::Result<()> {
        let (layout, run_id) = (finished.layout, &finished.run.id);
        let line = retry::exit(layout, run_id, finished.tasks, finished.signal);
        if let Some(line) = line {
            let line = match &self.output_file_record {
                Some(record) => cr_stream::with_output_file(line, &record.clone().into()),
                None => line,
            };
            layout.dir.write(file::EXIT, &line)?;
            self.lines(&line);
        }
        Ok(())
    }
}

impl Observer for Relay {
    fn task_changed(&mut self, _line: &cr_stream::Task<'_>, bytes: &[u8]) {
        self.lines(bytes);
    }

    fn run_changed(&mut self, _line: &cr_stream::Run<'_>, bytes: &[u8]) {
        self.lines(bytes);
    }

    fn attempt_began(&mut self, dir: &Path, number: u32) -> io::Result<()> {
        self.follow(dir, number == 1)
    }

    fn attempt_ended(&mut self, _dir: &Path) -> io::Result<bool> {
        let has_all = self.take()?;
        if has_all {
            self.unfollow();
        }
        Ok(has_all)
    }

    fn before_wait(&mut self, is_stopping: bool) -> io::Result<Option<Duration>> {
        self.take()?;
        if !is_stopping || self.is_flushed() {
            return Ok(None);
        }
        if self.last_progress.elapsed() > STUCK_READER_LIMIT {
            self.drop_reader();
        }
        Ok(Some(STUCK_READER_CHECK))
    }

    fn interests(&self) -> Vec<Interest<'_>> {
        let when = |wanted: bool, flags| if wanted { flags } else { PollFlags::empty() };
        let news = when(self.pending.len() < PENDING_LIMIT, PollFlags::IN);
        let reader = when(!self.pending.is_empty(), PollFlags::OUT);
        vec![
            (self.file_events.as_fd(), news),
            (self.stdout.as_fd(), reader),
        ]
    }

    fn after_wait(&mut self, came: &[PollFlags]) -> bool {
        if let [_, reader] = came {
            self.write(*reader);
        }
        !self.has_reader_left
    }

    fn run_finished(&mut self, finished: &Finished<'_>) -> anyhow::Result<()> {
        self.last_line(finished)?;
        if let Some(text) = self
            .output_file_record
            .as_ref()
            .and_then(OutputFileRecord::trouble)
        {
            cr_io::note("cr-orchestrate", io::stderr(), &anyhow!(text));
        }
        Ok(())
    }

    fn broke_off(&mut self, line: &[u8]) {
        self.lines(line);
    }

    fn is_flushed(&self) -> bool {
        self.pending.is_empty()
    }
}

impl Source {
    /// Reads on. Returns what comes before the first line of all, too.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<(Vec<u8>, usize)> {
        let mut first = Vec::new();
        if self.file.is_none() {
            match File::open(self.path.join(file::STREAM)) {
                Ok(file) => self.file = Some(file),
                Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok((first, 0)),
                Err(err) => return Err(err),
            }
            if self.is_first {
                first = std::fs::read(self.path.join(file::GIT_START)).unwrap_or_default();
            }
        }
        let read = match &mut self.file {
            Some(file) => file.read(buffer)?,
            None => 0,
        };
        Ok((first, read))
    }
}
