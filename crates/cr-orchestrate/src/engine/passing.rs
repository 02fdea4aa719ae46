//! The engine and the stream that it passes on, if it does.

use std::io;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::time::Duration;

use anyhow::anyhow;
use cr_io::OutputFileRecord;
use rustix::event::PollFlags;
use signal_hook::consts::SIGPIPE;

use super::{Engine, GLANCE, TaskRecord};
use crate::relay::Relay;
use crate::retry;
use crate::signals::Wanted;

/// How long a reader may take for the rest, once somebody wants us to end.
const PATIENCE: Duration = Duration::from_secs(5);

impl Engine {
    /// Adds a line of our own to the stream.
    pub(crate) fn pass_on(&mut self, line: &[u8]) {
        if let Some(stream) = &mut self.stream {
            stream.lines(line);
        }
    }

    /// Waits until `process` has ended, for a signal, or as long as `limit`, and
    /// passes the stream on meanwhile; once somebody wants us to end, a reader that
    /// stands still is not waited for. Returns whether the process has ended.
    pub(super) fn wait(
        &mut self,
        process: Option<BorrowedFd<'_>>,
        limit: Option<Duration>,
    ) -> anyhow::Result<bool> {
        let is_asked = self.watch.signal().is_some();
        let mut limit = limit;
        let stdout = std::io::stdout();
        let mut fds: Vec<Wanted<'_>> = Vec::new();
        fds.extend(process.map(|fd| (fd, PollFlags::IN)));
        if let Some(stream) = &mut self.stream {
            stream.take()?;
            if is_asked && stream.stands_still(PATIENCE) {
                stream.leave();
            } else if is_asked && !stream.is_written() {
                limit = Some(limit.unwrap_or(GLANCE).min(GLANCE));
            }
            fds.extend(stream.polled(&stdout));
        }
        let came = self.watch.wait(&fds, limit)?;
        drop(fds);
        let reader = came.last().copied().unwrap_or(PollFlags::empty());
        let stream = self.stream.as_mut();
        if stream.is_some_and(|stream| !stream.write(reader)) {
            // Nobody waits for what the agent does.
            self.watch.pretend(SIGPIPE);
        }
        Ok(process.is_some() && came.first().is_some_and(|came| !came.is_empty()))
    }

    /// Adds to the stream, from now on, what the attempt in `path` writes.
    pub(crate) fn follow(&mut self, path: &Path, is_first: bool) -> anyhow::Result<()> {
        if let Some(stream) = &mut self.stream {
            stream.follow(path, is_first)?;
        }
        Ok(())
    }

    /// Passes on all that the attempt has left.
    pub(crate) fn drain(&mut self) -> anyhow::Result<()> {
        while let Some(stream) = &mut self.stream {
            if stream.take()? {
                stream.unfollow();
                break;
            }
            self.wait(None, None)?;
        }
        Ok(())
    }

    /// Says how the last attempt ended, and waits until that was read.
    pub(super) fn last_word(&mut self, known: &[TaskRecord]) -> anyhow::Result<()> {
        let signal = self.watch.signal();
        let line = retry::exit(&self.layout, &self.run.id, known, signal);
        if let Some(line) = line {
            let kept = self.stream.as_ref().and_then(Relay::kept);
            let line = retry::with_output_file(line, kept);
            self.layout.dir.write("exit.json", &line)?;
            self.pass_on(&line);
        }
        let kept = self.stream.as_ref().and_then(Relay::kept);
        if let Some(text) = kept.and_then(OutputFileRecord::trouble) {
            cr_io::note("cr-orchestrate", io::stderr(), &anyhow!(text));
        }
        while self.stream.as_ref().is_some_and(|s| !s.is_written()) {
            self.wait(None, None)?;
        }
        Ok(())
    }

    /// Passes `line` on as the last one, since nothing else can be done.
    pub(crate) fn break_off(&mut self, line: &[u8]) {
        self.pass_on(line);
        while self.stream.as_ref().is_some_and(|s| !s.is_written()) {
            if self.wait(None, None).is_err() {
                break;
            }
        }
    }
}
