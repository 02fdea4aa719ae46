//! SIGTERM and SIGKILL at any moment: no attempt runs twice, and a task that is
//! done was really done.

use std::io::{BufReader, Read};
use std::time::Duration;

use cr_test::{Fifo, Signal, appears, line_with, repeats};

use crate::case::Case;

#[test]
fn w6_a_run_that_is_told_to_stop_leaves_no_agent_behind() {
    let case = Case::new();
    case.plan(&[("a", ""), ("b", "")]);
    case.script(
        "a",
        1,
        "touch \"$CASE/here\"; rmdir \"$CASE/busy\"; exec sleep 600",
    );
    let child = case.command(&["../plan.yaml"]).spawn().expect("run");
    appears(&case.path("here"));
    child.signal(Signal::TERM);
    let ended = child.wait_with_output().expect("ended");
    assert_eq!(ended.status.code(), Some(143));
    case.world.assert_nobody_left("a run that was told to stop");
    let ended = case.resume(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert_eq!(case.done(), ["a", "b"]);
    assert_eq!(case.starts("a"), 2);
}

#[test]
fn w1_what_was_lost_is_not_run_again_unless_somebody_says_so() {
    let dies = "setup: 'test -e ../died || { touch ../died; kill -9 $PPID; }'";
    let case = Case::new();
    case.plan(&[("a", dies), ("b", "")]);
    let ended = case.go(&[]);
    assert_eq!(ended.code, Some(4), "{}", ended.err);
    assert_eq!(case.done(), ["b"]);
    assert_eq!(case.resume(&[]).code, Some(4));
    assert_eq!(case.of_run("task-a.status"), "lost\n");
    let ended = case.resume(&["--rerun-lost"]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert_eq!(case.done(), ["b", "a"]);

    let case = Case::new();
    case.plan(&[("a", &format!("{dies}, idempotent: true"))]);
    assert_eq!(case.go(&[]).code, Some(0));
    assert_eq!(case.done(), ["a"]);
}

#[test]
fn w1_an_attempt_outlives_the_engine_and_is_adopted() {
    let case = Case::new();
    case.plan(&[("a", ""), ("b", "")]);
    let gate = Fifo::new(case.path("gate"));
    case.script("a", 1, "touch \"$CASE/here\"; cat \"$CASE/gate\"");
    let mut first = case.command(&["../plan.yaml"]).spawn().expect("run");
    appears(&case.path("here"));
    let status = || case.run(&["status"]).out;
    assert!(!status().contains("no process drives"), "{}", status());
    first.kill().expect("killed");
    first.wait().expect("ended");
    assert_eq!(case.of_run("task-a.status"), "running\n");
    let id = case.run_id();
    let said = status();
    let wanted =
        format!("no process drives this run; to continue: cr-orchestrate --resume-run {id}");
    assert_eq!(said.lines().last(), Some(wanted.as_str()), "{said}");
    let json = case.run(&["status", "--json"]).out;
    assert_eq!(json.matches(r#""driven":false"#).count(), 2, "{json}");
    let mut second = case
        .command(&["--resume-run", &id, "--json"])
        .spawn()
        .expect("run");
    let mut lines = BufReader::new(second.stdout.take().expect("piped"));
    line_with(&mut lines, r#""state":"adopted""#);
    // Opened by the agent that the first engine started.
    drop(gate.writer());
    lines.read_to_end(&mut Vec::new()).expect("its lines");
    let ended = crate::case::Ended::from(second.wait_with_output().expect("ended"));
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert_eq!((case.starts("a"), case.starts("b")), (1, 1));
    assert_eq!(case.done(), ["a", "b"]);
    assert!(!status().contains("to continue"), "{}", status());
}

#[test]
fn w6_an_adopted_attempt_can_be_stopped() {
    let case = Case::new();
    case.plan(&[("a", "")]);
    case.script(
        "a",
        1,
        "touch \"$CASE/here\"; rmdir \"$CASE/busy\"; exec sleep 600",
    );
    let mut first = case.command(&["../plan.yaml"]).spawn().expect("run");
    appears(&case.path("here"));
    first.kill().expect("killed");
    first.wait().expect("ended");
    let id = case.run_id();
    let mut command = case.command(&["--resume-run", &id, "--json"]);
    let mut second = command.spawn().expect("run");
    let mut lines = BufReader::new(second.stdout.take().expect("piped"));
    line_with(&mut lines, "adopted");
    second.signal(Signal::TERM);
    assert_eq!(second.wait().expect("ended").code(), Some(143));
    let end = case.of_run("attempts/a/1/end.json");
    assert!(end.contains(r#""outcome":"interrupted""#), "{end}");
}

#[test]
fn w1_an_attempt_whose_supervisor_died_is_judged_by_what_it_left() {
    let case = Case::new();
    // The first gate kills its supervisor, after the agent's work is done.
    case.plan(&[(
        "a",
        "verify: 'test -e ../died || { touch ../died; kill -9 $PPID; }'",
    )]);
    let ended = case.go(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert_eq!((case.starts("a"), case.done().len()), (1, 1));
}

/// A sprint with a gate that fails once, a rate limit, a question and a failure.
fn sprint() -> Case {
    let case = Case::new();
    case.plan(&[
        ("a", ""),
        (
            "b",
            "verify: 'test -e ../gate || { touch ../gate; exit 1; }'",
        ),
        ("c", ""),
        ("d", "depends_on: [a, c]"),
        ("e", ""),
        ("f", ""),
    ]);
    let limited = r#"echo '{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1700000000}}'
error "limit reached" ',"api_error_status":429'"#;
    case.script("c", 1, limited);
    let asks = r#"result '"subtype":"success","is_error":false,"result":"```json\n{\"status\":\"needs-human\",\"summary\":\"stuck\"}\n```"' 0"#;
    case.script("e", 1, asks);
    case
}

/// A number below `most`, from a sequence that `seed` names.
pub(crate) fn random(seed: &mut u64, most: u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed % most
}

/// Runs a sprint and kills the engine `kills` times; returns how often it was
/// alive to be killed.
fn torment(kills: u32, seed: &mut u64) -> u32 {
    let case = sprint();
    let plan = ["../plan.yaml", "--backoff", "10ms", "--sprint"];
    let mut hit = 0;
    let mut child = case.command(&plan).spawn().expect("run");
    for _ in 0..kills {
        let moment = Duration::from_millis(random(seed, 400));
        child.ends_within(moment);
        hit += u32::from(child.try_wait().expect("a child").is_none());
        let _ = child.kill();
        child.wait().expect("ended");
        child = if case.has_run() {
            case.command(&["--resume-run", "2"]).spawn().expect("run")
        } else {
            let _ = std::fs::remove_dir_all(case.path("state"));
            case.command(&plan).spawn().expect("run")
        };
    }
    let output = child.wait_with_output().expect("ended");
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{err}");
    let ended = case.resume(&["--again", "e=go on"]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let mut done = case.done();
    done.sort();
    // b is done twice by its own account, and was not by its gate's.
    assert_eq!(done, ["a", "b", "b", "c", "d", "e", "f"], "{}", ended.err);
    assert_eq!(case.read("overlap"), "", "two agents at a time");
    for (task, starts) in [("a", 1), ("b", 2), ("c", 2), ("d", 1), ("e", 2), ("f", 1)] {
        assert_eq!(case.starts(task), starts, "{task}");
        assert_eq!(case.of_run(&format!("task-{task}.status")), "completed\n");
    }
    let log = case.of_run("session.log");
    for line in log.lines().filter(|line| !line.is_empty()) {
        let parsed = serde_json::from_str::<serde_json::Value>(line);
        assert!(parsed.is_ok() || !line.ends_with('}'), "{line}");
    }
    hit
}

#[test]
fn w1_killed_at_any_moment_every_task_is_done_exactly_once() {
    let wanted = u32::try_from(repeats(10, 100)).expect("small");
    let mut seed = 0x9e37_79b9_7f4a_7c15;
    let mut hit = 0;
    // Five kills a round. On a fast machine a run may end before any of them.
    for _ in 0..3 * wanted {
        hit += torment(5, &mut seed);
        if hit >= wanted {
            return;
        }
    }
    panic!("only {hit} of the kills found an engine");
}

#[test]
fn the_tools_are_beside_it() {
    let help = Case::new().run(&["--help"]);
    assert!(help.out.contains("Exit status:"), "{help:?}");
}
