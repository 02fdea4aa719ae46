//! Splits a text at its fences.
//!
//! The rules are those of Markdown, and the habits of agents: JSON on the
//! line of its opening fence, a closing fence right behind the JSON, an opening
//! fence at the end of a sentence, a last fence that is never closed. Apart from
//! these a fence starts a line, so three backticks in a string end nothing.

use memchr::memchr;

use crate::value::{self, is_container};

/// The parts of a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Parts<'a> {
    /// Objects and arrays in fences tagged json.
    pub(crate) tagged: Vec<&'a str>,
    /// Objects and arrays in fences without a tag.
    pub(crate) bare: Vec<&'a str>,
    /// Other values in fences tagged json.
    pub(crate) scalars: Vec<&'a str>,
    /// What may be searched: everything but blocks that are JSON, or were meant
    /// to be, or are of another language.
    pub(crate) prose: Vec<&'a str>,
}

/// Takes `text` apart.
pub(crate) fn split(text: &str) -> Parts<'_> {
    let mut splitter = Splitter {
        text,
        parts: Parts::default(),
        prose_from: 0,
        unclosed: [usize::MAX; 2],
    };
    let mut at = 0;
    while at < text.len() {
        let end = line_end(text, at);
        at = match Fence::open(text, at, end) {
            Some(fence) => splitter.block(&fence),
            None => end + 1,
        };
    }
    splitter.prose(text.len());
    splitter.parts
}

/// The end of the line that `at` is on, without its newline.
fn line_end(text: &str, at: usize) -> usize {
    memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |length| at + length)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tag {
    Json,
    Bare,
    Other,
}

/// An opening fence.
#[derive(Debug)]
struct Fence {
    /// Where it starts.
    at: usize,
    mark: u8,
    length: usize,
    tag: Tag,
    /// Where its content starts: on the next line, or behind the tag.
    content: usize,
}

/// How many of `mark` are at `at`.
fn run(text: &str, at: usize, mark: u8) -> usize {
    let rest = text.as_bytes()[at..].iter();
    rest.take_while(|&&b| b == mark).count()
}

impl Fence {
    /// The fence that is opened on the line from `start` to `end`.
    fn open(text: &str, start: usize, end: usize) -> Option<Self> {
        let line = &text[start..end];
        let at = start + (line.len() - line.trim_start().len());
        let mark = *text.as_bytes().get(at)?;
        let length = run(text, at, mark);
        if !matches!(mark, b'`' | b'~') || length < 3 {
            return Self::open_after_words(text, start, end);
        }
        let info = text[at + length..end].trim();
        let word = match info.find(|c: char| c.is_whitespace() || c == '{' || c == '[') {
            Some(length) => &info[..length],
            None => info,
        };
        let tag = Tag::of(word);
        let fence = |tag, content| Self {
            at,
            mark,
            length,
            tag,
            content,
        };
        // `{.numberLines}` is no content; JSON must be followed by the end.
        let after = info[word.len()..].trim_start();
        if is_container(after) && tag != Tag::Other {
            let info_end = start + text[start..end].trim_end().len();
            let fence = fence(tag, info_end - after.len());
            if fence.value(text).is_some() {
                return Some(fence);
            }
        }
        if mark == b'`' && info.contains('`') {
            return None;
        }
        let tag = if info.starts_with(['{', '[']) {
            Tag::Other
        } else {
            tag
        };
        Some(fence(tag, (end + 1).min(text.len())))
    }

    /// The fence that ends a line of words: ``so:```json``.
    fn open_after_words(text: &str, start: usize, end: usize) -> Option<Self> {
        let line = text[start..end].trim_end();
        let ticks = line.rfind('`')? + 1;
        let word = line[ticks..].trim_start();
        let before = line[..ticks].trim_end_matches('`');
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '+' | '#' | '-' | '_' | '.');
        let is_quoted = before.trim_start().starts_with('>');
        let is_opening = ticks - before.len() >= 3 && !before.contains('`') && !is_quoted;
        if !is_opening || word.is_empty() || !word.chars().all(is_word) {
            return None;
        }
        Some(Self {
            at: start + before.len(),
            mark: b'`',
            length: ticks - before.len(),
            tag: Tag::of(word),
            content: (end + 1).min(text.len()),
        })
    }

    /// The one value that the block holds, as its range, and the end of the
    /// block.
    fn value(&self, text: &str) -> Option<(usize, usize, usize)> {
        let content = &text[self.content..];
        let lead = |c: char| c == '\u{feff}' || c.is_ascii_whitespace();
        let start = self.content + (content.len() - content.trim_start_matches(lead).len());
        let end = value::value(text, start).ok()?;
        Some((start, end, self.closed_at(text, end)?))
    }

    /// The end of the block, if there is nothing between `at` and it.
    fn closed_at(&self, text: &str, at: usize) -> Option<usize> {
        let rest = &text[at..];
        let blanks = rest.len() - rest.trim_ascii_start().len();
        let next = at + blanks;
        let length = run(text, next, self.mark);
        if next == text.len() {
            return Some(next);
        } else if length < self.length {
            return None;
        }
        let behind = next + length;
        let end = line_end(text, behind);
        let is_alone = text[behind..end].trim().is_empty();
        // Another block may follow at once, and this one was not closed.
        let opens = rest[..blanks].contains('\n') && !is_alone;
        Some(match (opens, is_alone) {
            (true, _) => next,
            (_, true) => end,
            _ => behind,
        })
    }
}

impl Tag {
    fn of(word: &str) -> Self {
        match word {
            "" => Self::Bare,
            word if word.eq_ignore_ascii_case("json") => Self::Json,
            _ => Self::Other,
        }
    }
}

struct Splitter<'a> {
    text: &'a str,
    parts: Parts<'a>,
    prose_from: usize,
    /// The shortest fences, of backticks and of tildes, that are known to be
    /// closed nowhere in the rest of the text. Looking for the end of each
    /// anew would take the square of the time.
    unclosed: [usize; 2],
}

impl<'a> Splitter<'a> {
    /// Takes the block that `fence` opens; returns where the text goes on.
    fn block(&mut self, fence: &Fence) -> usize {
        if fence.tag != Tag::Other
            && let Some((start, end, behind)) = fence.value(self.text)
        {
            self.prose(fence.at);
            self.prose_from = behind;
            self.keep(&self.text[start..end], fence.tag);
            return behind;
        }
        let is_other = fence.tag == Tag::Other;
        match self.closing(fence) {
            // What only looks like a fence hides nothing.
            None if !is_other => fence.content,
            None => {
                self.prose(fence.at);
                self.prose_from = self.text.len();
                self.text.len()
            }
            Some((_, behind)) if fence.tag == Tag::Bare => behind,
            Some((_, behind)) => {
                self.prose(fence.at);
                self.prose_from = behind;
                behind
            }
        }
    }

    fn keep(&mut self, json: &'a str, tag: Tag) {
        match (tag, is_container(json)) {
            (Tag::Json, true) => self.parts.tagged.push(json),
            (Tag::Json, false) => self.parts.scalars.push(json),
            (Tag::Bare, true) => self.parts.bare.push(json),
            (Tag::Bare, false) | (Tag::Other, _) => {}
        }
    }

    /// The line that closes `fence`: where it starts and ends.
    fn closing(&mut self, fence: &Fence) -> Option<(usize, usize)> {
        let unclosed = &mut self.unclosed[usize::from(fence.mark == b'~')];
        if fence.length >= *unclosed {
            return None;
        }
        let mut at = fence.content;
        while at < self.text.len() {
            let end = line_end(self.text, at);
            let line = self.text[at..end].trim();
            if line.len() >= fence.length && line.bytes().all(|b| b == fence.mark) {
                return Some((at, end));
            }
            at = end + 1;
        }
        *unclosed = fence.length;
        None
    }

    fn prose(&mut self, end: usize) {
        if self.prose_from < end {
            self.parts.prose.push(&self.text[self.prose_from..end]);
        }
        self.prose_from = end;
    }
}
