//! Reads an input and gives its lines to the sessions.

use std::io::{self, Read};

use cr_event::Documents;
use cr_io::{Line, Lines};

use crate::collector::Collector;
use crate::sessions::Sessions;

/// Reads `input` to its end; no line or document over `limit` bytes is held.
/// Where there are many sessions, the oldest ones are given to `take`.
pub(crate) fn read(
    input: impl Read,
    limit: usize,
    sessions: &mut Sessions,
    take: &mut dyn FnMut(Vec<Collector>),
) -> io::Result<()> {
    let mut lines = Lines::new(input).limit(limit).check_objects();
    let mut documents = Documents::new(limit);
    let read = each(&mut lines, limit, &mut documents, sessions, take);
    // Lines before an error count all the same.
    let is_cut = documents.is_open();
    documents.finish(&mut |line| sessions.line(line));
    if is_cut && !sessions.is_known() {
        sessions.tear();
    }
    read
}

fn each(
    lines: &mut Lines<impl Read>,
    limit: usize,
    documents: &mut Documents,
    sessions: &mut Sessions,
    take: &mut dyn FnMut(Vec<Collector>),
) -> io::Result<()> {
    while let Some(line) = lines.next()? {
        match line {
            Line::Whole(line) | Line::Torn(line) if line.len() > limit => {
                oversize(documents, sessions);
            }
            Line::Whole(line) | Line::Torn(line) => {
                if documents.is_lines() && sessions.can_skip(line) {
                    sessions.keep_time(line);
                    sessions.skip(lines.is_object());
                } else {
                    documents.line(line, &mut |line| sessions.line(line));
                    if sessions.are_many() {
                        take(sessions.take_oldest());
                    }
                }
            }
            Line::Long(head) if documents.is_lines() && sessions.can_skip(head) => {
                let mut length = 0;
                lines.pass(|part| length += part.len())?;
                if length > limit {
                    oversize(documents, sessions);
                } else {
                    sessions.skip(lines.is_object());
                }
            }
            Line::Long(_) => match lines.whole()? {
                Some(Line::Whole(line) | Line::Torn(line)) => {
                    documents.line(line, &mut |line| sessions.line(line));
                }
                Some(Line::Long(_)) | None => {
                    lines.pass(|_| ())?;
                    oversize(documents, sessions);
                }
            },
        }
    }
    Ok(())
}

/// Counts a line that is too long to hold.
fn oversize(documents: &mut Documents, sessions: &mut Sessions) {
    documents.oversize(&mut |line| sessions.line(line));
    sessions.oversize();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sessions::LARGE;
    use crate::summary_of;
    use cr_io::Trickle;

    fn trickled(bytes: &[u8], step: usize) -> String {
        summary_of(Trickle::new(bytes, step))
    }

    fn capture(name: &str) -> Vec<u8> {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/captures");
        std::fs::read(format!("{root}/{name}.ndjson")).expect("a capture")
    }

    #[test]
    fn a1_the_same_bytes_give_the_same_summary_however_they_are_cut() {
        let names = [
            "01-simple",
            "02-tools",
            "08-json-verbose",
            "11-partial",
            "20-big",
        ];
        for name in names {
            let bytes = capture(name);
            let expected = summary_of(&bytes[..]);
            let steps: &[usize] = match bytes.len() {
                ..100_000 => &[1, 2, 63, 64, 65, 4096],
                _ => &[4095, 65_537],
            };
            for &step in steps {
                assert_eq!(trickled(&bytes, step), expected, "{name}: {step}");
            }
        }
    }

    #[test]
    fn a1_every_cut_of_a_stream_in_two_reads_gives_the_same_summary() {
        let bytes = capture("01-simple");
        let expected = summary_of(&bytes[..]);
        for at in 0..bytes.len() {
            let (head, tail) = bytes.split_at(at);
            assert_eq!(summary_of(head.chain(tail)), expected, "{at}");
        }
    }

    #[test]
    fn every_beginning_of_a_stream_is_summed_up() {
        let bytes = capture("01-simple");
        let whole = bytes.trim_ascii_end().len();
        for at in 0..bytes.len() {
            let summary = summary_of(&bytes[..at]);
            let is_success = summary.contains(r#""outcome":"success""#);
            assert_eq!(is_success, at >= whole, "{at}: {summary}");
        }
    }

    #[test]
    fn a1_a_large_line_is_counted_the_same_whole_or_in_pieces() {
        for length in [LARGE - 40, LARGE, 2 * LARGE - 40, 2 * LARGE, 5 * LARGE] {
            let text = "x".repeat(length);
            let line = format!(
                r#"{{"type":"user","message":{{"content":"{text}"}},"timestamp":"2026-01-01T00:00:00Z"}}"#
            );
            let bytes = format!("{{\"type\":\"x\"}}\n{line}\n{line}\n{{\"type\":\"y\"}}\n");
            let expected = summary_of(bytes.as_bytes());
            for step in [1000, 4096, LARGE + 1, usize::MAX] {
                assert_eq!(
                    trickled(bytes.as_bytes(), step),
                    expected,
                    "{length}: {step}"
                );
            }
        }
    }
}
