//! Pipes, full disks, messages.

use std::fs::OpenOptions;
use std::io::Write;
use std::process::Stdio;

use crate::tool::{fixture, result, run, said, tool};

#[test]
fn a_reader_that_left_ends_it_quietly() {
    let mut child = tool(&[])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    drop(child.stdout.take());
    // The input stays open: its absence is noticed while it waits.
    let mut stdin = child.stdin.take().expect("piped");
    let _ = stdin.write_all(result("{}").as_bytes());
    let output = child.wait_with_output().expect("ended");
    drop(stdin);
    assert_eq!(
        (output.status.code(), said(&output)),
        (Some(0), String::new())
    );
}

#[test]
fn a_full_disk_is_74_and_one_message() {
    let full = OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .expect("opened");
    let output = tool(&[])
        .arg(fixture("captures/14-schema.ndjson"))
        .stdout(full)
        .output()
        .expect("run");
    assert_eq!(output.status.code(), Some(74));
    let words = "cr-extract: write standard output: No space left on device (os error 28)\n";
    assert_eq!(said(&output), words);
}

#[test]
fn a_file_without_a_size_is_read_from_its_beginning() {
    let output = tool(&["--text", "/proc/version"]).output().expect("run");
    assert!(output.stdout.starts_with(b"Linux"), "{output:?}");
}

#[test]
fn what_was_read_of_standard_input_before_is_not_read_again() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("x");
    std::fs::write(&path, "{\"a\":0}\n{\"b\":1}\n").expect("written");
    let output = cr_test::Command::new("sh")
        .args(["-c", "read -r line && exec \"$0\" --from=text"])
        .arg(cr_test::bin("cr-extract"))
        .stdin(std::fs::File::open(path).expect("opened"))
        .output()
        .expect("run");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "{\"b\":1}\n");
}

#[test]
fn messages_name_the_tool_the_place_and_the_cause() {
    let missing = tool(&["/nonexistent/x"]).output().expect("run");
    assert_eq!(missing.status.code(), Some(66));
    assert_eq!(
        said(&missing),
        "cr-extract: /nonexistent/x: No such file or directory (os error 2)\n"
    );
    assert_eq!(
        said(&run(&[], "words")),
        "cr-extract: no JSON in the answer\n"
    );
    assert_eq!(said(&run(&[], "")), "cr-extract: no answer\n");
    for args in [
        &["--first", "--last"][..],
        &["--text", "--all"],
        &["--from=xml"],
    ] {
        assert_eq!(run(args, "").status.code(), Some(2), "{args:?}");
    }
}

#[test]
fn the_help_has_examples_and_the_exit_status() {
    let output = run(&["--help"], "");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    for part in [
        "Examples:\n",
        "Exit status:\n",
        "--schema",
        "structured output",
    ] {
        assert!(text.contains(part), "{part}");
    }
}
