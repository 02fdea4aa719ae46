//! The lines of a file, from its last to its first.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use memchr::memrchr;

/// Bytes read at a time.
const CHUNK: usize = 128 << 10;

/// A line longer than this is not held before its beginning is known.
const HELD: usize = 256 << 10;

/// What [`Backwards::next`] found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found<'a> {
    /// A line without its newline, and where it starts.
    Line(u64, &'a [u8]),
    /// Where a long line is.
    Long(Range<u64>),
}

/// Reads a part of a file line by line, from its end.
#[derive(Debug)]
pub(crate) struct Backwards<'f> {
    file: &'f File,
    start: u64,
    /// Not returned yet are `buf[..end]`, which is at `low` in the file, and
    /// everything before it.
    buf: Vec<u8>,
    low: u64,
    end: usize,
    is_done: bool,
}

impl<'f> Backwards<'f> {
    /// Reads the bytes at `range`.
    pub(crate) fn new(file: &'f File, range: Range<u64>) -> Self {
        Self {
            file,
            start: range.start,
            buf: Vec::new(),
            low: range.end,
            end: 0,
            is_done: range.is_empty(),
        }
    }

    /// The line before the one last returned. After a last newline there is one
    /// more line, which is empty.
    pub(crate) fn next(&mut self) -> io::Result<Option<Found<'_>>> {
        if self.is_done {
            return Ok(None);
        }
        // Bytes at the end of the buffer that hold no newline.
        let mut clean = 0;
        loop {
            let unknown = self.end - clean;
            if let Some(newline) = memrchr(b'\n', &self.buf[..unknown]) {
                return Ok(Some(self.line(newline + 1)));
            }
            clean = self.end;
            if self.low == self.start {
                self.is_done = true;
                return Ok(Some(self.line(0)));
            }
            if self.end > HELD {
                return self.long().map(Some);
            }
            self.refill()?;
        }
    }

    fn line(&mut self, from: usize) -> Found<'_> {
        let line = from..self.end;
        self.end = from.saturating_sub(1);
        Found::Line(self.low + from as u64, &self.buf[line])
    }

    /// Finds the start of the current line without holding it.
    fn long(&mut self) -> io::Result<Found<'_>> {
        let end = self.low + self.end as u64;
        loop {
            self.end = 0;
            if self.low == self.start {
                self.is_done = true;
                return Ok(Found::Long(self.start..end));
            }
            self.refill()?;
            if let Some(newline) = memrchr(b'\n', &self.buf[..self.end]) {
                self.end = newline;
                return Ok(Found::Long(self.low + newline as u64 + 1..end));
            }
        }
    }

    /// Reads the bytes before those in the buffer.
    fn refill(&mut self) -> io::Result<()> {
        let left = usize::try_from(self.low - self.start).unwrap_or(CHUNK);
        let length = left.min(CHUNK);
        self.buf.truncate(self.end);
        self.buf.resize(self.end + length, 0);
        self.buf.copy_within(..self.end, length);
        self.low -= length as u64;
        self.file.read_exact_at(&mut self.buf[..length], self.low)?;
        self.end += length;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn the_lines_are_those_that_split_gives_in_reverse() {
        let long = "l".repeat(HELD * 2 + 77);
        let edge = "e".repeat(CHUNK - 3);
        #[rustfmt::skip]
        let cases = [
            "a".to_owned(), "\n".into(), "a\nb".into(), "a\nb\n".into(), "\n\na\n\n".into(),
            format!("x\n{long}\ny\n"), long.clone(), format!("{long}\n"), format!("{edge}\nab\n{edge}\n\n{long}\nz"),
            format!("{}\n", "q".repeat(HELD)), format!("p\n{}\n", "q".repeat(HELD + 1)),
        ];
        for text in cases {
            let mut file = tempfile::tempfile().expect("a file");
            file.write_all(text.as_bytes()).expect("written");
            let mut lines = Backwards::new(&file, 0..text.len() as u64);
            for wanted in text.split('\n').rev() {
                let found = lines.next().expect("read").expect("a line");
                let at = wanted.as_ptr().addr() - text.as_ptr().addr();
                let at = at as u64;
                match found {
                    Found::Line(start, line) => {
                        assert_eq!((start, line), (at, wanted.as_bytes()));
                        assert!(line.len() <= HELD + CHUNK);
                    }
                    Found::Long(range) => {
                        assert_eq!(range, at..at + wanted.len() as u64);
                        assert!(wanted.len() > HELD);
                    }
                }
            }
            assert_eq!(lines.next().expect("read"), None);
        }
    }
}
