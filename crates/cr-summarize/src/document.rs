//! The forms of `--output-format json`: one object or one array, on a line or
//! spread over many, and one after the other.
//!
//! The first line that is not blank decides. An array, or a brace alone, opens
//! a document, which is held until it is closed. What turns out to be none is
//! taken as the lines it consists of.

use cr_event::{Cursor, strip};

use crate::sessions::Sessions;

/// Tells documents from lines.
#[derive(Debug)]
pub(crate) struct Documents {
    form: Form,
    limit: usize,
    held: Vec<u8>,
    brackets: Brackets,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Unknown,
    Lines,
    /// Between two documents.
    Documents,
    /// Within one.
    Open,
}

impl Documents {
    /// Holds no document over `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            form: Form::Unknown,
            limit,
            held: Vec::new(),
            brackets: Brackets::default(),
        }
    }

    /// Takes a line.
    pub(crate) fn line(&mut self, line: &[u8], sessions: &mut Sessions) {
        match self.form {
            Form::Lines => return sessions.line(line),
            Form::Open => return self.hold(line, sessions),
            Form::Unknown | Form::Documents => {}
        }
        let stripped = strip(line);
        match stripped.first() {
            None => sessions.line(line),
            Some(b'[') => self.open(stripped, sessions),
            Some(b'{') if stripped == b"{" => self.open(stripped, sessions),
            Some(_) => {
                if self.form == Form::Unknown {
                    self.form = Form::Lines;
                }
                sessions.line(line);
            }
        }
    }

    /// Whether the input is known to be one line an event.
    pub(crate) fn is_lines(&self) -> bool {
        self.form == Form::Lines
    }

    /// Takes a line that is too long.
    pub(crate) fn oversize(&mut self, sessions: &mut Sessions) {
        self.give_up(sessions);
        sessions.oversize();
    }

    /// There is no more.
    pub(crate) fn finish(&mut self, sessions: &mut Sessions) {
        if self.form == Form::Open {
            self.give_up(sessions);
        }
    }

    fn open(&mut self, line: &[u8], sessions: &mut Sessions) {
        self.form = Form::Open;
        self.brackets = Brackets::default();
        self.brackets.feed(line);
        self.held.extend_from_slice(line);
        self.check(sessions);
    }

    fn hold(&mut self, line: &[u8], sessions: &mut Sessions) {
        self.held.push(b'\n');
        self.held.extend_from_slice(line);
        self.brackets.feed(line);
        self.check(sessions);
    }

    fn check(&mut self, sessions: &mut Sessions) {
        if self.brackets.broken || self.held.len() > self.limit {
            self.give_up(sessions);
        } else if self.brackets.closed {
            self.close(sessions);
        }
    }

    /// Takes the document apart.
    fn close(&mut self, sessions: &mut Sessions) {
        let held = std::mem::take(&mut self.held);
        self.form = Form::Documents;
        if held.first() == Some(&b'{') {
            return sessions.line(&held);
        }
        let mut items = Vec::new();
        let walked = Cursor::new(&held).array(|cursor| {
            items.push(cursor.raw()?.bytes());
            Ok(())
        });
        let has_objects = items.iter().any(|item| item.first() == Some(&b'{'));
        if walked == Ok(true) && has_objects {
            for item in items {
                sessions.line(item);
            }
        } else {
            lines(&held, sessions);
        }
    }

    /// What is held is no document.
    fn give_up(&mut self, sessions: &mut Sessions) {
        self.form = Form::Lines;
        let held = std::mem::take(&mut self.held);
        if !held.is_empty() {
            lines(&held, sessions);
        }
    }
}

fn lines(held: &[u8], sessions: &mut Sessions) {
    for line in held.split(|&b| b == b'\n') {
        sessions.line(line);
    }
}

/// Whether a document is whole, by its brackets.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the state of a small machine, each bit of it on its own"
)]
struct Brackets {
    depth: u64,
    in_string: bool,
    escapes: bool,
    closed: bool,
    /// Something follows what was closed.
    broken: bool,
}

impl Brackets {
    fn feed(&mut self, line: &[u8]) {
        for &byte in line {
            if self.closed {
                self.broken |= !byte.is_ascii_whitespace();
            } else if self.in_string {
                self.in_string = byte != b'"' || self.escapes;
                self.escapes = byte == b'\\' && !self.escapes;
            } else {
                self.in_string = byte == b'"';
                match byte {
                    b'{' | b'[' => self.depth += 1,
                    b'}' | b']' => self.depth -= 1,
                    _ => {}
                }
                self.closed = self.depth == 0;
            }
        }
        // No string goes on in the next line.
        self.broken |= self.in_string;
    }
}
