//! Where the summary is written, and failures to write it.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::Stdio;

use cr_test::{Signal, until};

use crate::tool::{fixture, good, tool};

#[test]
fn a_full_disk_is_74_and_one_message() {
    let full = File::options()
        .write(true)
        .open("/dev/full")
        .expect("there");
    let output = tool()
        .arg(fixture("captures/01-simple.ndjson"))
        .stdout(full)
        .output()
        .expect("run");
    assert_eq!(output.status.code(), Some(74));
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(message.lines().count(), 1, "{message}");
    assert!(
        message.starts_with("cr-summarize: write standard output: "),
        "{message}"
    );
}

#[test]
fn f5_a_reader_that_left_ends_it_quietly() {
    // Also while it waits for a line that never comes.
    let (input, _held) = UnixStream::pair().expect("a pair");
    let input = input.as_fd().try_clone_to_owned().expect("a copy");
    let file = File::open(fixture("captures/01-simple.ndjson")).expect("a capture");
    for stdin in [Stdio::from(input), Stdio::from(file)] {
        let mut child = tool()
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("run");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("ended");
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    }
}

#[test]
fn the_same_object_is_spread_over_lines_for_people() {
    let line = tool().write_stdin(good()).output().expect("run").stdout;
    let pretty = tool()
        .arg("--pretty")
        .write_stdin(good())
        .output()
        .expect("run")
        .stdout;
    assert!(pretty.starts_with(b"{\n  \"session_id\": "));
    let parsed =
        |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).expect("an object");
    assert_eq!(parsed(&line), parsed(&pretty));
}

#[test]
fn the_fields_of_old_come_first() {
    let line = tool().write_stdin(good()).output().expect("run").stdout;
    let line = String::from_utf8(line).expect("UTF-8");
    let order = [
        "session_id",
        "model",
        "exit_code",
        "duration_seconds",
        "cost_usd",
        "tokens",
        "tool_calls",
        "git",
        "errors",
        "context_warning",
        "resume_command",
        "incomplete",
        "killed",
        "schema",
    ];
    let places = order.map(|name| line.find(&format!("\"{name}\":")).expect(name));
    assert!(places.is_sorted(), "{line}");
    assert_eq!(places[0], 1);
}

#[test]
fn wrong_flags_are_2_and_help_is_0() {
    tool().arg("--nonsense").assert().code(2);
    tool().args(["--context-window", "0"]).assert().code(2);
    tool()
        .args(["--run-dir", "x", "--per-session"])
        .assert()
        .code(2);
    let many = fixture("session-logs");
    tool().args(["--run-dir", "x"]).arg(many).assert().code(2);
    let help = tool().arg("--help").output().expect("run");
    assert_eq!(help.status.code(), Some(0));
    let text = String::from_utf8(help.stdout).expect("UTF-8");
    assert!(
        text.contains("Exit status") && text.contains("Examples:"),
        "{text}"
    );
}

/// Whether the process takes SIGINT itself.
fn takes_interrupts(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let mask = line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 0b10 != 0)
}

#[test]
fn f3_a_second_interrupt_ends_it_with_what_is_known() {
    let mut child = tool()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("run");
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(good().as_bytes()).expect("written");
    until("it takes interrupts", || takes_interrupts(child.id()));
    // Its input stays open, so that nothing else can end it.
    child.signal_until_it_ends(Signal::INT).expect("ended");
    let output = child.wait_with_output().expect("ended");
    drop(stdin);
    assert_eq!(output.status.code(), Some(130));
    let (_, summary) = crate::tool::summary(&output);
    assert_eq!(summary["incomplete"], true);
}
