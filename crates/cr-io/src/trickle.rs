//! An input that comes in pieces, for tests of promise A1: the output does not
//! depend on how the input is cut.

use std::io::{self, ErrorKind, Read};

/// Gives `step` bytes at a time, and an interruption before each.
#[derive(Debug)]
pub struct Trickle<'a> {
    bytes: &'a [u8],
    step: usize,
    interrupted: bool,
}

impl<'a> Trickle<'a> {
    /// The bytes and the step.
    pub fn new(bytes: &'a [u8], step: usize) -> Self {
        Self {
            bytes,
            step,
            interrupted: false,
        }
    }
}

impl Read for Trickle<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.interrupted = !self.interrupted;
        if self.interrupted {
            return Err(ErrorKind::Interrupted.into());
        }
        let n = self.step.min(self.bytes.len()).min(buf.len());
        buf[..n].copy_from_slice(&self.bytes[..n]);
        self.bytes = &self.bytes[n..];
        Ok(n)
    }
}
