//! Text of an agent for a person: nothing in it may act on the terminal, begin a
//! line or be invisible.

use std::borrow::Cow;
use std::fmt::Write;

/// Appends `text` to `out` with everything that is not plainly visible shown
/// as an escape: controls, line separators, marks that turn text around,
/// invisible tags.
pub fn sanitize(text: &str, out: &mut String) {
    // All of it at once is sooner looked at than a byte after the other.
    let has_odd = text
        .bytes()
        .fold(false, |has, b| has | !matches!(b, 0x20..0x7f));
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|b| has_odd && !is_plain(b)) {
        let (plain, odd) = rest.split_at(at);
        let mut chars = odd.chars();
        out.push_str(plain);
        match chars.next() {
            Some(c) if is_hidden(c) => escape(c, out),
            c => out.extend(c),
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
}

/// [`sanitize`] into a new string.
pub fn sanitized(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    sanitize(text, &mut out);
    out
}

/// Whether no hidden character begins with this byte; most text has only such.
fn is_plain(byte: u8) -> bool {
    const PLAIN: [bool; 256] = {
        let mut plain = [true; 256];
        let mut byte = 0;
        while byte < 256 {
            plain[byte] = !matches!(
                byte,
                0..0x20 | 0x7f | 0xC2 | 0xD8 | 0xE1 | 0xE2 | 0xEF | 0xF3
            );
            byte += 1;
        }
        plain
    };
    PLAIN[usize::from(byte)]
}

/// Whether `c` acts on a terminal, ends a line, turns text around or cannot be
/// seen: controls, directions, separators, byte order marks, tags. The joiners
/// that languages and emoji are written with are none of these.
pub fn is_hidden(c: char) -> bool {
    matches!(c,
        '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{ad}'
        | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// JSON with hidden characters as `\u` escapes. In JSON that a serializer wrote
/// they can only be inside strings, where the escape means the same; the plain
/// controls between the fields stay.
pub fn visible_json(json: &str) -> Cow<'_, str> {
    if json.is_ascii() && !json.contains('\u{7f}') {
        return Cow::Borrowed(json);
    }
    let is_hidden = |c: char| c >= ' ' && is_hidden(c);
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some((at, c)) = rest.char_indices().find(|&(_, c)| is_hidden(c)) {
        out.push_str(&rest[..at]);
        unicode_escape(c, &mut out);
        rest = &rest[at + c.len_utf8()..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Appends `text` as a string of JSON, with the escapes of [`visible_json`].
pub fn json_string(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|b| is_special(b) || !is_plain(b)) {
        let (plain, odd) = rest.split_at(at);
        let mut chars = odd.chars();
        out.push_str(plain);
        match chars.next() {
            Some(c @ ('"' | '\\')) => out.extend(['\\', c]),
            Some('\n') => out.push_str("\\n"),
            Some('\r') => out.push_str("\\r"),
            Some('\t') => out.push_str("\\t"),
            Some(c) if is_hidden(c) => unicode_escape(c, out),
            c => out.extend(c),
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    out.push('"');
}

fn is_special(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\')
}

fn unicode_escape(c: char, out: &mut String) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        // Writing to a string cannot fail.
        let _ = write!(out, "\\u{unit:04x}");
    }
}

fn escape(c: char, out: &mut String) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        // Writing to a string cannot fail.
        c if c.is_ascii() => drop(write!(out, "\\x{:02x}", u32::from(c))),
        c => drop(write!(out, "\\u{{{:x}}}", u32::from(c))),
    }
}

/// A number of things: `1 file`, `2 files`.
pub fn counted(number: u64, thing: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{ending}")
}

/// The first `length` characters of `text`, and whether there are more.
pub fn first_chars(text: &str, length: usize) -> (&str, bool) {
    if text.len() <= length {
        return (text, false);
    }
    if text.as_bytes()[..length].is_ascii() {
        return (&text[..length], true);
    }
    match text.char_indices().nth(length) {
        Some((end, _)) => (&text[..end], true),
        None => (text, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t1_nothing_that_acts_on_a_terminal_gets_through() {
        #[rustfmt::skip]
        let cases = [
            ("plain é 日本 🚀 👩‍💻", "plain é 日本 🚀 👩‍💻"),
            ("\x1b[2J\x07", "\\x1b[2J\\x07"),
            ("a\r\nb\tc", "a\\r\\nb\\tc"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("\u{202e}evil\u{2066}", "\\u{202e}evil\\u{2066}"),
            ("a\u{2028}b\u{2029}\u{feff}", "a\\u{2028}b\\u{2029}\\u{feff}"),
            ("\x7f\x08", "\\x7f\\x08"),
            ("so\u{ad}ft \u{180e}\u{200b}\u{2060}\u{fff9}\u{e0041}", "so\\u{ad}ft \\u{180e}\\u{200b}\\u{2060}\\u{fff9}\\u{e0041}"),
        ];
        for (text, shown) in cases {
            assert_eq!(sanitized(text), shown);
        }
    }

    #[test]
    fn every_hidden_character_begins_with_a_byte_that_says_so() {
        for c in ('\0'..=char::MAX).filter(|&c| is_hidden(c)) {
            let first = c.to_string().as_bytes()[0];
            assert!(!is_plain(first), "{c:?}");
        }
    }

    #[test]
    fn one_thing_is_not_many() {
        let all = [0, 1, 2].map(|number| counted(number, "file"));
        assert_eq!(all, ["0 files", "1 file", "2 files"]);
    }

    #[test]
    fn a_cut_falls_between_characters() {
        assert_eq!(first_chars("aé🚀b", 3), ("aé🚀", true));
        assert_eq!(first_chars("aé🚀b", 4), ("aé🚀b", false));
        assert_eq!(first_chars("", 0), ("", false));
    }

    #[test]
    fn a_string_of_json_has_no_hidden_character() {
        let text = "a\"b\\c\n\r\t\u{1}\u{7f}\u{9b}é\u{202e}\u{2028}\u{e0041}🚀/";
        let mut json = String::new();
        json_string(text, &mut json);
        let expected = r#""a\"b\\c\n\r\t\u0001\u007f\u009bé\u202e\u2028\udb40\udc41🚀/""#;
        assert_eq!(json, expected);
        assert_eq!(visible_json(&json), json);
    }
}
