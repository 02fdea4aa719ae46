//! What a recording does not say is not made up.

use serde_json::{Value, json};

use crate::tool::{of_bytes, summary, tool};

fn lines(lines: &[Value]) -> String {
    let lines: Vec<_> = lines.iter().map(Value::to_string).collect();
    lines.join("\n") + "\n"
}

/// A message of a stream: its output count is provisional.
fn message(session: &str, id: &str, text: &str) -> Value {
    json!({"type": "assistant", "session_id": session, "message": {"id": id,
        "model": "claude-sonnet-4-5", "stop_reason": null,
        "content": [{"type": "text", "text": text}],
        "usage": {"input_tokens": 10, "output_tokens": 1,
            "cache_creation_input_tokens": 30, "cache_read_input_tokens": 20,
            "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20}}}})
}

fn end(session: &str, text: &str) -> Value {
    json!({"type": "result", "subtype": "success", "is_error": false, "num_turns": 1,
        "result": text, "session_id": session, "total_cost_usd": 0.5,
        "modelUsage": {"claude-sonnet-4-5": {"inputTokens": 10, "outputTokens": 500,
            "cacheReadInputTokens": 20, "cacheCreationInputTokens": 30, "costUSD": 0.5}}})
}

/// A line of a session's log.
fn log(kind: &str, stop: Option<&str>, block: &Value) -> Value {
    json!({"type": kind, "sessionId": "s", "uuid": "u", "timestamp": "2026-01-01T20:00:00.000Z",
        "message": {"id": "m", "model": "claude-sonnet-4-5", "stop_reason": stop,
            "content": [block], "usage": {"input_tokens": 5, "output_tokens": 2}}})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

#[test]
fn provisional_output_is_unknown_and_an_estimate_without_it_a_lower_bound() {
    let stream = lines(&[message("s", "a", "x")]);
    let (_, got) = of_bytes(stream.clone());
    assert_eq!(got["tokens"]["input"], 10);
    assert_eq!(got["tokens"]["output"], Value::Null);
    assert_eq!(got["models"]["claude-sonnet-4-5"]["output"], Value::Null);
    let output = tool()
        .arg("--estimate-cost")
        .write_stdin(stream)
        .output()
        .expect("run");
    let (_, got) = summary(&output);
    assert_eq!(got["cost_source"], "estimate");
    assert_eq!(got["lower_bounds"], json!(["models", "cost_usd"]));
}

#[test]
fn the_output_of_a_call_that_is_over_is_known() {
    let mut done = message("s", "a", "x");
    done["message"]["stop_reason"] = json!("end_turn");
    let (_, got) = of_bytes(lines(&[done.clone()]));
    assert_eq!(got["tokens"]["output"], 1);
    assert_eq!(got["lower_bounds"], Value::Null);
    let (_, got) = of_bytes(lines(&[done, message("s", "b", "y")]));
    assert_eq!(got["tokens"]["output"], 2);
    assert_eq!(got["lower_bounds"], json!(["tokens.output", "models"]));
}

#[test]
fn work_after_the_last_result_is_said_and_not_in_the_cost() {
    let stream = lines(&[
        message("s", "a", "x"),
        end("s", "x"),
        message("s", "b", "y"),
    ]);
    let (code, got) = of_bytes(stream);
    assert_eq!((code, &got["results"]), (6, &json!(1)));
    assert!(
        got["why"]
            .as_str()
            .expect("why")
            .contains("work after the last result"),
        "{got}"
    );
    assert_eq!(
        (&got["cost_usd"], &got["cost_source"]),
        (&json!(0.5), &json!("result"))
    );
    let bounds = json!(["tokens.output", "models", "cost_usd"]);
    assert_eq!(got["lower_bounds"], bounds);
    assert_eq!(got["tokens"]["output"], 501);
}

#[test]
fn the_words_of_a_turn_are_no_answer_of_the_work_after_it() {
    let mut call = message("s", "b", "");
    call["message"]["content"] =
        json!([{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}]);
    let first = lines(&[message("s", "a", "x"), end("s", "x")]);
    let (code, got) = of_bytes(first.clone() + &lines(&[call.clone()]));
    assert_eq!((code, &got["result"]), (6, &Value::Null));
    assert_eq!(got["json"], Value::Null);
    let (_, got) = of_bytes(first + &lines(&[call, message("s", "c", "y")]));
    assert_eq!(got["result"], "y");
}

#[test]
fn the_last_session_decides_and_the_one_before_does_not_answer_for_it() {
    let first = [message("a", "a", "x"), end("a", "first")];
    let banner = json!({"type": "system", "subtype": "init", "session_id": "b", "model": "m"});
    let second = [banner, message("b", "b", "half")];
    for (last, result) in [(&second[..1], Value::Null), (&second[..], json!("half"))] {
        let stream = lines(&first) + &lines(last);
        let (code, got) = of_bytes(stream);
        assert_eq!((code, &got["session_id"]), (6, &json!("b")));
        assert_eq!((&got["result"], &got["sessions"]), (&result, &json!(2)));
        assert_eq!(
            (&got["num_turns"], &got["subtype"]),
            (&Value::Null, &Value::Null)
        );
        let why = "The last session in the stream ends without a result.";
        assert_eq!(got["why"], why);
    }
    let (_, got) = of_bytes(lines(&first) + &lines(&second));
    assert_eq!(
        got["lower_bounds"],
        json!(["tokens.output", "models", "cost_usd"])
    );
    let (code, got) = of_bytes(lines(&first) + &lines(&second) + &lines(&[end("b", "second")]));
    assert_eq!((code, &got["result"]), (0, &json!("second")));
    assert_eq!(
        (&got["cost_usd"], &got["lower_bounds"]),
        (&json!(1.0), &Value::Null)
    );
}

#[test]
fn an_error_of_the_api_that_only_a_flag_marks_is_no_answer() {
    let said = "5-hour limit reached ∙ resets 10pm";
    let mut line = log("assistant", Some("stop_sequence"), &text(said));
    line["message"]["model"] = json!("<synthetic>");
    line["isApiErrorMessage"] = json!(true);
    let stream = lines(&[log("user", None, &text("Do it.")), line]);
    let output = tool()
        .env("TZ", "UTC")
        .write_stdin(stream)
        .output()
        .expect("run");
    let (code, got) = summary(&output);
    assert_eq!((code, &got["outcome"]), (75, &json!("rate_limited")));
    assert_eq!(got["retry"]["at"], "2026-01-01T22:00:00.000Z");
    assert_eq!(
        (&got["result"], &got["errors"]),
        (&Value::Null, &json!([said]))
    );
}

/// A document over many lines without its last bytes.
fn cut_off(document: &Value) -> String {
    let text = serde_json::to_string_pretty(document).expect("JSON");
    text[..text.len() - 5].to_owned()
}

#[test]
fn a_log_that_may_be_cut_is_no_success() {
    let prompt = log("user", None, &text("Do it."));
    let said = log("assistant", None, &text("I will look."));
    let done = log("assistant", Some("end_turn"), &text("Done."));
    let after = json!({"type": "system", "subtype": "turn_duration", "sessionId": "s"});
    let command = log("user", None, &text("<command-name>/exit</command-name>"));
    let snapshot = json!({"type": "file-history-snapshot", "messageId": "m", "snapshot": {}});
    let last_prompt = json!({"type": "last-prompt", "sessionId": "s", "lastPrompt": "Do it."});
    let cases = [
        (lines(&[prompt.clone(), said.clone()]), 6),
        (
            lines(&[prompt.clone(), said.clone()]) + "{\"type\":\"assis",
            6,
        ),
        (lines(&[prompt.clone(), said.clone(), after]), 0),
        (lines(&[prompt.clone(), said.clone(), command]), 0),
        // These are also written while the model works.
        (lines(&[prompt.clone(), said.clone(), snapshot]), 6),
        (lines(&[prompt.clone(), said, last_prompt]), 6),
        (lines(&[prompt.clone(), done.clone()]), 0),
        (
            lines(&[prompt.clone(), done.clone()]) + "{\"type\":\"assis",
            6,
        ),
        (lines(&[prompt, done]) + "{\"type\":\"assis\n\n", 6),
        (lines(&[end("s", "x")]) + "{\"type\":\"assis", 6),
        (lines(&[end("s", "x")]) + "\0\0\0\0", 6),
        (lines(&[end("s", "x")]) + "Segmentation fault", 0),
        (cut_off(&json!([message("s", "a", "x"), end("s", "x")])), 6),
        (cut_off(&end("s", "x")), 6),
    ];
    for (stream, wanted) in cases {
        let (code, got) = of_bytes(stream.clone());
        assert_eq!(code, wanted, "{stream}: {got}");
    }
}

#[test]
fn denials_are_named_and_so_is_a_missing_commit() {
    let mut last = end("s", "x");
    last["permission_denials"] =
        json!([{"tool_name": "Bash", "tool_use_id": "t", "tool_input": {}}]);
    let (code, got) = of_bytes(lines(&[last.clone()]));
    let why = got["why"].as_str().expect("why");
    assert!(code == 0 && why.contains("1 denied: Bash"), "{why}");
    assert_ne!(got["next"], "Nothing.");
    let git = json!({"type": "cr", "subtype": "git", "phase": "end", "run_id": "r", "at": "2026-01-01T00:00:00Z",
        "commits": [], "start_sha": "1234567", "end_sha": "1234567"});
    let exit = json!({"type": "cr", "subtype": "exit", "run_id": "r", "at": "2026-01-01T00:00:00Z",
        "reason": "exit", "exit_code": 0});
    let (code, got) = of_bytes(lines(&[last, git, exit]));
    let why = got["why"].as_str().expect("why");
    assert!(code == 0 && why.contains("no commit was made"), "{why}");
}

#[test]
fn the_last_words_before_a_limit_are_kept_and_filler_is_no_answer() {
    let mut limit = end("s", "");
    limit["subtype"] = json!("error_max_turns");
    limit["errors"] = json!(["Reached maximum number of turns (2)"]);
    limit.as_object_mut().expect("an object").remove("result");
    let (code, got) = of_bytes(lines(&[message("s", "a", "So far so good."), limit]));
    assert_eq!((code, &got["result"]), (3, &json!("So far so good.")));
    let mut filler = log(
        "assistant",
        Some("stop_sequence"),
        &text("No response requested."),
    );
    filler["message"]["model"] = json!("<synthetic>");
    let done = log("assistant", Some("end_turn"), &text("Done."));
    let (code, got) = of_bytes(lines(&[done, filler]));
    assert_eq!((code, &got["result"]), (0, &json!("Done.")));
    let filler = end("s", "No response requested.");
    let (_, got) = of_bytes(lines(std::slice::from_ref(&filler)));
    assert_eq!(got["result"], Value::Null);
    // As in cr-extract, the words before it are the answer.
    let (_, got) = of_bytes(lines(&[message("s", "a", "So it is."), filler]));
    assert_eq!(got["result"], "So it is.");
}

#[test]
fn a_run_never_ends_before_it_begins() {
    let at = |time: &str| {
        let mut line = message("s", time, "x");
        line["timestamp"] = json!(time);
        line
    };
    let late = "2026-01-01T00:00:09.000Z";
    let early = "2026-01-01T00:00:01.000Z";
    for other in [early, "2026-01-01T01:00:01.000+01:00"] {
        let (_, got) = of_bytes(lines(&[at(late), at(other)]));
        assert!(
            got["started_at"].as_str() <= got["ended_at"].as_str(),
            "{got}"
        );
        assert_eq!(got["ended_at"], late);
    }
}

#[test]
fn cache_writes_are_split_by_time_and_tokens_by_model() {
    let (_, got) = of_bytes(lines(&[message("s", "a", "x"), end("s", "x")]));
    let wanted = json!({"input": 10, "output": 500, "cache_read": 20, "cache_creation": 30,
        "cache_creation_5m": 10, "cache_creation_1h": 20, "cost_usd": 0.5});
    assert_eq!(got["models"], json!({"claude-sonnet-4-5": wanted}));
    assert_eq!(got["tokens"]["cache_creation_1h"], 20);
    // The lines do not account for all writes: how long these are kept is unknown.
    let (_, got) = of_bytes(lines(&[end("s", "x")]));
    assert_eq!(got["tokens"]["cache_creation"], 30);
    assert_eq!(got["tokens"]["cache_creation_5m"], Value::Null);
    let mut done = message("s", "a", "x");
    done["message"]["stop_reason"] = json!("end_turn");
    let output = tool()
        .arg("--estimate-cost")
        .write_stdin(lines(&[done]))
        .output()
        .expect("run");
    let (_, got) = summary(&output);
    // 10 at 3, 1 at 15, 20 read at 0.3, 10 written at 3.75 and 20 at 6 dollars.
    assert_eq!(got["cost_usd"], 0.000_209);
    assert_eq!(got["models"]["claude-sonnet-4-5"]["cost_usd"], 0.000_209);
}

#[test]
fn errors_on_standard_error_alone_get_the_verdict_of_their_class() {
    let cases = [
        ("Invalid API key · Please run /login", 77, "auth"),
        ("API Error: 429 Too Many Requests", 75, "rate_limited"),
        ("Error: boom", 1, "failed"),
    ];
    for (stderr, wanted, outcome) in cases {
        let exit = json!({"type": "cr", "subtype": "exit", "run_id": "r",
            "at": "2026-01-01T00:00:00Z", "reason": "exit", "exit_code": 1,
            "stderr": {"head": stderr, "tail": "", "bytes": stderr.len()}});
        let (code, got) = of_bytes(lines(&[exit]));
        assert_eq!((code, &got["outcome"]), (wanted, &json!(outcome)), "{got}");
    }
}

#[test]
fn the_recordings_of_other_programs_are_named_and_refused() {
    #[rustfmt::skip]
    let cases: [(&[u8], &str); 7] = [
        (br#"{"type":"thread.started","thread_id":"t"}
{"type":"item.completed","item":{"type":"agent_message","text":"hi"}}"#, "a recording of Codex"),
        (br#"{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{}}"#, "a recording of Codex"),
        (br#"{"type":"step_start","sessionID":"ses_1","part":{}}"#, "a recording of opencode"),
        (br#"{"type":"init","session_id":"g","model":"gemini"}
{"type":"message","role":"assistant","content":"hi"}
{"type":"result","status":"success","stats":{}}"#, "a recording of Gemini CLI"),
        (br#"{"type":"assistant","sessionId":"q","message":{"role":"model","parts":[{"text":"hi"}]}}"#, "a recording of Qwen Code"),
        (b"\x28\xb5\x2f\xfd\x01\x02", "a zstd file"),
        (br#"{"level":"info"}"#, "JSON of another program"),
    ];
    for (bytes, name) in cases {
        let (code, got) = of_bytes(bytes);
        let why = got["why"].as_str().expect("why");
        assert_eq!(code, 65, "{name}: {got}");
        assert!(why.ends_with(&format!("it looks like {name}.")), "{why}");
        assert_eq!(got["retry"]["action"], "look");
    }
}

#[test]
fn a_log_has_the_cost_of_each_model_as_far_as_its_total_goes() {
    let done = log("assistant", Some("end_turn"), &text("Done."));
    let total = json!({"type": "cost-state", "sessionId": "s", "totalCostUSD": 0.25,
        "modelUsage": {"claude-sonnet-4-5": {"costUSD": 0.25}}});
    let (_, got) = of_bytes(lines(&[done.clone(), total.clone()]));
    assert_eq!(
        (&got["cost_usd"], &got["cost_source"]),
        (&json!(0.25), &json!("log"))
    );
    assert_eq!(got["models"]["claude-sonnet-4-5"]["cost_usd"], 0.25);
    assert_eq!(got["lower_bounds"], Value::Null);
    let mut later = done.clone();
    later["message"]["id"] = json!("n");
    let (_, got) = of_bytes(lines(&[done, total, later]));
    assert_eq!(got["lower_bounds"], json!(["models", "cost_usd"]));
}
