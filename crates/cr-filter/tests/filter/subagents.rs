//! Subagents whose messages are in the `progress` lines of a session's log.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::cr_filter;

const SESSION: &str = "5e551011-0000-4000-8000-000000000000";

/// Lines of a subagent: a call, its result, and the last words.
fn agents() -> [Value; 3] {
    let line = |kind: &str, at: &str, content: Value| {
        json!({"type": kind, "isSidechain": true, "agentId": "abc", "sessionId": SESSION,
            "uuid": format!("u-{at}"), "timestamp": format!("2026-01-01T00:00:0{at}.000Z"),
            "message": {"id": format!("m-{at}"), "model": "claude-haiku-4-5", "content": [content],
                "usage": {"input_tokens": 100, "output_tokens": 7}}})
    };
    let call =
        json!({"type": "tool_use", "id": "c1", "name": "Read", "input": {"file_path": "/w/a.rs"}});
    let done = json!({"type": "tool_result", "tool_use_id": "c1", "content": "fn main() {}"});
    let words = json!({"type": "text", "text": "Found what you were looking for."});
    [
        line("assistant", "2", call),
        line("user", "4", done),
        line("assistant", "5", words),
    ]
}

/// The line in a session's log that carries `message`. Its type comes first.
fn progress(message: &Value) -> String {
    let mut carried = message.clone();
    let fields = carried.as_object_mut().expect("an object");
    for key in ["isSidechain", "agentId", "sessionId"] {
        fields.remove(key);
    }
    let data = json!({"type": "agent_progress", "agentId": "abc", "message": carried});
    format!(
        r#"{{"type":"progress","isSidechain":false,"sessionId":"{SESSION}","timestamp":"2026-01-01T00:00:09.000Z","parentToolUseID":"toolu_1","data":{data}}}"#
    )
}

/// A session that begins the subagent and shows all but its last message.
fn session() -> String {
    let task = json!({"type": "tool_use", "id": "toolu_1", "name": "Task",
        "input": {"description": "look around", "prompt": "Look."}});
    let begin = json!({"type": "assistant", "isSidechain": false, "sessionId": SESSION, "uuid": "m1",
        "timestamp": "2026-01-01T00:00:01.000Z",
        "message": {"id": "m1", "model": "claude-opus-4-6", "content": [task]}});
    let other = r#"{"type":"progress","data":{"type":"bash_progress","output":"x"}}"#;
    let [call, result, _] = agents();
    let lines = [
        begin.to_string(),
        progress(&call),
        other.to_owned(),
        progress(&result),
    ];
    lines.join("\n") + "\n"
}

fn own_log() -> String {
    agents().map(|line| format!("{line}\n")).concat()
}

fn filtered(args: &[&str], paths: &[&Path]) -> String {
    let output = cr_filter(args).args(paths).output().expect("run");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn rows(paths: &[&Path]) -> Vec<Value> {
    let text = filtered(&["--format", "json"], paths);
    let rows = text.lines().map(serde_json::from_str);
    rows.map(|row| row.expect("a row is JSON")).collect()
}

#[test]
fn the_calls_of_a_subagent_are_shown_from_progress_lines() {
    let dir = tempfile::tempdir().expect("a directory");
    let log = dir.path().join("session.jsonl");
    fs::write(&log, session()).expect("written");
    let text = filtered(&["--time", "none"], &[&log]);
    assert_eq!(text, "Subagent: look around\n  Read: /w/a.rs\n");
    let rows = rows(&[&log]);
    let read: Vec<_> = rows.iter().filter(|row| row["tool"] == "Read").collect();
    let [read] = read[..] else {
        panic!("{rows:?}");
    };
    assert_eq!(
        (&read["agent"], &read["depth"], &read["session_id"]),
        (&json!("look around"), &json!(1), &json!(SESSION))
    );
    assert_eq!(
        (&read["ok"], &read["duration_ms"], &read["at"]),
        (&json!(true), &json!(2000), &json!("2026-01-01T00:00:02Z"))
    );
    assert_eq!(read["input_tokens"], 100);
}

#[test]
fn where_the_subagents_own_log_is_read_too_its_calls_are_shown_once() {
    let below = format!("{SESSION}/subagents/agent-abc.jsonl");
    for own in [&*below, "agent-abc.jsonl", "agent-abc.jsonl.gz", "0.jsonl"] {
        let dir = tempfile::tempdir().expect("a directory");
        let log = dir.path().join(format!("{SESSION}.jsonl"));
        let own = dir.path().join(own);
        fs::create_dir_all(own.parent().expect("a directory")).expect("made");
        fs::write(&log, session()).expect("written");
        let is_gzip = own.extension().is_some_and(|end| end == "gz");
        let bytes = own_log().into_bytes();
        let bytes = if is_gzip {
            cr_test::gzip(&bytes)
        } else {
            bytes
        };
        fs::write(&own, bytes).expect("written");
        for paths in [
            &[dir.path()][..],
            &[log.as_path(), own.as_path()],
            &[own.as_path(), log.as_path()],
        ] {
            let text = filtered(&["--time", "none"], paths);
            assert_eq!(
                text.matches("Read: /w/a.rs").count(),
                1,
                "{paths:?}: {text}"
            );
            assert!(text.contains("\n  Text: Found what"), "{paths:?}: {text}");
            let rows = rows(paths);
            let calls = rows.iter().filter(|row| row["tool"] == "Read").count();
            let tokens: u64 = rows
                .iter()
                .filter_map(|row| row["input_tokens"].as_u64())
                .sum();
            assert_eq!((calls, tokens), (1, 200), "{paths:?}: {rows:?}");
        }
    }
}
