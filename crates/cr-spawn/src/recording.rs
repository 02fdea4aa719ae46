//! The record of a run's stream: bounded, with its beginning and its end.

use std::fs::File;
use std::io::{self, Write};

use cr_stream::{Cut, compose_line};
use memchr::{memchr, memchr_iter};

/// How much of the end is kept, in bytes.
const TAIL: usize = 4 << 20;

/// The file that the stream is kept in.
#[derive(Debug)]
pub(crate) struct Recording<W = File> {
    file: W,
    run_id: String,
    /// The most bytes of its beginning; 0 is no limit.
    limit: u64,
    written: u64,
    /// The last lines, once the limit is reached.
    tail: Vec<u8>,
    left_out: Cut,
    is_cut: bool,
}

impl<W: Write> Recording<W> {
    pub(crate) fn new(file: W, run_id: &str, limit: u64) -> Self {
        Self {
            file,
            run_id: run_id.to_owned(),
            limit,
            written: 0,
            tail: Vec::new(),
            left_out: Cut::default(),
            is_cut: false,
        }
    }

    /// Whether a part of the stream is missing.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Adds whole lines.
    pub(crate) fn write(&mut self, lines: &[u8]) -> io::Result<()> {
        let written = self.written.saturating_add(lines.len() as u64);
        if self.tail.is_empty() && (self.limit == 0 || written <= self.limit) {
            self.written = written;
            return self.file.write_all(lines);
        }
        self.tail.extend_from_slice(lines);
        self.forget(self.tail.len().saturating_sub(TAIL));
        Ok(())
    }

    /// Leaves out the first lines of the tail, at least `bytes` of them.
    fn forget(&mut self, bytes: usize) {
        let Some(last) = bytes.checked_sub(1) else {
            return;
        };
        let rest = memchr(b'\n', &self.tail[last..]).map_or(self.tail.len(), |at| last + at + 1);
        self.left_out.bytes += rest as u64;
        self.left_out.lines += memchr_iter(b'\n', &self.tail[..rest]).count() as u64;
        self.is_cut = true;
        self.tail.drain(..rest);
    }

    /// Adds the end, and before it a line that says how much is missing.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        // Later lines belong to the end.
        self.limit = self.limit.min(self.written);
        if self.left_out.bytes > 0 {
            let line = compose_line(Some(&self.run_id), &self.left_out);
            self.file.write_all(&line)?;
            self.left_out = Cut::default();
        }
        self.file.write_all(&self.tail)?;
        self.tail.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(limit: u64, count: usize, size: usize) -> (String, bool) {
        let mut file = Vec::new();
        let mut recording = Recording::new(&mut file, "r", limit);
        for number in 0..count {
            let line = format!("{number:08}{}\n", "x".repeat(size - 9));
            recording.write(line.as_bytes()).expect("write");
        }
        let is_cut = recording.is_cut();
        recording.finish().expect("finish");
        (String::from_utf8(file).expect("text"), is_cut)
    }

    #[test]
    fn t12_a_long_record_keeps_both_ends_and_says_what_is_missing() {
        let (count, size) = (100_000, 100);
        let (all, is_cut) = recorded(0, count, size);
        assert!(!is_cut && all.len() == count * size);
        let (text, is_cut) = recorded(1 << 20, count, size);
        assert!(is_cut);
        assert!(text.len() <= (1 << 20) + TAIL + 200, "{}", text.len());
        let lines: Vec<&str> = text.lines().collect();
        let at = lines
            .iter()
            .position(|line| line.contains(r#""subtype":"cut""#));
        let at = at.expect("a line that says so");
        let cut: serde_json::Value = serde_json::from_str(lines[at]).expect("JSON");
        let left_out = count - (lines.len() - 1);
        assert_eq!(cut["lines"], left_out);
        assert_eq!(cut["bytes"], left_out * size);
        let number = |line: &str| line[..8].parse::<usize>().expect("a number");
        assert_eq!(number(lines[at - 1]), at - 1);
        assert_eq!(number(lines[at + 1]), at + left_out);
        assert_eq!(number(lines[lines.len() - 1]), count - 1);
    }

    #[test]
    fn t12_what_fits_into_the_end_is_all_there() {
        let (text, is_cut) = recorded(1000, 10_000, 100);
        assert!(!is_cut && !text.contains("cut"));
        assert_eq!(text.lines().count(), 10_000);
    }
}
