//! Bytes to lines to sessions.

use std::io::{self, Read};

use cr_io::{Line, Lines};

use crate::document::Documents;
use crate::sessions::{Sessions, is_piece};

/// Reads `input` to its end; no line or document over `limit` bytes is held.
pub(crate) fn read(input: impl Read, limit: usize, sessions: &mut Sessions) -> io::Result<()> {
    let mut lines = Lines::new(input).limit(limit);
    let mut documents = Documents::new(limit);
    let read = each(&mut lines, limit, &mut documents, sessions);
    // What came before an error counts all the same.
    documents.finish(sessions);
    read
}

fn each(
    lines: &mut Lines<impl Read>,
    limit: usize,
    documents: &mut Documents,
    sessions: &mut Sessions,
) -> io::Result<()> {
    while let Some(line) = lines.next()? {
        match line {
            Line::Whole(line) | Line::Torn(line) if line.len() > limit => {
                documents.oversize(sessions);
            }
            Line::Whole(line) | Line::Torn(line) => {
                if documents.is_lines() && is_piece(line) {
                    sessions.piece(lines.is_object());
                } else {
                    documents.line(line, sessions);
                }
            }
            Line::Long(head) if documents.is_lines() && is_piece(head) => {
                let mut length = 0;
                lines.pass(|part| length += part.len())?;
                if length > limit {
                    documents.oversize(sessions);
                } else {
                    sessions.piece(lines.is_object());
                }
            }
            Line::Long(_) => match lines.whole()? {
                Some(Line::Whole(line) | Line::Torn(line)) => documents.line(line, sessions),
                Some(Line::Long(_)) | None => {
                    lines.pass(|_| ())?;
                    documents.oversize(sessions);
                }
            },
        }
    }
    Ok(())
}
