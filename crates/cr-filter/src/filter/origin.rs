//! Whether an input is Claude Code's.

use anyhow::anyhow;
use cr_event::{Event, Look, is_claudes, look, look_of_bytes};
use cr_io::Exit;

/// What is known of the program that wrote an input.
#[derive(Debug, Default)]
pub(super) struct Origin {
    /// A line is Claude Code's, or our own.
    pub(super) is_known: bool,
    /// What the input looks like as long as no line is.
    look: Option<Look>,
}

impl Origin {
    /// Takes an event; returns whether one is Claude Code's so far.
    pub(super) fn is_known(&mut self, event: &Event<'_>) -> bool {
        if !self.is_known {
            self.is_known = is_claudes(event);
            self.look.get_or_insert_with(|| look(event));
        }
        self.is_known
    }

    /// Takes a line that is no object. Half an object says nothing of its origin.
    pub(super) fn broken(&mut self, line: &[u8]) {
        if !self.is_known && line.first() != Some(&b'{') {
            self.look.get_or_insert_with(|| look_of_bytes(line));
        }
    }

    /// An error where no line is Claude Code's.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        match self.look {
            Some(look) if !self.is_known => {
                let text = format!("no line is Claude Code's; it looks like {}", look.name);
                Err(anyhow!(text).context(Exit::Data))
            }
            _ => Ok(()),
        }
    }
}
