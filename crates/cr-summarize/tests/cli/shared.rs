//! Messages that several files of one call have.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::tool::{fixture, good, tool};

/// A message in the log of `session`; each costs a tenth of a dollar.
fn message(session: &str, id: u32) -> Value {
    json!({"type": "assistant", "sessionId": session, "uuid": format!("u{id}"),
        "requestId": format!("r{id}"), "timestamp": at(id),
        "message": {"id": format!("m{id}"), "model": "claude-sonnet-4-5", "stop_reason": "end_turn",
            "content": [{"type": "text", "text": "So."}, {"type": "tool_use", "id": format!("t{id}"),
                "name": "Read", "input": {}}],
            "usage": {"input_tokens": 1, "output_tokens": 10}}})
}

fn at(second: u32) -> String {
    format!("2026-01-01T00:00:{second:02}.000Z")
}

fn total(session: &str, usd: f64) -> Value {
    json!({"type": "cost-state", "sessionId": session, "totalCostUSD": usd,
        "modelUsage": {"claude-sonnet-4-5": {"costUSD": usd}}})
}

/// A line with which a newer release begins the log of a process.
fn queued(session: &str, second: u32) -> Value {
    json!({"type": "queue-operation", "sessionId": session, "timestamp": at(second)})
}

fn write(dir: &Path, name: &str, lines: &[Value]) {
    let lines: Vec<_> = lines.iter().map(Value::to_string).collect();
    fs::write(dir.join(name), lines.join("\n") + "\n").expect("written");
}

/// The lines for the files in this order, by the names of the files, and the
/// total.
fn summed(dir: &Path, names: &[&str]) -> (Vec<Value>, Value) {
    let mut tool = tool();
    tool.arg("--total")
        .args(names.iter().map(|name| dir.join(name)));
    let output = tool.output().expect("run");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let lines = text.lines().map(serde_json::from_str);
    let mut lines: Vec<Value> = lines.collect::<Result<_, _>>().expect("objects");
    let total = lines.pop().expect("a total");
    let with_file = lines.iter().zip(names).filter(|_| names.len() > 1);
    for (line, name) in with_file {
        assert_eq!(line["file"], dir.join(name).to_str().expect("UTF-8"));
    }
    lines.sort_by_key(|line| line["file"].to_string());
    (lines, total)
}

#[test]
fn a_copied_history_is_counted_with_the_original_whatever_the_order() {
    let dir = tempfile::tempdir().expect("a directory");
    let dir = dir.path();
    // The original goes on after the fork, and its name comes last.
    write(
        dir,
        "z.jsonl",
        &[
            queued("z", 1),
            message("z", 1),
            message("z", 2),
            total("z", 0.2),
            message("z", 8),
            total("z", 0.3),
        ],
    );
    write(
        dir,
        "a.jsonl",
        &[
            queued("a", 5),
            message("a", 1),
            message("a", 2),
            message("a", 6),
            total("a", 0.3),
        ],
    );
    for names in [["a.jsonl", "z.jsonl"], ["z.jsonl", "a.jsonl"]] {
        let (lines, sum) = summed(dir, &names);
        let [fork, original] = &lines[..] else {
            panic!("{lines:?}")
        };
        assert_eq!(
            (&fork["tokens"]["output"], &original["tokens"]["output"]),
            (&json!(10), &json!(30))
        );
        assert_eq!(
            (&fork["tool_calls"], &original["tool_calls"]),
            (&json!(1), &json!(3))
        );
        assert_eq!(
            (&fork["cost_usd"], &original["cost_usd"]),
            (&json!(0.1), &json!(0.3))
        );
        assert_eq!(fork["models"]["claude-sonnet-4-5"]["cost_usd"], 0.1);
        assert_eq!(
            (&fork["copied_messages"], &original["copied_messages"]),
            (&json!(2), &Value::Null)
        );
        // What the file says of itself stays.
        assert_eq!(
            (&fork["messages"], &fork["session_cost_usd"]),
            (&json!(3), &json!(0.3))
        );
        assert_eq!(fork["tokens"]["context_used"], 11);
        assert_eq!(
            (&sum["tokens"]["output"], &sum["cost_usd"]),
            (&json!(40), &json!(0.4))
        );
        assert_eq!(
            (&sum["tool_calls"], &sum["tools"]["Read"]),
            (&json!(4), &json!(4))
        );
        assert_eq!(
            (&sum["summaries"], &sum["copied_messages"]),
            (&json!(2), &json!(2))
        );
    }
    // Alone it has all of its messages.
    let (lines, _) = summed(dir, &["a.jsonl"]);
    assert_eq!(lines[0]["tokens"]["output"], 30);
}

#[test]
fn a_chain_of_resumed_sessions_is_counted_once() {
    let dir = tempfile::tempdir().expect("a directory");
    let dir = dir.path();
    let part = |session: &str, last: u32| (1..=last).map(|id| message(session, id)).collect();
    for (name, last) in [("c", 2), ("a", 4), ("b", 6)] {
        let lines: Vec<Value> = part(name, last);
        write(dir, &format!("{name}.jsonl"), &lines);
    }
    for names in [
        ["a.jsonl", "b.jsonl", "c.jsonl"],
        ["c.jsonl", "b.jsonl", "a.jsonl"],
    ] {
        let (lines, sum) = summed(dir, &names);
        let outputs: Vec<_> = lines
            .iter()
            .map(|line| line["tokens"]["output"].clone())
            .collect();
        assert_eq!(outputs, [20, 20, 20]);
        assert_eq!(sum["tokens"]["output"], 60);
        // There is no evidence for the cost of any of them.
        assert_eq!(
            (&sum["cost_usd"], &sum["cost_unknown"]),
            (&Value::Null, &json!(3))
        );
    }
}

#[test]
fn lines_that_say_where_they_are_from_are_copies() {
    let dir = tempfile::tempdir().expect("a directory");
    let dir = dir.path();
    let mut copy = message("a", 1);
    copy["forkedFrom"] = json!({"sessionId": "z", "messageUuid": "u1"});
    write(dir, "a.jsonl", &[copy, message("a", 2)]);
    write(dir, "z.jsonl", &[message("z", 1), message("z", 9)]);
    let (lines, _) = summed(dir, &["a.jsonl", "z.jsonl"]);
    assert_eq!(
        (&lines[0]["copied_messages"], &lines[1]["copied_messages"]),
        (&json!(1), &Value::Null)
    );
}

#[test]
fn a_cost_that_cannot_be_divided_is_unknown() {
    let dir = tempfile::tempdir().expect("a directory");
    let dir = dir.path();
    // The fork was made in the middle of what the total covers.
    write(
        dir,
        "z.jsonl",
        &[
            queued("z", 1),
            message("z", 1),
            message("z", 2),
            total("z", 0.2),
        ],
    );
    write(
        dir,
        "a.jsonl",
        &[
            queued("a", 5),
            message("a", 1),
            message("a", 6),
            total("a", 0.2),
        ],
    );
    let (lines, sum) = summed(dir, &["a.jsonl", "z.jsonl"]);
    assert_eq!(
        (&lines[0]["cost_usd"], &lines[0]["cost_source"]),
        (&Value::Null, &json!("none"))
    );
    assert_eq!(
        (&sum["cost_usd"], &sum["lower_bounds"]),
        (&json!(0.2), &json!(["cost_usd"]))
    );
}

#[test]
fn a_message_of_another_request_is_another_message() {
    let dir = tempfile::tempdir().expect("a directory");
    let dir = dir.path();
    let mut other = message("a", 1);
    other["requestId"] = json!("other");
    write(dir, "a.jsonl", &[other]);
    write(dir, "z.jsonl", &[message("z", 1)]);
    let (_, sum) = summed(dir, &["a.jsonl", "z.jsonl"]);
    assert_eq!(
        (&sum["tokens"]["output"], &sum["copied_messages"]),
        (&json!(20), &json!(0))
    );
}

#[test]
fn the_stream_and_the_log_of_a_run_are_recognised_and_counted_once() {
    let dir = tempfile::tempdir().expect("a directory");
    let dir = dir.path();
    fs::copy(fixture("captures/02-tools.ndjson"), dir.join("run.ndjson")).expect("copied");
    fs::copy(
        fixture("session-logs/02-tools.jsonl"),
        dir.join("log.jsonl"),
    )
    .expect("copied");
    let (lines, sum) = summed(dir, &["log.jsonl", "run.ndjson"]);
    let [log, stream] = &lines[..] else {
        panic!("{lines:?}")
    };
    for field in ["first_uuid", "last_uuid", "messages", "messages_digest"] {
        assert!(!stream[field].is_null());
        assert_eq!(log[field], stream[field], "{field}");
    }
    assert_eq!(
        (&log["cost_usd"], &log["cost_source"]),
        (&json!(0.0), &json!("copy"))
    );
    assert_eq!(
        (&log["tool_calls"], &log["tokens"]["input"]),
        (&json!(0), &json!(0))
    );
    for field in ["cost_usd", "tool_calls", "tools", "num_turns", "models"] {
        assert_eq!(sum[field], stream[field], "{field}");
    }
    assert_eq!(sum["lower_bounds"], Value::Null);
}

#[test]
fn a_copy_of_a_stream_adds_nothing() {
    let dir = tempfile::tempdir().expect("a directory");
    let dir = dir.path();
    for name in ["a.ndjson", "b.ndjson"] {
        fs::write(dir.join(name), good()).expect("written");
    }
    let (lines, sum) = summed(dir, &["b.ndjson", "a.ndjson"]);
    assert_eq!(
        (&lines[0]["cost_usd"], &lines[1]["cost_usd"]),
        (&json!(0.5), &json!(0.0))
    );
    assert_eq!(
        (&sum["cost_usd"], &sum["num_turns"]),
        (&json!(0.5), &json!(1))
    );
    assert_eq!(sum["outcomes"], json!({"success": 2}), "both went well");
}

#[test]
fn the_digest_is_that_of_the_ids_one_a_line() {
    let dir = tempfile::tempdir().expect("a directory");
    let dir = dir.path();
    write(
        dir,
        "a.jsonl",
        &[message("a", 1), message("a", 1), message("a", 2)],
    );
    let (lines, _) = summed(dir, &["a.jsonl"]);
    // printf 'm1\nm2\n' | sha256sum
    let digest = "1af4920a8620ff9194454131fcb95b8e";
    assert_eq!(lines[0]["messages"], 2);
    assert_eq!(lines[0]["messages_digest"].as_str().map(str::len), Some(64));
    assert!(
        lines[0]["messages_digest"]
            .as_str()
            .expect("a digest")
            .starts_with(digest)
    );
    assert_eq!(
        (&lines[0]["first_uuid"], &lines[0]["last_uuid"]),
        (&json!("u1"), &json!("u2"))
    );
}
