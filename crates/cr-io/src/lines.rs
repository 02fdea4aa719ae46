//! A line reader that lends each line from one buffer, and can skip a long line
//! without holding it.

use std::io::{self, ErrorKind, Read};

use memchr::memchr;

use crate::scan::{End, Scan};

/// Longest line that is held in memory by default: 64 MiB.
pub const MAX_LINE: usize = 64 << 20;

/// Size of the buffer; a line that does not fit is [`Line::Long`] at first.
const BUFFER: usize = 128 << 10;

/// A buffer that grew for a long line is kept up to this size: to allocate it
/// again for the next one would take longer than to read it.
const KEPT: usize = 8 << 20;

/// The byte order mark, with which some programs begin a text.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// What [`Lines::next`] found.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// A line without its newline.
    Whole(&'a [u8]),
    /// The last line, which the input ends without a newline.
    Torn(&'a [u8]),
    /// The first bytes of a line that does not fit the buffer. The caller goes
    /// on with [`Lines::whole`] or [`Lines::pass`].
    Long(&'a [u8]),
}

/// Reads `\n`-terminated lines without copying them.
///
/// Not an iterator: a line borrows from the buffer until the next call.
///
/// ```
/// use cr_io::{Line, Lines};
///
/// let mut lines = Lines::new(&b"one\ntwo"[..]);
/// assert_eq!(lines.next()?, Some(Line::Whole(b"one")));
/// assert_eq!(lines.next()?, Some(Line::Torn(b"two")));
/// assert_eq!(lines.next()?, None);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Lines<R> {
    input: R,
    buf: Vec<u8>,
    /// Unread bytes are `buf[start..end]`; the rest is spare room.
    start: usize,
    end: usize,
    /// Finds lines and checks that they are objects; without it they are only
    /// found.
    scan: Option<Scan>,
    /// Bytes after `start` that hold no newline, where nothing is checked.
    scanned: usize,
    /// The end of the next line, once it is known.
    found: Option<End>,
    /// Whether the line last returned is one whole object.
    whole: bool,
    limit: usize,
    number: u64,
}

impl<R: Read> Lines<R> {
    /// Reads lines from `input`, which needs no buffering of its own.
    pub fn new(input: R) -> Self {
        Self {
            input,
            buf: vec![0; BUFFER],
            start: 0,
            end: 0,
            scan: None,
            scanned: 0,
            found: None,
            whole: false,
            limit: MAX_LINE,
            number: 0,
        }
    }

    /// Also checks whether each line is one whole object, for
    /// [`Lines::is_object`]. It takes about an instruction a byte.
    #[must_use]
    pub fn check_objects(mut self) -> Self {
        self.scan = Some(Scan::new());
        self
    }

    /// Holds no line longer than `bytes`: [`Lines::whole`] then returns `None`.
    #[must_use]
    pub fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// The number of the line last returned, counting from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Whether the line last returned, once all of it was, is a JSON object by
    /// its brackets, with nothing but blanks around it. Its content is not
    /// checked. Always false without [`Lines::check_objects`].
    pub fn is_object(&self) -> bool {
        self.whole
    }

    /// Whether the next call has to read, and so may block.
    ///
    /// Flush the output when this turns true: a burst then leaves in one
    /// write, and a slow producer is still seen line by line.
    pub fn is_drained(&mut self) -> bool {
        self.find().is_none()
    }

    /// Returns the next line, or `None` at the end of the input.
    #[expect(clippy::should_implement_trait, reason = "lends; an Iterator cannot")]
    pub fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        loop {
            if let Some(end) = self.find() {
                self.number += 1;
                self.whole = self.begins_object();
                return Ok(Some(Line::Whole(self.take(end))));
            }
            if self.end - self.start >= BUFFER {
                self.number += 1;
                self.whole = self.begins_object();
                return Ok(Some(Line::Long(&self.buf[self.start..self.end])));
            }
            if self.fill()? == 0 {
                self.whole = self.begins_object();
                let last = self.rest();
                return Ok(last.map(Line::Torn));
            }
        }
    }

    /// Consumes the whole lines in the buffer that begin with `prefix`, up to the
    /// first that does not; returns how many. With [`Lines::check_objects`] it
    /// skips none.
    pub fn skip(&mut self, prefix: &[u8]) -> u64 {
        if self.scan.is_some() {
            return 0;
        }
        let unread = &self.buf[self.start..self.end];
        let mut found = self.found.map(|end| end.newline - self.start);
        let (mut at, mut scanned, mut lines) = (0, self.scanned, 0);
        while unread[at..].starts_with(prefix) {
            let newline = found.take().or_else(|| {
                let from = at + scanned.max(prefix.len());
                memchr(b'\n', &unread[from..]).map(|length| from + length)
            });
            let Some(newline) = newline else {
                scanned = unread.len() - at;
                break;
            };
            (at, scanned, lines) = (newline + 1, 0, lines + 1);
        }
        if lines > 0 {
            self.found = None;
        }
        self.start += at;
        self.scanned = scanned;
        self.number += lines;
        lines
    }

    /// Reads the rest of the [`Line::Long`] just returned and lends all of it,
    /// or `None` if it is longer than the limit; then only [`Lines::pass`] goes
    /// on.
    pub fn whole(&mut self) -> io::Result<Option<Line<'_>>> {
        loop {
            if let Some(end) = self.find() {
                let fits = end.newline - self.start <= self.limit;
                return Ok(fits.then(|| Line::Whole(self.take(end))));
            }
            if self.end - self.start > self.limit {
                return Ok(None);
            }
            if self.fill()? == 0 {
                self.number -= 1;
                return Ok(self.rest().map(Line::Torn));
            }
        }
    }

    /// Hands the rest of the [`Line::Long`] just returned to `part`, piece by
    /// piece and without its newline; memory stays as it is. Returns whether a
    /// newline ended it.
    pub fn pass(&mut self, mut part: impl FnMut(&[u8])) -> io::Result<bool> {
        loop {
            if let Some(end) = self.find() {
                part(self.take(end));
                return Ok(true);
            }
            // Bytes that are not scanned yet stay for the next round.
            let mut scanned = self.end;
            if let Some(scan) = &mut self.scan {
                scanned = scan.scanned(&self.buf[..self.end]);
                scan.settle(&self.buf, scanned);
            }
            part(&self.buf[self.start..scanned]);
            self.start = scanned;
            self.scanned = 0;
            if self.fill()? == 0 {
                self.number -= 1;
                if let Some(last) = self.rest() {
                    part(last);
                } else {
                    self.number += 1;
                }
                return Ok(false);
            }
        }
    }

    /// The end of the next line, if it is in the buffer.
    #[inline]
    fn find(&mut self) -> Option<End> {
        // An empty buffer is not scanned: to ask the processor for its features
        // takes a tenth of a filter's start.
        if self.found.is_none() && self.start < self.end {
            self.found = match &mut self.scan {
                Some(scan) => scan.next(&self.buf[..self.end]),
                None => self.newline(),
            };
        }
        self.found
    }

    /// The next newline, without a check.
    fn newline(&mut self) -> Option<End> {
        let unread = &self.buf[self.start..self.end];
        let newline = memchr(b'\n', &unread[self.scanned..]);
        let newline = newline.map(|at| self.start + self.scanned + at);
        self.scanned = if newline.is_some() { 0 } else { unread.len() };
        newline.map(|newline| End {
            newline,
            object: None,
        })
    }

    /// Whether the current line begins like an object.
    fn begins_object(&self) -> bool {
        if self.scan.is_none() {
            return false;
        }
        let line = &self.buf[self.start..self.end];
        // At the first byte in all but odd cases.
        let mut bytes = line.strip_prefix(MARK).unwrap_or(line).iter();
        bytes.find(|b| !b.is_ascii_whitespace()) == Some(&b'{')
    }

    /// Consumes the line that ends at `end`, and its newline.
    fn take(&mut self, end: End) -> &[u8] {
        let line = self.start..end.newline;
        self.start = end.newline + 1;
        self.found = None;
        self.judge(end);
        &self.buf[line]
    }

    /// The last bytes, at the end of the input.
    fn rest(&mut self) -> Option<&[u8]> {
        if self.start == self.end {
            self.whole = false;
            return None;
        }
        self.number += 1;
        let line = self.start..self.end;
        let scan = self.scan.as_mut();
        let end = scan.map(|scan| scan.finish(&self.buf[..self.end]));
        self.start = self.end;
        self.scanned = 0;
        self.judge(end.unwrap_or(End {
            newline: self.end,
            object: None,
        }));
        Some(&self.buf[line])
    }

    /// Decides whether the line that ends at `end` is one object.
    #[inline]
    fn judge(&mut self, end: End) {
        if !self.whole {
            return;
        }
        let after = end.object.map(|object| &self.buf[object..end.newline]);
        self.whole &= after.is_some_and(|after| after.trim_ascii().is_empty());
    }

    /// Reads once into spare room, made by sliding first and growing second.
    fn fill(&mut self) -> io::Result<usize> {
        if self.start > 0 {
            self.buf.copy_within(self.start..self.end, 0);
            if let Some(scan) = &mut self.scan {
                scan.slide(self.start);
            }
            self.end -= self.start;
            self.start = 0;
            if self.end < BUFFER && self.buf.len() > KEPT {
                self.buf.truncate(BUFFER);
                self.buf.shrink_to_fit();
            }
        }
        // By a buffer at a time: what is zeroed is touched, and memory that is
        // only reserved costs nothing.
        let room = (self.end / BUFFER + 1) * BUFFER;
        if self.buf.len() < room {
            self.buf.resize(room, 0);
        }
        loop {
            match self.input.read(&mut self.buf[self.end..room]) {
                Ok(n) => {
                    self.end += n;
                    return Ok(n);
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Trickle;

    fn all<R: Read>(mut lines: Lines<R>) -> Vec<String> {
        let mut found = Vec::new();
        loop {
            let text = match lines.next().expect("read") {
                None => return found,
                Some(Line::Whole(line)) => format!("whole {}", line.len()),
                Some(Line::Torn(line)) => format!("torn {}", line.len()),
                Some(Line::Long(_)) => {
                    if let Some(line) = lines.whole().expect("read") {
                        match line {
                            Line::Whole(line) => format!("whole {}", line.len()),
                            Line::Torn(line) => format!("torn {}", line.len()),
                            Line::Long(_) => unreachable!("whole is never long"),
                        }
                    } else {
                        let mut length = 0;
                        let ended = lines.pass(|part| length += part.len()).expect("read");
                        format!("passed {length} {ended}")
                    }
                }
            };
            found.push(text);
        }
    }

    #[test]
    fn the_same_lines_however_the_input_is_cut() {
        let mut input = b"\none\n\ntwo\r\n".to_vec();
        input.extend(vec![b'x'; 3 * BUFFER]);
        input.extend(b"\nshort\n");
        input.extend(vec![b'y'; 5 * BUFFER]);
        input.extend(b"\nend");
        let expected = [
            "whole 0",
            "whole 3",
            "whole 0",
            "whole 4",
            &format!("whole {}", 3 * BUFFER),
            "whole 5",
            &format!("passed {} true", 5 * BUFFER),
            "torn 3",
        ];
        for step in [1, 2, 7, 4096, BUFFER, usize::MAX] {
            let trickle = Trickle::new(&input, step);
            let lines = Lines::new(trickle).limit(4 * BUFFER);
            assert_eq!(all(lines), expected, "step {step}");
            let trickle = Trickle::new(&input, step);
            let lines = Lines::new(trickle).limit(4 * BUFFER).check_objects();
            assert_eq!(all(lines), expected, "judged, step {step}");
        }
    }

    /// Each line's verdict, read by `step` bytes, long lines passed or held.
    fn objects(input: &[u8], step: usize, hold: bool) -> Vec<bool> {
        let trickle = Trickle::new(input, step);
        let mut lines = Lines::new(trickle).check_objects();
        let mut found = Vec::new();
        loop {
            match lines.next().expect("read") {
                None => return found,
                Some(Line::Long(_)) if hold => drop(lines.whole().expect("read")),
                Some(Line::Long(_)) => drop(lines.pass(|_| ()).expect("read")),
                Some(_) => {}
            }
            found.push(lines.is_object());
        }
    }

    #[test]
    fn an_object_is_told_from_what_only_looks_like_one() {
        let long = "x".repeat(3 * BUFFER);
        #[rustfmt::skip]
        let cases = [
            ("{}", true), ("  {\"a\":[1,{\"b\":2}]} \r", true), (r#"{"a":"}"}"#, true),
            (r#"{"a":"\"}"}"#, true), (r#"{"a":"\\"}"#, true), (r#"{"a":"\\\"}"#, false),
            ("\u{feff}{}", true), ("[1]", false), ("null", false), ("{", false), ("{}}", false),
            ("{} {}", false), ("{} x", false), ("x {}", false), (r#"{"a":{"b":1}"#, false),
            (r#"{"a":"b}"#, false), ("", false),
        ];
        let mut input = String::new();
        let mut expected = Vec::new();
        for (line, whole) in cases {
            input.push_str(&format!(
                "{line}\n{{\"long\":\"{long}\"}}\n{{\"long\":\"{long}\"}}{line}\n"
            ));
            expected.extend([whole, true, line.is_empty()]);
        }
        input.push_str("{\"torn\":1}");
        expected.push(true);
        for step in [1 << 10, 4097, BUFFER, usize::MAX] {
            assert_eq!(
                objects(input.as_bytes(), step, true),
                expected,
                "step {step}, held"
            );
            assert_eq!(
                objects(input.as_bytes(), step, false),
                expected,
                "step {step}, passed"
            );
        }
    }

    #[test]
    fn lines_that_begin_alike_are_passed_over_at_once() {
        for step in [1, 3, 10, usize::MAX] {
            let input = b"aa1\naa2\nb\naa3\naa-torn";
            let mut lines = Lines::new(Trickle::new(input, step));
            let (mut passed, mut seen) = (0, Vec::new());
            loop {
                passed += lines.skip(b"aa");
                match lines.next().expect("read") {
                    None => break,
                    Some(Line::Whole(line) | Line::Torn(line) | Line::Long(line)) => {
                        seen.push((lines_text(line), passed));
                    }
                }
            }
            // Byte by byte a line is never in the buffer as a whole.
            let texts: Vec<_> = seen
                .iter()
                .filter(|(text, _)| !text.starts_with("aa"))
                .collect();
            assert_eq!(texts.len(), 1, "step {step}: {seen:?}");
            assert_eq!(lines.number(), 5, "step {step}: {seen:?}");
            assert_eq!(passed + seen.len() as u64, 5, "step {step}: {seen:?}");
        }
    }

    fn lines_text(line: &[u8]) -> String {
        String::from_utf8_lossy(line).into_owned()
    }

    #[test]
    fn the_number_of_a_line_counts_long_ones_once() {
        let mut input = vec![b'x'; 2 * BUFFER];
        input.extend(b"\nnext\n");
        let mut lines = Lines::new(&input[..]);
        assert!(matches!(lines.next(), Ok(Some(Line::Long(_)))));
        assert!(lines.pass(|_| ()).expect("read"));
        assert_eq!(lines.next().expect("read"), Some(Line::Whole(b"next")));
        assert_eq!(lines.number(), 2);
    }
}
