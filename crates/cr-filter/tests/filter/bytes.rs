//! The same bytes give the same output; hostile bytes are escaped.

use std::io::Read;

use clap::Parser;
use cr_filter::{Args, InputOptions, run_on};
use cr_io::Trickle;

use crate::{assistant, call, result};

/// Gives the bytes up to a place, then the rest.
fn cut(bytes: &[u8], at: usize) -> impl Read {
    bytes[..at].chain(&bytes[at..])
}

fn filtered(args: &[&str], input: impl Read) -> (Vec<u8>, Vec<u8>) {
    let args = Args::parse_from([&["cr-filter", "--stats", "--time", "none"], args].concat());
    let (mut out, mut notes) = (Vec::new(), Vec::new());
    let run = run_on(&args, &InputOptions::default(), input, &mut out, &mut notes);
    // Some of these inputs have no line of Claude Code.
    if let Err(err) = run {
        assert_eq!(cr_io::exit_of(&err), cr_io::Exit::Data, "{err:?}");
    }
    (out, notes)
}

fn stream() -> Vec<u8> {
    let lines = [
        r#"{"type":"system","subtype":"init","session_id":"s","model":"m"}"#.to_owned(),
        call("Bash", r#"{"command":"git commit -m \"é\""}"#),
        result(r#""[main 1234567] é🚀 \ud83d""#, false),
        r#"{"type":"stream_event","event":{"type":"content_block_delta"}}"#.to_owned(),
        "not json".to_owned(),
        String::new(),
        assistant(r#"{"type":"text","text":"bye"}"#),
    ];
    lines.join("\n").into_bytes()
}

#[test]
fn a1_the_output_does_not_depend_on_how_the_input_is_cut() {
    let input = stream();
    for args in [&[][..], &["--tee"], &["--format", "json"], &["-v", "--tee"]] {
        let whole = filtered(args, &input[..]);
        for at in 0..=input.len() {
            assert_eq!(
                filtered(args, cut(&input, at)),
                whole,
                "{args:?} cut at {at}"
            );
        }
        assert_eq!(
            filtered(args, Trickle::new(&input, 1)),
            whole,
            "{args:?} byte by byte"
        );
    }
}

#[test]
fn what_is_teed_is_what_came() {
    let mut input = stream();
    input.extend(b"\n\xff\xfe\0\n{\"torn\":");
    let (out, _) = filtered(&["--tee"], Trickle::new(&input, 7));
    assert_eq!(out, input);
}

#[test]
fn nasty_lines_are_survived_and_counted() {
    let deep = format!(
        "{{\"type\":\"assistant\",\"message\":{}{}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let deep_content = format!(
        "{{\"type\":\"assistant\",\"message\":{{\"content\":[{}1{}]}}}}",
        "{\"a\":".repeat(100_000),
        "}".repeat(100_000)
    );
    #[rustfmt::skip]
    let cases: &[(&[u8], &str)] = &[
        (b"\xEF\xBB\xBF{\"type\":\"system\",\"subtype\":\"x\"}\r\n", "1 lines: 0 shown, 1 dropped, 0 bad_json, 0 oversize, 0 blank"),
        (b"{\"type\":\"result\",\"subtype\":\"success\",\"total_cost_usd\":1e400}\n", "1 lines: 1 shown, 0 dropped, 0 bad_json, 0 oversize, 0 blank"),
        (b"{\"type\":\"user\",\"type\":\"assistant\"}\n", "1 lines: 0 shown, 1 dropped, 0 bad_json, 0 oversize, 0 blank"),
        (b"[\"result\"]\nnull\n42\n\"s\"\ntrue\n", "5 lines: 0 shown, 0 dropped, 5 bad_json, 0 oversize, 0 blank"),
        (b"{\"type\":\"assistant\"\n", "1 lines: 0 shown, 0 dropped, 1 bad_json, 0 oversize, 0 blank"),
        (b"{\"type\":\"stream_event\",\"a\":{\"b\":1}\n", "1 lines: 0 shown, 0 dropped, 1 bad_json, 0 oversize, 0 blank"),
        (b"{\"type\":\"stream_event\"}{\"type\":\"result\"}\n", "1 lines: 0 shown, 0 dropped, 1 bad_json, 0 oversize, 0 blank"),
        (b"\n \r\n\t\n", "3 lines: 0 shown, 0 dropped, 0 bad_json, 0 oversize, 3 blank"),
        (b"{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"\xff\xfe\0 lone \\ud83d surrogates here\"}]}}\n", "1 lines: 1 shown, 0 dropped, 0 bad_json, 0 oversize, 0 blank"),
        (deep.as_bytes(), "1 lines: 0 shown, 1 dropped, 0 bad_json, 0 oversize, 0 blank"),
        (deep_content.as_bytes(), "1 lines: 0 shown, 1 dropped, 0 bad_json, 0 oversize, 0 blank"),
    ];
    for (input, expected) in cases {
        let (_, notes) = filtered(&[], *input);
        let notes = String::from_utf8_lossy(&notes);
        let counts = notes
            .trim_start_matches("cr-filter: ")
            .split(';')
            .next()
            .unwrap_or("")
            .trim_end();
        let shown = String::from_utf8_lossy(&input[..input.len().min(80)]);
        assert_eq!(counts, *expected, "{shown}");
    }
}

#[test]
fn unknown_kinds_are_counted_by_name() {
    let input = "{\"type\":\"comet\"}\n{\"type\":\"comet\"}\n{\"type\":\"system\",\"subtype\":\"\\u001b[2J\"}\n";
    let (_, notes) = filtered(&[], input.as_bytes());
    let notes = String::from_utf8(notes).expect("text");
    assert!(
        notes.ends_with("; unknown: comet 2, system/\\x1b[2J 1\n"),
        "{notes}"
    );
}
