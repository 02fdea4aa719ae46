//! Tokens, context and cost.

use serde_json::{Value, json};

use crate::tool::{fixture, of_bytes, summary, tool};

#[test]
fn a_subagent_that_speaks_last_does_not_change_the_context() {
    let path = fixture("captures/02-tools.ndjson");
    let stream = std::fs::read_to_string(path).expect("a capture");
    let haiku = r#"{"type":"assistant","message":{"id":"h","model":"claude-haiku-4-5","content":[],"usage":{"input_tokens":502,"output_tokens":1}},"parent_tool_use_id":"toolu_1"}"#;
    for stream in [stream.clone(), format!("{stream}{haiku}\n")] {
        let (code, summary) = of_bytes(stream);
        assert_eq!(code, 0);
        assert_eq!(summary["tokens"]["context_used"], 2908);
        assert_eq!(summary["tokens"]["context_window"], 1_000_000);
        assert_eq!(summary["tokens"]["context_used_pct"], 0);
        assert_eq!(summary["model"], "claude-opus-5-5");
    }
}

fn message(id: &str, input: u64) -> String {
    json!({"type": "assistant", "message": {"id": id, "model": "m", "content": [],
        "usage": {"input_tokens": input, "output_tokens": 1}}})
    .to_string()
        + "\n"
}

fn with_window(input: u64, window: u64) -> Value {
    let window = window.to_string();
    let output = tool()
        .args(["--context-window", &window])
        .write_stdin(message("a", input))
        .output()
        .expect("run");
    summary(&output).1
}

#[test]
fn the_warning_is_strictly_above_sixty_percent_and_before_rounding() {
    let cases = [
        (600, 60, false),
        (601, 60, true),
        (610, 61, true),
        (599, 59, false),
    ];
    for (used, percent, warning) in cases {
        let summary = with_window(used, 1000);
        assert_eq!(summary["tokens"]["context_used_pct"], percent, "{used}");
        assert_eq!(summary["context_warning"], warning, "{used}");
    }
}

#[test]
fn an_unknown_window_is_null_and_warns_of_nothing() {
    let (_, summary) = of_bytes(message("a", u64::MAX));
    assert_eq!(summary["tokens"]["context_window"], Value::Null);
    assert_eq!(summary["tokens"]["context_used_pct"], Value::Null);
    assert_eq!(summary["context_warning"], false);
}

#[test]
fn usage_counts_once_a_message() {
    let stream = message("a", 5) + &message("b", 7) + &message("a", 5);
    let (code, summary) = of_bytes(stream);
    assert_eq!((code, &summary["tokens"]["input"]), (6, &json!(12)));
    assert_eq!(summary["cost_usd"], Value::Null);
}

#[test]
fn a_compacted_context_is_what_is_left_of_it() {
    let compacted =
        r#"{"type":"system","subtype":"compact_boundary","compact_metadata":{"post_tokens":33}}"#;
    let (_, summary) = of_bytes(message("a", 5000) + compacted + "\n");
    assert_eq!(summary["tokens"]["context_used"], 33);
    assert_eq!(summary["compactions"], 1);
}

#[test]
fn cost_is_estimated_only_where_asked_for_and_known() {
    let line = message("a", 1_000_000).replace("\"m\"", "\"claude-sonnet-4-5\"");
    let cost = |flags: &[&str], stream: &str| {
        let output = tool()
            .args(flags)
            .write_stdin(stream)
            .output()
            .expect("run");
        let (_, summary) = summary(&output);
        (summary["cost_usd"].clone(), summary["cost_source"].clone())
    };
    assert_eq!(cost(&[], &line), (Value::Null, json!("none")));
    let estimate = ["--estimate-cost"];
    assert_eq!(
        cost(&estimate, &line),
        (json!(3.000_015), json!("estimate"))
    );
    assert_eq!(
        cost(&estimate, &message("a", 5)),
        (Value::Null, json!("none"))
    );
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("prices.json");
    std::fs::write(
        &file,
        r#"{"m":{"input":1,"output":0,"cache_read":0,"cache_creation":0}}"#,
    )
    .expect("written");
    let flags = ["--prices", file.to_str().expect("UTF-8")];
    assert_eq!(
        cost(&flags, &message("a", 2_000_000)),
        (json!(2.0), json!("estimate"))
    );
    let config = dir.path().join("config.toml");
    let text = format!("prices = \"{}\"\n", file.display());
    std::fs::write(&config, text).expect("written");
    let output = tool()
        .args(estimate)
        .env("CR_CONFIG", &config)
        .write_stdin(message("a", 2_000_000))
        .output()
        .expect("run");
    assert_eq!(summary(&output).1["cost_usd"], 2.0, "by the configuration");
    let range = "expected dollars for a million tokens, from 0 to 10000";
    for (price, cause) in [
        ("\"input\": \"free\"", "invalid type"),
        ("\"output\": -1", range),
        ("\"cache_creation_1h\": 10001", range),
    ] {
        std::fs::write(&file, format!("{{\"m\": {{\n  {price}}}}}")).expect("written");
        let output = tool().args(flags).write_stdin("").output().expect("run");
        assert_eq!(output.status.code(), Some(78));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let place = format!("cr-summarize: {}:2: {cause}", file.display());
        assert!(said.starts_with(&place), "{said}");
        assert!(!said.contains(" at line "), "{said}");
    }
}

#[test]
fn a_question_left_open_needs_a_person() {
    let ask = r#"{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"Write","tool_use_id":"t"}}"#;
    let answer = r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}}"#;
    let cancel = r#"{"type":"control_cancel_request","request_id":"r"}"#;
    let result =
        r#"{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"x"}"#;
    for (between, code) in [("", 4), (answer, 0), (cancel, 0)] {
        let (got, _) = of_bytes(format!("{ask}\n{between}\n{result}\n"));
        assert_eq!(got, code, "{between}");
    }
}

#[test]
fn the_run_ends_with_the_last_line_that_tells_a_time() {
    let line = |kind: &str, second: u32| {
        json!({"type": kind, "message": {"id": "a", "content": []}, "timestamp": format!("2026-01-01T00:00:0{second}Z")})
            .to_string()
            .replace(&format!(",\"type\":\"{kind}\""), "")
            .replacen('{', &format!("{{\"type\":\"{kind}\","), 1)
    };
    let (user, assistant) = (|at| line("user", at), |at| line("assistant", at));
    assert!(user(1).starts_with(r#"{"type":"user","message""#));
    let torn = &user(9)[..40];
    let cases = [
        (vec![user(1), user(2)], 2),
        (
            vec![assistant(1), user(2), "{\"type\":\"x\"}".to_owned()],
            2,
        ),
        (vec![assistant(1), user(2), assistant(3)], 3),
        (vec![assistant(1), user(2), torn.to_owned()], 2),
        (vec![assistant(1), user(2), user(3), "x".to_owned()], 3),
    ];
    for (lines, last) in cases {
        let (_, summary) = of_bytes(lines.join("\n"));
        let ended = format!("2026-01-01T00:00:0{last}.000Z");
        assert_eq!(summary["ended_at"], ended, "{lines:?}");
        assert_eq!(summary["started_at"], "2026-01-01T00:00:01.000Z");
        crate::tool::lines(&summary);
    }
}

#[test]
fn what_several_sessions_spent_is_summed() {
    // Of a release that tells running totals only.
    let end = |session: &str, cost: f64, input: u64| {
        json!({"type": "result", "subtype": "success", "session_id": session,
            "total_cost_usd": cost, "modelUsage": {"m": {"inputTokens": input}}})
        .to_string()
            + "\n"
    };
    let stream = [
        end("a", 0.25, 100),
        end("a", 0.5, 150),
        end("b", 0.75, 10),
        end("b", 1.0, 30),
    ];
    let (_, summary) = of_bytes(stream.concat());
    assert_eq!(summary["cost_usd"], 1.5);
    assert_eq!(summary["session_cost_usd"], 1.0);
    assert_eq!(summary["tokens"]["input"], 180);
}
