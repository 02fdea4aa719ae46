//! The version of a file that a tool writes and a later tool reads.

use std::fmt;

use crate::Exit;

/// A file has a newer version than this program knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewerSchema {
    /// The version of the file.
    pub found: u32,
    /// The newest version that this program knows.
    pub known: u32,
}

impl NewerSchema {
    /// An error with [`Exit::Config`] if `found` is newer than `known`.
    pub fn refuse(found: u32, known: u32) -> anyhow::Result<()> {
        if found <= known {
            return Ok(());
        }
        Err(anyhow::Error::new(Self { found, known }).context(Exit::Config))
    }
}

impl fmt::Display for NewerSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { found, known } = self;
        write!(
            f,
            "schema {found} is newer than this version knows ({known}); update claude-runner"
        )
    }
}

impl std::error::Error for NewerSchema {}
