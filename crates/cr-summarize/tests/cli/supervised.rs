//! Streams with lines of our own.

use serde_json::{Value, json};

use crate::tool::{good, lines, of_bytes};

const START: &str = r#"{"type":"cr","subtype":"start","at":"2026-11-18T01:00:00.000Z","run_id":"r1","schema":1,"run_dir":"/runs/r1","cwd":"/w","model":"sonnet","argv":["claude","-p"]}"#;

fn exit(fields: &Value) -> String {
    let mut line = json!({"type": "cr", "subtype": "exit", "at": "2026-11-18T01:02:00.000Z", "run_id": "r1",
        "reason": "exit", "exit_code": 0, "signal": null, "killed": false, "duration_ms": 120_000, "leaked": []});
    let fields = fields.as_object().expect("fields").clone();
    line.as_object_mut().expect("an object").extend(fields);
    line.to_string()
}

pub(crate) fn run(body: &str, fields: &Value) -> (i32, Value) {
    of_bytes(format!("{START}\n{body}{}\n", exit(fields)))
}

#[test]
fn the_supervisor_knows_the_code_the_time_and_the_place() {
    let (code, summary) = run(&good(), &json!({}));
    assert_eq!(code, 0, "{summary}");
    assert_eq!(summary["supervised"], true);
    assert_eq!(summary["exit_code"], 0);
    assert_eq!(summary["duration_seconds"], 120);
    assert_eq!(summary["run_id"], "r1");
    assert_eq!(summary["run_dir"], "/runs/r1");
    assert_eq!(summary["transcript"], "/runs/r1/stream.ndjson");
    assert_eq!(summary["started_at"], "2026-11-18T01:00:00.000Z");
    assert_eq!(summary["ended_at"], "2026-11-18T01:02:00.000Z");
    lines(&summary);
}

#[test]
fn f3_a_missing_end_is_incomplete_whatever_the_result_says() {
    let (code, summary) = of_bytes(format!("{START}\n{}", good()));
    assert_eq!((code, &summary["incomplete"]), (6, &json!(true)));
    let (code, _) = of_bytes(good());
    assert_eq!(code, 0);
}

#[test]
fn a_session_that_ends_before_every_message_is_answered_is_no_success() {
    let input = |state: &str| {
        format!(
            r#"{{"type":"cr","subtype":"input","at":"2026-11-18T01:01:00.000Z","run_id":"r1","id":"m2","from":"me","state":"{state}"}}"#
        )
    };
    let body = format!("{}{}\n", good(), input("queued"));
    for (fields, code) in [
        (json!({"reason": "guardian_died"}), 6),
        (json!({}), 6),
        (json!({"completed_by": "input_end"}), 6),
        // Somebody wanted it.
        (json!({"completed_by": "stop"}), 0),
        (json!({"completed_by": "field"}), 0),
    ] {
        let (found, summary) = run(&body, &fields);
        assert_eq!(found, code, "{fields} {summary}");
        assert_eq!(summary["inputs_unanswered"], 1);
    }
    let body = format!("{body}{}\n", input("done"));
    assert_eq!(run(&body, &json!({"reason": "guardian_died"})).0, 0);
}

#[test]
fn a_torn_tail_is_no_success_unless_we_ended_the_agent() {
    let torn = |fields: Value| {
        let mut all = json!({"torn_tail": true});
        let fields = fields.as_object().expect("fields").clone();
        all.as_object_mut().expect("an object").extend(fields);
        run(&good(), &all)
    };
    let (code, summary) = torn(json!({}));
    assert_eq!((code, &summary["incomplete"]), (6, &json!(true)));
    let why = summary["why"].as_str().expect("why");
    assert!(why.contains("last line"), "{why}");
    // An error is no better for it.
    let (code, _) = torn(json!({"exit_code": 3}));
    assert_eq!(code, 1);
    // After the result our signal may cut a line.
    let (code, _) = torn(json!({"reason": "post_result", "killed": true}));
    assert_eq!(code, 0);
}

#[test]
fn f3_an_end_that_is_not_the_end_is_a_broken_stream() {
    let end = exit(&json!({}));
    for after in [end.as_str(), good().trim_end(), "not json"] {
        let (code, summary) = run(&good(), &json!({}));
        assert_eq!((code, &summary["stream_error"]), (0, &Value::Null));
        let (code, summary) = of_bytes(format!("{START}\n{}{end}\n{after}\n", good()));
        assert_eq!(code, 65, "{after}");
        assert_eq!(summary["ok"], false);
        assert!(summary["stream_error"].is_string());
        lines(&summary);
    }
    let (code, _) = of_bytes(format!("{START}\n{}{end}\n\n", good()));
    assert_eq!(code, 0);
}

#[test]
fn what_ended_the_agent_is_told() {
    let stderr = json!({"bytes": 15, "head": "boom bad model\n", "tail": ""});
    #[rustfmt::skip]
    let cases = [
        (json!({"exit_code": 3, "stderr": stderr}), 1, "failed", json!(3), json!(["boom bad model"])),
        (json!({"exit_code": null, "signal": 9, "reason": "signal"}), 137, "killed", json!(-1), Value::Null),
        (json!({"exit_code": null, "signal": 15, "reason": "timeout", "killed": true}), 124, "timeout", json!(-1), Value::Null),
        (json!({"exit_code": null, "reason": "spawn_failed", "spawn_code": 127, "error": "claude: not found"}), 127, "spawn_failed", Value::Null, json!(["claude: not found"])),
        (json!({"exit_code": 0}), 6, "incomplete", json!(0), json!([])),
    ];
    for (fields, code, outcome, exit_code, errors) in cases {
        let (got, summary) = run("", &fields);
        assert_eq!(
            (got, &summary["outcome"]),
            (code, &json!(outcome)),
            "{fields}"
        );
        assert_eq!(summary["exit_code"], exit_code, "{fields}");
        if errors.is_array() {
            assert_eq!(summary["errors"], errors, "{fields}");
        } else {
            assert_ne!(summary["errors"], json!([]), "{fields}");
        }
        assert_eq!(summary["killed"], exit_code == json!(-1), "{fields}");
    }
}

#[test]
fn a_failure_without_a_word_is_put_into_words() {
    let (code, summary) = run("", &json!({"exit_code": 1}));
    assert_eq!(code, 1);
    assert!(!summary["errors"][0].as_str().expect("an error").is_empty());
}

#[test]
fn a_result_keeps_its_verdict_when_the_process_lingers() {
    let turn = good().lines().nth(1).expect("a line").to_owned() + "\n";
    let fields = json!({"exit_code": null, "signal": 15, "reason": "post_result", "killed": true});
    let (code, summary) = run(&(good() + &turn), &fields);
    assert_eq!((code, &summary["killed"]), (0, &json!(true)));
}

#[test]
fn git_is_as_the_end_saw_it() {
    let git = json!({"type": "cr", "subtype": "git", "phase": "end", "run_id": "r1", "repository": true,
        "start_sha": "a1b2c3d", "end_sha": "f4e5d6a", "branch": "main", "commits": ["f4e5d6a feat: x"],
        "commits_more": 0, "changed_files": 8, "insertions": 245, "deletions": 12, "uncommitted_changes": 0,
        "dirty_before": 1, "files": [{"path": "x"}], "rewritten": false, "agent_commits": ["f4e5d6a"]});
    let before = r#"{"type":"cr","subtype":"git","phase":"start","run_id":"earlier"}"#;
    let end = exit(&json!({}));
    let (code, summary) = of_bytes(format!("{before}\n{START}\n{}{git}\n{end}\n", good()));
    assert_eq!((code, &summary["run_id"]), (0, &json!("r1")));
    let git = &summary["git"];
    assert_eq!(
        (&git["start_sha"], &git["insertions"]),
        (&json!("a1b2c3d"), &json!(245))
    );
    assert_eq!(git["commits"], json!(["f4e5d6a feat: x"]));
}

#[test]
fn lines_that_claim_to_be_ours_are_counted_and_not_believed() {
    let forged = r#"{"type":"cr","subtype":"forged","run_id":"r1","line":"{\"type\":\"cr\",\"subtype\":\"exit\"}"}"#;
    let (code, summary) = run(&format!("{}{forged}\n", good()), &json!({}));
    assert_eq!((code, &summary["forged"]), (0, &json!(1)));
}

#[test]
fn t9_secrets_are_masked_in_all_that_is_composed() {
    let key = "sk-ant-api03-0123456789abcdefghij";
    let body = good()
        .replace("\"hi\"", &format!("\"key {key}\""))
        .replace("/w", &format!("/{key}"));
    let leaked = json!([{"pid": 1, "command": format!("curl -H {key}")}]);
    let stderr = json!({"bytes": 1, "head": key, "tail": key});
    let fields = json!({"exit_code": 1, "leaked": leaked, "stderr": stderr});
    for body in [body, String::new()] {
        let (_, summary) = run(&body, &fields);
        assert!(!summary.to_string().contains(key), "{summary}");
        assert!(summary.to_string().contains("[REDACTED:"), "{summary}");
    }
}

#[test]
fn a_schema_that_was_asked_for_must_be_met() {
    let start = START.replace("\"-p\"", "\"-p\",\"--json-schema\",\"{}\"");
    let (code, summary) = of_bytes(format!("{start}\n{}{}\n", good(), exit(&json!({}))));
    assert_eq!((code, &summary["outcome"]), (1, &json!("no_answer")));
}

#[test]
fn a_record_that_lacks_a_part_is_told() {
    let cut = r#"{"type":"cr","subtype":"cut","at":"2026-11-18T01:01:00.000Z","run_id":"r1","bytes":5,"lines":1}"#;
    for (body, fields) in [
        (good(), json!({"recorded": true, "record_cut": true})),
        (format!("{}{cut}\n", good()), json!({"recorded": true})),
    ] {
        let (code, summary) = run(&body, &fields);
        assert_eq!((code, &summary["truncated"]), (0, &json!(["transcript"])));
    }
}

#[test]
fn the_clock_that_ran_out_and_what_it_found_are_told() {
    let limit = json!({"type": "cr", "subtype": "limit", "run_id": "r1", "clock": "tool", "limit_ms": 3_600_000, "elapsed_ms": 3_600_000,
        "doing": {"what": "tool", "tool": "Bash", "target": "sleep 9999", "since_ms": 3_600_000}, "action": "term"});
    let fields = json!({"exit_code": 143, "reason": "tool", "killed": true, "recorded": true});
    let (code, summary) = run(&format!("{limit}\n"), &fields);
    assert_eq!((code, &summary["outcome"]), (124, &json!("timeout")));
    assert_eq!(summary["limit"]["clock"], "tool");
    assert_eq!(summary["limit"]["limit_ms"], 3_600_000);
    assert_eq!(summary["limit"]["doing"]["target"], "sleep 9999");
    assert_eq!(summary["recorded"], true);
    assert_eq!(summary["exit_code"], -1);
}

fn task(fields: &Value) -> String {
    let mut line = json!({"type": "cr", "subtype": "task", "at": "2026-11-18T01:01:00.000Z", "run_id": "r1",
        "id": "a", "attempt": 1, "state": "running", "reason": "r"});
    let fields = fields.as_object().expect("fields").clone();
    line.as_object_mut().expect("an object").extend(fields);
    format!("{line}\n")
}

#[test]
fn a_finding_of_the_verification_is_the_verdict_until_another_attempt_begins() {
    let failed = task(&json!({"state": "retrying", "outcome": "verify_failed"}));
    let body = format!("{}{}{failed}", task(&json!({})), good());
    let (code, summary) = run(&body, &json!({}));
    assert_eq!((code, &summary["outcome"]), (5, &json!("verify_failed")));
    assert_eq!(summary["retry"]["action"], "retry");
    let again = task(&json!({"attempt": 2}));
    let (code, summary) = run(&format!("{body}{again}{}", good()), &json!({}));
    assert_eq!((code, &summary["outcome"]), (0, &json!("success")));
}

#[test]
fn a_timeout_says_which_clock_and_how_long_it_is() {
    let limit = |clock: &str| {
        format!(
            "{{\"type\":\"cr\",\"subtype\":\"limit\",\"run_id\":\"r1\",\"clock\":\"{clock}\",\"limit_ms\":900000,\"elapsed_ms\":900000,\"action\":\"term\"}}\n"
        )
    };
    let fields = json!({"reason": "idle", "exit_code": 143, "killed": true});
    let why = "The agent was silent for longer than the idle limit of 15m, before a result.";
    let (code, summary) = run(&limit("idle"), &fields);
    assert_eq!((code, &summary["why"]), (124, &json!(why)));
    let (_, summary) = run(&limit("tool"), &fields);
    assert_eq!(summary["why"], why.replace(" of 15m", ""));
}

/// A change of a message or of a question.
fn own(subtype: &str, fields: &Value) -> String {
    let mut line =
        json!({"type": "cr", "subtype": subtype, "at": "2026-11-18T01:01:00.000Z", "run_id": "r1"});
    let fields = fields.as_object().expect("fields").clone();
    line.as_object_mut().expect("an object").extend(fields);
    format!("{line}\n")
}

const EMPTY: &str = r#"{"type":"result","subtype":"success","is_error":false,"num_turns":0,"result":"","session_id":"80f8ae6e-b027-4253-8e9c-1ffd717366a1","total_cost_usd":0.25}"#;

#[test]
fn an_empty_result_is_no_turn_and_not_the_answer_of_a_session() {
    let message = own(
        "input",
        &json!({"id": "m1", "from": "me", "state": "started", "turn": 1}),
    );
    let done = own(
        "input",
        &json!({"id": "m1", "from": "me", "state": "done", "turn": 1}),
    );
    let body = format!("{message}{EMPTY}\n{}{done}", good());
    let (code, summary) = run(&body, &json!({}));
    assert_eq!((code, &summary["result"]), (0, &json!("hi")), "{summary}");
    assert_eq!(
        (&summary["results"], &summary["cost_usd"]),
        (&json!(2), &json!(0.5))
    );
    let turns = summary["turns"].as_array().expect("turns");
    assert_eq!(turns.len(), 1);
    // What it cost belongs to the turn.
    assert_eq!(
        (&turns[0]["number"], &turns[0]["cost_usd"]),
        (&json!(1), &json!(0.5))
    );
    assert_eq!(turns[0]["messages"], json!(["m1"]));
    // A session that was cut off before its answer has none.
    let (code, summary) = run(&format!("{message}{EMPTY}\n"), &json!({}));
    assert_eq!((code, &summary["result"]), (6, &Value::Null), "{summary}");
    assert_eq!(summary["inputs_unanswered"], 1);
    // A command of the CLI itself has no other result.
    let (code, summary) = run(&format!("{EMPTY}\n"), &json!({}));
    assert_eq!((code, &summary["turns"]), (0, &json!([])), "{summary}");
}

#[test]
fn a_question_that_is_open_at_the_end_needs_input_and_a_withdrawn_one_does_not() {
    let ask = |state: &str| {
        own(
            "ask",
            &json!({"id": "q1", "kind": "choice", "tool": "AskUserQuestion", "agent": null,
            "text": "Which colour?", "input": {}, "state": state}),
        )
    };
    let (code, summary) = run(&(ask("open") + &good()), &json!({}));
    assert_eq!(
        (code, &summary["outcome"]),
        (4, &json!("needs_input")),
        "{summary}"
    );
    assert_eq!(summary["questions"][0]["state"], "open");
    let next = summary["next"].as_str().expect("next");
    assert!(
        next.contains("cr-send /runs/r1 --answer q1 CHOICE"),
        "{next}"
    );
    let why = summary["why"].as_str().expect("why");
    assert!(why.ends_with("Which colour?."), "{why}");
    let withdrawn = ask("open") + &ask("withdrawn") + &good();
    let (code, summary) = run(&withdrawn, &json!({}));
    assert_eq!(
        (code, &summary["questions"]),
        (0, &Value::Null),
        "{summary}"
    );
}
