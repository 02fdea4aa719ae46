//! Our own standard input: one message per line.

use std::collections::VecDeque;
use std::io;
use std::os::fd::AsFd;

use super::message::MAX_MESSAGE;

/// How much is read at a time. A read after a poll does not block.
const READ_SIZE: usize = 64 << 10;

/// Standard input, as far as it has been read.
#[derive(Debug, Default)]
pub(crate) struct OwnInput {
    /// A line whose end has not come yet.
    part: Vec<u8>,
    /// The line is too long; the rest of it is dropped.
    is_skipping: bool,
    /// Lines that wait for room in the queue.
    ready: VecDeque<InputLine>,
    is_over: bool,
}

/// A line, or the refusal of one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum InputLine {
    Whole(Vec<u8>),
    TooLong,
}

impl OwnInput {
    /// Reads once. The last line may lack its newline.
    pub(crate) fn read(&mut self) {
        let mut chunk = vec![0; READ_SIZE];
        let read = rustix::io::read(io::stdin().as_fd(), &mut chunk);
        let lines = match read {
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => return,
            // Without a standard input there are no messages.
            Ok(0) | Err(_) => {
                self.is_over = true;
                self.line_end().into_iter().collect()
            }
            Ok(count) => self.take(&chunk[..count]),
        };
        self.ready.extend(lines);
    }

    /// Whether there is more to read, and room for it.
    pub(crate) fn wants_more(&self) -> bool {
        !self.is_over && self.ready.is_empty()
    }

    /// Whether nothing comes any more.
    pub(crate) fn is_done(&self) -> bool {
        self.is_over && self.ready.is_empty()
    }

    /// The lengths of the lines that wait, in order.
    pub(crate) fn lengths(&self) -> impl Iterator<Item = usize> {
        self.ready.iter().map(|line| match line {
            InputLine::Whole(line) => line.len(),
            InputLine::TooLong => 0,
        })
    }

    /// Takes the first lines.
    pub(crate) fn next_lines(&mut self, count: usize) -> Vec<InputLine> {
        self.ready.drain(..count).collect()
    }

    /// Adds `bytes` and takes the complete lines.
    fn take(&mut self, bytes: &[u8]) -> Vec<InputLine> {
        let mut found = Vec::new();
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            self.add(&rest[..end]);
            found.extend(self.line_end());
            rest = &rest[end + 1..];
        }
        self.add(rest);
        found
    }

    fn add(&mut self, bytes: &[u8]) {
        if self.part.len() + bytes.len() > MAX_MESSAGE {
            self.is_skipping = true;
            self.part = Vec::new();
        }
        if !self.is_skipping {
            self.part.extend_from_slice(bytes);
        }
    }

    /// The line that ends here; `None` if there is nothing of it.
    fn line_end(&mut self) -> Option<InputLine> {
        if std::mem::take(&mut self.is_skipping) {
            return Some(InputLine::TooLong);
        }
        let line = std::mem::take(&mut self.part);
        (!line.is_empty()).then_some(InputLine::Whole(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_out_whole_however_they_arrive() {
        let text = b"one\n\ntwo\nthree";
        for step in 1..text.len() {
            let mut input = OwnInput::default();
            let mut lines: Vec<_> = text
                .chunks(step)
                .flat_map(|part| input.take(part))
                .collect();
            lines.extend(input.line_end());
            let whole = |text: &str| InputLine::Whole(text.into());
            assert_eq!(
                lines,
                [whole("one"), whole("two"), whole("three")],
                "{step}"
            );
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_dropped_and_the_next_one_is_not() {
        let mut input = OwnInput::default();
        assert!(input.take(&vec![b'x'; MAX_MESSAGE]).is_empty());
        assert!(input.take(b"yy").is_empty());
        let lines = input.take(b"z\nnext\n");
        assert_eq!(
            lines,
            [InputLine::TooLong, InputLine::Whole(b"next".to_vec())]
        );
    }
}
