//! The lines of all attempts as one stream, for `claude-runner --retry`: what
//! one agent would have written that did it all.
//!
//! Attempts write to files, and this follows them. How an attempt ended that was
//! not the last is told by a `cr/task` line, so there is one `cr/exit`, at the
//! end.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use cr_io::{OutputFile, OutputFileRecord};
use cr_rundir::RunDir;
use rustix::event::PollFlags;
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};

use crate::pipeline::START;

/// What is on its way to a reader, at most; a file can wait.
const PENDING: usize = 1 << 20;

/// So much a pipe takes at once that has room for anything.
const ROOM: usize = 4096;

/// How a line of ours begins that says how an agent ended.
const EXIT: &[u8] = br#"{"type":"cr","subtype":"exit","#;

/// The stream under way.
#[derive(Debug)]
pub(crate) struct Relay {
    /// The same in the run's directory; none if it cannot be written.
    record: Option<File>,
    /// The same in a file of the user's choice, and what became of that.
    copy: Option<OutputFile>,
    kept: Option<OutputFileRecord>,
    pending: VecDeque<u8>,
    source: Option<Source>,
    notices: OwnedFd,
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
            source: None,
            notices: inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?,
            is_left: false,
            moved: Instant::now(),
        })
    }

    /// Adds a whole line, or several.
    pub(crate) fn lines(&mut self, bytes: &[u8]) {
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

    /// The file of the user's choice, if there is one.
    pub(crate) fn kept(&self) -> Option<&OutputFileRecord> {
        self.kept.as_ref()
    }

    /// Follows the attempt in `path` from now on.
    pub(crate) fn follow(&mut self, path: &Path, is_first: bool) -> io::Result<()> {
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
    pub(crate) fn take(&mut self) -> io::Result<bool> {
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
            if !line.starts_with(EXIT) {
                self.lines(&line);
            }
        }
    }

    /// The attempt is over, and all of it was taken.
    pub(crate) fn unfollow(&mut self) {
        let begun = self.source.take().map(|source| source.begun);
        if let Some(mut line) = begun.filter(|line| !line.is_empty()) {
            // Somebody was killed in the middle of it.
            line.push(b'\n');
            self.lines(&line);
        }
    }

    /// What to wait for: news of the attempt, and the reader.
    pub(crate) fn polled<'a>(&'a self, stdout: &'a io::Stdout) -> [(BorrowedFd<'a>, PollFlags); 2] {
        let when = |wanted: bool, flags| if wanted { flags } else { PollFlags::empty() };
        let news = when(self.pending.len() < PENDING, PollFlags::IN);
        let reader = when(!self.pending.is_empty(), PollFlags::OUT);
        [(self.notices.as_fd(), news), (stdout.as_fd(), reader)]
    }

    /// Writes as much as the reader has room for, which `came` tells. Says
    /// whether there still is one.
    pub(crate) fn write(&mut self, came: PollFlags) -> bool {
        if came.intersects(PollFlags::ERR | PollFlags::NVAL) {
            self.leave();
        } else if came.contains(PollFlags::OUT) {
            let (head, _) = self.pending.as_slices();
            match rustix::io::write(io::stdout(), &head[..head.len().min(ROOM)]) {
                Ok(written) => {
                    self.pending.drain(..written);
                    self.moved = Instant::now();
                }
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
                Err(_) => self.leave(),
            }
        }
        !self.is_left
    }

    /// Whether the reader has taken nothing for `time`, and could have.
    pub(crate) fn stands_still(&self, time: Duration) -> bool {
        !self.is_written() && self.moved.elapsed() > time
    }

    /// Writes to nobody from now on.
    pub(crate) fn leave(&mut self) {
        self.is_left = true;
        self.pending.clear();
    }

    /// Whether everything has been passed on.
    pub(crate) fn is_written(&self) -> bool {
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
                first = std::fs::read(self.path.join(START)).unwrap_or_default();
            }
        }
        let read = match &mut self.file {
            Some(file) => file.read(buffer)?,
            None => 0,
        };
        Ok((first, read))
    }
}
