//! Detached runs.

use cr_test::{repeats, runner_script};
use serde_json::Value;

use crate::case::{Case, HANG, INIT, RESULT};

#[test]
fn each_run_left_by_a_shell_that_exits_gives_its_verdict() {
    let agent = [INIT, "setsid sleep 600 &\n", RESULT];
    let case = Case::new(&agent.concat());
    let mut ids = Vec::new();
    for number in 0..repeats(5, 50) {
        let script = runner_script();
        let line = format!(
            "{} --detach --name n{number} go & wait $!",
            script.display()
        );
        let output = case.line(&line).output().expect("run");
        assert!(output.status.success(), "{output:?}");
        let place: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        ids.push(place["run_id"].as_str().expect("an id").to_owned());
    }
    for id in &ids {
        let output = case
            .tool("cr-runs", &["wait", id, "--timeout", "1m"])
            .output();
        let output = output.expect("run");
        let summary: Value = serde_json::from_slice(&output.stdout).expect("a summary");
        assert_eq!(summary["outcome"], "success", "{summary}");
        assert_eq!(summary["run_id"], id.as_str());
        assert_eq!(output.status.code(), Some(0));
    }
    case.wait_for_nobody();
}

#[test]
fn a_detached_run_can_be_waited_for_followed_and_stopped_by_its_name() {
    let case = Case::new(&[INIT, HANG].concat());
    let args = ["--detach", "--name", "long", "--grace", "2", "go"];
    let begun = case.runner(&args).output().expect("run");
    assert!(begun.status.success(), "{begun:?}");
    let run = |args: &[&str]| {
        let output = case.tool("cr-runs", args).output().expect("run");
        (
            output.status.code(),
            String::from_utf8(output.stdout).expect("text"),
        )
    };
    let (code, _) = run(&["wait", "long", "--timeout", "0.2"]);
    assert_eq!(code, Some(75));
    let (_, line) = run(&["status", "long"]);
    assert!(line.contains(" running ") && line.len() <= 301, "{line}");
    let (code, _) = run(&["stop", "long"]);
    assert_eq!(code, Some(0));
    let (code, summary) = run(&["wait", "long"]);
    assert_eq!(code, Some(143), "{summary}");
    let (_, text) = run(&["tail", "long", "-f"]);
    assert!(
        text.contains("Session:") && text.contains("\nCursor: "),
        "{text}"
    );
    case.wait_for_nobody();
}

#[test]
fn a_run_that_cannot_begin_says_so_at_once() {
    let case = Case::new("");
    let done = case.run(&["--detach", "--max-turns", "x", "go"]);
    assert_eq!((done.code(), done.out.as_str()), (Some(2), ""));
    let agent = ["--claude", "no-such-agent", "--name", "n"];
    let args = [&["--detach", "go"][..], &agent].concat();
    let begun = case.runner(&args).output().expect("run");
    assert!(begun.status.success(), "{begun:?}");
    for run in ["--last", "n"] {
        let output = case.tool("cr-runs", &["wait", run]).output();
        assert_eq!(output.expect("run").status.code(), Some(127), "{run}");
    }
}
