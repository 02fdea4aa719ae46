//! Hostile input.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::time::{Duration, Instant};

use crate::tool::{extracted, message, result, run, tool};

/// Generous; see below.
const LONG: Duration = Duration::from_mins(5);

#[test]
fn no_text_takes_the_square_of_its_length() {
    // The others are shorter: a debug build is slow, and the square of this is
    // hours all the same.
    let n = 1 << 18;
    let cases = [
        "`".repeat(1 << 20),
        "```\n".repeat(1 << 18),
        "```json\n".repeat(n / 8),
        "```json x\n".repeat(n / 10),
        "~~~json\n```x\n".repeat(n / 13),
        (3..1400)
            .rev()
            .map(|length| "`".repeat(length) + "json x\n")
            .collect(),
        (3..1400)
            .map(|length| "`".repeat(length) + "json\n")
            .collect(),
        "[".repeat(n),
        "{".repeat(n),
        "{\"a\":".repeat(n / 5),
        "{\"a\":1, x ".repeat(n / 10),
        "[1,[".repeat(n / 4),
        "[\"[\",".repeat(n / 5),
        "[\",[\",".repeat(n / 6),
        "\"".repeat(n),
        "{\"\\".repeat(n / 3),
        "[1,2) ".repeat(n / 6),
        "{} ".repeat(n / 3),
        "x ```json\n".repeat(n / 10),
    ];
    for text in cases {
        let begun = Instant::now();
        run(&["--from=text"], text.clone());
        run(&["--all"], result(&text));
        let taken = begun.elapsed();
        let head: String = text.chars().take(20).collect();
        assert!(taken < LONG, "{head}: {taken:?}");
    }
}

#[test]
fn depth_is_no_trouble() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    assert_eq!(extracted(&[], result(&deep)), Some(deep.clone()));
    assert_eq!(
        extracted(
            &[],
            format!("{{\"type\":\"result\",\"subtype\":\"success\",\"structured_output\":{deep}}}")
        ),
        Some(deep.clone())
    );
    let objects = "{\"a\":".repeat(100_000) + "1" + &"}".repeat(100_000);
    assert_eq!(
        extracted(&["--from=text"], format!("so: {objects}.")),
        Some(objects)
    );
    assert_eq!(
        extracted(
            &["--text"],
            format!("{}{{\"type\":\"user\",\"x\":{deep}}}\n", result("x"))
        )
        .as_deref(),
        Some("x")
    );
}

#[test]
fn text_that_is_no_unicode_costs_only_itself() {
    let lone =
        r#"{"type":"result","subtype":"success","result":"\ud800 {\"a\":\"\\ud800\"} \udc00"}"#;
    assert_eq!(extracted(&[], lone).as_deref(), Some(r#"{"a":"\ud800"}"#));
    let mut bytes = b"\xff\xfe {\"a\":1} \x80\n".to_vec();
    assert_eq!(
        extracted(&["--from=text"], bytes.clone()).as_deref(),
        Some(r#"{"a":1}"#)
    );
    bytes.extend(result("{\"b\":2}").bytes());
    bytes.extend(b"\xff\n\0\0\n");
    assert_eq!(extracted(&[], bytes).as_deref(), Some(r#"{"b":2}"#));
    let broken = b"{\"type\":\"result\",\"subtype\":\"success\",\"structured_output\":{\"a\":\"\xff\"},\"result\":\"{\\\"c\\\":3}\"}".to_vec();
    assert_eq!(extracted(&[], broken).as_deref(), Some(r#"{"c":3}"#));
}

#[test]
fn a_torn_last_line_is_no_event_and_no_success() {
    let whole = result("{\"a\":1}");
    let second = result("{\"b\":2}");
    let last = second.trim_end().len();
    for cut in 0..=second.len() {
        let (wanted, code) = match cut {
            0 => ("{\"a\":1}", 0),
            cut if cut < last => ("{\"a\":1}", 65),
            _ => ("{\"b\":2}", 0),
        };
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("run.ndjson");
        let input = format!("{whole}{}", &second[..cut]);
        std::fs::write(&path, &input).expect("written");
        let from_file = tool(&[]).arg(path).output().expect("run");
        let from_pipe = tool(&[]).write_stdin(input).output().expect("run");
        for output in [from_file, from_pipe] {
            let stdout = String::from_utf8_lossy(&output.stdout);
            assert_eq!(stdout, format!("{wanted}\n"), "{cut}");
            assert_eq!(output.status.code(), Some(code), "{cut}");
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!(stderr.contains("cut off"), code == 65, "{cut}: {stderr}");
        }
    }
}

#[test]
fn the_answer_of_a_run_whose_last_line_was_cut_is_no_success() {
    let exit = |reason: &str, is_torn: bool| {
        format!(
            "{}{{\"type\":\"cr\",\"subtype\":\"exit\",\"run_id\":\"r\",\"reason\":\"{reason}\",\"exit_code\":0,\"torn_tail\":{is_torn}}}\n",
            result("{\"a\":1}")
        )
    };
    let attempt = "{\"type\":\"cr\",\"subtype\":\"task\",\"run_id\":\"r\",\"id\":\"t\",\"attempt\":2,\"state\":\"running\"}\n";
    for (input, code) in [
        (exit("exit", true), 65),
        (exit("exit", false), 0),
        (exit("post_result", true), 0),
        (exit("exit", true) + attempt + &exit("exit", false), 0),
    ] {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("run.ndjson");
        std::fs::write(&path, &input).expect("written");
        let from_file = tool(&[]).arg(path).output().expect("run");
        let from_pipe = tool(&[]).write_stdin(input.clone()).output().expect("run");
        for output in [from_file, from_pipe] {
            assert_eq!(output.stdout, b"{\"a\":1}\n", "{input}");
            assert_eq!(output.status.code(), Some(code), "{input}");
        }
    }
}

#[test]
fn a_line_over_the_limit_is_passed_over() {
    let long = result(&"x".repeat(5000));
    let input = result("{\"a\":1}") + &long;
    assert_eq!(
        extracted(&["--max-line=4000"], input.clone()).as_deref(),
        Some("{\"a\":1}")
    );
    assert_eq!(extracted(&[], input), None);
    assert_eq!(
        run(&["--max-line=4000", "--from=text"], "x".repeat(5000))
            .status
            .code(),
        Some(65)
    );
}

/// A sparse file of `size` bytes whose end is `tail`.
fn sparse(path: &std::path::Path, size: u64, tail: &str) {
    let mut file = BufWriter::new(File::create(path).expect("created"));
    let head = "{\"type\":\"user\",\"message\":{\"content\":\"";
    file.write_all(head.as_bytes()).expect("written");
    file.get_ref().set_len(size).expect("sized");
    file.into_inner().expect("written");
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .open(path)
        .expect("opened");
    file.write_all(format!("\"}}}}\n{tail}").as_bytes())
        .expect("written");
}

#[test]
fn only_the_end_of_a_file_is_read() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("run.ndjson");
    let log = |id: &str, text: &str| message(id, text).replacen('{', "{\"sessionId\":\"s\",", 1);
    let log = log("m", "no") + &log("n", "{\"a\":1}");
    let summary = "{\"schema\":1,\"outcome\":\"success\",\"result\":\"{\\\"a\\\":1}\"}\n";
    for tail in [&result("{\"a\":1}"), &log, summary] {
        // A terabyte of nothing: who reads it all does not come back.
        sparse(&path, 1 << 40, tail);
        let by_name = tool(&[]).arg(&path).output().expect("run");
        let by_input = tool(&[])
            .stdin(File::open(&path).expect("opened"))
            .output()
            .expect("run");
        for output in [by_name, by_input] {
            assert_eq!(
                String::from_utf8_lossy(&output.stdout),
                "{\"a\":1}\n",
                "{tail}"
            );
        }
    }
}

#[test]
fn a_document_that_is_cut_off_is_no_answer() {
    let end = "{\n \"type\": \"result\",\n \"subtype\": \"success\",\n \"result\": \"{}\"\n}";
    let said = "{\n \"type\": \"assistant\",\n \"message\": {\"id\": \"a\", \"content\": \"x\"}\n}";
    for whole in [end.to_owned(), format!("[\n{said},\n{end}\n]")] {
        let cut = &whole[..whole.len() - 3];
        let output = crate::tool::run(&["--text"], cut);
        assert_eq!(
            (output.status.code(), &*output.stdout),
            (Some(65), &b""[..])
        );
        let output = crate::tool::run(&["--text"], whole);
        assert_eq!(output.stdout, b"{}\n");
    }
}
