//! The inputs of a tool: standard input, files, and directories of recordings.

use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use cr_signal::Interrupted;

use crate::Exit;
use crate::gunzip::{Damaged, Gunzip, MAGIC};
use crate::live_input::{LiveInput, Wake};

/// One stream to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Standard input.
    Stdin,
    /// A file by name.
    File(PathBuf),
}

/// The streams that `names` mean: none and `-` are standard input, a
/// directory is every `*.jsonl` and `*.ndjson` below it, also with `.gz` behind,
/// in order of name.
pub fn inputs(names: &[PathBuf]) -> anyhow::Result<Vec<Input>> {
    if names.is_empty() {
        return Ok(vec![Input::Stdin]);
    }
    let mut found = Vec::new();
    for name in names {
        if name.as_os_str() == "-" {
            found.push(Input::Stdin);
        } else if name.is_dir() {
            let before = found.len();
            recordings(name, &mut found)?;
            if found.len() == before {
                let text = format!("{}: no *.jsonl or *.ndjson below it", name.display());
                return Err(anyhow::anyhow!(text).context(Exit::NoInput));
            }
        } else {
            found.push(Input::File(name.clone()));
        }
    }
    Ok(found)
}

/// Adds the recordings below `dir`. Links are not followed: a loop of them
/// would have no end.
fn recordings(dir: &Path, found: &mut Vec<Input>) -> anyhow::Result<()> {
    let place = || dir.display().to_string();
    let entries = fs::read_dir(dir)
        .with_context(place)
        .context(Exit::NoInput)?;
    let mut entries = entries
        .collect::<io::Result<Vec<_>>>()
        .with_context(place)
        .context(Exit::NoInput)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let kind = entry
            .file_type()
            .with_context(place)
            .context(Exit::NoInput)?;
        if kind.is_dir() {
            recordings(&path, found)?;
        } else if is_recording(&path) {
            found.push(Input::File(path));
        }
    }
    Ok(())
}

/// Whether the name is that of a recording.
fn is_recording(path: &Path) -> bool {
    let plain = uncompressed_name(path);
    plain
        .extension()
        .is_some_and(|e| e == "jsonl" || e == "ndjson")
}

/// The name without `.gz`.
pub fn uncompressed_name(path: &Path) -> PathBuf {
    if path.extension().is_some_and(|e| e == "gz") {
        path.with_extension("")
    } else {
        path.to_owned()
    }
}

impl Input {
    /// The name to show, `None` for standard input.
    pub fn name(&self) -> Option<&Path> {
        match self {
            Self::Stdin => None,
            Self::File(path) => Some(path),
        }
    }

    /// Its name in a list; standard input is `-`.
    pub fn label(&self) -> String {
        let name = self.name().unwrap_or(Path::new("-"));
        name.display().to_string()
    }

    /// Opens the stream.
    pub fn open(&self) -> anyhow::Result<Watched> {
        let file = match self {
            Self::Stdin => io::stdin().as_fd().try_clone_to_owned().map(File::from),
            Self::File(path) => File::open(path),
        };
        let name = || match self {
            Self::Stdin => "standard input".to_owned(),
            Self::File(path) => path.display().to_string(),
        };
        let file = file.with_context(name).context(Exit::NoInput)?;
        let kind = file
            .metadata()
            .with_context(name)
            .context(Exit::NoInput)?
            .file_type();
        if kind.is_dir() {
            let err = io::Error::from(io::ErrorKind::IsADirectory);
            return Err(err).with_context(name).context(Exit::NoInput);
        }
        // A larger pipe halves the number of times both sides must wake.
        let _ = rustix::pipe::fcntl_setpipe_size(&file, 1 << 20);
        let live = (!kind.is_file()).then(LiveInput::new).transpose();
        let live = live.with_context(name).context(Exit::Tool)?;
        let source = Source {
            file,
            live,
            needs_reader: true,
            cut_short: false,
            head: [0; 2],
            held: 0..0,
        };
        Ok(Watched::new(source))
    }
}

/// An input that notices, while it waits, that the reader of standard output
/// has left: `agent | cr-filter | head -1` must reach the agent at once and not
/// at its next line. Signals that ask it to end are handled as in
/// [`LiveInput`]. What gzip has compressed is read as it was before.
#[derive(Debug)]
pub struct Watched(Form);

#[derive(Debug)]
enum Form {
    /// Not known before the first bytes come.
    Unknown(Option<Source>),
    Plain(Source),
    Gzip(Box<Gunzip<Source>>),
}

impl Watched {
    fn new(source: Source) -> Self {
        let is_live = source.live.is_some();
        match source.begins_with_magic() {
            _ if is_live => Self(Form::Unknown(Some(source))),
            true => Self(Form::Gzip(Box::new(Gunzip::new(source)))),
            false => Self(Form::Plain(source)),
        }
    }

    /// Reads on when the reader of standard output has left: for the stage whose
    /// exit code is the verdict, which is at the end of the input.
    pub fn outlive_reader(&mut self) {
        let source = match &mut self.0 {
            Form::Unknown(source) => source.as_mut(),
            Form::Plain(source) => Some(source),
            // It is known from the start only of a file, which has no reader to lose.
            Form::Gzip(_) => None,
        };
        if let Some(source) = source {
            source.needs_reader = false;
        }
    }

    fn source(&self) -> Option<&Source> {
        match &self.0 {
            Form::Unknown(source) => source.as_ref(),
            Form::Plain(source) => Some(source),
            Form::Gzip(gunzip) => gunzip.input(),
        }
    }

    /// Whether the input is live: a pipe, a socket or a terminal.
    pub fn is_live(&self) -> bool {
        self.source().is_some_and(|source| source.live.is_some())
    }

    /// The file itself, to read it from its end; a live or compressed input has
    /// none.
    pub fn file(&self) -> Option<&File> {
        match &self.0 {
            Form::Plain(source) if source.live.is_none() => Some(&source.file),
            _ => None,
        }
    }

    /// Whether we were asked to end before the input did.
    pub fn was_cut_short(&self) -> bool {
        self.source().is_some_and(|source| source.cut_short)
    }

    /// Whether compressed data ended in the middle, so that the end of the
    /// recording is missing.
    pub fn is_truncated(&self) -> bool {
        matches!(&self.0, Form::Gzip(gunzip) if gunzip.is_truncated())
    }

    /// An error if [`Watched::is_truncated`].
    pub fn check_whole(&self) -> anyhow::Result<()> {
        if self.is_truncated() {
            let err = anyhow::anyhow!("the gzip data ends in the middle");
            return Err(err.context(Exit::Data));
        }
        Ok(())
    }

    /// Finds out whether the input is compressed.
    fn recognise(&mut self) -> io::Result<()> {
        if let Form::Unknown(source) = &mut self.0 {
            if let Some(source) = source {
                source.read_head()?;
            }
            if let Some(source) = source.take() {
                self.0 = if source.head == MAGIC {
                    Form::Gzip(Box::new(Gunzip::new(source)))
                } else {
                    Form::Plain(source)
                };
            }
        }
        Ok(())
    }
}

impl Read for Watched {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.recognise()?;
        match &mut self.0 {
            Form::Unknown(_) => Ok(0),
            Form::Plain(source) => source.read(buf),
            Form::Gzip(gunzip) => gunzip.read(buf),
        }
    }
}

/// The bytes of an input as they come.
#[derive(Debug)]
struct Source {
    file: File,
    live: Option<LiveInput>,
    /// Without a reader of standard output there is no need to read on.
    needs_reader: bool,
    cut_short: bool,
    /// The first bytes of a live input, of which `held` are to be read again.
    head: [u8; 2],
    held: std::ops::Range<usize>,
}

impl Source {
    /// Whether the rest of a file begins as a gzip file does.
    fn begins_with_magic(&self) -> bool {
        let mut head = [0; 2];
        let at = (&self.file).stream_position().unwrap_or(0);
        self.file.read_exact_at(&mut head, at).is_ok() && head == MAGIC
    }

    /// Reads as many of the first bytes as tell whether they are compressed.
    fn read_head(&mut self) -> io::Result<()> {
        let mut head = self.head;
        while self.held.end < head.len() && head[..self.held.end] == MAGIC[..self.held.end] {
            let length = self.read_more(&mut head[self.held.end..])?;
            if length == 0 {
                break;
            }
            self.held.end += length;
            self.head = head;
        }
        Ok(())
    }

    fn read_more(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if let Some(live) = &mut self.live {
            let output = io::stdout();
            let wake = live.wait(&self.file, self.needs_reader.then_some(&output))?;
            self.cut_short |= wake == Wake::TooLong;
        }
        if self.cut_short {
            return Ok(0);
        }
        self.file.read(buf)
    }
}

impl Read for Source {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.held.is_empty() {
            return self.read_more(buf);
        }
        let mut head = &self.head[self.held.clone()];
        let length = head.read(buf)?;
        self.held.start += length;
        Ok(length)
    }
}

/// The error of reading a stream, with its class. A broken pipe means that the
/// reader of our output left.
pub fn read_failure(err: io::Error) -> anyhow::Error {
    let inner = err.get_ref();
    let is_interrupted = inner.and_then(|inner| inner.downcast_ref()) == Some(&Interrupted);
    let damaged: Option<&Damaged> = inner.and_then(|inner| inner.downcast_ref());
    let exit = match err.kind() {
        io::ErrorKind::BrokenPipe => Exit::Gone,
        _ if is_interrupted => Exit::Code(Interrupted::CODE),
        _ if damaged.is_some() => Exit::Data,
        _ => Exit::Io,
    };
    anyhow::Error::from(err)
        .context("read the stream")
        .context(exit)
}
