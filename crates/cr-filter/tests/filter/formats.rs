//! `--format`, `--tee`, `--limit`, masking.

use crate::{assistant, call, cr_filter, result, shown};

#[test]
fn a_tools_row_comes_with_its_result() {
    let input = format!(
        "{}\n{}\n",
        call("Bash", r#"{"command":"exit 3"}"#),
        result(r#""Exit code 3""#, true)
    );
    let text = shown(&["--format", "json"], &input);
    let row: serde_json::Value = serde_json::from_str(text.trim_end()).expect("one row");
    assert_eq!(row["kind"], "tool");
    assert_eq!(
        (&row["tool"], &row["target"]),
        (&"Bash".into(), &"exit 3".into())
    );
    assert_eq!(
        (&row["ok"], &row["duration_ms"]),
        (&false.into(), &966.into())
    );
    assert_eq!((&row["session_id"], &row["line"]), (&"s".into(), &1.into()));
    let names = [
        "at",
        "session_id",
        "run_id",
        "agent",
        "depth",
        "turn",
        "kind",
        "tool",
        "tool_use_id",
        "target",
        "text",
        "ok",
        "error",
        "exit_code",
        "duration_ms",
        "model",
        "input_tokens",
        "output_tokens",
        "cache_read_tokens",
        "cache_creation_tokens",
        "cost_usd",
        "file",
        "line",
    ];
    let row = row.as_object().expect("an object");
    let mut found: Vec<_> = row.keys().map(String::as_str).collect();
    let (mut names, schema) = (names.to_vec(), shown(&["--output-schema"], ""));
    assert!(names.iter().all(|name| schema.contains(name)), "{schema}");
    names.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, names);
}

#[test]
fn a_call_without_a_result_still_has_a_row() {
    let text = shown(&["--format", "json"], &format!("{}\n", call("Read", "{}")));
    let row: serde_json::Value = serde_json::from_str(text.trim_end()).expect("one row");
    assert_eq!(
        (&row["tool"], &row["ok"]),
        (&"Read".into(), &serde_json::Value::Null)
    );
}

#[test]
fn what_would_be_without_effect_is_refused() {
    for flag in [&["-v"][..], &["-q"], &["--width", "9"], &["--limit", "9"]] {
        let run = cr_filter(&[&["--format", "json"], flag].concat())
            .write_stdin("")
            .output();
        assert_eq!(run.expect("run").status.code(), Some(2), "{flag:?}");
    }
}

#[test]
fn output_that_is_not_final_is_not_told() {
    let line = |stop: &str| {
        format!(
            r#"{{"type":"assistant","message":{{"id":"m{stop}","stop_reason":{stop},"usage":{{"input_tokens":5,"output_tokens":7}},"content":[{{"type":"text","text":"hello"}}]}}}}"#
        )
    };
    let input = format!(
        "{}\n{}\n",
        line("null"),
        line("\"end_turn\"").replace("m\"end_turn\"", "m2")
    );
    let text = shown(&["--format", "json", "--time", "none"], &input);
    let rows: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("a row"))
        .collect();
    assert_eq!(rows[0]["output_tokens"], serde_json::Value::Null);
    assert_eq!(
        (&rows[1]["input_tokens"], &rows[1]["output_tokens"]),
        (&5.into(), &7.into())
    );
}

#[test]
fn a_messages_tokens_can_be_summed() {
    let line = |block: &str| {
        format!(
            r#"{{"type":"assistant","message":{{"id":"m1","model":"x","usage":{{"input_tokens":5,"cache_read_input_tokens":10,"output_tokens":7}},"content":[{block}]}}}}"#
        )
    };
    let words = r#"{"type":"text","text":"hello"}"#;
    let text = shown(
        &["--format", "json"],
        &format!("{}\n{}\n", line(words), line(words)),
    );
    let rows: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("a row"))
        .collect();
    let sum: u64 = rows
        .iter()
        .filter_map(|row| row["input_tokens"].as_u64())
        .sum();
    assert_eq!((rows.len(), sum), (2, 5));
}

#[test]
fn t9_keys_are_masked_unless_asked_for() {
    let key = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";
    let line = call(
        "Bash",
        &format!(r#"{{"command":"curl -H 'x-api-key: {key}' http://x"}}"#),
    );
    let masked = shown(&[], &format!("{line}\n"));
    assert!(
        !masked.contains("abcdefghij") && masked.contains("[REDACTED:"),
        "{masked}"
    );
    let plain = shown(&["--no-redact"], &format!("{line}\n"));
    assert!(plain.contains("sk-ant-api03-abcdefghij"), "{plain}");
}

#[test]
fn t9_a_cut_does_not_bare_a_secret_of_the_environment() {
    let secret = "correct-horse-battery-staple-".repeat(4);
    let command = format!("{} {secret}", "x".repeat(70));
    let line = call("Bash", &format!(r#"{{"command":"{command}"}}"#));
    let mut filter = cr_filter(&[]);
    let run = filter
        .env("DEPLOY_TOKEN", &secret)
        .write_stdin(format!("{line}\n"))
        .output();
    let text = String::from_utf8(run.expect("run").stdout).expect("text");
    assert!(!text.contains("correct"), "{text}");
}

#[test]
fn the_stream_is_masked_only_when_asked_for() {
    let key = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    let line = format!(
        "{}\n",
        assistant(&format!(r#"{{"type":"text","text":"the key is {key}"}}"#))
    );
    assert_eq!(shown(&["--tee"], &line), line);
    let masked = shown(&["--tee", "--redact-stream"], &line);
    assert!(!masked.contains(key), "{masked}");
    serde_json::from_str::<serde_json::Value>(&masked).expect("still JSON");
}

#[test]
fn beyond_the_limit_only_what_matters_is_shown() {
    let mut input = String::new();
    for _ in 0..100 {
        input.push_str(&call("Read", r#"{"file_path":"a/file/with/a/name"}"#));
        input.push('\n');
    }
    input.push_str(&format!(
        "{}\n{}\n",
        call("Bash", r#"{"command":"git commit -m z"}"#),
        result(r#""[main 1234567] z""#, false)
    ));
    input.push_str("{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false}\n");
    let text = shown(&["--limit", "400"], &input);
    assert!(text.len() < 700, "{text}");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(
        lines.iter().filter(|line| line.contains("--limit")).count(),
        1
    );
    assert!(
        lines.iter().any(|line| line.ends_with("Commit: z")),
        "{text}"
    );
    assert!(
        lines
            .last()
            .is_some_and(|line| line.contains("Done: success")),
        "{text}"
    );
}

#[test]
fn quiet_shows_commits_errors_and_the_end() {
    let error = r#"{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"API Error: 529 Overloaded"}]},"error":"server_error"}"#;
    let input = format!("{}\n{error}\n", call("Read", "{}"));
    assert_eq!(
        shown(&["-q", "--time", "none"], &input),
        "Error: API Error: 529 Overloaded\n"
    );
}

#[test]
fn width_cuts_lines() {
    let text = shown(
        &["--width", "14"],
        &format!("{}\n", call("Read", r#"{"file_path":"éééééé"}"#)),
    );
    assert_eq!(text, "[00:23:01] Rea\n");
}

#[test]
fn t2_text_cannot_make_a_workflow_command() {
    let dir = tempfile::tempdir().expect("a folder");
    let (summary, outputs) = (dir.path().join("summary"), dir.path().join("outputs"));
    let words = r#"{"type":"text","text":"\n::set-output name=x::y and a few more words"}"#;
    let error = r#"{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"bad <b>%0A::error::"}]},"error":"x"}"#;
    let input = format!(
        "{{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\\nok=true\"}}\n{}\n{error}\n{{\"type\":\"result\",\"is_error\":true,\"subtype\":\"success\"}}\n",
        assistant(words)
    );
    let run = cr_filter(&["--format", "github", "--time", "none"])
        .env("GITHUB_ACTIONS", "true")
        .env("GITHUB_STEP_SUMMARY", &summary)
        .env("GITHUB_OUTPUT", &outputs)
        .write_stdin(input)
        .output()
        .expect("run cr-filter");
    let text = String::from_utf8(run.stdout).expect("text");
    let commands: Vec<_> = text.lines().filter(|line| line.starts_with("::")).collect();
    let expected = [
        r"::group::Session s\nok=true",
        "::error::Error: bad <b>%250A::error::",
        "::endgroup::",
        "::error::Failed: x",
    ];
    assert_eq!(commands, expected);
    let summary = std::fs::read_to_string(summary).expect("a summary");
    assert!(
        summary.contains("\n- Error: bad &lt;b&gt;%0A::error::\n"),
        "{summary}"
    );
    let outputs = std::fs::read_to_string(outputs).expect("outputs");
    assert_eq!(outputs, "ok=false\nsession_id=s\\nok=true\ncommits=0\n");
}

#[test]
fn lines_of_our_own_are_told_too() {
    let input = concat!(
        r#"{"type":"cr","subtype":"start","at":"2026-01-02T00:00:00Z","run_id":"r","model":"sonnet","cwd":"/w","run_dir":"/d","permission_mode":null,"limits":{"timeout_ms":7200000,"idle_timeout_ms":900000,"tool_timeout_ms":null,"max_turns":100,"max_budget_usd":null}}"#,
        "\n",
        r#"{"type":"cr","subtype":"stderr","at":"2026-01-02T00:30:00Z","text":"a\u001b[2Jwarning"}"#,
        "\n",
        r#"{"type":"cr","subtype":"stderr","at":"2026-01-02T01:00:01Z","text":"late"}"#,
        "\n",
        r#"{"type":"cr","subtype":"limit","at":"2026-01-02T02:00:00Z","clock":"timeout","limit_ms":7200000,"elapsed_ms":7200000,"doing":{"what":"tool","tool":"Bash","target":"cargo test","since_ms":5},"action":"term"}"#,
        "\n",
        r#"{"type":"cr","subtype":"git","at":"2026-01-02T02:00:01Z","phase":"end","commits":["a b"],"changed_files":2,"insertions":3,"deletions":1,"uncommitted_changes":0}"#,
        "\n",
        r#"{"type":"cr","subtype":"exit","at":"2026-01-02T02:00:01Z","reason":"timeout","exit_code":143,"signal":null,"duration_ms":7201000,"leaked":[{"pid":1},{"pid":2}]}"#,
        "\n",
    );
    let expected = "\
[00:00:00] Session started: model: sonnet | max-turns: 100 | max-budget: disabled | timeout: 2h0m | idle: 15m0s | tool: disabled | turn: disabled | permissions: default | cwd: /w | run: /d
[00:30:00] Stderr: a\\x1b[2Jwarning
[01:00:01] Stderr: late
[01:00:01] Clock: half of the timeout of 2h0m has passed
[02:00:00] Limit: timeout of 2h0m ran out in Bash: cargo test (term)
[02:00:01] Commit: b
[02:00:01] Git: 1 commit, 2 files changed, +3 -1, 0 uncommitted
[02:00:01] Timed out after 2h0m (timeout clock of 2h0m): code 143, 2 leftover processes killed
";
    assert_eq!(shown(&[], input), expected);
}

#[test]
fn the_stream_is_masked_also_where_the_text_is_not() {
    let key = "AKIAIOSFODNN7EXAMPLE";
    let line = assistant(&format!(
        r#"{{"type":"text","text":"the key of the bucket is\n{key}"}}"#
    ));
    let run = cr_filter(&["--tee", "--no-redact", "--redact-stream"])
        .write_stdin(format!("{line}\n"))
        .output()
        .expect("run cr-filter");
    let text = |bytes| String::from_utf8(bytes).expect("text is UTF-8");
    assert!(text(run.stderr).contains(key));
    assert_eq!(
        text(run.stdout),
        line.replace(key, "[REDACTED:aws-key]") + "\n"
    );
}

#[test]
fn a_line_too_long_to_be_held_is_masked_as_well() {
    let (long, key) = ("x".repeat(65 << 20), "AKIAIOSFODNN7EXAMPLE");
    let line = assistant(&format!(r#"{{"type":"text","text":"{key} {long} {key}"}}"#));
    let run = cr_filter(&["--tee", "--redact-stream"])
        .write_stdin(line)
        .output()
        .expect("run cr-filter");
    let found = |what: &str| memchr::memmem::find_iter(&run.stdout, what).count();
    assert_eq!((found(key), found("[REDACTED:aws-key]")), (0, 2));
}

#[test]
fn an_array_with_an_event_a_line_is_read_as_a_whole() {
    let text = assistant(r#"{"type":"text","text":"words that are long enough"}"#);
    let input = format!("[\n{text},\n{{\"type\":\"stream_event\"}},\n{{\"type\":\"new\"}}\n]\n");
    assert_eq!(
        shown(&[], &input),
        "[00:23:01] Text: words that are long enough\n"
    );
}

#[test]
fn t1_nothing_an_agent_wrote_is_a_command_to_a_workflow() {
    let input = format!(
        "{}\n{}\n",
        call("::stop-commands::x", "{}"),
        call("Bash", r#"{"command":"echo ##[add-matcher]m.json"}"#)
    );
    assert_eq!(
        shown(&["--format", "github", "--time", "none"], &input),
        "\\::stop-commands::x: {}\nBash: echo ##\\[add-matcher]m.json\n"
    );
}
