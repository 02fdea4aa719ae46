//! Progress lines as text: plain, coloured, or for a GitHub workflow's log.

use std::fmt::Write;

use cr_io::{Redactor, first_chars, sanitize};

use crate::clock::Clock;
use crate::line::{ProgressLine, Tone};

/// Formats progress lines.
#[derive(Debug)]
pub struct LineFormatter {
    /// Gives each line its time.
    pub clock: Clock,
    /// Masks what looks like a secret.
    pub redactor: Redactor,
    /// Characters of a line that are shown.
    pub width: usize,
    /// Whether labels are coloured.
    pub colour: bool,
    /// Whether the line is for a GitHub workflow's log.
    pub github: bool,
}

/// Whether a terminal gets colours: not with `NO_COLOR`, nor when it is dumb.
pub fn wants_colour(is_terminal: bool) -> bool {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    is_terminal && !plain && !dumb
}

impl LineFormatter {
    /// One line, without its newline.
    pub fn line(&mut self, shown: &ProgressLine) -> String {
        let mut line = String::with_capacity(96);
        self.clock.stamp(&mut line);
        line.extend(std::iter::repeat_n("  ", shown.depth.min(20)));
        sanitize(&shown.label, &mut line);
        let colon = line.len();
        if !shown.text.is_empty() || shown.label == "Bash" {
            line.push_str(": ");
            let text = self.redactor.redact(&shown.text);
            let (text, more) = first_chars(&text, shown.most);
            sanitize(text, &mut line);
            line.push_str(if more { "..." } else { "" });
        }
        if let (cut, true) = first_chars(&line, self.width) {
            line.truncate(cut.len());
        }
        if self.colour {
            colour(&mut line, colon, shown.tone);
        }
        if self.github {
            line = without_commands(line);
        }
        line
    }

    /// `line` with an annotation, which a workflow's log shows in colour.
    pub fn annotated(&self, line: String, tone: Tone) -> String {
        let annotation = match tone {
            Tone::Error if self.github => "::error::",
            Tone::Warning if self.github => "::warning::",
            _ => return line,
        };
        // An annotation ends at a newline, which a line never has; a percent
        // sign would begin an escape.
        format!("{annotation}{}", line.replace('%', "%25"))
    }
}

/// `line` without commands for a workflow's log: `::command::` at its start,
/// where the name of a tool may be, and `##[command]` anywhere.
fn without_commands(line: String) -> String {
    let begins = line.trim_start().starts_with("::");
    if !begins && !line.contains("##[") {
        return line;
    }
    let start = if begins { "\\" } else { "" };
    format!("{start}{}", line.replace("##[", "##\\["))
}

/// Colours the label of `line`, which ends at `colon`.
fn colour(line: &mut String, colon: usize, tone: Tone) {
    let code = match tone {
        Tone::Plain => "1",
        Tone::Good => "32",
        Tone::Warning => "33",
        Tone::Error => "31",
    };
    let start = line.find("] ").map_or(0, |at| at + 2);
    if start < colon && colon <= line.len() {
        line.insert_str(colon, "\x1b[0m");
        let mut begin = String::new();
        let _ = write!(begin, "\x1b[{code}m");
        line.insert_str(start, &begin);
    }
}
