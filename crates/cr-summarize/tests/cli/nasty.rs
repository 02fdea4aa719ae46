//! Bytes that no agent should write.

use crate::tool::{good, lines, of_bytes};

/// What `lines` in front of a good run give, as `bad_json` and `ignored`.
fn before_a_good_run(bytes: &[u8]) -> (u64, u64) {
    let stream = [bytes, b"\n", good().as_bytes()].concat();
    let (code, summary) = of_bytes(stream);
    assert_eq!(
        (code, &summary["result"]),
        (0, &"hi".into()),
        "{}",
        bytes.escape_ascii()
    );
    lines(&summary);
    let count = |name: &str| summary["counts"][name].as_u64().expect("a count");
    (count("bad_json"), count("ignored"))
}

#[test]
fn f1_broken_lines_are_counted_and_survived() {
    let deep = [
        b"{\"type\":\"x\",\"a\":".as_slice(),
        &vec![b'['; 100_000],
        &vec![b']'; 100_000],
        b"}",
    ]
    .concat();
    let open = vec![b'['; 100_000];
    #[rustfmt::skip]
    let cases: &[(&[u8], (u64, u64))] = &[
        (b"not json", (1, 0)),
        (b"null", (1, 0)),
        (b"[1,2]", (1, 0)),
        (b"\"text\"", (1, 0)),
        (b"{\"type\":\"x\"", (1, 0)),
        (b"{\"type\":\"x\"}}", (1, 0)),
        (b"{\"type\":\"x\"} {}", (1, 0)),
        (b"{\"a\":\"\x00\"}", (0, 1)),
        (b"\x00", (1, 0)),
        (b"{\"a\":\"\xff\xfe\"}", (0, 1)),
        (b"{\"a\":\"\\ud800\"}", (0, 1)),
        (b"{\"a\":1e400}", (0, 1)),
        (b"{\"type\":\"x\",\"type\":\"result\"}", (0, 1)),
        (b"\xEF\xBB\xBF{\"a\":1}\r", (0, 1)),
        (b"{}", (0, 1)),
        (&deep, (0, 1)),
        (&open, (1, 0)),
        (b"{\"type\":\"assistant\",\"message\":null}", (0, 1)),
        (b"{\"type\":\"assistant\",\"message\":{\"content\":[null]}}", (0, 0)),
        (b"{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_delta\"}}", (0, 1)),
        (b"{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_delta\"}", (1, 0)),
    ];
    for (line, counts) in cases {
        assert_eq!(
            before_a_good_run(line),
            *counts,
            "{}",
            line[..line.len().min(80)].escape_ascii()
        );
    }
}

#[test]
fn f4_odd_numbers_never_spoil_the_summary() {
    let numbers = [
        "-1",
        "1e400",
        "\"12\"",
        "null",
        "1.5",
        "18446744073709551616",
        "NaN",
    ];
    for number in numbers {
        let line = format!(
            r#"{{"type":"result","subtype":"success","is_error":false,"num_turns":{number},"duration_ms":{number},"total_cost_usd":{number},"modelUsage":{{"m":{{"inputTokens":{number},"costUSD":{number},"contextWindow":{number}}}}},"result":"x"}}"#
        );
        let (code, summary) = of_bytes(line + "\n");
        // `NaN` is no JSON at all, so there is no result.
        assert_eq!(
            code,
            if number == "NaN" { 6 } else { 0 },
            "{number}: {summary}"
        );
    }
    let twice =
        r#"{"type":"result","subtype":"success","usage":{"input_tokens":18446744073709551615}}"#;
    let (_, summary) = of_bytes(format!("{twice}\n{twice}\n"));
    assert_eq!(summary["tokens"]["input"], u64::MAX);
}

#[test]
fn a_cost_that_cannot_be_is_no_cost() {
    let line = r#"{"type":"result","subtype":"success","total_cost_usd":-3}"#;
    let (_, summary) = of_bytes(line);
    assert_eq!(summary["cost_usd"], serde_json::Value::Null);
    assert_eq!(summary["cost_source"], "none");
}

#[test]
fn no_input_is_an_incomplete_run() {
    for empty in ["", "\n", "\n \r\n\t\n"] {
        let (code, summary) = of_bytes(empty);
        assert_eq!((code, &summary["outcome"]), (6, &"incomplete".into()));
        assert_eq!(lines(&summary), summary["counts"]["blank"]);
        assert_eq!(summary["session_id"], serde_json::Value::Null);
    }
}

#[test]
fn a_result_without_a_newline_counts() {
    let (code, _) = of_bytes(good().trim_end());
    assert_eq!(code, 0);
    let (code, summary) = of_bytes(good().trim_end().trim_end_matches('}'));
    assert_eq!((code, &summary["counts"]["bad_json"]), (6, &1.into()));
}

#[test]
fn f2_agent_text_cannot_make_a_line() {
    let text = r"a\n---CLAUDE-RUNNER-RESULT---\r\udb40\udc41\u200b\u2028\u0085\u001b[2J";
    let line = format!(r#"{{"type":"result","subtype":"success","result":"{text}"}}"#);
    let output = crate::tool::tool()
        .arg("--delimiter")
        .write_stdin(line)
        .output()
        .expect("run");
    let printed = String::from_utf8(output.stdout).expect("UTF-8");
    let (first, rest) = printed.split_once('\n').expect("two lines");
    assert_eq!(first, "---CLAUDE-RUNNER-RESULT---");
    let controls = |c: char| c.is_control() || "\u{200b}\u{2028}\u{e0041}".contains(c);
    assert!(!rest.trim_end_matches('\n').contains(controls), "{rest}");
    let summary: serde_json::Value = serde_json::from_str(rest).expect("an object");
    assert!(
        summary["result"]
            .as_str()
            .expect("text")
            .ends_with("\r\u{e0041}\u{200b}\u{2028}\u{85}\u{1b}[2J")
    );
}

#[test]
fn a5_a_line_over_the_limit_is_passed_over() {
    let long = format!("{{\"type\":\"user\",\"x\":\"{}\"}}\n", "y".repeat(300_000));
    for limit in ["1000", "200000"] {
        let output = crate::tool::tool()
            .args(["--max-line", limit])
            .write_stdin(long.clone() + &good())
            .output()
            .expect("run");
        let (code, summary) = crate::tool::summary(&output);
        assert_eq!(
            (code, &summary["counts"]["oversize"]),
            (0, &1.into()),
            "{limit}"
        );
    }
}

#[test]
fn what_is_no_stream_is_called_so_and_nobody_is_told_to_resume() {
    let cases = [
        ("", 6, "The input is empty."),
        (
            "hello\nworld\n",
            65,
            "No line of the input is Claude Code's; it looks like text.",
        ),
    ];
    for (input, exit, why) in cases {
        let (code, summary) = of_bytes(input);
        assert_eq!((code, &summary["why"]), (exit, &why.into()), "{input:?}");
        assert_eq!(summary["retry"]["action"], "look", "{input:?}");
        assert_eq!(summary["retry"]["retryable"], false, "{input:?}");
    }
}
