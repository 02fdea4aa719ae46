//! The files of a session: its messages and its questions, as they stand.
//!
//! A message is on disk before it is acknowledged. A later line about it only
//! tells how far it has come; it need not survive a loss of power, because the
//! session log of the agent tells it too.

use std::fs::File;
use std::io::{self, Write};

use cr_rundir::{QuestionLine, QueueLine, RunDir, file, state_text};
use serde::Serialize;

/// The files of the session in the run directory.
#[derive(Debug)]
pub(crate) struct Journal {
    queue: Appender,
    questions: Appender,
}

impl Journal {
    /// Creates the files.
    pub(crate) fn create(dir: &RunDir) -> anyhow::Result<Self> {
        Ok(Self {
            queue: Appender::new(dir.create_file(file::QUEUE)?),
            questions: Appender::new(dir.create_file(file::QUESTIONS)?),
        })
    }

    /// Writes accepted messages, for good. All of them are written, or none.
    pub(crate) fn accept(&mut self, lines: &[QueueLine]) -> io::Result<()> {
        self.queue.append(lines, true)
    }

    /// Writes a change of a message.
    pub(crate) fn change(&mut self, line: &QueueLine) -> io::Result<()> {
        self.queue.append(std::slice::from_ref(line), false)
    }

    /// Writes a question, for good, or a change of one.
    pub(crate) fn question(&mut self, line: &QuestionLine) -> io::Result<()> {
        self.questions.append(std::slice::from_ref(line), true)
    }
}

/// A file to which whole lines are appended.
#[derive(Debug)]
struct Appender {
    file: File,
    /// How long the file is.
    length: u64,
}

impl Appender {
    fn new(file: File) -> Self {
        Self { file, length: 0 }
    }

    fn append(&mut self, lines: &[impl Serialize], for_good: bool) -> io::Result<()> {
        let mut text = Vec::new();
        for line in lines {
            text.extend(state_text(line).map_err(io::Error::other)?);
            text.push(b'\n');
        }
        let mut written = self.file.write_all(&text);
        if for_good && written.is_ok() {
            written = self.file.sync_data();
        }
        match written {
            Ok(()) => self.length += text.len() as u64,
            // Half a line would spoil the next one.
            Err(_) => drop(self.file.set_len(self.length)),
        }
        written
    }
}
