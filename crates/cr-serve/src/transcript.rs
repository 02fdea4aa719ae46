//! Reads a transcript that may still grow, from any line on.
//!
//! A line has the place where the next one begins as its id, so that a reader who
//! names the last id it saw goes on without anything being kept for it.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use cr_event::Event;
use cr_io::{Redactor, json_string};
use memchr::{memchr, memrchr};

use crate::encode;

/// Bytes that are read at a time: what a client that reads nothing costs.
const CHUNK: usize = 64 << 10;
/// A longer line is sent as its beginning.
const LONGEST: usize = 1 << 20;
/// Bytes of that beginning.
const HEAD: usize = 16 << 10;

/// Which lines are wanted, by `type` or `type/subtype`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kinds {
    only: Vec<String>,
    not: Vec<String>,
}

impl Kinds {
    /// Reads `assistant,cr/ask` or `-stream_event`.
    pub(crate) fn parse(text: &str) -> Self {
        let mut kinds = Self::default();
        for name in text.split(',').filter(|name| !name.is_empty()) {
            match name.strip_prefix('-') {
                Some(name) => kinds.not.push(name.to_owned()),
                None => kinds.only.push(name.to_owned()),
            }
        }
        kinds
    }

    /// Whether a line is wanted. One that cannot be read is of no kind.
    fn has(&self, line: &[u8]) -> bool {
        if self.only.is_empty() && self.not.is_empty() {
            return true;
        }
        let Ok(event) = Event::parse(line) else {
            return self.only.is_empty();
        };
        let name = event.name.decode();
        let full = event.subtype.map(|it| format!("{name}/{}", it.decode()));
        let among = |names: &[String]| {
            let is = |it: &String| *it == *name || Some(it) == full.as_ref();
            names.iter().any(is)
        };
        (self.only.is_empty() || among(&self.only)) && !among(&self.not)
    }
}

/// A line that is too long to be sent.
#[derive(Debug)]
struct Long {
    head: Vec<u8>,
    /// Its end is not before this place.
    scanned: u64,
}

/// A reader at some line of a transcript.
#[derive(Debug)]
pub(crate) struct Transcript {
    file: Arc<File>,
    /// Where the next line begins.
    pub(crate) at: u64,
    long: Option<Long>,
}

impl Transcript {
    /// A reader at `at`; the second value says why events are missing: the place is
    /// not the beginning of a line, or is beyond the end.
    pub(crate) fn open(file: Arc<File>, at: u64) -> io::Result<(Self, Option<&'static str>)> {
        let length = file.metadata()?.len();
        let mut reader = Self {
            file,
            at: 0,
            long: None,
        };
        if at > length {
            return Ok((reader, Some("shorter")));
        }
        reader.at = at;
        let mut before = [b'\n'];
        if at > 0 {
            reader.file.read_exact_at(&mut before, at - 1)?;
        }
        if before == *b"\n" {
            return Ok((reader, None));
        }
        while let Some((start, part)) = reader.part(reader.at)? {
            let newline = memchr(b'\n', &part);
            reader.at = start + newline.map_or(part.len(), |at| at + 1) as u64;
            if newline.is_some() {
                break;
            }
        }
        Ok((reader, Some("not_a_line")))
    }

    /// The bytes at `start`, if there are any.
    fn part(&self, start: u64) -> io::Result<Option<(u64, Vec<u8>)>> {
        let part = self.bytes(start, CHUNK)?;
        Ok((!part.is_empty()).then_some((start, part)))
    }

    fn bytes(&self, start: u64, most: usize) -> io::Result<Vec<u8>> {
        let mut part = vec![0; most];
        let mut filled = 0;
        while filled < most {
            match self
                .file
                .read_at(&mut part[filled..], start + filled as u64)
            {
                Ok(0) => break,
                Ok(length) => filled += length,
                Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
                Err(err) => return Err(err),
            }
        }
        part.truncate(filled);
        Ok(part)
    }

    /// The events of the next whole lines; nothing if there is no whole line yet.
    /// It stands still only at the end of what there is.
    pub(crate) fn read(&mut self, kinds: &Kinds, redactor: &Redactor) -> io::Result<Events> {
        let mut events = Events::default();
        while events.text.is_empty() {
            if self.long.is_some() {
                if !self.skip_long(&mut events)? {
                    break;
                }
                continue;
            }
            let mut part = self.bytes(self.at, CHUNK)?;
            if part.len() == CHUNK && memrchr(b'\n', &part).is_none() {
                part = self.bytes(self.at, LONGEST)?;
            }
            let Some(end) = memrchr(b'\n', &part) else {
                if part.len() < LONGEST {
                    break;
                }
                let scanned = self.at + part.len() as u64;
                part.truncate(HEAD);
                self.long = Some(Long {
                    head: part,
                    scanned,
                });
                continue;
            };
            for line in part[..=end].split_inclusive(|&byte| byte == b'\n') {
                self.at += line.len() as u64;
                events.add(line, self.at, kinds, redactor);
            }
        }
        Ok(events)
    }

    /// The last line of a transcript that does not grow, if it has no newline.
    pub(crate) fn torn(&mut self, kinds: &Kinds, redactor: &Redactor) -> io::Result<Events> {
        let mut events = Events::default();
        let rest = self.bytes(self.at, LONGEST)?;
        if !rest.is_empty() && self.long.is_none() {
            self.at += rest.len() as u64;
            events.add(&rest, self.at, kinds, redactor);
        }
        Ok(events)
    }

    /// Looks for the end of a long line; says whether it is there.
    fn skip_long(&mut self, events: &mut Events) -> io::Result<bool> {
        let Some(long) = &mut self.long else {
            return Ok(true);
        };
        loop {
            let mut part = vec![0; CHUNK];
            let length = self.file.read_at(&mut part, long.scanned)?;
            if length == 0 {
                return Ok(false);
            }
            let newline = memchr(b'\n', &part[..length]);
            long.scanned += newline.map_or(length, |at| at + 1) as u64;
            if newline.is_some() {
                events.add_long(&long.head, self.at, long.scanned);
                self.at = long.scanned;
                self.long = None;
                return Ok(true);
            }
        }
    }
}

/// Events that are ready to be sent.
#[derive(Debug, Default)]
pub(crate) struct Events {
    pub(crate) text: String,
    pub(crate) count: u64,
}

impl Events {
    fn add(&mut self, line: &[u8], end: u64, kinds: &Kinds, redactor: &Redactor) {
        if cr_event::strip(line).is_empty() || !kinds.has(line) {
            return;
        }
        encode::line(line, end, redactor, &mut self.text);
        self.count += 1;
    }

    fn add_long(&mut self, head: &[u8], start: u64, end: u64) {
        let masked = Redactor::from_env().redact_bytes(head).into_owned();
        let bytes = end - start - 1;
        let mut data = format!("{{\"bytes\":{bytes},\"head\":");
        json_string(&String::from_utf8_lossy(&masked), &mut data);
        data.push('}');
        encode::event("oversize", Some(&end.to_string()), &data, &mut self.text);
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn file(bytes: &[u8]) -> Arc<File> {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(bytes).expect("written");
        Arc::new(file)
    }

    fn ids(file: &Arc<File>, at: u64) -> Vec<u64> {
        let (mut reader, _) = Transcript::open(Arc::clone(file), at).expect("opened");
        let mut ids = Vec::new();
        loop {
            let events = reader.read(&Kinds::default(), &Redactor::none());
            let events = events.expect("read");
            if events.text.is_empty() {
                return ids;
            }
            let lines = events.text.lines();
            ids.extend(lines.filter_map(|line| line.strip_prefix("id: ")?.parse::<u64>().ok()));
        }
    }

    #[test]
    fn b3_from_each_id_exactly_the_events_after_it_follow() {
        let mut text = String::new();
        for number in 0..3000 {
            text.push_str(&format!(
                "{{\"n\":{number},\"pad\":\"{}\"}}\n",
                "x".repeat(number % 97)
            ));
        }
        text.push_str("{\"torn\":");
        let file = file(text.as_bytes());
        let all = ids(&file, 0);
        assert_eq!(all.len(), 3000);
        for at in (0..all.len()).step_by(37) {
            assert_eq!(ids(&file, all[at]), all[at + 1..], "{at}");
        }
    }

    #[test]
    fn a_place_that_is_no_line_is_told() {
        let file = file(b"{\"a\":1}\n{\"b\":2}\n");
        let why = |at| Transcript::open(Arc::clone(&file), at).expect("opened").1;
        assert_eq!([why(0), why(8), why(16)], [None; 3]);
        assert_eq!(why(3), Some("not_a_line"));
        assert_eq!(why(17), Some("shorter"));
        assert_eq!(ids(&file, 3), [16]);
        assert_eq!(ids(&file, 99), [8, 16]);
    }

    #[test]
    fn a_line_that_is_too_long_is_sent_as_its_beginning() {
        let long = format!("{{\"a\":\"{}\"}}", "y".repeat(3 << 20));
        let text = format!("{{\"n\":1}}\n{long}\n{{\"n\":2}}\n");
        let file = file(text.as_bytes());
        assert_eq!(ids(&file, 0), [8, 9 + long.len() as u64, text.len() as u64]);
        let (mut reader, _) = Transcript::open(file, 8).expect("opened");
        let events = reader.read(&Kinds::default(), &Redactor::none());
        let text = events.expect("read").text;
        assert!(text.contains(&format!(
            "event: oversize\ndata: {{\"bytes\":{},",
            long.len()
        )));
        assert!(text.len() < 2 * HEAD);
    }

    #[test]
    fn kinds_are_types_and_subtypes_and_what_is_not_wanted() {
        let ask: &[u8] = br#"{"type":"cr","subtype":"ask"}"#;
        let cases = [
            ("", true),
            ("cr", true),
            ("assistant,cr/ask", true),
            ("cr/exit", false),
            ("-cr/ask", false),
            ("cr,-cr/ask", false),
            ("-stream_event", true),
        ];
        for (kinds, is_wanted) in cases {
            assert_eq!(Kinds::parse(kinds).has(ask), is_wanted, "{kinds}");
        }
    }
}
