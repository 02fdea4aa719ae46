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
use cr_rundir::RunDir;
use rustix::event::PollFlags;
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};

use crate::observer::{Finished, Interest, Observer};
use crate::retry;
use cr_rundir::file;

/// What is on its way to a reader, at most; a file can wait.
const PENDING: usize = 1 << 20;

/// So much a pipe takes at once that has room for anything.
const ROOM: usize = 4096;

/// How long the reader may take for the rest once the run is asked to stop.
const STUCK_READER_LIMIT: Duration = Duration::from_secs(5);

/// How often the reader's progress is looked at meanwhile.
const STUCK_READER_CHECK: Duration = Duration::from_secs(1);

/// Relays the stream of one task.
#[derive(Debug)]
pub(crate) struct Relay {
    /// The same in the run's directory; none if it cannot be written.
    record: Option<File>,
    /// The same in a file of the user's choice, and what became of that.
    copy: Option<OutputFile>,
    kept: Option<OutputFileRecord>,
    pending: VecDeque<u8>,
    finder: cr_stream::Finder,
    source: Option<Source>,
    notices: OwnedFd,
    stdout: io::Stdout,
    /// Nobody reads it any more.
    is_left: bool,
    /// When the reader last took something, or had taken all.
    moved: Instant,
}

/// The attempt that is followed.
#[derive(Debug)]
struct Source {
    path: PathBuf,
    file: Option<File>,
    /// A line that has no end yet.
    begun: Vec<u8>,
    /// What the repository was like stands before the first attempt.
    is_first: bool,
}

impl Relay {
    /// Begins one that is recorded in `dir`, and in `file` if there is one.
    pub(crate) fn new(dir: &RunDir, file: Option<&Path>) -> anyhow::Result<Self> {
        let copy = file.map(OutputFile::create).transpose()?;
        Ok(Self {
            record: Some(dir.create_file("stream.ndjson")?),
            kept: copy.as_ref().map(OutputFile::record),
            copy,
            pending: VecDeque::new(),
            finder: cr_stream::Finder::new(),
            source: None,
            notices: inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?,
            stdout: io::stdout(),
            is_left: false,
            moved: Instant::now(),
        })
    }

    /// Adds a whole line, or several.
    fn lines(&mut self, bytes: &[u8]) {
        use io::Write;
        if let Some(mut record) = self.record.take() {
            // What cannot be recorded stops no run.
            self.record = record.write_all(bytes).is_ok().then_some(record);
        }
        if let Some(copy) = &mut self.copy
            && let Err(err) = copy.write_all(bytes)
        {
            self.copy = None;
            if let Some(kept) = &mut self.kept {
                kept.error = Some(err.to_string());
            }
        }
        if self.pending.is_empty() {
            self.moved = Instant::now();
        }
        if !self.is_left {
            self.pending.extend(bytes);
        }
    }

    /// Follows the attempt in `path` from now on.
    fn follow(&mut self, path: &Path, is_first: bool) -> io::Result<()> {
        let what = WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::MODIFY;
        inotify::add_watch(&self.notices, path, what)?;
        self.source = Some(Source {
            path: path.to_owned(),
            file: None,
            begun: Vec::new(),
            is_first,
        });
        Ok(())
    }

    /// Takes what the attempt has written since; says whether that was all.
    fn take(&mut self) -> io::Result<bool> {
        let mut buffer = [0; 16 << 10];
        // That something has happened is all a notice says.
        while matches!(rustix::io::read(&self.notices, &mut buffer), Ok(n) if n > 0) {}
        while self.pending.len() < PENDING {
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
            source.begun.extend_from_slice(part);
            if !part.ends_with(b"\n") {
                return;
            }
            let line = std::mem::take(&mut source.begun);
            if !self.finder.is_exit(&line) {
                self.lines(&line);
            }
        }
    }

    /// The attempt is over, and all of it was taken.
    fn unfollow(&mut self) {
        let begun = self.source.take().map(|source| source.begun);
        if let Some(mut line) = begun.filter(|line| !line.is_empty()) {
            // Somebody was killed in the middle of it.
            line.push(b'\n');
            self.lines(&line);
        }
    }

    /// Writes as much as the reader has room for, which `came` tells.
    fn write(&mut self, came: PollFlags) {
        if came.intersects(PollFlags::ERR | PollFlags::NVAL) {
            self.leave();
        } else if came.contains(PollFlags::OUT) {
            let (head, _) = self.pending.as_slices();
            match rustix::io::write(&self.stdout, &head[..head.len().min(ROOM)]) {
                Ok(written) => {
                    self.pending.drain(..written);
                    self.moved = Instant::now();
                }
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
                Err(_) => self.leave(),
            }
        }
    }

    /// Writes to nobody from now on.
    fn leave(&mut self) {
        self.is_left = true;
        self.pending.clear();
    }

    /// Says how the last attempt ended, as the last line.
    fn last_line(&mut self, finished: &Finished<'_>) -> anyhow::Result<()> {
        let (layout, run_id) = (finished.layout, &finished.run.id);
        let line = retry::exit(layout, run_id, finished.tasks, finished.signal);
        if let Some(line) = line {
            let line = match &self.kept {
                Some(kept) => cr_stream::with_output_file(line, &kept.clone().into()),
                None => line,
            };
            layout.dir.write("exit.json", &line)?;
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
        if self.moved.elapsed() > STUCK_READER_LIMIT {
            self.leave();
        }
        Ok(Some(STUCK_READER_CHECK))
    }

    fn interests(&self) -> Vec<Interest<'_>> {
        let when = |wanted: bool, flags| if wanted { flags } else { PollFlags::empty() };
        let news = when(self.pending.len() < PENDING, PollFlags::IN);
        let reader = when(!self.pending.is_empty(), PollFlags::OUT);
        vec![(self.notices.as_fd(), news), (self.stdout.as_fd(), reader)]
    }

    fn after_wait(&mut self, came: &[PollFlags]) -> bool {
        if let [_, reader] = came {
            self.write(*reader);
        }
        !self.is_left
    }

    fn run_finished(&mut self, finished: &Finished<'_>) -> anyhow::Result<()> {
        self.last_line(finished)?;
        if let Some(text) = self.kept.as_ref().and_then(OutputFileRecord::trouble) {
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
    /// Reads on; also what stands before the first line of all.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<(Vec<u8>, usize)> {
        let mut first = Vec::new();
        if self.file.is_none() {
            match File::open(self.path.join("stream.ndjson")) {
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
