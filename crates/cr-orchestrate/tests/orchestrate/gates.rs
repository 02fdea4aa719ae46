//! Commands of the plan that misbehave.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use cr_test::{Signal, appears};

use crate::case::Case;

#[test]
fn a_gate_that_cannot_be_run_has_failed_and_the_others_go_on() {
    let case = Case::new();
    fs::create_dir(case.path("work/there")).expect("made");
    let fields = "cwd: there, verify: [\"true\"], retries: 0";
    case.plan(&[("a", fields), ("b", "")]);
    case.script("a", 1, "rm -r \"$PWD\"");
    let ended = case.go(&[]);
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    assert_eq!(case.done(), ["a", "b"]);
    let summary = case.of_run("task-a.json");
    assert!(
        summary.contains(r#""outcome":"verify_failed""#),
        "{summary}"
    );
    assert!(ended.err.contains("/there"), "{}", ended.err);
}

#[test]
fn a_gate_that_does_not_listen_does_not_hold_up_the_end() {
    let case = Case::new();
    case.plan(&[(
        "a",
        "verify: ['trap \"\" TERM; touch ../gate; while :; do sleep 600; done']",
    )]);
    let mut loop_ = case.command(&["../plan.yaml", "-q"]);
    let child = loop_.stdout(Stdio::null()).spawn().expect("started");
    appears(&case.path("gate"));
    child.signal(Signal::TERM);
    let output = child.wait_with_output().expect("ended");
    assert_eq!(output.status.code(), Some(143), "{output:?}");
}

#[test]
fn what_no_command_line_can_hold_is_a_mistake_in_the_plan() {
    let case = Case::new();
    let plan = r#"[{"id": "a", "prompt": "x", "verify": "true\u0000", "model": "m\u0000", "env": ["A=\u0000"]}]"#;
    case.write("plan.json", plan);
    let ended = case.run(&["../plan.json"]);
    assert_eq!(ended.code, Some(2), "{}", ended.err);
    for field in ["verify", "model", "env"] {
        let words = format!("{field}: contains a NUL");
        assert!(ended.err.contains(&words), "{field}: {}", ended.err);
    }
}

#[test]
fn a_scope_that_cannot_be_checked_was_not_kept_to() {
    let case = Case::new();
    fs::create_dir(case.path("plain")).expect("made");
    case.plan(&[("a", "cwd: ../plain, files: [x], retries: 0")]);
    let ended = case.go(&[]);
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    assert!(ended.err.contains("could not be checked"), "{}", ended.err);
    assert_eq!(case.of_run("task-a.status"), "failed\n");
}

#[test]
fn what_was_not_tried_cannot_be_tried_again() {
    let case = Case::new();
    case.plan(&[("a", ""), ("b", "depends_on: a")]);
    assert_eq!(case.go(&["--break", "b"]).code, Some(4));
    let ended = case.resume(&["--again", "b=now"]);
    assert_eq!(ended.code, Some(2), "{}", ended.err);
    assert!(
        ended.err.contains("`b` has not been tried"),
        "{}",
        ended.err
    );
    assert_eq!(case.resume(&[]).code, Some(0));
}

#[test]
fn a_path_of_a_task_is_for_its_agent_alone() {
    let case = Case::new();
    let agent = r#"#!/bin/sh
case "$*" in *--version*) echo 2.1.326; exit ;; esac
echo "$PATH ${CR_AGENT_PATH-none}" >"$CASE/path"
echo '{"type":"system","subtype":"init","session_id":"s","model":"m","tools":[]}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"ok","num_turns":1,"duration_ms":5,"session_id":"s","total_cost_usd":0.01,"usage":{}}'
"#;
    case.write("alone", agent);
    let program = case.path("alone");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("set");
    let env = format!("[PATH=/nowhere, CR_CLAUDE={}]", program.display());
    let plan = format!("tasks:\n- {{id: a, prompt: x, env: {env}}}\n");
    case.write("plan.yaml", &plan);
    let ended = case.go(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert_eq!(case.read("path"), "/nowhere none\n");
}
