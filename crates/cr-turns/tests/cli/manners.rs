//! The command line, pipes, full disks, messages.

use std::fs::OpenOptions;
use std::io::Write;
use std::process::Stdio;

use cr_test::World;

use crate::tool::{run, said, tool};

#[test]
fn a_wrong_command_line_is_2() {
    let cases: [&[&str]; 9] = [
        &["--min", "2"],
        &["--max", "1001"],
        &["--min", "20", "--max", "10"],
        &["--min", "31"],
        &["--max", "x"],
        &["--files", "-1"],
        &["a.ndjson", "--title", "x"],
        &["a.ndjson", "b.ndjson"],
        &["--histories"],
    ];
    for args in cases {
        let output = run(args, "{}");
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty(), "{args:?}");
    }
    let words = "cr-turns: the minimum of turns, 31, is above the maximum, 30\n";
    assert_eq!(said(&run(&["--min", "31"], "{}")), words);
}

#[test]
fn a_wrong_configuration_is_78_with_its_line() {
    let world = World::new();
    let file = world.path("config.toml");
    std::fs::write(&file, "\nturns_min = 1\n").expect("written");
    let mut command = world.tool("cr-turns");
    let output = command.env("CR_CONFIG", &file).write_stdin("{}").output();
    let output = output.expect("run");
    assert_eq!(output.status.code(), Some(78), "{output:?}");
    let cause = "2: turns_min: expected a whole number from 3 to 1000";
    assert_eq!(
        said(&output),
        format!("cr-turns: {}:{cause}\n", file.display())
    );
}

#[test]
fn a_missing_file_is_66() {
    let output = run(&["/nonexistent/x"], "");
    assert_eq!(output.status.code(), Some(66));
    let words = "cr-turns: /nonexistent/x: No such file or directory (os error 2)\n";
    assert_eq!(said(&output), words);
    assert_eq!(run(&["/"], "").status.code(), Some(66), "a directory");
}

#[test]
fn a_full_disk_is_74_and_one_message() {
    let full = OpenOptions::new().write(true).open("/dev/full");
    let mut command = tool(&["--type", "testing"]);
    let output = command.stdout(full.expect("opened")).output().expect("run");
    assert_eq!(output.status.code(), Some(74));
    let words = "cr-turns: write standard output: No space left on device (os error 28)\n";
    assert_eq!(said(&output), words);
}

#[test]
fn a_reader_that_left_ends_it_quietly() {
    let mut child = tool(&[])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().expect("piped");
    let _ = stdin.write_all(b"{}\n");
    let output = child.wait_with_output().expect("ended");
    drop(stdin);
    let ended = (output.status.code(), said(&output));
    assert_eq!(ended, (Some(0), String::new()));
}

#[test]
fn the_help_has_examples_and_the_exit_status() {
    let output = run(&["--help"], "");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    for part in [
        "Examples:\n",
        "Exit status:\n",
        "Scope phrases",
        "--override",
    ] {
        assert!(text.contains(part), "{part}");
    }
}
