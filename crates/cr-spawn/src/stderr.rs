//! The agent's standard error: always read, each line an event; its beginning
//! and its end are kept for the last line.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use cr_io::{Line, Lines};
use cr_stream::{AgentStderr, compose};

use crate::context::Context;
use crate::read_budget::{BudgetedRead, BudgetedReader, ReadState};
use crate::stdout::Sink;

/// How much of the beginning and of the end is kept, in bytes.
const HEAD: usize = 16 << 10;
const TAIL: usize = 64 << 10;

/// The reading end.
#[derive(Debug)]
pub(crate) struct Stderr {
    fd: OwnedFd,
    reading: ReadState,
    lines: Lines<BudgetedReader>,
    is_long: bool,
    bytes: u64,
    head: String,
    tail: VecDeque<String>,
    tail_bytes: usize,
    /// Inside a private key that began on an earlier line.
    in_key: bool,
}

impl Stderr {
    /// Reads from `fd`, which does not block.
    pub(crate) fn new(fd: OwnedFd) -> io::Result<Self> {
        let (reader, budget) = BudgetedReader::new(File::from(fd.try_clone()?));
        Ok(Self {
            fd,
            reading: ReadState::new(budget),
            lines: Lines::new(reader),
            is_long: false,
            bytes: 0,
            head: String::new(),
            tail: VecDeque::new(),
            tail_bytes: 0,
            in_key: false,
        })
    }

    fn take(&mut self, line: &[u8], partial: bool, context: &Context<'_>, sink: &mut impl Sink) {
        self.bytes += line.len() as u64;
        let text = String::from_utf8_lossy(line);
        let masked = if self.in_key {
            self.in_key = !text.contains("-----END ");
            "[REDACTED:private-key]".into()
        } else {
            self.in_key = text.contains("PRIVATE KEY-----") && !text.contains("-----END ");
            context.redactor.redact(&text)
        };
        let line = cr_stream::Stderr {
            text: masked,
            partial,
        };
        sink.replace(&compose(Some(context.run_id), &line));
        self.keep(&line.text);
    }

    fn keep(&mut self, text: &str) {
        if self.tail.is_empty() && self.head.len() + text.len() < HEAD {
            self.head.push_str(text);
            self.head.push('\n');
            return;
        }
        let mut start = text.len().saturating_sub(TAIL);
        while !text.is_char_boundary(start) {
            start += 1;
        }
        self.tail_bytes += text.len() - start + 1;
        self.tail.push_back(text[start..].to_owned());
        while self.tail_bytes > TAIL && self.tail.len() > 1 {
            self.tail_bytes -= self.tail.pop_front().map_or(0, |line| line.len() + 1);
        }
    }

    /// The beginning and the end, for the last line.
    pub(crate) fn ends(&self) -> AgentStderr<'_> {
        AgentStderr {
            bytes: self.bytes,
            head: self.head.as_str().into(),
            tail: self.tail.iter().flat_map(|line| [line, "\n"]).collect(),
        }
    }
}

impl BudgetedRead for Stderr {
    const MAX_STEPS: usize = 500;
    const MAX_BYTES: usize = 256 << 10;

    fn reading(&self) -> &ReadState {
        &self.reading
    }

    fn reading_mut(&mut self) -> &mut ReadState {
        &mut self.reading
    }

    fn step(&mut self, context: &Context<'_>, sink: &mut impl Sink) -> io::Result<bool> {
        if self.is_long {
            let mut parts = Vec::new();
            let ended = self.lines.pass(|part| parts.push(part.to_vec()));
            self.is_long = ended.is_err();
            for part in parts.iter().filter(|part| !part.is_empty()) {
                self.take(part, self.is_long, context, sink);
            }
            return ended.map(|newline| {
                self.bytes += u64::from(newline);
                true
            });
        }
        let (line, newline) = match self.lines.next()? {
            None => return Ok(false),
            Some(Line::Long(_)) => {
                self.is_long = true;
                return Ok(true);
            }
            Some(Line::Whole(line)) => (line.to_vec(), 1),
            Some(Line::Torn(line)) => (line.to_vec(), 0),
        };
        self.take(&line, false, context, sink);
        self.bytes += newline;
        Ok(true)
    }
}

impl AsFd for Stderr {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
