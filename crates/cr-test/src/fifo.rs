//! A named pipe, opened without waiting for the other end for ever.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};

use crate::wait::{limit, readable, until};

/// A named pipe.
#[derive(Debug)]
pub struct Fifo {
    path: PathBuf,
}

impl Fifo {
    /// Makes one at `path`.
    pub fn new(path: impl AsRef<Path>) -> Self {
        let path = path.as_ref().to_owned();
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a named pipe");
        Self { path }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens it for writing, once somebody reads.
    pub fn writer(&self) -> File {
        let mut file = None;
        until(&format!("{} has a reader", self.path.display()), || {
            let flags = OFlags::NONBLOCK.bits().cast_signed();
            match OpenOptions::new()
                .write(true)
                .custom_flags(flags)
                .open(&self.path)
            {
                Ok(opened) => file = Some(opened),
                Err(err) if err.raw_os_error() == Some(6) => {}
                Err(err) => panic!("{}: {err}", self.path.display()),
            }
            file.is_some()
        });
        let file = file.expect("opened");
        rustix::fs::fcntl_setfl(&file, OFlags::empty()).expect("fcntl");
        file
    }

    /// Opens it for reading at once, whether somebody writes or not.
    pub fn reader(&self) -> File {
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        let mut options = OpenOptions::new();
        let file = options.read(true).custom_flags(flags).open(&self.path);
        file.expect("opened")
    }

    /// What somebody writes, up to the end of file.
    pub fn read(&self) -> Vec<u8> {
        let mut file = self.reader();
        let end = Instant::now() + limit();
        let mut bytes = Vec::new();
        loop {
            let place = self.path.display();
            assert!(readable(&file, end), "nobody wrote to {place}");
            match file.read_to_end(&mut bytes) {
                Ok(_) => return bytes,
                Err(err) if err.kind() == ErrorKind::WouldBlock => {}
                Err(err) => panic!("{place}: {err}"),
            }
        }
    }
}
