//! A cursor over one line of JSON: it goes through the bytes once, borrows
//! what it is asked for and skips the rest without looking at it closely.
//!
//! A value of another type than asked for is skipped and counts as absent;
//! only broken structure is an error. Strings are kept as they are in the
//! line and decoded when they are used: agents write lone surrogates and bytes
//! that are not UTF-8, and one of them must not make the line unreadable.

use std::borrow::Cow;
use std::fmt;

use memchr::memchr;

/// Deeper nesting is refused: containers that are read take stack. Those that
/// are skipped do not count.
const DEPTH: u32 = 64;

/// The most parts of one value that are given at once. A line may hold millions
/// of small ones, and a list of them takes many times its bytes.
pub(crate) const MOST: usize = 1 << 16;

/// Why a line is not an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// Where in the line, counting bytes from 1.
    pub column: usize,
    /// What is wrong there.
    pub reason: &'static str,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: {}", self.column, self.reason)
    }
}

impl std::error::Error for Malformed {}

/// A JSON string as it is in the line, without its quotes.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Text<'a> {
    bytes: &'a [u8],
    has_escape: bool,
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.decode(), f)
    }
}

impl<'a> Text<'a> {
    /// The bytes between the quotes.
    pub fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// What `of` makes of the string, decoded where it has to be.
    pub(crate) fn with_bytes<T>(self, of: impl FnOnce(&[u8]) -> T) -> T {
        if self.has_escape {
            of(self.decode().as_bytes())
        } else {
            of(self.bytes)
        }
    }

    /// Whether the string, decoded, is `other`.
    pub fn is(self, other: &str) -> bool {
        self.bytes == other.as_bytes() || (self.has_escape && self.decode() == other)
    }

    /// The string; invalid bytes become U+FFFD.
    pub fn decode(self) -> Cow<'a, str> {
        self.prefix(usize::MAX)
    }

    /// About the first `bytes` bytes of the decoded string, ending at the end
    /// of a character: so much of a large string is decoded and no more.
    pub fn prefix(self, bytes: usize) -> Cow<'a, str> {
        if !self.has_escape {
            return lossy(cut(self.bytes, bytes));
        }
        let mut out = String::with_capacity(bytes.min(self.bytes.len()));
        let mut rest = self.bytes;
        while !rest.is_empty() && out.len() < bytes {
            let plain = memchr(b'\\', rest).unwrap_or(rest.len());
            let part = cut(&rest[..plain], bytes - out.len());
            out.push_str(&lossy(part));
            rest = &rest[part.len()..];
            if part.len() < plain {
                break;
            }
            if !rest.is_empty() {
                rest = unescape(rest, &mut out);
            }
        }
        Cow::Owned(out)
    }
}

/// The bytes as text, with invalid ones replaced. The check alone is several
/// times faster than the replacement, and nearly always enough.
fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// At most `length` bytes of `bytes`, and no part of a character at the end.
fn cut(bytes: &[u8], length: usize) -> &[u8] {
    if bytes.len() <= length {
        return bytes;
    }
    let continues = |at: &usize| bytes[*at] & 0xC0 == 0x80;
    let end = (length.saturating_sub(3)..=length)
        .rev()
        .find(|at| !continues(at));
    &bytes[..end.unwrap_or(length)]
}

/// Decodes the escape at the start of `bytes`; returns what follows it.
fn unescape<'a>(bytes: &'a [u8], out: &mut String) -> &'a [u8] {
    let Some(&kind) = bytes.get(1) else {
        out.push(char::REPLACEMENT_CHARACTER);
        return &[];
    };
    let plain = match kind {
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'"' | b'\\' | b'/' => char::from(kind),
        b'u' => return unescape_unicode(bytes, out),
        _ => {
            out.push(char::REPLACEMENT_CHARACTER);
            return &bytes[1..];
        }
    };
    out.push(plain);
    &bytes[2..]
}

/// Decodes `\uXXXX`, or two of them that make one character.
fn unescape_unicode<'a>(bytes: &'a [u8], out: &mut String) -> &'a [u8] {
    let unit = |bytes: &[u8]| -> Option<u16> {
        let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
        let digits = std::str::from_utf8(digits).ok()?;
        // from_str_radix also takes a sign.
        digits
            .bytes()
            .all(|b| b.is_ascii_hexdigit())
            .then_some(())?;
        u16::from_str_radix(digits, 16).ok()
    };
    let Some(first) = unit(bytes) else {
        out.push(char::REPLACEMENT_CHARACTER);
        return &bytes[2..];
    };
    let second = bytes.get(6..).and_then(unit);
    let units = [first, second.unwrap_or(0)];
    let decoded = char::decode_utf16(units).next();
    let c = decoded.and_then(Result::ok);
    out.push(c.unwrap_or(char::REPLACEMENT_CHARACTER));
    let two = c.is_some_and(|c| c.len_utf16() == 2);
    &bytes[if two { 12 } else { 6 }..]
}

/// Goes through one JSON text.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: u32,
}

type Step<T = ()> = Result<T, Malformed>;

impl<'a> Cursor<'a> {
    /// Starts at the first byte of `bytes` that is not blank.
    pub fn new(bytes: &'a [u8]) -> Self {
        let mut cursor = Self {
            bytes,
            at: 0,
            depth: 0,
        };
        cursor.blanks();
        cursor
    }

    /// Fails unless only blanks are left.
    pub fn end(&mut self) -> Step {
        self.blanks();
        match self.peek() {
            None => Ok(()),
            Some(_) => self.fail("more than one value"),
        }
    }

    /// Goes through an object; `field` is called with each key, decoded, and
    /// must consume the value. Another type is skipped and gives `false`.
    pub fn object(&mut self, mut field: impl FnMut(&mut Self, &[u8]) -> Step) -> Step<bool> {
        self.fields(|cursor, key| key.with_bytes(|key| field(cursor, key)))
    }

    /// As [`Cursor::object`], with the keys as they are in the line.
    pub fn fields(&mut self, mut field: impl FnMut(&mut Self, Text<'a>) -> Step) -> Step<bool> {
        if self.peek() != Some(b'{') {
            self.skip()?;
            return Ok(false);
        }
        self.enter()?;
        if self.take(b'}') {
            self.depth -= 1;
            return Ok(true);
        }
        loop {
            if self.peek() != Some(b'"') {
                return self.fail("expected a key");
            }
            let key = self.quoted()?;
            if !self.take(b':') {
                return self.fail("expected `:`");
            }
            field(self, key)?;
            if self.take(b',') {
                continue;
            }
            if self.take(b'}') {
                self.depth -= 1;
                return Ok(true);
            }
            return self.fail("expected `,` or `}`");
        }
    }

    /// Goes through an array; `item` is called at each value and must consume
    /// it. Another type is skipped and gives `false`.
    pub fn array(&mut self, mut item: impl FnMut(&mut Self) -> Step) -> Step<bool> {
        if self.peek() != Some(b'[') {
            self.skip()?;
            return Ok(false);
        }
        self.enter()?;
        if self.take(b']') {
            self.depth -= 1;
            return Ok(true);
        }
        loop {
            item(self)?;
            if self.take(b',') {
                continue;
            }
            if self.take(b']') {
                self.depth -= 1;
                return Ok(true);
            }
            return self.fail("expected `,` or `]`");
        }
    }

    /// Whether an array comes next.
    pub fn is_array(&self) -> bool {
        self.peek() == Some(b'[')
    }

    /// A string, or `None` for a value of another type.
    pub fn text(&mut self) -> Step<Option<Text<'a>>> {
        if self.peek() == Some(b'"') {
            return self.quoted().map(Some);
        }
        self.skip()?;
        Ok(None)
    }

    /// The value as it is in the line.
    pub fn raw(&mut self) -> Step<Raw<'a>> {
        let start = self.at;
        self.skip_value()?;
        let value = Raw(&self.bytes[start..self.at]);
        self.blanks();
        Ok(value)
    }

    /// Skips a value of any type.
    pub fn skip(&mut self) -> Step {
        self.skip_value()?;
        self.blanks();
        Ok(())
    }

    fn skip_value(&mut self) -> Step {
        match self.peek() {
            Some(b'"') => match behind_string(self.bytes, self.at) {
                Some(end) => {
                    self.at = end;
                    Ok(())
                }
                None => self.fail("a string is not closed"),
            },
            Some(b'{' | b'[') => self.skip_container(),
            Some(_) => self.skip_scalar(),
            None => self.fail("expected a value"),
        }
    }

    /// Skips a container by its brackets; which closes which is not checked.
    fn skip_container(&mut self) -> Step {
        let (mut at, mut open) = (self.at, 0_u64);
        while let Some(&byte) = self.bytes.get(at) {
            match byte {
                b'"' => {
                    let Some(end) = behind_string(self.bytes, at) else {
                        self.at = at;
                        return self.fail("a string is not closed");
                    };
                    at = end;
                    continue;
                }
                b'{' | b'[' => open += 1,
                b'}' | b']' => open -= 1,
                _ => {}
            }
            at += 1;
            if open == 0 {
                self.at = at;
                return Ok(());
            }
        }
        self.at = at;
        self.fail("a bracket is not closed")
    }

    /// Skips a number, `true`, `false` or `null`.
    fn skip_scalar(&mut self) -> Step {
        let rest = &self.bytes[self.at..];
        let ends = |b: &u8| {
            matches!(b, b',' | b'}' | b']' | b':' | b'"' | b'{' | b'[') || b.is_ascii_whitespace()
        };
        let length = rest.iter().position(ends).unwrap_or(rest.len());
        let word = &rest[..length];
        if !matches!(word, b"true" | b"false" | b"null") && !is_number(word) {
            return self.fail("expected a value");
        }
        self.at += length;
        Ok(())
    }

    /// The string that starts here; moves to what follows it.
    fn quoted(&mut self) -> Step<Text<'a>> {
        let start = self.at + 1;
        let rest = self.bytes.get(start..).unwrap_or_default();
        let short = quote_of_short(rest).map(|length| (length, false));
        let Some((length, has_escape)) = short.or_else(|| quote_of_long(rest)) else {
            return self.fail("a string is not closed");
        };
        self.at = start + length + 1;
        self.blanks();
        let bytes = &rest[..length];
        Ok(Text { bytes, has_escape })
    }

    fn enter(&mut self) -> Step {
        if self.depth == DEPTH {
            return self.fail("nested too deeply");
        }
        self.depth += 1;
        self.at += 1;
        self.blanks();
        Ok(())
    }

    /// Consumes `byte` and the blanks after it, if it is next.
    fn take(&mut self, byte: u8) -> bool {
        let taken = self.peek() == Some(byte);
        if taken {
            self.at += 1;
            self.blanks();
        }
        taken
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.peek() {
            self.at += 1;
        }
    }

    fn fail<T>(&self, reason: &'static str) -> Step<T> {
        Err(Malformed {
            column: self.at + 1,
            reason,
        })
    }
}

/// How many words of eight bytes a short string may take.
const SHORT: usize = 5;

/// The position of the quote that closes a short string without escapes, as most
/// are; for them a call takes longer than the search.
#[inline]
fn quote_of_short(bytes: &[u8]) -> Option<usize> {
    for (i, word) in bytes.as_chunks().0.iter().take(SHORT).enumerate() {
        let word = u64::from_le_bytes(*word);
        let (quote, slash) = (byte_in(word, b'"'), byte_in(word, b'\\'));
        if quote | slash != 0 {
            let first = quote.trailing_zeros();
            return (first < slash.trailing_zeros()).then_some(8 * i + first as usize / 8);
        }
    }
    None
}

/// The same for any other string, and whether it has escapes.
#[inline(never)]
fn quote_of_long(bytes: &[u8]) -> Option<(usize, bool)> {
    let length = closing_quote(bytes)?;
    Some((length, memchr(b'\\', &bytes[..length]).is_some()))
}

/// The position after the string whose first quote is at `at`. Its content is
/// read only for an escape of the last quote.
#[inline]
fn behind_string(bytes: &[u8], at: usize) -> Option<usize> {
    let start = at + 1;
    let rest = bytes.get(start..)?;
    for (i, word) in rest.as_chunks().0.iter().take(SHORT).enumerate() {
        let quote = byte_in(u64::from_le_bytes(*word), b'"');
        if quote != 0 {
            let end = start + 8 * i + quote.trailing_zeros() as usize / 8;
            if bytes[end - 1] == b'\\' {
                break;
            }
            return Some(end + 1);
        }
    }
    closing_quote(rest).map(|length| start + length + 1)
}

/// Marks `byte` in `word`: the lowest bit set is in the first byte that is one.
#[inline]
fn byte_in(word: u64, byte: u8) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    let word = word ^ (ONES * u64::from(byte));
    word.wrapping_sub(ONES) & !word & (ONES << 7)
}

/// The position of the quote that closes a string, counted from the byte after
/// the one that opened it.
///
/// Quotes are looked for, and backslashes only before one: in text that is full
/// of escaped newlines, escaped quotes are few.
#[inline(never)]
fn closing_quote(bytes: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let quote = from + memchr(b'"', &bytes[from..])?;
        let slashes = bytes[..quote].iter().rev().take_while(|&&b| b == b'\\');
        if slashes.count() % 2 == 0 {
            return Some(quote);
        }
        from = quote + 1;
    }
}

/// Whether `word` is a JSON number.
fn is_number(word: &[u8]) -> bool {
    fn digits(word: &[u8]) -> (usize, &[u8]) {
        let n = word.iter().take_while(|b| b.is_ascii_digit()).count();
        (n, &word[n..])
    }
    let word = word.strip_prefix(b"-").unwrap_or(word);
    let (whole, mut rest) = digits(word);
    if whole == 0 || (whole > 1 && word[0] == b'0') {
        return false;
    }
    if let Some(fraction) = rest.strip_prefix(b".") {
        let (n, after) = digits(fraction);
        if n == 0 {
            return false;
        }
        rest = after;
    }
    if let [b'e' | b'E', exponent @ ..] = rest {
        let exponent = match exponent {
            [b'+' | b'-', digits @ ..] => digits,
            all => all,
        };
        let (n, after) = digits(exponent);
        return n > 0 && after.is_empty();
    }
    rest.is_empty()
}

/// One JSON value as it is in the line, for events that are rare: each question
/// walks through it again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Raw<'a>(&'a [u8]);

impl fmt::Debug for Raw<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(self.0))
    }
}

impl<'a> Raw<'a> {
    /// A value that is known to be whole.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The value that `bytes` hold, if they hold one.
    pub fn of(bytes: &'a [u8]) -> Option<Self> {
        let mut cursor = Cursor::new(bytes);
        let value = cursor.raw().ok()?;
        cursor.end().ok()?;
        Some(value)
    }

    /// The bytes of the value.
    pub fn bytes(self) -> &'a [u8] {
        self.0
    }

    /// The first field called `key`; `None` also where this is no object.
    pub fn get(self, key: &str) -> Option<Raw<'a>> {
        let mut found = None;
        // The bytes after the field are not read: if they are broken, the field
        // is still found.
        let _ = Cursor::new(self.0).object(|cursor, name| {
            if name != key.as_bytes() {
                return cursor.skip();
            }
            found = Some(cursor.raw()?);
            cursor.fail("found")
        });
        found
    }

    /// The value at the end of a path of keys.
    pub fn at(self, path: &[&str]) -> Option<Raw<'a>> {
        path.iter().try_fold(self, |value, key| value.get(key))
    }

    /// The string called `key`, decoded.
    pub fn string(self, key: &str) -> Option<Cow<'a, str>> {
        self.get(key)?.text().map(Text::decode)
    }

    /// This string.
    pub fn text(self) -> Option<Text<'a>> {
        Cursor::new(self.0).text().ok().flatten()
    }

    /// This number, if it is whole and not negative; too large saturates.
    pub fn u64(self) -> Option<u64> {
        let text = std::str::from_utf8(self.0).ok()?;
        if let Ok(number) = text.parse() {
            return Some(number);
        }
        let number = self.f64()?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole and not negative; the cast saturates"
        )]
        (number >= 0.0 && number.fract() == 0.0).then_some(number as u64)
    }

    /// This number, if it is finite.
    pub fn f64(self) -> Option<f64> {
        if !is_number(self.0) {
            return None;
        }
        let number: f64 = std::str::from_utf8(self.0).ok()?.parse().ok()?;
        number.is_finite().then_some(number)
    }

    /// This boolean.
    pub fn bool(self) -> Option<bool> {
        match self.0 {
            b"true" => Some(true),
            b"false" => Some(false),
            _ => None,
        }
    }

    /// Whether this is `null`.
    pub fn is_null(self) -> bool {
        self.0 == b"null"
    }

    /// The items of this array, the first 65 536; none where it is no array.
    pub fn items(self) -> Vec<Raw<'a>> {
        let mut items = Vec::new();
        let _ = Cursor::new(self.0).array(|cursor| {
            if items.len() == MOST {
                return cursor.skip();
            }
            items.push(cursor.raw()?);
            Ok(())
        });
        items
    }

    /// The fields of this object, the first 65 536; none where it is no object.
    pub fn fields(self) -> Vec<(Text<'a>, Raw<'a>)> {
        let mut fields = Vec::new();
        let _ = Cursor::new(self.0).fields(|cursor, name| {
            if fields.len() == MOST {
                return cursor.skip();
            }
            fields.push((name, cursor.raw()?));
            Ok(())
        });
        fields
    }
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
