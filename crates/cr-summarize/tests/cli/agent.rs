//! The agent's version, its account, and what it did to its context.

use serde_json::{Value, json};

use crate::tool::{fixture, good, of_bytes, of_file, summary, tool};

fn stream(lines: &[Value]) -> String {
    let lines: Vec<_> = lines.iter().map(Value::to_string).collect();
    lines.join("\n") + "\n"
}

fn limit(info: &Value) -> Value {
    json!({"type": "rate_limit_event", "rate_limit_info": info})
}

/// A message of the main thread, at a minute, that wrote to the cache.
fn message(minute: u64, cache: &Value) -> Value {
    json!({"type": "assistant", "timestamp": format!("2026-11-18T03:{minute:02}:00.000Z"),
        "message": {"id": format!("m{minute}"), "model": "m", "content": [],
            "usage": {"input_tokens": 1, "output_tokens": 1, "cache_creation": cache}}})
}

fn compaction(trigger: &str) -> Value {
    json!({"type": "system", "subtype": "compact_boundary",
        "compact_metadata": {"trigger": trigger, "pre_tokens": 900}})
}

#[test]
fn the_windows_of_the_account_are_those_of_the_recording() {
    let (_, summary) = of_file(&fixture("captures/20-ratelimit-oauth.ndjson"));
    let at = "2026-11-18T00:36:47.147Z";
    let expected = json!({
        "five_hour": {"used": 0.91, "resets_at": "2026-11-18T11:06:40.000Z",
            "status": "allowed_warning", "at": at},
        "seven_day": {"used": 0.5, "resets_at": "2026-11-23T02:13:20.000Z",
            "status": null, "at": at},
    });
    assert_eq!(summary["quota"], expected);
}

#[test]
fn the_last_report_on_each_window_counts_whichever_form_it_has() {
    let stream = stream(&[
        limit(
            &json!({"status": "allowed", "rateLimitType": "five_hour", "utilization": 0.1,
            "unifiedWindows": {"seven_day": {"utilization": 0.4}}}),
        ),
        message(1, &Value::Null),
        limit(&json!({"status": "rejected", "rateLimitType": "five_hour",
            "resetsAt": 1_795_000_000, "unifiedWindows": {"five_hour": {"utilization": 1}}})),
        message(2, &Value::Null),
        limit(&json!({"status": "allowed", "rateLimitType": "seven_day_opus"})),
    ]);
    let (_, summary) = of_bytes(stream);
    let quota = &summary["quota"];
    assert_eq!(quota["five_hour"]["used"], 1.0);
    assert_eq!(quota["five_hour"]["status"], "rejected");
    assert_eq!(quota["five_hour"]["resets_at"], "2026-11-18T11:06:40.000Z");
    assert_eq!(quota["five_hour"]["at"], "2026-11-18T03:01:00.000Z");
    assert_eq!(quota["seven_day"]["used"], 0.4);
    let before_any_time = &quota["seven_day"]["at"];
    assert_eq!(*before_any_time, Value::Null);
    let opus = json!({"used": null, "resets_at": null, "status": "allowed",
        "at": "2026-11-18T03:02:00.000Z"});
    assert_eq!(quota["seven_day_opus"], opus);
}

#[test]
fn a_report_that_names_no_window_is_no_quota() {
    let nameless = limit(&json!({"status": "rejected", "resetsAt": 1_795_000_000}));
    let other = limit(&json!({"requests_limit": 1000, "unifiedWindows": {}}));
    let odd = limit(&json!({"rateLimitType": 7, "unifiedWindows": [1]}));
    for line in [nameless, other, odd] {
        let (_, summary) = of_bytes(good() + &stream(&[line]));
        assert_eq!(summary["quota"], Value::Null);
    }
}

#[test]
fn a_skipped_result_of_a_tool_gives_its_time_to_the_report_after_it() {
    let user = r#"{"type":"user","message":{"role":"user","content":[]},"timestamp":"2026-11-18T03:05:00.000Z"}"#;
    let first = stream(&[message(1, &Value::Null)]);
    let report = limit(&json!({"rateLimitType": "five_hour", "utilization": 0.5}));
    let rest = stream(&[report, compaction("auto")]);
    let (_, summary) = of_bytes(format!("{}{first}{user}\n{rest}", good()));
    let at = "2026-11-18T03:05:00.000Z";
    assert_eq!(summary["quota"]["five_hour"]["at"], at);
    assert_eq!(summary["compaction_list"][0]["at"], at);
}

#[test]
fn the_last_write_says_how_long_the_cache_is_kept() {
    let five = json!({"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 0});
    let hour = json!({"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 1});
    let none = json!({"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0});
    let cases = [
        (vec![&none], Value::Null),
        (vec![&hour, &five], json!("5m")),
        (vec![&five, &hour, &none], json!("1h")),
    ];
    for (writes, expected) in cases {
        let minutes = 1..;
        let messages = minutes.zip(&writes).map(|(at, cache)| message(at, cache));
        let mut lines: Vec<_> = messages.collect();
        let mut subagents = message(59, &five);
        subagents["parent_tool_use_id"] = "toolu_1".into();
        lines.push(subagents);
        let (_, summary) = of_bytes(stream(&lines));
        assert_eq!(summary["tokens"]["cache_ttl"], expected, "{writes:?}");
        let at = format!("2026-11-18T03:{:02}:00.000Z", writes.len());
        assert_eq!(summary["tokens"]["context_at"], at);
    }
}

#[test]
fn a_log_says_which_cache_was_asked_for_where_nothing_was_written() {
    let (_, summary) = of_file(&fixture("session-logs/01-simple.jsonl"));
    assert_eq!(summary["tokens"]["cache_ttl"], "5m");
    assert_eq!(summary["tokens"]["context_at"], "2026-11-18T00:22:09.034Z");
    let (_, summary) = of_file(&fixture("captures/01-simple.ndjson"));
    assert_eq!(summary["tokens"]["cache_ttl"], Value::Null);
}

#[test]
fn a_message_without_a_time_has_none() {
    let mut untimed = message(2, &Value::Null);
    untimed["timestamp"] = Value::Null;
    let (_, summary) = of_bytes(stream(&[message(1, &Value::Null), untimed]));
    assert_eq!(summary["tokens"]["context_at"], Value::Null);
}

#[test]
fn a_compaction_has_its_size_in_both_dialects() {
    let files = [
        ("captures/20-compact.ndjson", "2026-11-18T00:33:51.614Z"),
        ("session-logs/20-compact.jsonl", "2026-11-18T00:33:51.689Z"),
    ];
    for (file, at) in files {
        let (_, summary) = of_file(&fixture(file));
        assert_eq!(summary["compactions"], 1, "{file}");
        let expected =
            json!([{"at": at, "trigger": "manual", "pre_tokens": 1372, "post_tokens": 2718}]);
        assert_eq!(summary["compaction_list"], expected, "{file}");
    }
}

#[test]
fn many_compactions_are_the_last_ones_and_their_number() {
    let mut lines = vec![message(1, &Value::Null)];
    lines.extend((0..25).map(|n| compaction(&format!("t{n}"))));
    let mut subagents = compaction("auto");
    subagents["parent_tool_use_id"] = "toolu_1".into();
    lines.push(subagents);
    let lines = stream(&lines);
    let (_, short) = of_bytes(lines.as_str());
    assert_eq!(
        (&short["compactions"], &short["compaction_list_total"]),
        (&json!(26), &json!(25))
    );
    let shown = short["compaction_list"].as_array().expect("a list");
    assert!(shown.len() <= 20, "{shown:?}");
    let last = shown.last().expect("one");
    assert_eq!(last["trigger"], "t24");
    assert_eq!(last["post_tokens"], Value::Null);
    let full = tool()
        .arg("--full")
        .write_stdin(lines)
        .output()
        .expect("run");
    let full = summary(&full).1;
    assert_eq!(full["compaction_list"].as_array().map(Vec::len), Some(25));
    assert_eq!(full["compaction_list_total"], Value::Null);
}

#[test]
fn the_threshold_is_known_where_the_agent_was_asked() {
    let (_, summary) = of_file(&fixture("captures/10-controls.ndjson"));
    assert_eq!(summary["tokens"]["auto_compact_threshold"], 967_000);
    let answer = |enabled| {
        json!({"type": "control_response", "response": {"subtype": "success", "request_id": "1",
            "response": {"autoCompactThreshold": 5, "isAutoCompactEnabled": enabled}}})
    };
    for (answers, expected) in [(vec![true], json!(5)), (vec![true, false], Value::Null)] {
        let answers: Vec<_> = answers.into_iter().map(answer).collect();
        let (_, summary) = of_bytes(good() + &stream(&answers));
        assert_eq!(summary["tokens"]["auto_compact_threshold"], expected);
    }
}

#[test]
fn the_version_is_the_agents_own_word_else_that_of_the_start() {
    let start =
        json!({"type": "cr", "subtype": "start", "claude": {"path": "/c", "version": "1.0.0"}});
    let init = json!({"type": "system", "subtype": "init", "claude_code_version": "2.1.326"});
    let log = |version: &str| json!({"type": "user", "sessionId": "s", "version": version});
    let stranger = json!({"type": "system", "subtype": "x", "version": "9"});
    let cases = [
        (vec![start.clone()], json!("1.0.0")),
        (vec![start, init.clone()], json!("2.1.326")),
        (vec![log("2.1.29"), log("2.1.30")], json!("2.1.30")),
        (vec![init, stranger.clone()], json!("2.1.326")),
        (vec![stranger], Value::Null),
    ];
    for (lines, expected) in cases {
        let (_, summary) = of_bytes(stream(&lines));
        assert_eq!(summary["cli_version"], expected, "{lines:?}");
    }
}

#[test]
fn an_attempt_has_its_session() {
    let attempt = |number: u64, session: Value| {
        json!({"type": "cr", "subtype": "task", "id": "run", "attempt": number,
            "outcome": "failed", "session_id": session})
    };
    let lines = [attempt(1, json!("s1")), attempt(2, Value::Null)];
    let (_, summary) = of_bytes(stream(&lines));
    assert_eq!(summary["attempts"][0]["session_id"], "s1");
    assert_eq!(summary["attempts"][1]["session_id"], Value::Null);
}
