//! The rows of `--format json`: what they say of a call, and what is unknown.

use serde_json::{Value, json};

use crate::{assistant, call, quoted, result, shown};

/// The rows of an input.
fn rows(input: &str) -> Vec<Value> {
    let text = shown(&["--format", "json"], input);
    let rows = text.lines().map(serde_json::from_str);
    rows.map(|row| row.expect("a row is JSON")).collect()
}

/// The only row of a call and its result.
fn row_of(call: &str, result: &str) -> Value {
    let mut rows = rows(&format!("{call}\n{result}\n"));
    assert_eq!(rows.len(), 1, "{rows:?}");
    rows.remove(0)
}

#[test]
fn words_that_the_cli_puts_in_place_of_an_answer_are_no_text() {
    for words in ["No response requested.", "(no content)"] {
        let filler = assistant(&format!(r#"{{"type":"text","text":"{words}"}}"#));
        let synthetic = filler.replace("claude-x", "<synthetic>");
        assert_eq!(rows(&format!("{synthetic}\n")), Vec::<Value>::new());
        assert_eq!(shown(&[], &format!("{synthetic}\n")), "");
        // A model that says so has said so.
        assert_eq!(rows(&format!("{filler}\n"))[0]["text"], words);
    }
}

fn without_time(line: &str) -> String {
    let (head, _) = line.split_once(r#","timestamp""#).expect("it has a time");
    format!("{head}}}")
}

#[test]
fn a_duration_needs_the_times_of_the_call_and_of_its_result() {
    let (call, result) = (
        call("Glob", r#"{"pattern":"*"}"#),
        result(r#""a.rs""#, false),
    );
    assert_eq!(row_of(&call, &result)["duration_ms"], 966);
    // A line before has a time: it is the row's, and no start of the call.
    let first = assistant(r#"{"type":"text","text":"hello"}"#);
    for (call, result) in [
        (without_time(&call), result.clone()),
        (call.clone(), without_time(&result)),
        (call.replace("00:23:01", "01:23:01"), result),
    ] {
        let rows = rows(&format!("{first}\n{call}\n{result}\n"));
        assert_eq!(rows[1]["tool"], "Glob");
        assert_eq!(rows[1]["duration_ms"], Value::Null, "{call}\n{result}");
        assert_ne!(rows[1]["at"], Value::Null);
    }
}

#[test]
fn rows_have_no_character_that_acts_on_a_terminal() {
    let odd = "a\u{9b}b\u{7f}c\u{202e}d\u{2028}e\u{e0041}";
    let words = format!(r#"{{"type":"text","text":{}}}"#, quoted(odd));
    let input = format!("{}\n", assistant(&words));
    let text = shown(&["--format", "json"], &input);
    assert!(
        text.contains(r#""a\u009bb\u007fc\u202ed\u2028e\udb40\udc41""#),
        "{text}"
    );
    assert_eq!(rows(&input)[0]["text"], odd);
}

#[test]
fn a_target_that_is_cut_says_so() {
    let short = "x".repeat(300);
    let long = "y".repeat(2000);
    // Each of these is two bytes of JSON and one of text.
    let escaped = "\n".repeat(500);
    #[rustfmt::skip]
    let cases = [
        ("Bash", "command", &short, false), ("Bash", "command", &long, true),
        ("Bash", "command", &escaped, false), ("Read", "file_path", &short, false),
        ("Read", "file_path", &long, true), ("New", "argument", &long, true),
    ];
    for (tool, key, value, is_cut) in cases {
        let input = format!(r#"{{"{key}":{}}}"#, quoted(value));
        let row = row_of(&call(tool, &input), &result(r#""""#, false));
        let target = row["target"].as_str().expect("a target");
        assert_eq!(target.ends_with("..."), is_cut, "{tool} {target}");
        assert!(
            is_cut || tool == "New" || target == value,
            "{tool} {target}"
        );
    }
}

#[test]
fn a_failed_calls_row_has_its_error_and_exit_code() {
    let bash = call("Bash", r#"{"command":"cat a"}"#);
    let row = row_of(&bash, &result(r#""Exit code 3\ncat: a: no""#, true));
    assert_eq!(row["error"], "Exit code 3\ncat: a: no");
    assert_eq!((&row["exit_code"], &row["ok"]), (&json!(3), &json!(false)));
    let row = row_of(&bash, &result(r#"[{"type":"text","text":"denied"}]"#, true));
    assert_eq!(
        (&row["error"], &row["exit_code"]),
        (&json!("denied"), &Value::Null)
    );
    let row = row_of(&bash, &result(r#""Exit code 3""#, false));
    assert_eq!(
        (&row["error"], &row["exit_code"]),
        (&Value::Null, &Value::Null)
    );
}

#[test]
fn an_error_is_masked_as_other_text_is() {
    let key = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";
    let error = quoted(&format!("Exit code 1\nbad key {key}"));
    let row = row_of(&call("Bash", "{}"), &result(&error, true));
    let error = row["error"].as_str().expect("an error");
    assert!(
        !error.contains("abcdefghij") && error.contains("[REDACTED:"),
        "{error}"
    );
}

#[test]
fn a_row_has_the_id_the_model_and_the_tokens_of_its_call() {
    let usage = r#""model":"claude-x","usage":{"input_tokens":5,"cache_read_input_tokens":10,"cache_creation_input_tokens":20,"output_tokens":7},"stop_reason":"tool_use""#;
    let line = call("Read", "{}").replace(r#""model":"claude-x""#, usage);
    let row = row_of(&line, &result(r#""""#, false));
    assert_eq!(row["tool_use_id"], "t1");
    assert_eq!(row["model"], "claude-x");
    // The same meaning as in the summary: without the cache.
    assert_eq!(row["input_tokens"], 5);
    assert_eq!(row["output_tokens"], 7);
    assert_eq!(row["cache_read_tokens"], 10);
    assert_eq!(row["cache_creation_tokens"], 20);
    let synthetic = line.replace("claude-x", "<synthetic>");
    assert_eq!(rows(&format!("{synthetic}\n"))[0]["model"], Value::Null);
    let init = r#"{"type":"system","subtype":"init","model":"opus"}"#;
    assert_eq!(rows(&format!("{init}\n"))[0]["model"], "opus");
}

#[test]
fn a_commits_row_names_the_call_that_made_it() {
    let input = format!(
        "{}\n{}\n",
        call("Bash", r#"{"command":"git commit -m x"}"#),
        result(r#""[main 1234567] x""#, false)
    );
    let rows = rows(&input);
    assert_eq!(
        (&rows[1]["kind"], &rows[1]["tool_use_id"]),
        (&json!("commit"), &json!("t1"))
    );
}

#[test]
fn an_error_of_the_api_that_only_a_flag_marks_is_an_error() {
    let line = json!({"type": "assistant", "sessionId": "s", "isApiErrorMessage": true,
        "message": {"id": "m", "model": "<synthetic>", "content": [
            {"type": "text", "text": "5-hour limit reached ∙ resets 10pm"}]}});
    let line = format!("{line}\n");
    assert_eq!(rows(&line)[0]["kind"], "error");
    assert!(shown(&[], &line).contains("Error: 5-hour limit"));
}
