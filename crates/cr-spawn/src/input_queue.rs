//! The prompt, on its way into the agent's standard input.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// What is still to be written. Dropping it closes the pipe.
#[derive(Debug)]
pub(crate) struct InputQueue {
    pipe: File,
    prompt: Vec<u8>,
    at: usize,
}

impl InputQueue {
    /// Writes `prompt` to `pipe`, which does not block.
    pub(crate) fn new(pipe: OwnedFd, prompt: Vec<u8>) -> Self {
        Self {
            pipe: pipe.into(),
            prompt,
            at: 0,
        }
    }

    /// Writes what fits; returns whether there is more. An agent that does not
    /// want its prompt is no failure of ours.
    pub(crate) fn write(&mut self) -> bool {
        while self.at < self.prompt.len() {
            match self.pipe.write(&self.prompt[self.at..]) {
                Ok(n) => self.at += n,
                Err(err) if err.kind() == ErrorKind::Interrupted => {}
                Err(err) => return err.kind() == ErrorKind::WouldBlock,
            }
        }
        false
    }
}

impl AsFd for InputQueue {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }
}
