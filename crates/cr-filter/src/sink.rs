//! Where the text goes: to standard output, or beside the stream.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

use anyhow::Context;
use cr_io::{Exit, Out};

/// The destination of the text.
#[derive(Debug)]
pub(crate) enum Sink {
    /// The text is the output.
    Main,
    /// The stream is the output; the text waits here for standard error.
    Notes(Vec<u8>),
    /// The stream is the output; the text goes to a file.
    File(Out<File>),
}

impl Sink {
    /// The sink that `--tee` asks for. A file is appended to if this input
    /// `follows` another one.
    pub(crate) fn new(tee: Option<&Path>, follows: bool) -> anyhow::Result<Self> {
        match tee {
            None => Ok(Self::Main),
            Some(path) if path.as_os_str() == "-" => Ok(Self::Notes(Vec::new())),
            Some(path) => {
                let mut options = OpenOptions::new();
                let options = options.create(true).append(follows).write(true);
                let file = options
                    .truncate(!follows)
                    .open(path)
                    .with_context(|| path.display().to_string())
                    .context(Exit::Io)?;
                Ok(Self::File(Out::named(file, "the text of --tee")))
            }
        }
    }

    /// Whether the stream goes to the output.
    pub(crate) fn is_tee(&self) -> bool {
        !matches!(self, Self::Main)
    }

    /// Takes one line of text.
    pub(crate) fn line<W: Write>(&mut self, line: &str, out: &mut Out<W>) -> anyhow::Result<()> {
        match self {
            Self::Main => out.line(line.as_bytes()),
            Self::File(file) => file.line(line.as_bytes()),
            Self::Notes(waiting) => {
                waiting.extend_from_slice(line.as_bytes());
                waiting.push(b'\n');
                Ok(())
            }
        }
    }

    /// Writes the text that is waiting; the stream comes after it.
    pub(crate) fn flush(&mut self, notes: &mut dyn Write) -> anyhow::Result<()> {
        match self {
            Self::Main => Ok(()),
            Self::File(file) => file.flush(),
            Self::Notes(waiting) => {
                // A failure to write the text must not stop the stream.
                if !waiting.is_empty() {
                    let _ = notes.write_all(waiting);
                }
                waiting.clear();
                Ok(())
            }
        }
    }
}
