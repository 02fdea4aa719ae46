//! The work of subagents: in their own files, beside the session, or only in the
//! session's log.

use std::fs;
use std::path::Path;

use cr_test::gzip;
use serde_json::{Value, json};

use crate::tool::{of_file, tool};

const SESSION: &str = "5e551011-0000-4000-8000-000000000000";

/// A subagent's message, as its own file has it.
fn own(id: &str, block: &Value, stop: Option<&str>) -> Value {
    json!({"type": "assistant", "isSidechain": true, "agentId": "abc", "sessionId": SESSION,
        "uuid": format!("u-{id}"), "timestamp": "2026-01-01T00:00:02.000Z", "cwd": "/w",
        "message": {"id": id, "model": "claude-haiku-4-5", "stop_reason": stop, "content": [block],
            "usage": {"input_tokens": 100, "output_tokens": 7}}})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "Grep", "input": {}})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// The same message in a `progress` line of the session's log.
fn progress(message: &Value) -> Value {
    json!({"type": "progress", "isSidechain": false, "sessionId": SESSION,
        "uuid": "p", "timestamp": "2026-01-01T00:00:02.100Z",
        "toolUseID": "agent_msg_1", "parentToolUseID": "toolu_1",
        "data": {"type": "agent_progress", "agentId": "abc", "prompt": "Look.",
            "normalizedMessages": [],
            "message": {"type": "assistant", "timestamp": "2026-01-01T00:00:02.000Z",
                "message": message["message"], "requestId": "r", "uuid": message["uuid"]}}})
}

fn main_line(id: &str, block: &Value, stop: &str) -> Value {
    json!({"type": "assistant", "isSidechain": false, "sessionId": SESSION, "uuid": id,
        "timestamp": "2026-01-01T00:00:01.000Z",
        "message": {"id": id, "model": "claude-opus-4-6", "stop_reason": stop, "content": [block],
            "usage": {"input_tokens": 5, "output_tokens": 3}}})
}

fn agents() -> [Value; 3] {
    [
        own("s1", &call("c1"), None),
        own("s2", &call("c2"), None),
        own("s3", &text("Found."), Some("end_turn")),
    ]
}

fn session() -> Vec<Value> {
    let task = json!({"type": "tool_use", "id": "toolu_1", "name": "Task", "input": {}});
    let [one, two, _] = agents();
    vec![
        main_line("m1", &task, "tool_use"),
        progress(&one),
        progress(&two),
        main_line("m2", &text("Done."), "end_turn"),
    ]
}

fn bytes(lines: &[Value]) -> Vec<u8> {
    let lines: Vec<_> = lines.iter().map(Value::to_string).collect();
    (lines.join("\n") + "\n").into_bytes()
}

fn counted(file: &Path) -> (u64, u64, u64) {
    let (code, got) = of_file(file);
    assert_eq!(
        (code, &got["model"], &got["result"]),
        (0, &json!("claude-opus-4-6"), &json!("Done."))
    );
    let number = |value: &Value| value.as_u64().expect("a number");
    (
        number(&got["tool_calls"]),
        number(&got["tokens"]["input"]),
        number(&got["tools"]["Grep"]),
    )
}

#[test]
fn the_work_of_subagents_is_counted_from_progress_lines() {
    let dir = tempfile::tempdir().expect("a directory");
    let log = dir.path().join(format!("{SESSION}.jsonl"));
    fs::write(&log, bytes(&session())).expect("written");
    assert_eq!(counted(&log), (3, 210, 2));
    let output = tool()
        .arg("--no-subagents")
        .arg(&log)
        .output()
        .expect("run");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let got: Value = serde_json::from_str(&text).expect("an object");
    assert_eq!(
        (&got["tool_calls"], &got["tokens"]["input"]),
        (&json!(1), &json!(10))
    );
}

#[test]
fn tokens_from_progress_lines_are_a_lower_bound_until_the_own_file_is_there() {
    let dir = tempfile::tempdir().expect("a directory");
    let log = dir.path().join(format!("{SESSION}.jsonl"));
    let over = |id, block: Value| own(id, &block, Some("tool_use"));
    let [one, two] = [over("s1", call("c1")), over("s2", call("c2"))];
    let mut lines = session();
    (lines[1], lines[2]) = (progress(&one), progress(&two));
    fs::write(&log, bytes(&lines)).expect("written");
    let bounds = |args: &[&str]| {
        let output = tool().args(args).arg(&log).output().expect("run");
        let got: Value = serde_json::from_slice(&output.stdout).expect("an object");
        got["lower_bounds"].clone()
    };
    assert_eq!(bounds(&[]), json!(["tokens", "tokens.output", "models"]));
    let estimated = ["tokens", "tokens.output", "models", "cost_usd"];
    assert_eq!(bounds(&["--estimate-cost"]), json!(estimated));
    assert_eq!(bounds(&["--no-subagents"]), Value::Null);
    let last = own("s3", &text("Found."), Some("end_turn"));
    fs::write(dir.path().join("agent-abc.jsonl"), bytes(&[one, two, last])).expect("written");
    assert_eq!(bounds(&["--estimate-cost"]), Value::Null);
}

#[test]
fn where_the_subagents_own_files_are_there_nothing_is_counted_twice() {
    for place in ["subagents", "beside", "compressed"] {
        let dir = tempfile::tempdir().expect("a directory");
        let log = dir.path().join(format!("{SESSION}.jsonl"));
        fs::write(&log, bytes(&session())).expect("written");
        let agent = match place {
            "subagents" => dir.path().join(SESSION).join("subagents/agent-abc.jsonl"),
            "beside" => dir.path().join("agent-abc.jsonl"),
            _ => dir.path().join("agent-abc.jsonl.gz"),
        };
        fs::create_dir_all(agent.parent().expect("a directory")).expect("made");
        let own = bytes(&agents());
        let own = if place == "compressed" {
            gzip(&own)
        } else {
            own
        };
        fs::write(&agent, own).expect("written");
        // Another session's agent is none of this one's.
        let other = String::from_utf8(bytes(&agents())).expect("UTF-8");
        let other = other.replace(SESSION, "other").replace("\"s", "\"x");
        fs::write(dir.path().join("agent-other.jsonl"), other).expect("written");
        assert_eq!(counted(&log), (3, 310, 2), "{place}");
        let output = tool().arg(dir.path()).output().expect("run");
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        let names: Vec<_> = text
            .lines()
            .map(|line| {
                let line: Value = serde_json::from_str(line).expect("an object");
                line["file"]
                    .as_str()
                    .expect("a name")
                    .rsplit('/')
                    .next()
                    .map(str::to_owned)
            })
            .collect();
        let wanted = [
            Some(format!("{SESSION}.jsonl")),
            Some("agent-other.jsonl".to_owned()),
        ];
        assert_eq!(names, wanted, "{place}: a joined log is not listed");
    }
}

#[test]
fn a_subagents_file_read_alone_has_a_model_an_answer_and_a_context() {
    let dir = tempfile::tempdir().expect("a directory");
    let log = dir.path().join("agent-abc.jsonl");
    let prompt = json!({"type": "user", "isSidechain": true, "agentId": "abc", "sessionId": SESSION,
        "timestamp": "2026-01-01T00:00:01.000Z", "message": {"role": "user", "content": "Look."}});
    let mut lines = vec![prompt];
    lines.extend(agents());
    fs::write(&log, bytes(&lines)).expect("written");
    let (code, got) = of_file(&log);
    assert_eq!((code, &got["outcome"]), (0, &json!("success")));
    assert_eq!(
        (&got["model"], &got["result"]),
        (&json!("claude-haiku-4-5"), &json!("Found."))
    );
    assert_eq!(
        (&got["tokens"]["context_used"], &got["cwd"]),
        (&json!(107), &json!("/w"))
    );
    assert_eq!(
        (&got["messages"], &got["last_uuid"]),
        (&json!(3), &json!("u-s3"))
    );
    let output = cr_test::tool("cr-extract")
        .arg("--text")
        .arg(&log)
        .output()
        .expect("run");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "Found.\n");
    // In a log of releases that keep subagents in it, they do not answer.
    let mut mixed = vec![main_line("m1", &text("Done."), "end_turn")];
    mixed.extend(agents());
    fs::write(&log, bytes(&mixed)).expect("written");
    let (_, got) = of_file(&log);
    assert_eq!(
        (&got["model"], &got["result"]),
        (&json!("claude-opus-4-6"), &json!("Done."))
    );
    let output = cr_test::tool("cr-extract")
        .arg("--text")
        .arg(&log)
        .output()
        .expect("run");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "Done.\n");
}
