//! How each tool, and the agent's words, are shown.

use crate::{assistant, call, quoted, result, shown};

fn only(input: &str) -> String {
    let text = shown(&[], &format!("{input}\n"));
    text.strip_prefix("[00:23:01] ")
        .unwrap_or(&text)
        .trim_end_matches('\n')
        .to_owned()
}

#[test]
fn a_call_is_one_line_with_what_it_works_on() {
    let long = "x".repeat(81);
    let eighty = "y".repeat(80);
    let accents = format!("{}{}", "é".repeat(79), "zz");
    #[rustfmt::skip]
    let cases = [
        ("Read", r#"{"file_path":"src/db/schema.ts"}"#.to_owned(), "Read: src/db/schema.ts".to_owned()),
        ("Edit", r#"{"file_path":"p","old_string":"a"}"#.to_owned(), "Edit: p".to_owned()),
        ("Write", r#"{"content":"{\"file_path\":\"/BAD\"}","file_path":"/real"}"#.to_owned(), "Write: /real".to_owned()),
        ("Write", "{}".to_owned(), "Write: unknown".to_owned()),
        ("NotebookEdit", r#"{"notebook_path":"n.ipynb"}"#.to_owned(), "Edit: n.ipynb".to_owned()),
        ("Bash", format!(r#"{{"command":"{eighty}"}}"#), format!("Bash: {eighty}")),
        ("Bash", format!(r#"{{"command":"{long}"}}"#), format!("Bash: {}...", &long[..80])),
        ("Bash", format!(r#"{{"command":"{accents}"}}"#), format!("Bash: {}z...", "é".repeat(79))),
        ("Bash", r#"{"command":"line one\nline two"}"#.to_owned(), r"Bash: line one\nline two".to_owned()),
        ("Bash", "{}".to_owned(), "Bash: ".to_owned()),
        ("Grep", r#"{"pattern":"foo\\nbar"}"#.to_owned(), r"Search: foo\nbar".to_owned()),
        ("Glob", "{}".to_owned(), "Search: unknown".to_owned()),
        ("Task", r#"{"description":"Explore code"}"#.to_owned(), "Subagent: Explore code".to_owned()),
        ("Task", "{}".to_owned(), "Subagent: task".to_owned()),
        ("Agent", r#"{"description":"Explore code","prompt":"p"}"#.to_owned(), "Subagent: Explore code".to_owned()),
        ("mcp__x__y", r#"{"a":1}"#.to_owned(), r#"mcp__x__y: {"a":1}"#.to_owned()),
        ("WebFetch", r#"{"url":"http://x/"}"#.to_owned(), "Fetch: http://x/".to_owned()),
        ("WebSearch", r#"{"query":"q"}"#.to_owned(), "WebSearch: q".to_owned()),
        ("Skill", r#"{"skill":"pdf"}"#.to_owned(), "Skill: pdf".to_owned()),
        ("SendMessage", r#"{"to":"a","message":"hi"}"#.to_owned(), "Message: main to a: hi".to_owned()),
        ("AskUserQuestion", r#"{"questions":[{"question":"Which?"}]}"#.to_owned(), "Question: Which?".to_owned()),
        ("TodoWrite", "{}".to_owned(), "TodoWrite: {}".to_owned()),
        ("TodoWrite", r#"{"todos":[{"content":"a","status":"completed"},{"content":"b c","status":"in_progress","activeForm":"bs"},{"content":"d","status":"pending"}]}"#.to_owned(), "TodoWrite: 1 of 3 done, now: b c".to_owned()),
        ("TodoWrite", r#"{"todos":[{"content":"d","status":"pending"}]}"#.to_owned(), "TodoWrite: 0 of 1 done, next: d".to_owned()),
        ("TodoWrite", r#"{"todos":[{"content":"d","status":"completed"}]}"#.to_owned(), "TodoWrite: 1 of 1 done".to_owned()),
        (r"B\u0061sh", r#"{"command":"ls"}"#.to_owned(), "Bash: ls".to_owned()),
    ];
    for (name, input, expected) in cases {
        assert_eq!(only(&call(name, &input)), expected, "{name} {input}");
    }
}

#[test]
fn the_first_200_characters_of_words_are_shown_and_chatter_is_not() {
    #[rustfmt::skip]
    let cases = [
        ("a".repeat(21), format!("Text: {}", "a".repeat(21))),
        ("b".repeat(200), format!("Text: {}", "b".repeat(200))),
        ("c".repeat(201), format!("Text: {}...", "c".repeat(200))),
        (format!("{}🚀tail", "d".repeat(199)), format!("Text: {}🚀...", "d".repeat(199))),
        (format!("  {}  ", "e".repeat(30)), format!("Text: {}", "e".repeat(30))),
        ("\u{1b}[2J\u{7} twenty and more characters".to_owned(), r"Text: \x1b[2J\x07 twenty and more characters".to_owned()),
    ];
    for (words, expected) in cases {
        let block = format!(r#"{{"type":"text","text":{}}}"#, quoted(&words));
        // Something after it, so that it is not the last word.
        let input = format!("{}\n{}", assistant(&block), call("Read", "{}"));
        let text = shown(&[], &format!("{input}\n"));
        assert_eq!(
            text.lines().next(),
            Some(&*format!("[00:23:01] {expected}"))
        );
    }
    let short = assistant(r#"{"type":"text","text":"exactly 20 letters.."}"#);
    let input = format!("{short}\n{}\n", call("Read", "{}"));
    assert_eq!(shown(&[], &input), "[00:23:01] Read: unknown\n");
    assert!(shown(&["-v"], &input).starts_with("[00:23:01] Text: exactly 20 letters..\n"));
}

#[test]
fn the_last_words_are_shown_however_short() {
    let done = assistant(r#"{"type":"text","text":"done"}"#);
    assert_eq!(shown(&[], &format!("{done}\n")), "[00:23:01] Text: done\n");
    let end = r#"{"type":"result","subtype":"success","is_error":false,"num_turns":1}"#;
    let text = shown(&[], &format!("{done}\n{end}\n"));
    assert_eq!(
        text,
        "[00:23:01] Text: done\n[00:23:01] Done: success | 1 turn\n"
    );
}

#[test]
fn thinking_is_shown_only_when_asked_for() {
    let line =
        assistant(r#"{"type":"thinking","thinking":"let me see about that","signature":"x"}"#);
    assert_eq!(shown(&[], &format!("{line}\n")), "");
    assert_eq!(
        shown(&["-v"], &format!("{line}\n")),
        "[00:23:01] Thinking: let me see about that\n"
    );
}

#[test]
fn odd_shapes_are_skipped_and_nothing_breaks() {
    #[rustfmt::skip]
    let cases = [
        (r#"{"type":"assistant","message":{"content":[null]}}"#, ""),
        (r#"{"type":"assistant","message":null}"#, ""),
        (r#"{"type":"assistant"}"#, ""),
        (r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"x","input":{}}]}}"#, ""),
        (r#"{"type":"assistant","message":{"content":"a plain string as content"}}"#, "[--:--:--] Text: a plain string as content\n"),
        ("null", ""),
        ("not json", ""),
        ("[1]", ""),
    ];
    for (line, expected) in cases {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let known = r#"{"type":"mode","sessionId":"s"}"#;
        std::fs::write(file.path(), format!("{known}\n{line}\n")).expect("write");
        let text = shown(&[&file.path().to_string_lossy()], "");
        assert_eq!(text, expected, "{line}");
    }
}

#[test]
fn a_subagents_lines_stand_under_its_call() {
    let agent = r#"{"type":"tool_use","id":"a1","name":"Agent","input":{"description":"Look"}}"#;
    let inner = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"a2","name":"Agent","input":{"description":"Deeper"}}]},"parent_tool_use_id":"a1","timestamp":"2026-01-02T00:23:01Z"}"#;
    let deep = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"b","name":"Bash","input":{"command":"ls"}}]},"parent_tool_use_id":"a2","timestamp":"2026-01-02T00:23:01Z"}"#;
    let input = format!("{}\n{inner}\n{deep}\n", assistant(agent));
    let expected =
        "[00:23:01] Subagent: Look\n[00:23:01]   Subagent: Deeper\n[00:23:01]     Bash: ls\n";
    assert_eq!(shown(&[], &input), expected);
}

#[test]
fn midnight_is_00() {
    let line = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"b","name":"Bash","input":{"command":"ls"}}]},"timestamp":"2026-01-02T00:00:09.999Z"}"#;
    assert_eq!(shown(&[], &format!("{line}\n")), "[00:00:09] Bash: ls\n");
    assert_eq!(
        shown(&["--time", "none"], &format!("{line}\n")),
        "Bash: ls\n"
    );
}

#[test]
fn an_error_of_the_api_is_told_once() {
    let failure = |parent: &str, words: &str| {
        format!(
            r#"{{"type":"assistant","error":"rate_limit","parent_tool_use_id":{parent},"message":{{"id":"e","model":"<synthetic>","content":[{{"type":"text","text":"{words}"}}]}}}}"#
        )
    };
    let end = r#"{"type":"result","subtype":"success","is_error":true,"terminal_reason":"api_error","result":"API Error: 429"}"#;
    let told = shown(
        &["--time", "none"],
        &format!("{}\n{end}\n", failure("null", "API Error: 429")),
    );
    assert_eq!(told, "Error: API Error: 429\nFailed: api_error\n");
    let other = shown(
        &["--time", "none"],
        &format!("{}\n{end}\n", failure(r#""t1""#, "API Error: 500")),
    );
    assert_eq!(
        other,
        "  Error: API Error: 500\nFailed: api_error: API Error: 429\n"
    );
}

#[test]
fn a_failed_command_is_one_line_with_its_code_and_the_start_of_its_error() {
    let told = |flags: &[&str], tool: &str, error: &str| {
        let input = format!(
            "{}\n{}\n",
            call(tool, r#"{"command":"cat a","file_path":"a"}"#),
            result(&quoted(error), true)
        );
        shown(&[&["--time", "none"], flags].concat(), &input)
    };
    assert_eq!(
        told(&[], "Bash", "Exit code 1\n\ncat: a: No such file\nmore"),
        "Bash: cat a\nFailed: Bash: cat a | code 1 | cat: a: No such file\n"
    );
    assert_eq!(
        told(&["-v"], "Bash", "Exit code 3"),
        "Bash: cat a\nFailed: Bash: cat a | code 3\n"
    );
    let unread = "<tool_use_error>File has not been read</tool_use_error>";
    assert_eq!(told(&[], "Edit", unread), "Edit: a\n");
    assert_eq!(
        told(&["-v"], "Edit", unread),
        "Edit: a\nFailed: Edit: a | File has not been read\n"
    );
}

#[test]
fn a_failed_turn_always_has_a_reason() {
    let failure = r#"{"type":"assistant","error":"rate_limit","message":{"id":"e","model":"<synthetic>","content":[{"type":"text","text":"API Error: 429"}]}}"#;
    // Releases from 2.1.20 to 2.1.197 give no `terminal_reason`.
    let end = r#"{"type":"result","subtype":"success","is_error":true,"num_turns":1,"result":"API Error: 429"}"#;
    let silent = end.replace("API Error: 429", "");
    let unnamed = failure.replace(r#""rate_limit""#, "{}");
    let told = |input: String| {
        let text = shown(&["--time", "none"], &input);
        text.lines().last().map(str::to_owned).expect("a line")
    };
    for (input, expected) in [
        (format!("{failure}\n{end}\n"), "Failed: rate_limit | 1 turn"),
        (
            format!("{unnamed}\n{end}\n"),
            "Failed: API Error: 429 | 1 turn",
        ),
        (format!("{silent}\n"), "Failed: no reason given | 1 turn"),
    ] {
        assert_eq!(told(input), expected);
    }
}

#[test]
fn times_are_rounded_as_in_the_summary() {
    let end = |ms: u32| {
        let end = format!(
            r#"{{"type":"result","subtype":"success","is_error":false,"duration_ms":{ms}}}"#
        );
        shown(&["--time", "none"], &format!("{end}\n"))
    };
    assert_eq!(end(400), "Done: success | 0s\n");
    assert_eq!(end(600), "Done: success | 1s\n");
    assert_eq!(end(119_500), "Done: success | 2m0s\n");
    let limit = r#"{"type":"cr","subtype":"limit","clock":"tool","limit_ms":500,"action":"term"}"#;
    let exit =
        r#"{"type":"cr","subtype":"exit","reason":"tool","exit_code":143,"duration_ms":700}"#;
    assert_eq!(
        shown(&["--time", "none"], &format!("{limit}\n{exit}\n")),
        "Limit: tool of 0.5s ran out (term)\nTimed out after 1s (tool clock of 0.5s): code 143\n"
    );
}
