//! What a tool reads: standard input, files, and directories of recordings.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use anyhow::Context;
use rustix::event::{PollFd, PollFlags, poll};

use crate::Exit;

/// One stream to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Standard input.
    Stdin,
    /// A file by name.
    File(PathBuf),
}

/// The streams that `names` stand for: none and `-` are standard input, a
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
        Ok(Watched {
            waits: !kind.is_file(),
            file,
        })
    }
}

/// An input that notices, while it waits, that the reader of standard output
/// has left: `agent | cr-filter | head -1` must reach the agent at once and not
/// at its next line.
#[derive(Debug)]
pub struct Watched {
    file: File,
    waits: bool,
}

impl Watched {
    /// Whether the input is live: a pipe, a socket or a terminal.
    pub fn is_live(&self) -> bool {
        self.waits
    }
}

impl Read for Watched {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.waits {
            wait(self.file.as_fd(), io::stdout().as_fd())?;
        }
        self.file.read(buf)
    }
}

/// Waits until `input` can be read, or fails with a broken pipe when nobody
/// reads `output` any more.
fn wait(input: BorrowedFd<'_>, output: BorrowedFd<'_>) -> io::Result<()> {
    let mut fds = [
        PollFd::from_borrowed_fd(input, PollFlags::IN),
        // Asking for nothing still reports an error condition.
        PollFd::from_borrowed_fd(output, PollFlags::empty()),
    ];
    match poll(&mut fds, None) {
        Err(rustix::io::Errno::INTR) => return Err(io::ErrorKind::Interrupted.into()),
        polled => polled?,
    };
    if fds[1].revents().contains(PollFlags::ERR) {
        return Err(io::ErrorKind::BrokenPipe.into());
    }
    Ok(())
}
