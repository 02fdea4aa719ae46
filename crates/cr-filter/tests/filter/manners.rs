//! Pipes, full disks, closed descriptors, signals.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use cr_test::{Child, Command, Pipe, Signal, bin, fixture};
use predicates::prelude::*;

use crate::{call, cr_filter};

fn start(args: &[&str]) -> Child {
    cr_filter(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("start cr-filter")
}

/// Sends a line and waits for its text: then the tool is in its loop.
fn exchange(child: &mut Child) -> BufReader<Pipe> {
    let stdin = child.stdin.as_mut().expect("piped");
    stdin
        .write_all(format!("{}\n", call("Read", "{}")).as_bytes())
        .expect("write");
    let mut out = BufReader::new(child.stdout.take().expect("piped"));
    let mut line = String::new();
    out.read_line(&mut line).expect("read");
    assert_eq!(line, "[00:23:01] Read: unknown\n");
    out
}

#[test]
fn a_line_is_shown_while_the_pipe_stays_open() {
    let mut child = start(&[]);
    drop(exchange(&mut child));
    drop(child.stdin.take());
    assert!(child.wait().expect("wait").success());
}

#[test]
fn a_reader_that_left_is_noticed_without_another_line() {
    let mut child = start(&[]);
    drop(exchange(&mut child));
    // Nothing more is written, and the input stays open.
    let status = child.wait().expect("wait");
    assert_eq!(status.code(), Some(0));
    let mut said = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().expect("piped"), &mut said)
        .expect("read");
    assert_eq!(said, "");
}

#[test]
fn f5_the_first_interrupt_waits_for_the_source_to_end() {
    let mut child = start(&[]);
    let mut out = exchange(&mut child);
    child.signal(Signal::INT);
    let mut stdin = child.stdin.take().expect("piped");
    stdin
        .write_all(format!("{}\n", call("Bash", r#"{"command":"late"}"#)).as_bytes())
        .expect("write");
    drop(stdin);
    let mut rest = String::new();
    out.read_line(&mut rest).expect("read");
    assert_eq!(rest, "[00:23:01] Bash: late\n");
    assert_eq!(child.wait().expect("wait").code(), Some(0));
}

#[test]
fn f5_the_second_interrupt_ends_it_with_130() {
    let mut child = start(&[]);
    let out = exchange(&mut child);
    // Its input stays open, so that nothing else can end it.
    let status = child.signal_until_it_ends(Signal::INT).expect("wait");
    assert_eq!(status.code(), Some(130));
    drop(out);
}

#[test]
fn a3_a_full_disk_is_74_and_one_message() {
    let full = OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .expect("open");
    let run = cr_filter(&[])
        .arg(fixture("captures/02-tools.ndjson"))
        .stdout(full)
        .output()
        .expect("run cr-filter");
    assert_eq!(run.status.code(), Some(74));
    let said = String::from_utf8(run.stderr).expect("text");
    assert_eq!(
        said,
        "cr-filter: write standard output: No space left on device (os error 28)\n"
    );
}

#[test]
fn the_text_of_tee_is_written_to_a_file_and_a_full_one_is_74() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("text");
    let line = format!("{}\n", call("Read", "{}"));
    cr_filter(&[&format!("--tee={}", path.display())])
        .write_stdin(line.clone())
        .assert()
        .success()
        .stdout(line.clone());
    let text = std::fs::read_to_string(path).expect("the text");
    assert_eq!(text, "[00:23:01] Read: unknown\n");
    cr_filter(&["--tee=/dev/full"])
        .write_stdin(line)
        .assert()
        .code(74);
}

#[test]
fn a_closed_stderr_does_not_stop_the_stream() {
    let line = format!("{}\n", call("Read", "{}"));
    let script = r#"exec "$0" --tee 2>&-"#;
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).arg(bin("cr-filter"));
    let run = shell.write_stdin(line.clone()).output().expect("run");
    assert_eq!(
        (run.status.code(), run.stdout),
        (Some(0), line.into_bytes())
    );
}

#[test]
fn a_message_names_the_tool_the_place_and_the_cause() {
    #[rustfmt::skip]
    let cases: &[(&[&str], i32, &str)] = &[
        (&["/nonexistent/run.ndjson"], 66, "cr-filter: /nonexistent/run.ndjson: No such file or directory (os error 2)\n"),
        (&["--format", "xml"],         2,  "error: invalid value 'xml' for '--format <FORMAT>'\n"),
        (&["-v", "-q"],                2,  "error: the argument '--verbose' cannot be used with '--quiet'\n"),
        (&["--redact-stream"],         2,  "error: the following required arguments were not provided:\n"),
    ];
    for (args, code, message) in cases {
        cr_filter(args)
            .assert()
            .code(*code)
            .stdout("")
            .stderr(predicate::str::starts_with(*message));
    }
}

#[test]
fn several_files_are_told_apart() {
    let dir = tempfile::tempdir().expect("a folder");
    for name in ["a.ndjson", "b.jsonl", "c.txt"] {
        let mut file = File::create(dir.path().join(name)).expect("create");
        writeln!(
            file,
            "{}",
            call("Read", &format!(r#"{{"file_path":"{name}"}}"#))
        )
        .expect("write");
    }
    let path = dir.path().to_string_lossy().into_owned();
    cr_filter(&["--time", "none", &path])
        .assert()
        .success()
        .stdout(format!(
            "==> {path}/a.ndjson <==\nRead: a.ndjson\n==> {path}/b.jsonl <==\nRead: b.jsonl\n"
        ));
}

#[test]
fn what_cannot_be_opened_does_not_keep_the_others_from_being_read() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = |name: &str| dir.path().join(name).to_string_lossy().into_owned();
    for name in ["a", "b"] {
        let line = call("Read", &format!(r#"{{"file_path":"{name}"}}"#));
        std::fs::write(path(name), line).expect("write");
    }
    let (a, b, text) = (path("a"), path("b"), path("text"));
    let tee = format!("--tee={text}");
    cr_filter(&["--time", "none", "--stats", &tee, &a, "/nonexistent", &b])
        .assert()
        .code(66)
        .stderr(format!(
            "cr-filter: {a}: 1 lines: 1 shown, 0 dropped, 0 bad_json, 0 oversize, 0 blank\n\
             cr-filter: /nonexistent: No such file or directory (os error 2)\n\
             cr-filter: {b}: 1 lines: 1 shown, 0 dropped, 0 bad_json, 0 oversize, 0 blank\n"
        ));
    let text = std::fs::read_to_string(text).expect("the text of both");
    assert_eq!(
        text,
        format!("==> {a} <==\nRead: a\n==> {b} <==\nRead: b\n")
    );
}
