//! The agent's standard output: lines in, lines and replacements out.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use cr_io::{Line, Lines, is_object};
use cr_stream::{Forged, Noise, Oversize, compose};
use sha2::{Digest, Sha256};

use crate::context::Context;
use crate::read_budget::{BudgetedRead, BudgetedReader, ReadState};

/// How much of the beginning of a long line is shown, in bytes.
const SHOWN_HEAD: usize = 1000;

/// How many lines there were of each kind.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) lines: u64,
    pub(crate) bytes: u64,
    pub(crate) noise: u64,
    pub(crate) forged: u64,
    pub(crate) oversize: u64,
    pub(crate) torn: bool,
    /// Bytes that went to files.
    spooled: u64,
}

/// Where the lines go.
pub(crate) trait Sink {
    /// A line to pass on as it is.
    fn pass(&mut self, line: &[u8]);
    /// A line of our own instead of one of the agent's.
    fn replace(&mut self, line: &[u8]);
    /// Whether it takes no more for now.
    fn is_full(&self) -> bool;
}

/// The reading end.
#[derive(Debug)]
pub(crate) struct Stdout {
    fd: OwnedFd,
    reading: ReadState,
    lines: Lines<BudgetedReader>,
    stage: Stage,
    counts: Counts,
}

#[derive(Debug)]
enum Stage {
    Lines,
    /// A line that may still be short enough.
    Long,
    /// A line that goes to a file.
    Spool(Spool),
}

impl Stdout {
    /// Reads from `fd`, which does not block.
    pub(crate) fn new(fd: OwnedFd, max_line: usize) -> io::Result<Self> {
        let (reader, budget) = BudgetedReader::new(File::from(fd.try_clone()?));
        Ok(Self {
            fd,
            reading: ReadState::new(budget),
            lines: Lines::new(reader).limit(max_line),
            stage: Stage::Lines,
            counts: Counts::default(),
        })
    }

    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }
}

impl BudgetedRead for Stdout {
    const MAX_STEPS: usize = 2000;
    const MAX_BYTES: usize = 4 << 20;

    fn reading(&self) -> &ReadState {
        &self.reading
    }

    fn reading_mut(&mut self) -> &mut ReadState {
        &mut self.reading
    }

    fn step(&mut self, context: &Context<'_>, sink: &mut impl Sink) -> io::Result<bool> {
        match &mut self.stage {
            Stage::Lines => match self.lines.next()? {
                None => return Ok(false),
                Some(Line::Whole(line)) => self.counts.take(line, context, sink),
                Some(Line::Torn(line)) => {
                    self.counts.torn = true;
                    self.counts.take(line, context, sink);
                }
                Some(Line::Long(_)) => self.stage = Stage::Long,
            },
            Stage::Long => {
                if let Some(line) = self.lines.whole()? {
                    let (Line::Whole(bytes) | Line::Torn(bytes) | Line::Long(bytes)) = line;
                    self.counts.torn |= matches!(line, Line::Torn(_));
                    self.counts.take(bytes, context, sink);
                    self.stage = Stage::Lines;
                } else {
                    self.counts.oversize += 1;
                    self.stage = Stage::Spool(Spool::new(context, self.counts));
                }
            }
            Stage::Spool(spool) => {
                let ended = self.lines.pass(|part| spool.feed(part))?;
                self.counts.torn |= !ended;
                self.counts.lines += 1;
                self.counts.bytes += spool.bytes + u64::from(ended);
                self.counts.spooled += spool.kept();
                sink.replace(&spool.line(context));
                self.stage = Stage::Lines;
            }
        }
        Ok(true)
    }
}

impl AsFd for Stdout {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Counts {
    /// Passes a line on, or a line of our own instead.
    fn take(&mut self, line: &[u8], context: &Context<'_>, sink: &mut impl Sink) {
        self.lines += 1;
        self.bytes += line.len() as u64 + u64::from(!self.torn);
        if line.len() > context.options.max_line {
            self.oversize += 1;
            let mut spool = Spool::new(context, *self);
            spool.feed(line);
            self.spooled += spool.kept();
            return sink.replace(&spool.line(context));
        }
        if !is_object(line) {
            self.noise += 1;
            let text = String::from_utf8_lossy(line);
            let noise = Noise {
                text: context.redactor.redact(&text),
            };
            return sink.replace(&compose(Some(context.run_id), &noise));
        }
        if cr_event::claims_to_be_own(line) {
            self.forged += 1;
            let text = String::from_utf8_lossy(line);
            let forged = Forged {
                line: context.redactor.redact(&text),
            };
            return sink.replace(&compose(Some(context.run_id), &forged));
        }
        sink.pass(line);
    }
}

/// Bytes as lower-case hex digits.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        text.push_str(&format!("{byte:02x}"));
        text
    })
}

/// A line on its way into a file.
#[derive(Debug)]
struct Spool {
    file: Option<(File, PathBuf)>,
    /// The most that the file may hold.
    room: u64,
    sha256: Sha256,
    bytes: u64,
    head: Vec<u8>,
}

impl Spool {
    fn new(context: &Context<'_>, before: Counts) -> Self {
        let name = format!("oversize-{}.json", before.oversize);
        let room = match context.options.max_record {
            0 => u64::MAX,
            most => most.saturating_sub(before.spooled),
        };
        let file = context.run_dir.and_then(|dir| {
            let file = dir.create_file(&name).ok()?;
            Some((file, dir.path().join(&name)))
        });
        Self {
            file,
            room,
            sha256: Sha256::new(),
            bytes: 0,
            head: Vec::new(),
        }
    }

    fn feed(&mut self, part: &[u8]) {
        self.bytes += part.len() as u64;
        self.sha256.update(part);
        let room = SHOWN_HEAD - self.head.len();
        self.head.extend_from_slice(&part[..part.len().min(room)]);
        // Half a file is worse than none.
        if let Some((file, path)) = &mut self.file
            && (self.bytes > self.room || file.write_all(part).is_err())
        {
            let _ = std::fs::remove_file(path);
            self.file = None;
        }
    }

    /// How much is on disk.
    fn kept(&self) -> u64 {
        self.file.as_ref().map_or(0, |_| self.bytes)
    }

    fn line(&mut self, context: &Context<'_>) -> Vec<u8> {
        let head = String::from_utf8_lossy(&self.head);
        let sha256 = std::mem::replace(&mut self.sha256, Sha256::new());
        let oversize = Oversize {
            bytes: self.bytes,
            sha256: hex(&sha256.finalize()).into(),
            head: context.redactor.redact(&head),
            file: self.file.as_ref().map(|(_, path)| path.to_string_lossy()),
        };
        compose(Some(context.run_id), &oversize)
    }
}
