//! The lines of a stream that another process is writing.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

/// The longest line that is read; the writer itself has no longer ones.
const MAX_LINE: usize = 64 << 20;

/// Reads a file as it grows.
#[derive(Debug)]
pub(crate) struct StreamTail {
    path: PathBuf,
    file: Option<File>,
    /// A line whose end is not written yet.
    partial: Vec<u8>,
    /// The line is too long: it is skipped to its end.
    is_skipping: bool,
}

impl StreamTail {
    /// The file may not exist yet.
    pub(crate) fn new(path: PathBuf) -> Self {
        Self {
            path,
            file: None,
            partial: Vec::new(),
            is_skipping: false,
        }
    }

    /// Calls `each` with every whole line that was written since the last call.
    pub(crate) fn read(&mut self, mut each: impl FnMut(&[u8])) -> io::Result<()> {
        if self.file.is_none() {
            match File::open(&self.path) {
                Ok(file) => self.file = Some(file),
                Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(()),
                Err(err) => return Err(err),
            }
        }
        let mut buffer = [0; 16 << 10];
        while let Some(file) = &mut self.file {
            let read = file.read(&mut buffer)?;
            if read == 0 {
                break;
            }
            for part in buffer[..read].split_inclusive(|&byte| byte == b'\n') {
                self.add(part, &mut each);
            }
        }
        Ok(())
    }

    fn add(&mut self, part: &[u8], each: &mut impl FnMut(&[u8])) {
        self.is_skipping |= self.partial.len() + part.len() > MAX_LINE;
        if !self.is_skipping {
            self.partial.extend_from_slice(part);
        }
        if part.ends_with(b"\n") {
            if !self.is_skipping {
                each(&self.partial);
            }
            self.partial.clear();
            self.is_skipping = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write;

    use super::*;

    #[test]
    fn every_line_is_read_once_when_it_is_whole() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("stream");
        let mut tail = StreamTail::new(path.clone());
        let mut read = || {
            let mut lines = Vec::new();
            let each = |line: &[u8]| lines.push(String::from_utf8_lossy(line).into_owned());
            tail.read(each).expect("read");
            lines
        };
        assert!(read().is_empty(), "no file yet");
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .expect("made");
        file.write_all(b"one\ntw").expect("written");
        assert_eq!(read(), ["one\n"]);
        file.write_all(b"o\n\nthree").expect("written");
        assert_eq!(read(), ["two\n", "\n"]);
        assert!(read().is_empty());
    }
}
