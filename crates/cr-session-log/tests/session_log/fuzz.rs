//! Valid lines with their keys in any order, with blanks and escapes, give what a
//! strict reader finds.

use serde_json::Value;

use crate::reference;
use crate::support::{Random, comparable, facts, recorded};

/// Writes `value` with its keys in any order, and blanks and escapes anywhere.
fn write(value: &Value, random: &mut Random, out: &mut String) {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            random.shuffle(&mut fields);
            out.push('{');
            for (number, (key, value)) in fields.into_iter().enumerate() {
                separate(number, random, out);
                string(key, random, out);
                blank(random, out);
                out.push(':');
                blank(random, out);
                write(value, random, out);
            }
            blank(random, out);
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (number, item) in items.iter().enumerate() {
                separate(number, random, out);
                write(item, random, out);
            }
            out.push(']');
        }
        Value::String(text) => string(text, random, out),
        other => out.push_str(&other.to_string()),
    }
}

fn separate(number: usize, random: &mut Random, out: &mut String) {
    if number > 0 {
        out.push(',');
    }
    blank(random, out);
}

fn blank(random: &mut Random, out: &mut String) {
    out.push_str(["", "", "", " ", "\t", "  "][random.below(6)]);
}

fn string(text: &str, random: &mut Random, out: &mut String) {
    let one_in = [usize::MAX, usize::MAX, 8, 2][random.below(4)];
    out.push('"');
    for c in text.chars() {
        let is_special = matches!(c, '"' | '\\') || c < ' ';
        if is_special || random.below(one_in) == 0 && one_in < usize::MAX {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    out.push('"');
}

/// Cuts long texts: they take time and decide nothing.
fn shorten(value: &mut Value) {
    match value {
        Value::String(text) if text.chars().count() > 80 => {
            *text = text.chars().take(80).collect();
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        Value::Object(fields) => fields.values_mut().for_each(shorten),
        _ => {}
    }
}

#[test]
fn the_order_of_keys_blanks_and_escapes_change_nothing() {
    let mut lines = Vec::new();
    for (_, log) in recorded() {
        for line in log.split(|&b| b == b'\n') {
            if let Ok(mut line) = serde_json::from_slice::<Value>(line)
                && line.is_object()
            {
                shorten(&mut line);
                lines.push(line);
            }
        }
    }
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for _ in 0..6 {
        for line in lines.iter().step_by(2) {
            let mut text = String::new();
            write(line, &mut random, &mut text);
            text.push('\n');
            let log = text.as_bytes();
            let expected = comparable(reference::facts(log));
            assert_eq!(comparable(facts(log)), expected, "{text}");
        }
    }
}
