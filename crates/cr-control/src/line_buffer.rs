//! Lines from a socket, which arrive in pieces.

use std::fmt;

use cr_rundir::state_text;
use serde::Serialize;

/// Collects bytes and returns the lines in them, for a reader that must not
/// block.
#[derive(Debug)]
pub struct LineBuffer {
    bytes: Vec<u8>,
    /// Where the next line begins.
    start: usize,
    /// Bytes after `start` that hold no newline.
    scanned: usize,
    limit: usize,
}

/// A line that is longer than the limit of its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong(pub usize);

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a line is longer than {} bytes", self.0)
    }
}

impl std::error::Error for TooLong {}

impl LineBuffer {
    /// A buffer for lines of at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            start: 0,
            scanned: 0,
            limit,
        }
    }

    /// Adds bytes as they were read.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.start);
        self.start = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole line, without its newline.
    pub fn next_line(&mut self) -> Result<Option<&[u8]>, TooLong> {
        let from = self.start + self.scanned;
        let Some(length) = memchr::memchr(b'\n', &self.bytes[from..]) else {
            self.scanned = self.bytes.len() - self.start;
            let is_long = self.scanned > self.limit;
            return if is_long {
                Err(TooLong(self.limit))
            } else {
                Ok(None)
            };
        };
        let (start, end) = (self.start, from + length);
        if end - start > self.limit {
            return Err(TooLong(self.limit));
        }
        (self.start, self.scanned) = (end + 1, 0);
        Ok(Some(&self.bytes[start..end]))
    }

    /// Whether nothing is left, not even a part of a line.
    pub fn is_empty(&self) -> bool {
        self.start == self.bytes.len()
    }
}

/// A request or a reply as its line, with its schema and a newline.
pub fn to_line(body: &impl Serialize) -> anyhow::Result<Vec<u8>> {
    let mut line = state_text(body)?;
    line.push(b'\n');
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_out_whole_however_they_arrive() {
        let text = b"one\n\ntwo and more\nthree";
        for step in 1..text.len() {
            let mut buffer = LineBuffer::new(100);
            let mut lines = Vec::new();
            for part in text.chunks(step) {
                buffer.push(part);
                while let Some(line) = buffer.next_line().expect("short") {
                    lines.push(String::from_utf8_lossy(line).into_owned());
                }
            }
            assert_eq!(lines, ["one", "", "two and more"], "{step}");
            assert!(!buffer.is_empty());
        }
    }

    #[test]
    fn a_line_beyond_the_limit_is_refused_with_and_without_its_end() {
        for text in ["123456", "123456\n"] {
            let mut buffer = LineBuffer::new(5);
            buffer.push(text.as_bytes());
            assert_eq!(buffer.next_line(), Err(TooLong(5)), "{text}");
        }
        let mut buffer = LineBuffer::new(5);
        buffer.push(b"12345\n");
        assert_eq!(buffer.next_line(), Ok(Some(&b"12345"[..])));
    }
}
