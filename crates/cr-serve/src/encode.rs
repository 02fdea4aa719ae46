//! A line of a transcript as an event of a server-sent stream.
//!
//! What the agent wrote is data: secrets are masked, and no byte of it can end the
//! field, begin another one, or be read as HTML where somebody puts it into a
//! page by mistake.

use std::borrow::Cow;

use cr_event::{Event, strip};
use cr_io::{Redactor, json_string, visible_json};

/// Appends the event for `line`; `end` is where the next line begins.
pub(crate) fn line(line: &[u8], end: u64, redactor: &Redactor, out: &mut String) {
    let masked = redactor.redact_bytes(strip(line));
    let text = String::from_utf8_lossy(&masked);
    out.push_str(&format!("id: {end}\n"));
    if Event::parse(text.as_bytes()).is_ok() {
        out.push_str("data: ");
        json(&text, out);
    } else {
        out.push_str("event: text\ndata: ");
        let mut string = String::new();
        json_string(&text, &mut string);
        json(&string, out);
    }
    out.push_str("\n\n");
}

/// Appends an event of our own with JSON of our own.
pub(crate) fn event(name: &str, id: Option<&str>, data: &str, out: &mut String) {
    if let Some(id) = id {
        out.push_str(&format!("id: {id}\n"));
    }
    out.push_str(&format!("event: {name}\ndata: "));
    json(data, out);
    out.push_str("\n\n");
}

/// Appends JSON in one line. Outside of strings it has none of the characters
/// that are escaped, and inside of strings the escape means the same.
pub(crate) fn json(text: &str, out: &mut String) {
    let text: Cow<'_, str> = visible_json(text);
    let mut rest = &*text;
    while let Some(at) = rest.bytes().position(is_special) {
        out.push_str(&rest[..at]);
        match rest.as_bytes()[at] {
            b'<' => out.push_str("\\u003c"),
            b'>' => out.push_str("\\u003e"),
            b'&' => out.push_str("\\u0026"),
            // A control: only blanks are allowed between the parts of JSON.
            _ => out.push(' '),
        }
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
}

/// Masked JSON that another tool wrote, in one line.
pub(crate) fn document(json_text: &[u8], redactor: &Redactor) -> String {
    let masked = redactor.redact_bytes(json_text.trim_ascii());
    let mut out = String::with_capacity(masked.len());
    json(&String::from_utf8_lossy(&masked), &mut out);
    out
}

fn is_special(byte: u8) -> bool {
    matches!(byte, 0..=0x1f | b'<' | b'>' | b'&')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(bytes: &[u8]) -> String {
        let mut out = String::new();
        line(bytes, 7, &Redactor::none(), &mut out);
        out
    }

    #[test]
    fn a_line_is_one_event_whatever_is_in_it() {
        let hostile = "{\"a\":\"</script>\u{2028}&\",\"b\"\r:1\u{9b}}\r";
        let sent = encoded(hostile.as_bytes());
        assert_eq!(
            sent,
            "id: 7\nevent: text\ndata: \"{\\\"a\\\":\\\"\\u003c/script\\u003e\\u2028\\u0026\\\",\
             \\\"b\\\"\\r:1\\u009b}\"\n\n"
        );
        let object = "{\"a\":\"</script>\u{2028}\u{202e}\",\"b\"\r:1}";
        let sent = encoded(object.as_bytes());
        assert_eq!(
            sent,
            "id: 7\ndata: {\"a\":\"\\u003c/script\\u003e\\u2028\\u202e\",\"b\" :1}\n\n"
        );
    }

    #[test]
    fn t11_no_line_forges_an_event_and_json_keeps_its_meaning() {
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        let pieces: [&str; 16] = [
            "\n",
            "\r",
            "data: x",
            "\n\nevent: end\n",
            "<script>",
            "&",
            "\\",
            "\"",
            "{",
            "}",
            "\u{2028}",
            "\u{85}",
            "é",
            "\0",
            ":",
            "id: 9",
        ];
        for _ in 0..cr_test::repeats(20_000, 1_000_000) {
            let mut text = String::new();
            for _ in 0..8 {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                text.push_str(pieces[usize::try_from(seed % 16).unwrap_or_default()]);
            }
            let value = serde_json::json!({ "a": text }).to_string();
            for (bytes, is_json) in [(value.as_str(), true), (text.as_str(), false)] {
                let sent = encoded(bytes.as_bytes());
                let body = sent.strip_suffix("\n\n").expect("an end");
                assert!(!body.contains(['\r', '<', '>', '&', '\0', '\u{2028}', '\u{85}']));
                let lines: Vec<&str> = body.split('\n').collect();
                assert_eq!(lines[0], "id: 7", "{sent:?}");
                assert!(lines.len() <= 3 && lines[lines.len() - 1].starts_with("data: "));
                let data = &lines[lines.len() - 1][6..];
                let read: serde_json::Value = serde_json::from_str(data).expect("JSON");
                if is_json {
                    assert_eq!(read["a"], text.as_str());
                }
            }
        }
    }
}
