//! The handoff of a session: a short text in Markdown for the first prompt of a
//! new session that continues the work of an old one.
//!
//! [`Collector`] takes the lines of a stream or of a session log, [`Handoff`] is
//! what is known at their end, and [`Handoff::text`] writes it into a given number
//! of bytes. The same lines give the same text. Three rules follow:
//!
//! - **The record is data.** Every line of the text that quotes the session begins
//!   with `> `, so no text of the agent can look like a part of the handoff.
//!   Hidden characters are shown as escapes and secrets are masked.
//! - **Memory is bounded.** Of each list the last entries are kept, of each text
//!   the beginning and the end.
//! - **Facts come from results.** A file counts as changed and a commit as made
//!   when the result of the call says so.

mod budget;
mod call;
mod collector;
mod commands;
mod commits;
mod files;
mod handoff;
mod open;
mod opening;
mod prompt;
mod quote;
mod section;
mod todo;

use std::io::{self, Read};

use cr_event::{Documents, Kind};
use cr_io::{Line, Lines, MAX_LINE, Redactor};

pub use collector::Collector;
pub use commands::{Command, Outcome};
pub use cr_progress::Commit;
pub use files::File;
pub use handoff::Handoff;
pub use open::{OpenItem, OpenKind};
pub use opening::{Opening, quoted};
pub use todo::Todo;

/// The limit of a handoff by default: about 2,000 tokens.
pub const DEFAULT_LIMIT: usize = 8 << 10;

/// Reads `input` to its end. A `goal` that is given is used in place of the first
/// prompt, which a stream does not have.
///
/// Secrets of this process's environment are masked.
///
/// ```
/// let log = br#"{"type":"user","sessionId":"s","message":{"content":"fix it"}}"#;
/// let handoff = cr_handoff::read(&log[..], None)?;
/// assert_eq!(handoff.goal(), Some("fix it"));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn read(input: impl Read, goal: Option<&str>) -> io::Result<Handoff> {
    let mut collector = Collector::new(Redactor::from_env());
    if let Some(goal) = goal {
        collector.goal(goal);
    }
    let mut lines = Lines::new(input);
    let mut documents = Documents::new(MAX_LINE);
    let mut take = |line: &[u8]| collector.line(line);
    while let Some(line) = lines.next()? {
        match line {
            Line::Whole(line) | Line::Torn(line) => documents.line(line, &mut take),
            Line::Long(head) if Kind::of_head(head) == Some(Kind::StreamEvent) => {
                lines.pass(|_| ())?;
            }
            Line::Long(_) => match lines.whole()? {
                Some(Line::Whole(line) | Line::Torn(line)) => documents.line(line, &mut take),
                Some(Line::Long(_)) | None => {
                    lines.pass(|_| ())?;
                    documents.oversize(&mut take);
                }
            },
        }
    }
    documents.finish(&mut take);
    Ok(collector.finish())
}
