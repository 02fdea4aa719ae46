//! Counts of lines by class; the classes add up to all lines.

use cr_summary::Counts;

/// The fate of one line.
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

/// Why there is nothing to judge, where no line is an event.
pub(crate) fn no_event(counts: &Counts) -> Option<&'static str> {
    match counts {
        Counts { lines: 0, .. } => Some("The input is empty."),
        Counts {
            used: 0,
            ignored: 0,
            ..
        } => Some("No line of the input is a JSON object."),
        _ => None,
    }
}

/// Counts one line.
pub(crate) fn count(counts: &mut Counts, fate: Fate) {
    counts.lines += 1;
    *match fate {
        Fate::Used => &mut counts.used,
        Fate::Ignored => &mut counts.ignored,
        Fate::BadJson => &mut counts.bad_json,
        Fate::Oversize => &mut counts.oversize,
        Fate::Blank => &mut counts.blank,
    } += 1;
}
