//! One log from a place in it to its last whole line.

use std::io::{self, Read};

use cr_io::{Line as Piece, Lines};

use crate::fact::{Fact, Sink};
use crate::facts_of_line::{FileFacts, report};
use crate::line::{Line, Reading};

/// What the first lines of a log say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The first session that a line names.
    pub session_id: Option<String>,
    /// The first time, in milliseconds since 1970.
    pub first_at: Option<i64>,
    /// The first directory.
    pub cwd: Option<String>,
    /// The last time in a line that held a fact.
    pub last_at: Option<i64>,
}

impl Head {
    fn is_complete(&self) -> bool {
        self.session_id.is_some() && self.first_at.is_some() && self.cwd.is_some()
    }

    fn take(&mut self, line: &Line<'_>) {
        if self.session_id.is_none() {
            self.session_id = line.session_id.map(|id| id.decode().into_owned());
        }
        if self.first_at.is_none() {
            self.first_at = line.at();
        }
        if self.cwd.is_none() {
            self.cwd = line.cwd.map(|cwd| cwd.decode().into_owned());
        }
    }
}

/// Where to begin; the default is the beginning of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resume {
    /// Bytes of the log that were read before; of a compressed one, bytes of what
    /// it was before.
    pub offset: u64,
    /// What they said.
    pub head: Head,
    /// The subagent, if this is its own log.
    pub agent_id: Option<String>,
}

/// How far a log was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scanned {
    /// The byte after the last whole line, from the beginning of the log: where
    /// the next scan begins.
    pub offset: u64,
    /// What the first lines said.
    pub head: Head,
    /// Whole lines of this scan; blank ones do not count.
    pub lines: u64,
    /// Lines that are no JSON object, as far as they were read.
    pub bad_lines: u64,
    /// Lines over 64 MiB; they are not read.
    pub long_lines: u64,
}

/// Reads a log from `start`, where `reader` already is, and gives its facts to
/// `sink`. A last line that is not whole is left for the next scan.
pub fn scan(reader: impl Read, start: &Resume, sink: &mut impl Sink) -> io::Result<Scanned> {
    sink.take_head(&start.head);
    let mut lines = Lines::new(reader);
    let mut scan = Scan {
        scanned: Scanned {
            offset: start.offset,
            head: start.head.clone(),
            ..Scanned::default()
        },
        agent_id: start.agent_id.as_deref().unwrap_or_default(),
        sink,
    };
    loop {
        match lines.next()? {
            None => break,
            Some(Piece::Whole(line)) => scan.line(line, Ending::Newline),
            Some(Piece::Torn(line)) => scan.line(line, Ending::Missing),
            Some(Piece::Long(_)) => scan.long_line(&mut lines)?,
        }
    }
    Ok(scan.scanned)
}

struct Scan<'a, S> {
    scanned: Scanned,
    agent_id: &'a str,
    sink: &'a mut S,
}

/// Counts the facts that pass.
struct Counted<'a, S> {
    sink: &'a mut S,
    count: usize,
}

impl<S: Sink> Sink for Counted<'_, S> {
    fn fact(&mut self, fact: Fact<'_>) {
        self.count += 1;
        self.sink.fact(fact);
    }
}

/// How a line ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Newline,
    /// The log ends first: the rest of the line may follow.
    Missing,
}

impl<S: Sink> Scan<'_, S> {
    /// Reads a line that does not fit the buffer.
    fn long_line(&mut self, lines: &mut Lines<impl Read>) -> io::Result<()> {
        match lines.whole()? {
            Some(Piece::Whole(line)) => self.line(line, Ending::Newline),
            Some(Piece::Torn(line)) => self.line(line, Ending::Missing),
            Some(Piece::Long(_)) | None => {
                let mut length = 0;
                if lines.pass(|part| length += part.len())? {
                    self.scanned.offset += length as u64 + 1;
                    self.scanned.lines += 1;
                    self.scanned.long_lines += 1;
                }
            }
        }
        Ok(())
    }

    fn line(&mut self, bytes: &[u8], ending: Ending) {
        let is_torn = ending == Ending::Missing;
        let length = bytes.len() as u64 + u64::from(!is_torn);
        let bytes = cr_event::strip(bytes);
        let head = &mut self.scanned.head;
        let is_head = !head.is_complete();
        // No beginning of an object is an object: a last line that is one is whole.
        match Line::read(bytes, is_head || is_torn) {
            Reading::Broken if is_torn => return,
            Reading::Broken => self.scanned.bad_lines += u64::from(!bytes.is_empty()),
            Reading::Nothing => {}
            Reading::Line(line) => {
                if is_head {
                    head.take(&line);
                    self.sink.take_head(head);
                }
                let file = FileFacts {
                    session_id: head.session_id.as_deref().unwrap_or_default(),
                    agent_id: self.agent_id,
                    last_at: head.last_at.or(head.first_at),
                };
                let mut sink = Counted {
                    sink: self.sink,
                    count: 0,
                };
                report(&line, file, &mut sink);
                if sink.count > 0 {
                    head.last_at = line.at().or(head.last_at);
                }
            }
        }
        self.scanned.offset += length;
        self.scanned.lines += u64::from(!bytes.is_empty());
    }
}
