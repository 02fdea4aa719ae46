//! The forms that input comes in, and which part of it is the answer.

use crate::tool::{extracted, message, quoted, result, run, said, tool};

const DELIMITER: &str = "---CLAUDE-RUNNER-RESULT---";

fn text_of(input: &str) -> Option<String> {
    extracted(&["--text"], input)
}

fn summary(fields: &str) -> String {
    format!("{{\"session_id\":\"s\",\"schema\":1,\"ok\":true,\"outcome\":\"success\",{fields}}}\n")
}

#[test]
fn the_last_result_that_counts_is_the_answer() {
    let afterthought = "{\"type\":\"result\",\"subtype\":\"error_during_execution\",\"is_error\":true,\"num_turns\":0}\n";
    let good = message("m", "no") + &result("yes");
    assert_eq!(text_of(&good).as_deref(), Some("yes"));
    let twice = format!("{good}{afterthought}{afterthought}");
    assert_eq!(text_of(&twice).as_deref(), Some("yes"));
    assert_eq!(
        text_of(&(result("one") + &result("two"))).as_deref(),
        Some("two")
    );
    // A turn that was begun and not ended has no answer yet.
    assert_eq!(
        text_of(&(good + &message("n", "new"))).as_deref(),
        Some("yes")
    );
}

#[test]
fn without_a_result_or_its_text_the_last_message_is_the_answer() {
    let said = message("a", "one") + &message("b", "two") + &message("b", "three");
    let tool = "{\"type\":\"assistant\",\"message\":{\"id\":\"c\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"Bash\",\"input\":{}}]}}\n";
    let sub = message("d", "sub").replace(
        "\"type\":\"assistant\"",
        "\"type\":\"assistant\",\"parent_tool_use_id\":\"t\"",
    );
    let thinking = "{\"type\":\"assistant\",\"message\":{\"id\":\"e\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"hm\"}]}}\n";
    let torn = "{\"type\":\"assistant\",\"message\":{\"id\":\"f\",\"content\":[{\"type\":\"te";
    for rest in [
        String::new(),
        result(""),
        result(" \n"),
        format!("{tool}{sub}{thinking}"),
    ] {
        let stream = format!("{said}{rest}");
        assert_eq!(text_of(&stream).as_deref(), Some("two\nthree"), "{stream}");
    }
    let output = run(&["--text"], format!("{said}{tool}{torn}"));
    assert_eq!(
        (output.status.code(), &*output.stdout),
        (Some(65), &b"two\nthree\n"[..])
    );
    // What was said of another thing in between is not joined.
    let apart = message("b", "zero") + &said;
    assert_eq!(text_of(&apart).as_deref(), Some("two\nthree"));
}

#[test]
fn a_run_that_failed_has_no_answer() {
    let api = "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,\"result\":\"API Error: 400 {\\\"type\\\":\\\"error\\\"}\"}\n";
    let turns = "{\"type\":\"result\",\"subtype\":\"error_max_turns\",\"is_error\":false,\"errors\":[\"Reached maximum number of turns (2)\"]}\n";
    let log = "{\"type\":\"assistant\",\"sessionId\":\"s\",\"isApiErrorMessage\":true,\"message\":{\"id\":\"x\",\"model\":\"<synthetic>\",\"content\":[{\"type\":\"text\",\"text\":\"API Error: 529 {}\"}]}}\n";
    for (end, words) in [
        (api, "API Error: 400 {\"type\":\"error\"}"),
        (turns, "Reached maximum number of turns (2)"),
        (log, "API Error: 529 {}"),
    ] {
        for args in [&[][..], &["--text"]] {
            let output = run(args, message("m", "{\"a\":1}") + end);
            assert_eq!((output.status.code(), &*output.stdout), (Some(1), &b""[..]));
            assert_eq!(
                said(&output),
                format!("cr-extract: the run failed: {words}\n")
            );
        }
    }
}

#[test]
fn a_note_of_the_cli_is_not_the_answer() {
    let note = "{\"type\":\"assistant\",\"sessionId\":\"s\",\"message\":{\"id\":\"x\",\"model\":\"<synthetic>\",\"content\":[{\"type\":\"text\",\"text\":\"No response requested.\"}]}}\n";
    assert_eq!(
        text_of(&(message("m", "yes") + note)).as_deref(),
        Some("yes")
    );
}

#[test]
fn what_output_format_json_writes_is_a_stream() {
    let lines = message("m", "no") + &result("yes");
    let items: Vec<&str> = lines.lines().collect();
    let array = format!("[{}]", items.join(","));
    let value: serde_json::Value = serde_json::from_str(&array).expect("JSON");
    let pretty = serde_json::to_string_pretty(&value).expect("JSON");
    let object = serde_json::to_string_pretty(&value[1]).expect("JSON");
    let one_a_line = format!("[\n{}\n]\n", items.join(",\n"));
    for text in [
        array,
        pretty.clone(),
        pretty.replace('\n', "\r\n"),
        object,
        one_a_line,
    ] {
        assert_eq!(text_of(&text).as_deref(), Some("yes"), "{text}");
        assert_eq!(
            extracted(&["--text", "--from=stream"], text).as_deref(),
            Some("yes")
        );
    }
}

#[test]
fn an_array_with_one_event_a_line_has_commas() {
    let afterthought =
        "{\"type\":\"result\",\"subtype\":\"error_during_execution\",\"num_turns\":0}";
    let array = format!("[\n{},\n{afterthought}\n]\n", result("yes").trim_end());
    assert_eq!(text_of(&array).as_deref(), Some("yes"));
}

#[test]
fn a_summary_holds_the_answer() {
    let line = summary("\"result\":\"so {\\\"a\\\":1}\",\"structured_output\":null");
    let structured = summary("\"result\":\"x\",\"structured_output\":{\"a\": 1}");
    let pretty = line.replace(",\"", ",\n  \"");
    for (text, wanted) in [
        (&line, "{\"a\":1}"),
        (&structured, "{\"a\": 1}"),
        (&pretty, "{\"a\":1}"),
    ] {
        assert_eq!(
            extracted(&[], text.clone()).as_deref(),
            Some(wanted),
            "{text}"
        );
        assert_eq!(
            extracted(&["--from=summary"], text.clone()).as_deref(),
            Some(wanted)
        );
        let report =
            format!("[00:00:01] Text: {{\"no\":1}}\n{DELIMITER}\nquoted:\n{DELIMITER}\n{text}");
        assert_eq!(
            extracted(&[], report.clone()).as_deref(),
            Some(wanted),
            "{report}"
        );
        assert_eq!(
            extracted(&["--from=report"], report).as_deref(),
            Some(wanted)
        );
    }
}

#[test]
fn an_answer_that_a_summary_cuts_is_not_guessed() {
    let cut =
        summary("\"result\":\"so {\\\"a\\\":1} and\",\"json\":null,\"truncated\":[\"result\"]");
    for args in [&[][..], &["--text"]] {
        let output = run(args, cut.clone());
        assert_eq!(
            (output.status.code(), &*output.stdout),
            (Some(65), &b""[..])
        );
        assert!(said(&output).contains("cr-summarize --full"), "{output:?}");
    }
    let whole = summary("\"result\":\"so\",\"json\":{\"a\":2},\"truncated\":[\"result\"]");
    assert_eq!(extracted(&[], whole.clone()).as_deref(), Some("{\"a\":2}"));
    assert_eq!(run(&["--text"], whole).status.code(), Some(65));
}

#[test]
fn a_summary_of_a_failed_run_has_no_answer() {
    let failed = "{\"session_id\":\"s\",\"ok\":false,\"outcome\":\"overloaded\",\"errors\":[\"API Error: 529 {}\"],\"result\":\"API Error: 529 {}\"}";
    assert_eq!(extracted(&[], failed), None);
    let denied = "{\"session_id\":\"s\",\"ok\":false,\"outcome\":\"needs_input\",\"errors\":[],\"result\":\"{\\\"a\\\":1}\"}";
    assert_eq!(extracted(&[], denied).as_deref(), Some("{\"a\":1}"));
}

#[test]
fn after_the_delimiter_anything_may_follow() {
    let report = format!("{{\"a\":0}}\n{DELIMITER}\nso {{\"a\":1}}\n");
    assert_eq!(extracted(&[], report.clone()).as_deref(), Some("{\"a\":1}"));
    let not_alone = format!("{{\"a\":0}}\n {DELIMITER}\nso {{\"a\":1}}\n");
    assert_eq!(extracted(&["--from=report"], not_alone), None);
    assert_eq!(
        extracted(&["--from=text"], report).as_deref(),
        Some("{\"a\":0}")
    );
}

#[test]
fn json_that_resembles_an_event_or_a_summary_is_an_answer() {
    for json in [
        "{\"type\":\"bug\",\"severity\":1}",
        "{\"type\":\"result\",\"value\":3}",
        "{\"outcome\":\"pass\",\"result\":\"ok\"}",
        "{\"type\":\"assistant\"}",
    ] {
        assert_eq!(extracted(&[], json).as_deref(), Some(json));
    }
    let quoted_line = format!("It printed\n{}", result("x"));
    assert_eq!(
        extracted(&["--from=text"], quoted_line.clone()),
        Some(result("x").trim_end().to_owned())
    );
    assert_eq!(
        extracted(&["--from=stream", "--text"], quoted_line).as_deref(),
        Some("x")
    );
}

#[test]
fn a_text_is_given_as_it_is() {
    for text in ["two\nlines", "\u{1b}[1m é 🚀", "```json\n{}\n```"] {
        assert_eq!(text_of(&result(text)).as_deref(), Some(text));
        assert_eq!(
            extracted(&["--text", "--from=text"], text).as_deref(),
            Some(text)
        );
    }
    assert_eq!(
        text_of(&result("ends in a newline\n")).as_deref(),
        Some("ends in a newline")
    );
    assert_eq!(text_of(""), None);
}

#[test]
fn several_inputs_give_one_line_each_with_their_names() {
    let dir = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(dir.path().join(name), result(text)).expect("written");
    };
    write("a.ndjson", "{\"a\":\n 1}");
    write("b.jsonl", "none\n\"here\"");
    write("c.ndjson", "{\"c\":1} {\"c\": 2}");
    write("d.txt", "{\"d\":1}");
    let root = dir.path().display().to_string();
    let place = |name: &str| quoted(&format!("{root}/{name}"));
    let output = tool(&["--all"]).arg(dir.path()).output().expect("run");
    let wanted = format!(
        "{{\"file\":{a},\"json\":{{\"a\":1}}}}\n{{\"file\":{c},\"json\":{{\"c\":1}}}}\n{{\"file\":{c},\"json\":{{\"c\":2}}}}\n",
        a = place("a.ndjson"),
        c = place("c.ndjson"),
    );
    assert_eq!(String::from_utf8_lossy(&output.stdout), wanted);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        said(&output),
        format!("cr-extract: {root}/b.jsonl: no JSON in the answer\n")
    );
    let output = tool(&["--text"])
        .args([
            dir.path().join("b.jsonl"),
            dir.path().join("no"),
            "-".into(),
        ])
        .write_stdin(result("x"))
        .output()
        .expect("run");
    let wanted = format!(
        "{{\"file\":{b},\"text\":\"none\\n\\\"here\\\"\"}}\n{{\"file\":\"-\",\"text\":\"x\"}}\n",
        b = place("b.jsonl")
    );
    assert_eq!(String::from_utf8_lossy(&output.stdout), wanted);
    assert_eq!(output.status.code(), Some(66));
}
