//! The file of `--output-file`: a second copy of the stream.

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

/// Its record in `cr/exit`.
#[derive(Clone, Debug, Serialize)]
pub struct OutputFileRecord {
    /// Where it is.
    pub path: String,
    /// Why it is not whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl OutputFileRecord {
    /// A message for a person: why it is not whole.
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

    /// Its record as long as no write fails.
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

/// Replaces the content of `path` by `lines`.
pub fn write_output_file(path: &Path, lines: &[u8]) -> anyhow::Result<()> {
    let mut file = OutputFile::create(path)?;
    file.write_all(lines).with_context(|| place(path))
}

/// Checks that `path` can be written, without a change to its content.
pub fn check_output_file(path: &Path) -> anyhow::Result<()> {
    open(path).map(drop)
}

/// Opens the file, or creates it. A pipe is refused: a slow reader would block
/// the run and its clocks.
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
