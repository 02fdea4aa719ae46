//! The forms of `--output-format json`: one object or one array, on a line or
//! spread over many, and one after the other.
//!
//! The first line that is not blank decides. An array, or a brace alone, opens
//! a document, which is held until it is closed. If it turns out to be no
//! document, its lines are taken one by one.

use crate::json::Cursor;
use crate::line::strip;

/// Recognises documents, and gives one event at a time.
///
/// ```
/// let mut events = Vec::new();
/// let mut documents = cr_event::Documents::new(1 << 20);
/// for line in ["[", r#"  {"type": "user"},"#, r#"  {"type": "result"}"#, "]"] {
///     documents.line(line.as_bytes(), &mut |event| events.push(event.to_vec()));
/// }
/// assert_eq!(events, [&br#"{"type": "user"}"#[..], br#"{"type": "result"}"#]);
/// ```
#[derive(Debug)]
pub struct Documents {
    form: Form,
    limit: usize,
    held: Vec<u8>,
    brackets: Brackets,
    /// The last line left a document in the middle of a string.
    ends_in_string: bool,
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
    pub fn new(limit: usize) -> Self {
        Self {
            form: Form::Unknown,
            limit,
            held: Vec::new(),
            brackets: Brackets::default(),
            ends_in_string: false,
        }
    }

    /// Takes a line.
    pub fn line(&mut self, line: &[u8], each: &mut dyn FnMut(&[u8])) {
        self.ends_in_string = false;
        match self.form {
            Form::Lines => return each(line),
            Form::Open => return self.hold(line, each),
            Form::Unknown | Form::Documents => {}
        }
        let stripped = strip(line);
        match stripped.first() {
            None => each(line),
            Some(b'[') => self.open(stripped, each),
            Some(b'{') if stripped == b"{" => self.open(stripped, each),
            Some(_) => {
                if self.form == Form::Unknown {
                    self.form = Form::Lines;
                }
                each(line);
            }
        }
    }

    /// Whether the input is known to be one line an event.
    pub fn is_lines(&self) -> bool {
        self.form == Form::Lines
    }

    /// Takes a line that is too long, and so no part of a document.
    pub fn oversize(&mut self, each: &mut dyn FnMut(&[u8])) {
        self.give_up(each);
    }

    /// Whether a document is begun and not closed: its end is missing, if there
    /// is no more.
    pub fn is_open(&self) -> bool {
        self.form == Form::Open || self.ends_in_string
    }

    /// There is no more.
    pub fn finish(&mut self, each: &mut dyn FnMut(&[u8])) {
        if self.form == Form::Open {
            self.give_up(each);
        }
    }

    fn open(&mut self, line: &[u8], each: &mut dyn FnMut(&[u8])) {
        self.brackets = Brackets::default();
        self.brackets.feed(line);
        if self.brackets.closed && !self.brackets.broken {
            self.form = Form::Documents;
            return apart(line, each);
        }
        self.form = Form::Open;
        self.held.extend_from_slice(line);
        self.check(each);
    }

    fn hold(&mut self, line: &[u8], each: &mut dyn FnMut(&[u8])) {
        self.held.push(b'\n');
        self.held.extend_from_slice(line);
        self.brackets.feed(line);
        self.check(each);
    }

    fn check(&mut self, each: &mut dyn FnMut(&[u8])) {
        if self.brackets.broken || self.held.len() > self.limit {
            self.give_up(each);
        } else if self.brackets.closed {
            self.form = Form::Documents;
            apart(&std::mem::take(&mut self.held), each);
        }
    }

    /// The held bytes are no document.
    fn give_up(&mut self, each: &mut dyn FnMut(&[u8])) {
        self.ends_in_string = self.brackets.in_string;
        self.form = Form::Lines;
        let held = std::mem::take(&mut self.held);
        if !held.is_empty() {
            lines(&held, each);
        }
    }
}

/// Takes a document apart, into lines where it is none. Twice over the items:
/// a list of them would take more than the document.
fn apart(document: &[u8], each: &mut dyn FnMut(&[u8])) {
    if document.first() == Some(&b'{') {
        return each(document);
    }
    let mut has_objects = false;
    let walked = Cursor::new(document).array(|cursor| {
        has_objects |= cursor.raw()?.bytes().first() == Some(&b'{');
        Ok(())
    });
    if walked != Ok(true) || !has_objects {
        return lines(document, each);
    }
    let walked = Cursor::new(document).array(|cursor| {
        each(cursor.raw()?.bytes());
        Ok(())
    });
    debug_assert_eq!(walked, Ok(true), "as before");
}

fn lines(held: &[u8], each: &mut dyn FnMut(&[u8])) {
    for line in held.split(|&b| b == b'\n') {
        each(line);
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
    /// Something follows the closed document.
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
