//! The inputs of a tool: standard input, files, and directories of recordings.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use anyhow::Context;
use cr_signal::Interrupted;

use crate::Exit;
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
/// directory is every `*.jsonl` and `*.ndjson` below it, in order of name.
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
        } else if path
            .extension()
            .is_some_and(|e| e == "jsonl" || e == "ndjson")
        {
            found.push(Input::File(path));
        }
    }
    Ok(())
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
        Ok(Watched {
            file,
            live,
            cut_short: false,
        })
    }
}

/// An input that notices, while it waits, that the reader of standard output
/// has left: `agent | cr-filter | head -1` must reach the agent at once and not
/// at its next line. Signals that ask it to end are handled as in
/// [`LiveInput`].
#[derive(Debug)]
pub struct Watched {
    file: File,
    live: Option<LiveInput>,
    cut_short: bool,
}

impl Watched {
    /// Whether the input is live: a pipe, a socket or a terminal.
    pub fn is_live(&self) -> bool {
        self.live.is_some()
    }

    /// The file itself, to read it from its end; a live input has none.
    pub fn file(&self) -> Option<&File> {
        self.live.is_none().then_some(&self.file)
    }

    /// Whether we were asked to end before the input did.
    pub fn was_cut_short(&self) -> bool {
        self.cut_short
    }
}

impl Read for Watched {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if let Some(live) = &mut self.live {
            let wake = live.wait(&self.file, io::stdout())?;
            self.cut_short |= wake == Wake::TooLong;
        }
        if self.cut_short {
            return Ok(0);
        }
        self.file.read(buf)
    }
}

/// The error of reading a stream, with its class. A broken pipe means that the
/// reader of our output left.
pub fn read_failure(err: io::Error) -> anyhow::Error {
    let inner = err.get_ref().and_then(|inner| inner.downcast_ref());
    let is_interrupted = inner == Some(&Interrupted);
    let exit = match err.kind() {
        io::ErrorKind::BrokenPipe => Exit::Gone,
        _ if is_interrupted => Exit::Code(Interrupted::CODE),
        _ => Exit::Io,
    };
    anyhow::Error::from(err)
        .context("read the stream")
        .context(exit)
}
