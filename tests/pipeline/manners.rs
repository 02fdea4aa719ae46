//! Readers that leave, disks that are full.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use assert_cmd::assert::OutputAssertExt;
use predicates::prelude::*;

use crate::bins::bin;
use crate::fixtures;

/// The tools that read a recording and write something about it.
const READERS: [&str; 3] = ["cr-filter", "cr-summarize", "cr-extract"];

/// A recording so long that it fills every buffer on the way.
fn long_recording(dir: &tempfile::TempDir) -> PathBuf {
    let path = dir.path().join("long.ndjson");
    let once = fs::read(fixtures::capture("02-tools")).expect("a recording");
    fs::write(&path, once.repeat(200)).expect("written");
    path
}

#[test]
fn a_reader_that_takes_one_line_ends_the_filter_quietly() {
    let dir = tempfile::tempdir().expect("a directory");
    for arguments in [&["-v"][..], &["--tee=/dev/null"], &["--format=json"]] {
        let mut filter = Command::new(bin("cr-filter"))
            .args(arguments)
            .arg(long_recording(&dir))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("started");
        let mut line = String::new();
        let mut out = BufReader::new(filter.stdout.take().expect("piped"));
        out.read_line(&mut line).expect("a line");
        drop(out);
        let ended = filter.wait_with_output().expect("ended");
        ended.assert().success().stderr(predicate::str::is_empty());
        assert!(line.ends_with('\n'), "{arguments:?}: {line}");
    }
}

#[test]
fn a_full_disk_is_74_and_one_message() {
    for tool in READERS {
        let full = OpenOptions::new().write(true).open("/dev/full");
        let output = Command::new(bin(tool))
            .arg(fixtures::capture("14-schema"))
            .stdout(full.expect("/dev/full"))
            .output()
            .expect("run");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(74), "{tool}: {said}");
        assert_eq!(said.lines().count(), 1, "{tool}: {said}");
        assert!(said.starts_with(&format!("{tool}: ")), "{said}");
    }
}

#[test]
fn a_file_that_is_not_there_is_66_and_named() {
    for tool in READERS {
        Command::new(bin(tool))
            .arg("no-such-file")
            .assert()
            .code(66)
            .stderr(predicate::str::starts_with(format!(
                "{tool}: no-such-file: "
            )));
    }
}

#[test]
fn a_wrong_flag_is_2() {
    for tool in READERS {
        Command::new(bin(tool))
            .arg("--no-such-flag")
            .assert()
            .code(2)
            .stdout(predicate::str::is_empty());
    }
}

/// Waits until `child` has read all that `pipe` holds and waits for more.
fn has_read(child: &std::process::Child, pipe: impl AsFd) {
    let stat = format!("/proc/{}/stat", child.id());
    let is_waiting = || {
        let stat = fs::read_to_string(&stat).unwrap_or_default();
        stat.rsplit(") ")
            .next()
            .is_some_and(|rest| rest.starts_with('S'))
    };
    let is_empty = || rustix::io::ioctl_fionread(&pipe).expect("a pipe") == 0;
    while !(is_empty() && is_waiting()) {
        std::thread::yield_now();
    }
}

#[test]
fn f5_a_filter_that_is_told_to_end_waits_as_long_as_the_agent_may() {
    // (milliseconds of grace, at least, at most)
    let graces = [(0, 4.9, 9.0), (4000, 8.9, 14.0)];
    let tools: [&[&str]; 4] = [
        &["cr-filter"],
        &["cr-filter", "--format=json"],
        &["cr-git", "end"],
        &["cr-summarize"],
    ];
    let mut running = Vec::new();
    for (grace, least, most) in graces {
        for tool in tools {
            let mut child = Command::new(bin(tool[0]))
                .args(&tool[1..])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("started");
            let mut stdin = child.stdin.take().expect("piped");
            let line = format!(
                r#"{{"type":"cr","subtype":"start","schema":1,"run_id":"r","limits":{{"grace_ms":{grace}}}}}"#
            );
            writeln!(stdin, "{line}").expect("written");
            has_read(&child, &stdin);
            let pid = rustix::process::Pid::from_child(&child);
            rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("sent");
            running.push((tool, grace, least..most, Instant::now(), child, stdin));
        }
    }
    for (tool, grace, range, since, child, stdin) in running {
        let output = child.wait_with_output().expect("ended");
        let took = since.elapsed().as_secs_f64();
        drop(stdin);
        assert!(range.contains(&took), "{tool:?} {grace}: {took}");
        let out = String::from_utf8_lossy(&output.stdout);
        assert_eq!(
            out.contains(r#""incomplete":true"#),
            tool[0] == "cr-summarize",
            "{out}"
        );
    }
}

#[test]
fn a_longest_line_of_nothing_is_refused() {
    for tool in ["cr-spawn", "cr-summarize", "cr-extract"] {
        for text in ["0", "-1", "much"] {
            Command::new(bin(tool))
                .args([format!("--max-line={text}")])
                .stdin(Stdio::null())
                .assert()
                .code(2)
                .stderr(predicate::str::contains("at least 1"));
        }
    }
}

#[test]
fn standard_input_among_others_is_called_by_its_name() {
    let capture = fixtures::capture("14-schema");
    let cases: [(&[&str], &str); 4] = [
        (&["cr-filter"], "==> - <=="),
        (&["cr-filter", "--format=json"], r#""file":"-""#),
        (&["cr-summarize"], r#""file":"-""#),
        (&["cr-extract"], r#""file":"-""#),
    ];
    for (tool, shown) in cases {
        let run = |others: &[&Path]| {
            Command::new(bin(tool[0]))
                .args(&tool[1..])
                .arg("-")
                .args(others)
                .stdin(fs::File::open(&capture).expect("a recording"))
                .output()
                .expect("run")
        };
        let out = |others: &[&Path]| String::from_utf8(run(others).stdout).expect("text");
        let both = out(&[&capture]);
        assert!(both.contains(shown), "{tool:?}: {both}");
        assert!(both.contains("14-schema.ndjson"), "{tool:?}: {both}");
        let alone = out(&[]);
        assert!(!alone.contains(shown), "{tool:?}: {alone}");
    }
}
