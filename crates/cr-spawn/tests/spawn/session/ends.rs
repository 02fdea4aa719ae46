//! How a session ends: when the work is complete, on request, by a clock.

use cr_rundir::{ControlOperation, ControlRequest};

use super::talk::{Talk, VERSIONS};

#[test]
fn a_background_agent_is_waited_for_and_its_turn_counts() {
    for version in VERSIONS {
        let mut talk = Talk::start(version, &[]);
        talk.say("agent:600ms one");
        let over = talk.finish();
        assert_eq!(over.code, Some(0), "{version}");
        assert_eq!(over.results().len(), 2, "{version}");
        let states = over.own("state");
        let woken = states
            .iter()
            .find(|it| it["turn"] == 2)
            .expect("a second turn");
        assert_eq!(woken["cause"], "task", "{version}");
        assert_eq!(over.exit()["completed_by"], "input_end");
    }
}

#[test]
fn a_background_shell_is_waited_for() {
    for version in VERSIONS {
        let mut talk = Talk::start(version, &[]);
        talk.say("shell:600ms one");
        assert_eq!(talk.finish().results().len(), 2, "{version}");
    }
}

#[test]
fn a_background_task_that_nobody_reports_is_reminded_of_once() {
    for version in VERSIONS {
        let mut talk = Talk::start(version, &["--wake-timeout", "300ms"]);
        talk.say("nowake:200ms one");
        let over = talk.finish();
        let limits = over.own("limit");
        assert_eq!(limits.len(), 1, "{version}");
        assert_eq!(
            (&limits[0]["clock"], &limits[0]["action"]),
            (&"wake".into(), &"remind".into())
        );
        assert_eq!(over.results().len(), 2, "{version}");
        let reminder = over.own("input");
        assert!(
            reminder.iter().any(|it| it["from"] == "claude-runner"),
            "{version}"
        );
    }
}

#[test]
fn a_field_of_the_structured_output_ends_the_session() {
    for version in VERSIONS {
        let mut talk = Talk::start(version, &["--until-field", "done", "--keep-open"]);
        talk.say("one");
        talk.until_state("input", "done");
        talk.say("field:done two");
        let over = talk.finish();
        assert_eq!(
            (over.code, &over.exit()["completed_by"]),
            (Some(0), &"field".into())
        );
    }
}

#[test]
fn an_open_session_waits_for_clients_until_it_is_stopped() {
    for version in VERSIONS {
        let mut talk = Talk::start(version, &["--keep-open"]);
        talk.end_input();
        talk.until_state("state", "waiting_for_input");
        assert!(talk.send("one", "next").ok);
        talk.until_state("input", "done");
        assert!(talk.ask(&ControlRequest::new(ControlOperation::Stop)).ok);
        let over = talk.finish();
        assert_eq!(
            (over.code, &over.exit()["completed_by"]),
            (Some(0), &"stop".into())
        );
        assert_eq!(over.logged(), ["one"], "{version}");
    }
}

#[test]
fn a_stop_in_mid_turn_ends_the_run_as_interrupted() {
    for version in VERSIONS {
        let mut talk = Talk::start(version, &[]);
        talk.say("tool:30s one");
        talk.until("a tool call", |line| line["type"] == "assistant");
        assert!(talk.ask(&ControlRequest::new(ControlOperation::Stop)).ok);
        let over = talk.finish();
        assert_eq!(over.code, Some(143), "{version}");
        assert_eq!(over.exit()["reason"], "interrupted");
        assert_eq!(over.exit()["completed_by"], "stop");
    }
}

#[test]
fn a_turn_that_takes_too_long_is_interrupted_and_the_session_goes_on() {
    for version in VERSIONS {
        let mut talk = Talk::start(version, &["--turn-timeout", "500ms"]);
        talk.say("agent:30s tool:30s one");
        talk.until_state("input", "cancelled");
        talk.say("two");
        talk.until_state("input", "done");
        let over = talk.finish();
        assert_eq!(over.code, Some(0), "{version}");
        let limits = over.own("limit");
        assert_eq!(limits.len(), 1, "{version}");
        assert_eq!(
            (&limits[0]["clock"], &limits[0]["action"]),
            (&"turn".into(), &"interrupt".into())
        );
        let stopped = limits[0]["stopped_tasks"].as_array().expect("a list");
        assert_eq!(stopped.len(), 1, "{version}");
    }
}

#[test]
fn a_turn_that_takes_too_long_ends_the_session_on_request() {
    let args = ["--turn-timeout", "500ms", "--turn-timeout-action", "end"];
    let mut talk = Talk::start("2.1.326", &args);
    talk.say("tool:30s one");
    let over = talk.finish();
    assert_eq!(
        (over.code, &over.exit()["reason"]),
        (Some(124), &"turn".into())
    );
}

#[test]
fn a_session_that_the_clock_ends_in_a_later_turn_is_no_success() {
    for version in VERSIONS {
        let mut talk = Talk::start(version, &["--timeout", "3s"]);
        talk.say("one");
        talk.until_state("input", "done");
        talk.say("tool:30s two");
        talk.until("the tool", |line| line.to_string().contains("tool_use"));
        let over = talk.finish();
        assert_eq!(over.code, Some(124), "{version}");
        let lines = over.lines.iter().map(|line| format!("{line}\n"));
        let mut summarize = over.world.tool("cr-summarize");
        let summary = summarize.write_stdin(lines.collect::<String>());
        let output = summary.output().expect("run cr-summarize");
        assert_eq!(output.status.code(), Some(124), "{version}");
    }
}

#[test]
fn the_clocks_of_a_turn_do_not_run_while_nobody_waits_for_the_agent() {
    let args = [
        "--idle-timeout",
        "400ms",
        "--startup-timeout",
        "400ms",
        "--post-result-grace",
        "400ms",
    ];
    let mut talk = Talk::start("2.1.326", &args);
    talk.until_state("state", "waiting_for_input");
    // The time itself is what is tested: nothing happens in it.
    talk.until("a sign of life", |line| {
        line["silent_ms"].as_u64().is_some_and(|ms| ms > 900)
    });
    talk.say("one");
    talk.until_state("input", "done");
    talk.until("a sign of life", |line| {
        line["silent_ms"].as_u64().is_some_and(|ms| ms > 900)
    });
    talk.say("two");
    let over = talk.finish();
    assert_eq!((over.code, over.own("limit").len()), (Some(0), 0));
}

#[test]
fn a_turn_that_fails_does_not_end_the_session() {
    for version in VERSIONS {
        let mut talk = Talk::start(version, &[]);
        talk.say("fail one");
        talk.until_state("input", "done");
        talk.say("two");
        let over = talk.finish();
        assert_eq!((over.code, over.results().len()), (Some(0), 2), "{version}");
    }
}

#[test]
fn an_agent_that_dies_leaves_its_messages_in_the_queue() {
    for version in VERSIONS {
        let mut talk = Talk::start(version, &[]);
        talk.say("crash");
        let over = talk.finish();
        assert_eq!(over.exit()["reason"], "signal", "{version}");
        assert!(over.own("input").iter().all(|it| it["state"] != "done"));
    }
}
