//! A line is read as a strict parser reads it, for all spellings of the same
//! JSON; and reading a damaged line ends.
//!
//! The reference is a tree of `serde_json`. Where that refuses a line, because
//! of a lone surrogate or a byte that is not UTF-8, there is nothing to compare.

#![allow(missing_docs, reason = "an integration test is a crate of its own")]

use std::fmt::Write;
use std::path::Path;

use cr_event::{Block, Content, Event, Kind, Message, Raw, Text, TurnEnd};
use serde_json::Value;

/// A xorshift generator: the same lines on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % n as u64).expect("small")
    }
}

/// The lines of the recordings, without the few that are large.
fn lines() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let mut found = Vec::new();
    for part in [
        "captures",
        "session-logs",
        "transcripts/stream-json",
        "transcripts/session-log",
    ] {
        let mut files: Vec<_> = std::fs::read_dir(folder.join(part))
            .expect("fixtures")
            .map(|entry| entry.expect("an entry").path())
            .collect();
        files.sort();
        for file in files {
            let bytes = std::fs::read(file).expect("read");
            let lines = bytes
                .split(|&b| b == b'\n')
                .filter(|line| line.len() < 6000);
            found.extend(lines.map(<[u8]>::to_vec));
        }
    }
    assert!(found.len() > 2000);
    found
}

/// Writes `value` as nobody would: keys in any order, blanks, escapes.
fn respell(value: &Value, random: &mut Random, out: &mut String) {
    blank(random, out);
    match value {
        Value::Object(fields) => {
            let mut keys: Vec<_> = fields.keys().collect();
            for i in (1..keys.len()).rev() {
                keys.swap(i, random.below(i + 1));
            }
            out.push('{');
            for (i, key) in keys.into_iter().enumerate() {
                out.push_str(if i > 0 { "," } else { "" });
                blank(random, out);
                respell_text(key, random, out);
                blank(random, out);
                out.push(':');
                respell(&fields[key], random, out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                out.push_str(if i > 0 { "," } else { "" });
                respell(item, random, out);
            }
            blank(random, out);
            out.push(']');
        }
        Value::String(text) => respell_text(text, random, out),
        other => write!(out, "{other}").expect("write to a string"),
    }
    blank(random, out);
}

fn blank(random: &mut Random, out: &mut String) {
    for _ in 0..random.below(3) {
        out.push([' ', '\t', '\r'][random.below(3)]);
    }
}

fn respell_text(text: &str, random: &mut Random, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        if random.below(12) == 0 || c < ' ' || c == '"' || c == '\\' {
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}").expect("write to a string");
            }
        } else {
            out.push(c);
        }
    }
    out.push('"');
}

fn decoded(text: Option<Text<'_>>) -> Option<String> {
    text.map(|text| text.decode().into_owned())
}

fn string(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// Checks everything that is read from `line` against `tree`.
fn compare(line: &[u8], tree: &Value) {
    let shown = String::from_utf8_lossy(line);
    let event = Event::parse(line).unwrap_or_else(|e| panic!("{e}: {shown}"));
    assert_eq!(
        event.name.decode(),
        tree["type"].as_str().unwrap_or_default(),
        "{shown}"
    );
    assert_eq!(decoded(event.subtype), string(&tree["subtype"]), "{shown}");
    assert_eq!(
        decoded(event.parent),
        string(&tree["parent_tool_use_id"]),
        "{shown}"
    );
    let session = string(&tree["session_id"]).or_else(|| string(&tree["sessionId"]));
    assert_eq!(decoded(event.session_id), session, "{shown}");
    if let (Some(message), Value::Object(_)) = (&event.message, &tree["message"]) {
        compare_message(message, &tree["message"], &shown);
    }
    if event.kind == Kind::Result {
        let end = TurnEnd::new(event.line);
        assert_eq!(
            end.text().map(Text::decode).as_deref(),
            tree["result"].as_str(),
            "{shown}"
        );
        assert_eq!(end.num_turns(), tree["num_turns"].as_u64(), "{shown}");
        // The reference rounds the last digit in its own way.
        let cost = end.total_cost_usd().zip(tree["total_cost_usd"].as_f64());
        assert!(cost.is_none_or(|(a, b)| (a - b).abs() < 1e-12), "{shown}");
        let models = end.model_usage().unwrap_or_default();
        let expected = tree["modelUsage"]
            .as_object()
            .map_or(0, serde_json::Map::len);
        assert_eq!(models.len(), expected, "{shown}");
        for model in models {
            let tree = &tree["modelUsage"][&*model.model.decode()];
            let input = tree["inputTokens"]
                .as_u64()
                .or(tree["input_tokens"].as_u64());
            assert_eq!(model.usage.input, input.unwrap_or(0), "{shown}");
            assert_eq!(
                model.context_window,
                tree["contextWindow"].as_u64(),
                "{shown}"
            );
        }
    }
}

fn compare_message(message: &Message<'_>, tree: &Value, shown: &str) {
    assert_eq!(decoded(message.id), string(&tree["id"]), "{shown}");
    assert_eq!(decoded(message.model), string(&tree["model"]), "{shown}");
    if let Some(usage) = message.usage() {
        let count = |key: &str| tree["usage"][key].as_u64().unwrap_or(0);
        assert_eq!(usage.input, count("input_tokens"), "{shown}");
        assert_eq!(
            usage.cache_read,
            count("cache_read_input_tokens"),
            "{shown}"
        );
    }
    match (&message.content, &tree["content"]) {
        (Content::Text(text), Value::String(expected)) => assert_eq!(text.decode(), **expected),
        (Content::Blocks(blocks), Value::Array(items)) => {
            assert_eq!(blocks.len(), items.len(), "{shown}");
            for (block, item) in blocks.iter().zip(items) {
                compare_block(block, item, shown);
            }
        }
        (content, tree) => assert!(
            !tree.is_array() && !tree.is_string(),
            "{content:?}: {shown}"
        ),
    }
}

fn compare_block(block: &Block<'_>, tree: &Value, shown: &str) {
    match block {
        Block::Text(text) => assert_eq!(Some(&*text.decode()), tree["text"].as_str(), "{shown}"),
        Block::Thinking(text) => {
            assert_eq!(Some(&*text.decode()), tree["thinking"].as_str(), "{shown}");
        }
        Block::ToolUse(call) => {
            assert_eq!(tree["type"], "tool_use", "{shown}");
            assert_eq!(Some(&*call.name.decode()), tree["name"].as_str(), "{shown}");
            let input = call.input.map_or(b"null".as_slice(), Raw::bytes);
            let input: Value = serde_json::from_slice(input).expect("a value");
            assert_eq!(input, tree["input"], "{shown}");
        }
        Block::ToolResult(result) => {
            let id = tree["tool_use_id"].as_str().unwrap_or_default();
            assert_eq!(result.id.decode(), id, "{shown}");
            assert_eq!(result.is_error, tree["is_error"] == true, "{shown}");
        }
        other => {
            let kind = tree["type"].as_str().unwrap_or_default();
            let words = tree[kind].is_string() && (kind == "text" || kind == "thinking");
            assert!(kind != "tool_result" && !words, "{other:?}: {shown}");
        }
    }
}

#[test]
fn every_recorded_line_reads_as_a_strict_parser_reads_it() {
    for line in lines() {
        if let Ok(tree @ Value::Object(_)) = serde_json::from_slice(&line) {
            compare(&line, &tree);
        }
    }
}

#[test]
fn the_spelling_of_a_line_changes_nothing() {
    let mut random = Random(0x5EED);
    let mut compared = 0;
    for line in lines() {
        let Ok(tree @ Value::Object(_)) = serde_json::from_slice::<Value>(&line) else {
            continue;
        };
        for _ in 0..4 {
            let mut spelled = String::new();
            respell(&tree, &mut random, &mut spelled);
            compare(spelled.as_bytes(), &tree);
            compared += 1;
        }
    }
    assert!(compared > 8000, "{compared} lines");
}

#[test]
fn a_damaged_line_that_is_still_valid_reads_the_same_and_none_does_harm() {
    let mut random = Random(0xDA_4A6E);
    let bytes = br#"{}[]",:\0a "#;
    let (mut valid, mut refused) = (0, 0);
    for mut line in lines() {
        for _ in 0..6 {
            if line.is_empty() {
                break;
            }
            let at = random.below(line.len());
            match random.below(5) {
                0 | 1 => line[at] = bytes[random.below(bytes.len())],
                2 | 3 => drop(line.remove(at)),
                _ => line.truncate(at),
            }
            match serde_json::from_slice(&line) {
                Ok(tree @ Value::Object(_)) if is_plain(&tree, &line) => {
                    compare(&line, &tree);
                    valid += 1;
                }
                _ => refused += usize::from(Event::parse(&line).is_err()),
            }
        }
    }
    assert!(
        valid > 500 && refused > 5000,
        "{valid} valid, {refused} refused"
    );
}

/// Whether no key was damaged into another: of two with one name we take the
/// first, a tree the last.
fn is_plain(tree: &Value, line: &[u8]) -> bool {
    fn keys(value: &Value) -> usize {
        match value {
            Value::Object(fields) => fields.len() + fields.values().map(keys).sum::<usize>(),
            Value::Array(items) => items.iter().map(keys).sum(),
            _ => 0,
        }
    }
    fn count(raw: Raw<'_>) -> usize {
        let fields = raw.fields();
        let inner = fields.iter().map(|(_, value)| count(*value)).sum::<usize>();
        fields.len() + inner + raw.items().into_iter().map(count).sum::<usize>()
    }
    Raw::of(line).is_some_and(|raw| count(raw) == keys(tree))
}
