//! What the near end sends before the agent can begin.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use super::command::Outbox;
use crate::frame::Kind;
use crate::message::{Start, encode};

/// How much of a bundle or a prompt is sent at once.
const PART: usize = 64 << 10;

/// What the far end needs.
pub(crate) struct Parcel {
    pub(crate) repository: super::Repository,
    pub(crate) prompt: Vec<u8>,
    pub(crate) start: Start,
    pub(crate) have: Vec<String>,
    pub(crate) file: PathBuf,
}

impl Parcel {
    /// Sends it; the last frame has the agent begin.
    pub(crate) fn send(mut self, outbox: &Outbox) -> anyhow::Result<()> {
        self.start.bundle = self.repository.bundle(&self.file, &self.have)?;
        if self.start.bundle.is_some() {
            let mut bundle = File::open(&self.file)?;
            loop {
                let mut part = vec![0; PART];
                match bundle.read(&mut part)? {
                    0 => break,
                    count => part.truncate(count),
                }
                // Who does not take it is gone, which is noticed elsewhere.
                if !outbox.send(Kind::Pack, part) {
                    break;
                }
            }
            let _ = std::fs::remove_file(&self.file);
        }
        for part in self.prompt.chunks(PART) {
            outbox.send(Kind::Prompt, part.to_vec());
        }
        outbox.send(Kind::Start, encode(&self.start));
        Ok(())
    }
}
