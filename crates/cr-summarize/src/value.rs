//! JSON of the agent for the summary.
//!
//! It is written anew and not copied: without blanks, so that the summary stays
//! one line; with secrets masked; and without values that a strict reader refuses
//! (half a pair of surrogates, bytes that are no character, a number out of
//! range), which would break the whole summary.

use cr_event::{Cursor, Raw};
use cr_io::Redactor;
use serde_json::value::RawValue;

/// Containers within containers that are followed; deeper ones become null.
const DEPTH: usize = 48;

/// `raw` as a value of its own; `None` where it is broken.
pub(crate) fn rewritten(raw: Raw<'_>, redactor: &Redactor) -> Option<Box<RawValue>> {
    let mut out = String::with_capacity(raw.bytes().len());
    write(raw, redactor, 0, &mut out)?;
    RawValue::from_string(out).ok()
}

/// The JSON in `text`, if there is any.
pub(crate) fn found_in(text: &str, redactor: &Redactor) -> Option<Box<RawValue>> {
    let found = cr_json::first(text)?;
    let raw = Cursor::new(found.as_bytes()).raw().ok()?;
    rewritten(raw, redactor)
}

fn write(raw: Raw<'_>, redactor: &Redactor, depth: usize, out: &mut String) -> Option<()> {
    // Walked and not listed: an array may have millions of items.
    let mut walk = Cursor::new(raw.bytes());
    let mut between = "";
    let mut broken = false;
    match raw.bytes().first()? {
        b'{' | b'[' if depth == DEPTH => out.push_str("null"),
        b'{' => {
            out.push('{');
            let walked = walk.fields(|cursor, key| {
                out.push_str(between);
                between = ",";
                quote(&redactor.redact(&key.decode()), out);
                out.push(':');
                broken |= write(cursor.raw()?, redactor, depth + 1, out).is_none();
                Ok(())
            });
            walked.ok()?;
            out.push('}');
        }
        b'[' => {
            out.push('[');
            let walked = walk.array(|cursor| {
                out.push_str(between);
                between = ",";
                broken |= write(cursor.raw()?, redactor, depth + 1, out).is_none();
                Ok(())
            });
            walked.ok()?;
            out.push(']');
        }
        b'"' => quote(&redactor.redact(&raw.text()?.decode()), out),
        b't' | b'f' => out.push_str(if raw.bool()? { "true" } else { "false" }),
        _ if raw.f64().is_some() => out.push_str(std::str::from_utf8(raw.bytes()).ok()?),
        _ => out.push_str("null"),
    }
    (!broken).then_some(())
}

fn quote(text: &str, out: &mut String) {
    out.push_str(&serde_json::to_string(text).expect("a string is JSON"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_one_line_that_a_strict_reader_takes() {
        let deep = "[".repeat(100) + &"]".repeat(100);
        let kept = "[".repeat(DEPTH) + "null" + &"]".repeat(DEPTH);
        #[rustfmt::skip]
        let cases: &[(&str, &str)] = &[
            ("{ \"a\" :\n [1, 2.50 , true,null] }", r#"{"a":[1,2.50,true,null]}"#),
            (r#""\ud800x""#, "\"\u{fffd}x\""),
            ("[1e400,-1]", "[null,-1]"),
            (r#"{"a":1,"a":2}"#, r#"{"a":1,"a":2}"#),
            ("\"sk-ant-api03-0123456789abcdef\"", "\"[REDACTED:anthropic-key]\""),
            (&deep, &kept),
        ];
        let redactor = Redactor::from_vars([]);
        for (raw, written) in cases {
            let raw = Cursor::new(raw.as_bytes()).raw().expect("whole");
            let value = rewritten(raw, &redactor).expect("a value");
            assert_eq!(value.get(), *written);
            let strict: Result<serde_json::Value, _> = serde_json::from_str(value.get());
            assert!(strict.is_ok(), "{written}");
        }
    }

    #[test]
    fn json_is_found_in_an_answer() {
        #[rustfmt::skip]
        let cases: &[(&str, Option<&str>)] = &[
            ("{\"a\": 1}", Some(r#"{"a":1}"#)),
            ("Done:\n```json\n{\"a\":1}\n```\nand more", Some(r#"{"a":1}"#)),
            ("```json\r\n{\"a\":1}\r\n```", Some(r#"{"a":1}"#)),
            ("```JSON\n[1]", Some("[1]")),
            ("```json\n{bad}\n```\n```json\n{\"b\":2}\n```", Some(r#"{"b":2}"#)),
            ("```ts\n```json\n{\"x\":1}\n```\n```json\n{\"b\":2}\n```", Some(r#"{"b":2}"#)),
            ("So: {\"a\": 1}, as asked.", Some(r#"{"a":1}"#)),
            ("```json\n{\"k\":\"sk-ant-api03-0123456789abcdef\"}\n```", Some(r#"{"k":"[REDACTED:anthropic-key]"}"#)),
            ("no json", None),
            ("42", None),
            ("```json\n```", None),
        ];
        for (text, found) in cases {
            let value = found_in(text, &Redactor::from_vars([]));
            assert_eq!(value.as_ref().map(|value| value.get()), *found, "{text}");
        }
    }
}
