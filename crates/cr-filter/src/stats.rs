//! Counts of lines by class.

use std::collections::BTreeMap;
use std::fmt;

use cr_event::{Event, Kind, Text};
use cr_progress::KNOWN_SYSTEM_SUBTYPES;

/// The fate of one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It was shown.
    Shown,
    /// It was not shown.
    Dropped,
    /// No object, not balanced, or broken where it was read.
    BadJson,
    /// Longer than a line may be.
    Oversize,
    /// Nothing but blanks.
    Blank,
    /// A piece of a document that is not closed yet; counted as dropped.
    Part,
}

/// Lines by fate; the fates add up to the lines.
#[derive(Debug, Default)]
pub(crate) struct Stats {
    lines: u64,
    shown: u64,
    dropped: u64,
    bad_json: u64,
    oversize: u64,
    blank: u64,
    unknown: BTreeMap<String, u64>,
}

/// Names that are counted one by one; a hostile stream may invent any number.
const MOST_NAMES: usize = 1000;

impl Stats {
    pub(crate) fn count(&mut self, fate: Fate) {
        self.lines += 1;
        *match fate {
            Fate::Shown => &mut self.shown,
            Fate::Dropped | Fate::Part => &mut self.dropped,
            Fate::BadJson => &mut self.bad_json,
            Fate::Oversize => &mut self.oversize,
            Fate::Blank => &mut self.blank,
        } += 1;
    }

    /// Counts lines that were dropped unseen.
    pub(crate) fn skip(&mut self, lines: u64) {
        self.lines += lines;
        self.dropped += lines;
    }

    /// A line that was counted as dropped is shown after all.
    pub(crate) fn shown_late(&mut self) {
        self.shown += 1;
        self.dropped = self.dropped.saturating_sub(1);
    }

    /// Counts an event of an unknown kind.
    pub(crate) fn count_unknown(&mut self, event: &Event<'_>) {
        let name = event.name.decode();
        let subtype = event.subtype.map(Text::decode);
        let name = match (event.kind, subtype) {
            (Kind::System, Some(subtype)) if !KNOWN_SYSTEM_SUBTYPES.contains(&&*subtype) => {
                format!("system/{subtype}")
            }
            (Kind::Other, _) if !KNOWN.contains(&&*name) => name.into_owned(),
            _ => return,
        };
        if self.unknown.len() < MOST_NAMES || self.unknown.contains_key(&name) {
            *self.unknown.entry(name).or_default() += 1;
        }
    }
}

/// Known types that are not shown.
const KNOWN: [&str; 18] = [
    "agent-name",
    "ai-title",
    "api-request",
    "api-request-blob",
    "api-request-shape",
    "atis-latch",
    "attachment",
    "command_lifecycle",
    "custom-title",
    "file-history-snapshot",
    "keep_alive",
    "last-prompt",
    "mode",
    "permission-mode",
    "progress",
    "queue-operation",
    "summary",
    "tools-used",
];

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            lines,
            shown,
            dropped,
            bad_json,
            oversize,
            blank,
            unknown,
        } = self;
        write!(
            f,
            "{lines} lines: {shown} shown, {dropped} dropped, {bad_json} bad_json, \
             {oversize} oversize, {blank} blank"
        )?;
        for (i, (name, count)) in unknown.iter().enumerate() {
            let lead = if i == 0 { "; unknown:" } else { "," };
            write!(f, "{lead} {} {count}", cr_io::sanitized(name))?;
        }
        Ok(())
    }
}
