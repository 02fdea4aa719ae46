//! Writes whole lines in few writes, and notices when the reader has left.

use std::io::{self, ErrorKind, Write};

use anyhow::Context;

use crate::Exit;

/// Bytes that are collected before they are written.
const BATCH: usize = 64 << 10;

/// Collects lines and writes them in batches that end at a line's end.
///
/// Nothing is written on drop: a tool calls [`Out::flush`] before it waits and
/// before it ends, and so sees every error.
#[derive(Debug)]
pub struct Out<W> {
    to: W,
    name: &'static str,
    waiting: Vec<u8>,
    outlives_reader: bool,
}

impl<W: Write> Out<W> {
    /// Writes to `to`, which is standard output.
    pub fn new(to: W) -> Self {
        Self::named(to, "standard output")
    }

    /// Writes to `to`, called `name` in messages.
    pub fn named(to: W, name: &'static str) -> Self {
        let waiting = Vec::with_capacity(BATCH);
        Self {
            to,
            name,
            waiting,
            outlives_reader: false,
        }
    }

    /// If `outlives` is true, a reader that left is no error, and what is written
    /// then is lost.
    #[must_use]
    pub fn outlive_reader(mut self, outlives: bool) -> Self {
        self.outlives_reader = outlives;
        self
    }

    /// Writes `line` and a newline.
    pub fn line(&mut self, line: &[u8]) -> anyhow::Result<()> {
        if line.len() >= BATCH {
            self.part(line)?;
            return self.part(b"\n");
        }
        self.waiting.extend_from_slice(line);
        self.waiting.push(b'\n');
        self.flush_if_full()
    }

    /// Writes `bytes` as they are; the caller makes lines of them.
    pub fn part(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        // A long line is long enough in its caller's memory.
        if bytes.len() >= BATCH {
            self.flush()?;
            return self.write(|to| to.write_all(bytes));
        }
        self.waiting.extend_from_slice(bytes);
        self.flush_if_full()
    }

    /// Writes the bytes that are waiting.
    pub fn flush(&mut self) -> anyhow::Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let waiting = std::mem::take(&mut self.waiting);
        let written = self.write(|to| to.write_all(&waiting));
        self.waiting = waiting;
        self.waiting.clear();
        written
    }

    fn write(&mut self, write: impl FnOnce(&mut W) -> io::Result<()>) -> anyhow::Result<()> {
        let written = write(&mut self.to).and_then(|()| self.to.flush());
        match written {
            Err(err) if self.outlives_reader && err.kind() == ErrorKind::BrokenPipe => Ok(()),
            written => written.map_err(|err| failure(err, self.name)),
        }
    }

    fn flush_if_full(&mut self) -> anyhow::Result<()> {
        if self.waiting.len() < BATCH {
            return Ok(());
        }
        self.flush()
    }
}

/// A write error with its class: only here does a broken pipe mean that the
/// reader left.
fn failure(err: io::Error, name: &str) -> anyhow::Error {
    let exit = match err.kind() {
        ErrorKind::BrokenPipe => Exit::Gone,
        _ => Exit::Io,
    };
    Err::<(), _>(err)
        .with_context(|| format!("write {name}"))
        .context(exit)
        .expect_err("made from an error")
}

/// Prints the JSON Schema of a tool's output, and nothing else.
pub fn print_schema(schema: &str, out: impl Write) -> anyhow::Result<Exit> {
    let mut out = Out::new(out);
    out.part(schema.as_bytes())?;
    out.flush()?;
    Ok(Exit::Ok)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_leave_in_one_write_when_flushed() {
        struct Writes(Vec<Vec<u8>>);
        impl Write for Writes {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.push(bytes.to_vec());
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut out = Out::new(Writes(Vec::new()));
        out.line(b"one").expect("write");
        out.line(b"two").expect("write");
        out.flush().expect("flush");
        assert_eq!(out.to.0, [b"one\ntwo\n".to_vec()]);
    }
}
