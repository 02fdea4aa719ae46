//! What became of each line; the fates add up to the lines.

use serde::Serialize;

/// What became of one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It changed the summary.
    Used,
    /// Whole, and of a kind that changes nothing.
    Ignored,
    /// No object, or broken.
    BadJson,
    /// Longer than the limit, for us or for the stage that wrote it.
    Oversize,
    /// Nothing but blanks.
    Blank,
}

/// Lines by fate.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Counts {
    lines: u64,
    used: u64,
    ignored: u64,
    bad_json: u64,
    oversize: u64,
    blank: u64,
}

impl Counts {
    /// Why there is nothing to judge, where no line is an event.
    pub(crate) fn nothing(&self) -> Option<&'static str> {
        match self {
            Self { lines: 0, .. } => Some("The input is empty."),
            Self {
                used: 0,
                ignored: 0,
                ..
            } => Some("No line of the input is a JSON object."),
            _ => None,
        }
    }

    pub(crate) fn add(&mut self, fate: Fate) {
        self.lines += 1;
        *match fate {
            Fate::Used => &mut self.used,
            Fate::Ignored => &mut self.ignored,
            Fate::BadJson => &mut self.bad_json,
            Fate::Oversize => &mut self.oversize,
            Fate::Blank => &mut self.blank,
        } += 1;
    }
}
