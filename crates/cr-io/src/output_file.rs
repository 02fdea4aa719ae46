//! The file that the user wants the stream in, too.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::Exit;
use anyhow::{Context, anyhow};
use serde::Serialize;

/// A file that gets every line of the stream.
#[derive(Debug)]
pub struct OutputFile {
    path: PathBuf,
    file: File,
}

/// What `cr/exit` says of it.
#[derive(Clone, Debug, Serialize)]
pub struct OutputFileRecord {
    /// Where it is.
    pub path: String,
    /// Why it is not whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl OutputFileRecord {
    /// What a person should know: why it is not whole.
    pub fn trouble(&self) -> Option<String> {
        let Self { path, error } = self;
        let error = error.as_ref()?;
        Some(format!("--output-file: {path}: {error}; it is not whole"))
    }
}

impl OutputFile {
    /// Opens `path` for a new stream: what it held is gone.
    pub fn create(path: &Path) -> anyhow::Result<Self> {
        let file = open(path)?;
        let emptied = if file.metadata().is_ok_and(|meta| meta.is_file()) {
            file.set_len(0)
        } else {
            Ok(())
        };
        emptied.with_context(|| place(path)).context(Exit::Io)?;
        Ok(Self {
            path: std::path::absolute(path).unwrap_or_else(|_| path.to_owned()),
            file,
        })
    }

    /// What is to be said of it as long as nothing goes wrong.
    pub fn record(&self) -> OutputFileRecord {
        OutputFileRecord {
            path: self.path.display().to_string(),
            error: None,
        }
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Leaves `lines`, and nothing else, in `path`.
pub fn write_output_file(path: &Path, lines: &[u8]) -> anyhow::Result<()> {
    let mut file = OutputFile::create(path)?;
    file.write_all(lines).with_context(|| place(path))
}

/// Says whether `path` can be written, and leaves in it what is there.
pub fn check_output_file(path: &Path) -> anyhow::Result<()> {
    open(path).map(drop)
}

/// Opens what exists, or makes it. A pipe is refused: whoever reads it slowly
/// would hold up the run, its clocks included.
fn open(path: &Path) -> anyhow::Result<File> {
    let nonblocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or(0);
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .custom_flags(nonblocking)
        .open(path)
        .with_context(|| place(path))
        .context(Exit::Io)?;
    let kind = file.metadata().map(|meta| meta.file_type());
    if kind.is_ok_and(|kind| kind.is_fifo() || kind.is_socket()) {
        return Err(anyhow!("not a file"))
            .with_context(|| place(path))
            .context(Exit::Usage);
    }
    Ok(file)
}

fn place(path: &Path) -> String {
    format!("--output-file: {}", path.display())
}
