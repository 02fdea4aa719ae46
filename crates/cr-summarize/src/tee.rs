//! An input that is passed on while it is read.

use std::io::{self, Read, Write};

use cr_io::Out;

/// Passes on to `out` what it reads from `input`. A failure to write ends only
/// the passing on: the verdict is at the end of the input.
pub(crate) struct Tee<'a, R, W> {
    pub(crate) input: R,
    pub(crate) out: &'a mut Out<W>,
    pub(crate) failed: &'a mut Option<anyhow::Error>,
}

impl<R: Read, W: Write> Read for Tee<'_, R, W> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let length = self.input.read(buf)?;
        if self.failed.is_none() {
            let written = self.out.part(&buf[..length]);
            *self.failed = written.and_then(|()| self.out.flush()).err();
        }
        Ok(length)
    }
}
