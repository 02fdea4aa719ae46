//! JSON in running text: the outermost objects and arrays that are whole.

use memchr::memchr2;

use crate::value::{self, Broken};

/// The objects and arrays in `text`, in order.
///
/// A bracket that opens nothing is text, and the search goes on after it. Broken
/// JSON is skipped as a whole: a part of it would be an answer that the agent did
/// not give.
pub(crate) fn containers(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut at = 0;
    // Brackets that are never closed make every skip run to the end.
    let mut budget = 4 * text.len();
    while let Some(length) = memchr2(b'{', b'[', &text.as_bytes()[at..]) {
        let start = at + length;
        at = match value::value(text, start) {
            Ok(end) => {
                let json = &text[start..end];
                if !is_mark(json) || is_introduced(&text[..start]) {
                    found.push(json);
                }
                end
            }
            Err(Broken { at, is_meant }) => {
                let skipped = if is_meant {
                    closed_at(text, start, &mut budget)
                } else {
                    None
                };
                skipped.unwrap_or(at)
            }
        };
    }
    found
}

/// Whether `json` is more often a mark than JSON: code's `{ }`, a list's `[ ]`,
/// the `[1]` of a note.
fn is_mark(json: &str) -> bool {
    let inside = json[1..json.len() - 1].trim();
    inside.bytes().all(|b| b.is_ascii_digit())
}

/// Whether what follows `before` starts a line or comes after a colon.
fn is_introduced(before: &str) -> bool {
    let before = before.trim_end_matches([' ', '\t']);
    before.is_empty() || before.ends_with(['\n', ':'])
}

/// Where the bracket at `start` is closed, by counting brackets outside strings.
fn closed_at(text: &str, start: usize, budget: &mut usize) -> Option<usize> {
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    for (at, &byte) in text.as_bytes().iter().enumerate().skip(start) {
        *budget = budget.checked_sub(1)?;
        if in_string {
            // No string goes on in the next line.
            in_string = byte != b'\n' && (byte != b'"' || is_escaped);
            is_escaped = byte == b'\\' && !is_escaped;
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 1 => return Some(at + 1),
            b'}' | b']' => depth -= 1,
            _ => {}
        }
    }
    None
}
