//! A reader that stops after so many bytes and says that it would block.
//!
//! One endless line, read as fast as it is written, would otherwise keep the
//! front from its clocks.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::rc::Rc;

/// A file, read by rations.
#[derive(Debug)]
pub(crate) struct Ration {
    file: File,
    left: Rc<Cell<usize>>,
}

/// What is left of a ration.
#[derive(Debug)]
pub(crate) struct Purse(Rc<Cell<usize>>);

impl Ration {
    pub(crate) fn new(file: File) -> (Self, Purse) {
        let left = Rc::new(Cell::new(0));
        let purse = Purse(Rc::clone(&left));
        (Self { file, left }, purse)
    }
}

impl Purse {
    /// Allows `bytes` more, and nothing of what was allowed before.
    pub(crate) fn fill(&self, bytes: usize) {
        self.0.set(bytes);
    }
}

impl Read for Ration {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let left = self.left.get();
        if left == 0 {
            return Err(ErrorKind::WouldBlock.into());
        }
        let read = self.file.read(buf)?;
        self.left.set(left.saturating_sub(read));
        Ok(read)
    }
}
