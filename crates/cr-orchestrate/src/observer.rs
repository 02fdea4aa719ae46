//! The engine's reports, and who gets them: the reporter of a plan, or the relay
//! of one task's stream.

use std::fmt;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::time::Duration;

use cr_io::Exit;
use rustix::event::PollFlags;

use crate::finish::MergedWork;
use crate::layout::{Run, RunLayout};
use crate::schedule::TaskRecord;

/// A descriptor to wait for, and what of it.
pub(crate) type Interest<'a> = (BorrowedFd<'a>, PollFlags);

/// A run that is over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finished<'a> {
    pub(crate) layout: &'a RunLayout,
    pub(crate) run: &'a Run,
    pub(crate) tasks: &'a [TaskRecord],
    /// The work that is merged, if there is some.
    pub(crate) merged: Option<&'a MergedWork>,
    /// How it ended, as its last line says.
    pub(crate) exit: Exit,
    pub(crate) state: &'static str,
    pub(crate) reason: &'a str,
    /// The signal that stopped it.
    pub(crate) signal: Option<i32>,
}

/// Follows a run. The engine calls it, and waits for its descriptors too.
pub(crate) trait Observer: fmt::Debug {
    /// A task changed; `bytes` is the line of the session log.
    fn task_changed(&mut self, line: &cr_stream::Task<'_>, bytes: &[u8]);

    /// The run changed; `bytes` is the line of the session log.
    fn run_changed(&mut self, line: &cr_stream::Run<'_>, bytes: &[u8]);

    /// A wave changed; `bytes` is the line of the session log.
    fn wave_changed(&mut self, _line: &cr_stream::Wave<'_>, _bytes: &[u8]) {}

    /// The engine is ready to start.
    fn run_began(&mut self, _run: &Run, _tasks: &[TaskRecord]) {}

    /// The attempt in `dir` begins, or is adopted.
    fn attempt_began(&mut self, _dir: &Path, _number: u32) -> io::Result<()> {
        Ok(())
    }

    /// Whether everything that the attempt in `dir` left has been taken. It has
    /// ended.
    fn attempt_ended(&mut self, _dir: &Path) -> io::Result<bool> {
        Ok(true)
    }

    /// Called before each wait. Returns how long it may last at most.
    fn before_wait(&mut self, _is_stopping: bool) -> io::Result<Option<Duration>> {
        Ok(None)
    }

    /// What to wait for.
    fn interests(&self) -> Vec<Interest<'_>> {
        Vec::new()
    }

    /// Called after each wait with what came of [`Self::interests`]. Returns
    /// whether there still is a reader.
    fn after_wait(&mut self, _came: &[PollFlags]) -> bool {
        true
    }

    /// Asks the person at the terminal; false if there is none. The answer comes on
    /// standard input.
    fn asks(&mut self, _question: &str) -> bool {
        false
    }

    /// The run is over.
    fn run_finished(&mut self, finished: &Finished<'_>) -> anyhow::Result<()>;

    /// The run broke off: this line of our own is the last.
    fn broke_off(&mut self, _line: &[u8]) {}

    /// Whether the reader has everything.
    fn is_flushed(&self) -> bool {
        true
    }
}
