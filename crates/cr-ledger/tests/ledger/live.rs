//! `next --live`: the agent itself says how full its context is.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::thread;

use cr_rundir::{Lock, RunDir};
use serde_json::{Value, json};

use crate::case::Case;
use crate::record::summary;

const RUN: &str = "20261118T090000Z-0a1b2c3d";

/// A run of the session `s1` that is going on; it answers with `reply`.
fn running(case: &Case, reply: &Value) -> Lock {
    let path = case.world.state().join("runs").join(RUN);
    fs::create_dir_all(&path).expect("made");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("private");
    let line = format!(r#"{{"type":"cr","subtype":"start","run_id":"{RUN}","schema":1}}"#);
    fs::write(path.join("started"), line).expect("written");
    let line = r#"{"type":"system","subtype":"init","session_id":"s1"}"#;
    fs::write(path.join("stream.ndjson"), format!("{line}\n")).expect("written");
    let dir = RunDir::existing(&path).expect("opened");
    let lock = dir.lock().expect("locked");
    let listener = cr_control::bind(&dir).expect("bound");
    let reply = format!("{reply}\n");
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.expect("a connection"));
            let mut request = String::new();
            stream.read_line(&mut request).expect("a request");
            assert!(request.contains("context"), "{request}");
            stream.get_mut().write_all(reply.as_bytes()).expect("sent");
        }
    });
    lock
}

fn recorded() -> Case {
    let case = Case::new();
    let mut run = summary("r1", "s1", 0.25);
    run["tokens"]["context_used"] = json!(1000);
    run["tokens"]["context_window"] = json!(10_000);
    case.record(&run);
    case
}

#[test]
fn a_running_session_is_asked_for_its_exact_figures() {
    let case = recorded();
    let data = json!({"tokens": 150_000, "max_tokens": 200_000, "percent": 75.0,
        "model": "claude-opus-5-5", "auto_compact_at": 155_000});
    let _run = running(&case, &json!({"schema": 1, "ok": true, "data": data}));
    let next = case
        .ok(&["next", "--session", "s1", "--live"])
        .rows()
        .remove(0);
    let context = &next["context"];
    assert_eq!(
        (&context["used"], &context["window"]),
        (&json!(150_000), &json!(200_000))
    );
    assert_eq!(
        (&context["source"], &context["window_source"]),
        (&json!("cli"), &json!("cli"))
    );
    assert_eq!(context["model"], "claude-opus-5-5");
    assert_eq!(
        (&next["action"], &next["level"]),
        (&json!("resume"), &json!("warning"))
    );
    assert_eq!(next["command"], format!("cr-send {RUN}"));
    let why = next["why"].as_str().expect("text");
    assert!(
        why.contains("the agent compacts it by itself at 155000 tokens"),
        "{why}"
    );
    // Without --live the ledger answers.
    let next = case.ok(&["next", "--session", "s1"]).rows().remove(0);
    assert_eq!(
        (&next["context"]["used"], &next["context"]["source"]),
        (&json!(1000), &json!("run"))
    );
}

#[test]
fn a_session_that_does_not_answer_is_decided_by_the_ledger_and_that_is_said() {
    let case = recorded();
    let _run = running(&case, &json!({"schema": 1, "ok": false, "error": "busy"}));
    let done = case.ok(&["next", "--session", "s1", "--live"]);
    assert!(done.err.contains("refused: busy"), "{done:?}");
    assert_eq!(done.rows()[0]["context"]["source"], "run");
}

#[test]
fn a_session_that_is_not_running_is_decided_by_the_ledger() {
    let case = recorded();
    let done = case.ok(&["next", "--session", "s1", "--live"]);
    assert_eq!(
        (
            done.rows()[0]["context"]["source"].as_str(),
            done.err.as_str()
        ),
        (Some("run"), "")
    );
}
