//! Where the stream goes: standard output and the record.

use std::fs::File;
use std::io::{self, Write};
use std::time::Duration;

use cr_rundir::Recording;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::requests::Requests;

/// A pipe that can be written takes this much without blocking.
const PART: usize = 4096;

/// How often it is looked at whether a reader has left.
const STEP: Duration = Duration::from_millis(100);

/// How long a reader may take for the rest once the run is to stop.
const SLOW_READER_LIMIT: Duration = Duration::from_secs(2);

/// The stream on its way.
#[derive(Debug)]
pub(crate) struct Sink {
    record: Option<Recording<File>>,
    is_recorded: bool,
    has_reader: bool,
    failure: Option<String>,
}

impl Sink {
    pub(crate) fn new(record: Option<Recording<File>>) -> Self {
        Self {
            is_recorded: record.is_some(),
            record,
            has_reader: true,
            failure: None,
        }
    }

    pub(crate) fn is_recorded(&self) -> bool {
        self.is_recorded
    }

    /// Why standard output cannot be written.
    pub(crate) fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    pub(crate) fn has_reader(&self) -> bool {
        self.has_reader
    }

    /// Writes whole lines.
    pub(crate) fn lines(&mut self, lines: &[u8], requests: &Requests) {
        let written = self.record.as_mut().map(|record| record.write(lines));
        self.note(written);
        self.put(lines, requests);
    }

    /// Completes the record with `line`.
    pub(crate) fn finish_record(&mut self, line: &[u8]) {
        let written = self.record.as_mut().map(|record| record.finish(line));
        self.note(written);
    }

    fn note(&mut self, written: Option<io::Result<()>>) {
        if let Some(Err(err)) = written {
            crate::note(&format!("not recorded: {err}"));
            self.record = None;
            self.is_recorded = false;
        }
    }

    /// Writes to standard output. A reader that does not read cannot keep a run
    /// alive that is to stop.
    pub(crate) fn put(&mut self, bytes: &[u8], requests: &Requests) {
        let mut stdout = io::stdout();
        let mut rest = bytes;
        while !rest.is_empty() && self.has_reader {
            match is_ready(&stdout) {
                Ready::Yes => {}
                Ready::Gone => self.has_reader = false,
                Ready::NotYet if requests.stopped_for(SLOW_READER_LIMIT) => self.has_reader = false,
                Ready::NotYet => continue,
            }
            if !self.has_reader {
                return;
            }
            let part = &rest[..rest.len().min(PART)];
            match rustix::io::write(&stdout, part) {
                Ok(count) => rest = &rest[count..],
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
                Err(err) => {
                    self.has_reader = false;
                    if err != rustix::io::Errno::PIPE {
                        self.failure = Some(io::Error::from(err).to_string());
                    }
                }
            }
        }
        let _ = stdout.flush();
    }
}

enum Ready {
    Yes,
    NotYet,
    Gone,
}

fn is_ready(stdout: &io::Stdout) -> Ready {
    let mut fds = [PollFd::new(stdout, PollFlags::OUT)];
    let step = Timespec::try_from(STEP).unwrap_or_default();
    match poll(&mut fds, Some(&step)) {
        Ok(0) | Err(_) => Ready::NotYet,
        Ok(_) if fds[0].revents().contains(PollFlags::ERR) => Ready::Gone,
        Ok(_) => Ready::Yes,
    }
}
