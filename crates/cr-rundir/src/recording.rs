//! The record of a run's stream: bounded, with its beginning and its end.

use std::fs::File;
use std::io::{self, Write};

use cr_stream::{Cut, compose_line};
use memchr::{memchr, memchr_iter, memrchr};

/// The most of the end that is kept, in bytes.
const TAIL: usize = 4 << 20;

/// Room for the line that says how much is missing.
const CUT_LINE: usize = 200;

/// Room at the end for the line that says how the run ended.
const LAST_LINE: usize = 64 << 10;

/// The file that the stream is kept in.
#[derive(Debug)]
pub struct Recording<W = File> {
    file: W,
    run_id: String,
    /// The most bytes of its beginning; `None` is no limit.
    head: Option<u64>,
    /// The most bytes of its end.
    most_tail: usize,
    written: u64,
    /// The last lines, once the beginning is full.
    tail: Vec<u8>,
    left_out: Cut,
    is_cut: bool,
}

impl<W: Write> Recording<W> {
    /// A record of at most `limit` bytes; 0 is no limit.
    pub fn new(file: W, run_id: &str, limit: u64) -> Self {
        let half = usize::try_from(limit / 2).unwrap_or(usize::MAX);
        let most_tail = half.min(TAIL);
        let head = limit.saturating_sub((most_tail + CUT_LINE) as u64);
        Self {
            file,
            run_id: run_id.to_owned(),
            head: (limit > 0).then_some(head),
            most_tail,
            written: 0,
            tail: Vec::new(),
            left_out: Cut::default(),
            is_cut: false,
        }
    }

    /// Whether a part of the stream is missing.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Adds whole lines.
    pub fn write(&mut self, lines: &[u8]) -> io::Result<()> {
        let rest = self.write_head(lines)?;
        self.tail.extend_from_slice(rest);
        // The last line comes when it is too late to say that the record is cut.
        let room = self.most_tail - LAST_LINE.min(self.most_tail / 2);
        self.forget(self.tail.len().saturating_sub(room));
        Ok(())
    }

    /// Adds the last lines, the end, and before it a line that says how much is
    /// missing. The very last line is always kept.
    pub fn finish(&mut self, lines: &[u8]) -> io::Result<()> {
        let rest = self.write_head(lines)?;
        self.tail.extend_from_slice(rest);
        if self.tail.is_empty() {
            return Ok(());
        }
        let body = self.tail.strip_suffix(b"\n").unwrap_or(&self.tail);
        let last = memrchr(b'\n', body).map_or(0, |at| at + 1);
        self.forget(self.tail.len().saturating_sub(self.most_tail).min(last));
        if self.left_out.bytes > 0 {
            let line = compose_line(Some(&self.run_id), &self.left_out);
            self.file.write_all(&line)?;
        }
        self.file.write_all(&self.tail)
    }

    /// Writes the lines that belong to the beginning; returns the others.
    fn write_head<'a>(&mut self, lines: &'a [u8]) -> io::Result<&'a [u8]> {
        if !self.tail.is_empty() || self.is_cut {
            return Ok(lines);
        }
        let room = self
            .head
            .map_or(u64::MAX, |head| head - self.written.min(head));
        let end = match usize::try_from(room) {
            Ok(room) if room < lines.len() => memrchr(b'\n', &lines[..room]).map_or(0, |at| at + 1),
            _ => lines.len(),
        };
        let (head, rest) = lines.split_at(end);
        self.written += head.len() as u64;
        self.file.write_all(head)?;
        Ok(rest)
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
        recording.finish(b"the end\n").expect("finish");
        (String::from_utf8(file).expect("text"), is_cut)
    }

    #[test]
    fn the_beginning_is_kept_however_many_lines_come_at_once() {
        let mut file = Vec::new();
        let mut recording = Recording::new(&mut file, "r", 10_000);
        let lines = (0..10_000).map(|number| format!("{number:08}\n"));
        let lines = lines.collect::<Vec<_>>().concat();
        recording.write(lines.as_bytes()).expect("write");
        recording.finish(b"the end\n").expect("finish");
        let text = String::from_utf8(file).expect("text");
        assert!(text.starts_with("00000000\n00000001\n") && text.len() <= 10_000);
        assert!(text.ends_with("00009999\nthe end\n"), "{text}");
    }

    #[test]
    fn t12_a_long_record_keeps_both_ends_and_says_what_is_missing() {
        let (count, size) = (100_000, 100);
        let (all, is_cut) = recorded(0, count, size);
        assert!(!is_cut && all.len() == count * size + 8);
        let (text, is_cut) = recorded(1 << 20, count, size);
        assert!(is_cut);
        assert!(text.len() <= 1 << 20, "{}", text.len());
        let mut lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.pop(), Some("the end"));
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
        let (text, is_cut) = recorded(1_200_000, 10_000, 100);
        assert!(!is_cut && !text.contains("cut"));
        assert_eq!(text.lines().count(), 10_001);
    }

    #[test]
    fn t12_a_record_is_never_longer_than_its_limit() {
        for limit in [1000, 10_000, 131_072, 1 << 20, 9 << 20] {
            for (count, size) in [(1, 100), (100_000, 100), (200, 70_000)] {
                let (text, _) = recorded(limit, count, size);
                let length = text.len() as u64;
                assert!(length <= limit, "{limit} {count} {size}: {length}");
                assert!(text.ends_with("the end\n"));
            }
        }
    }
}
