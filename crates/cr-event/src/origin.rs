//! Which program wrote an input.

use crate::foreign::{Look, is_claudes, look, look_of_bytes, names_another};
use crate::line::Event;

/// What is known of the program that wrote an input, as far as it was read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Origin {
    is_known: bool,
    is_another: bool,
    /// What the input looks like as long as no line is known.
    look: Option<Look>,
}

impl Origin {
    /// Whether a line so far is Claude Code's, or our own.
    pub fn is_known(&self) -> bool {
        self.is_known
    }

    /// What the input looks like; `None` if a line is Claude Code's, or if there
    /// was no line that tells.
    pub fn look(&self) -> Option<Look> {
        self.look.filter(|_| !self.is_known)
    }

    /// Whether another program wrote it, in lines like Claude Code's.
    pub fn is_another(&self) -> bool {
        self.is_another
    }

    /// Takes an event; returns whether one is Claude Code's so far.
    pub fn event(&mut self, event: &Event<'_>) -> bool {
        if !self.is_known {
            self.is_another |= names_another(event);
            self.is_known = !self.is_another && is_claudes(event);
            self.look.get_or_insert_with(|| look(event));
        }
        self.is_known
    }

    /// Takes a line that is not read because only Claude Code writes such lines.
    pub fn skipped(&mut self) {
        self.is_known |= !self.is_another;
    }

    /// Takes a line that is no object.
    pub fn broken(&mut self, line: &[u8]) {
        if !self.is_known {
            self.look.get_or_insert_with(|| look_of_bytes(line));
        }
    }
}
