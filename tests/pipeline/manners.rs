//! Readers that leave, disks that are full.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use assert_cmd::assert::OutputAssertExt;
use cr_test::{Child, Signal, World, state, tool, until};
use predicates::prelude::*;

use crate::fixtures;

/// The tools that read a recording and write something about it.
const READERS: [&str; 3] = ["cr-filter", "cr-summarize", "cr-extract"];

/// A recording so long that it fills every buffer on the way.
fn long_recording(world: &World) -> PathBuf {
    let once = fs::read(fixtures::capture("02-tools")).expect("a recording");
    world.write("long.ndjson", once.repeat(200))
}

#[test]
fn a_reader_that_takes_one_line_ends_the_filter_quietly() {
    let world = World::new();
    for arguments in [&["-v"][..], &["--tee=/dev/null"], &["--format=json"]] {
        let mut filter = world.tool("cr-filter");
        let mut filter = filter
            .args(arguments)
            .arg(long_recording(&world))
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
    for name in READERS {
        let full = OpenOptions::new().write(true).open("/dev/full");
        let output = tool(name)
            .arg(fixtures::capture("14-schema"))
            .stdout(full.expect("/dev/full"))
            .output()
            .expect("run");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(74), "{name}: {said}");
        assert_eq!(said.lines().count(), 1, "{name}: {said}");
        assert!(said.starts_with(&format!("{name}: ")), "{said}");
    }
}

#[test]
fn a_file_that_is_not_there_is_66_and_named() {
    for name in READERS {
        tool(name)
            .arg("no-such-file")
            .assert()
            .code(66)
            .stderr(predicate::str::starts_with(format!(
                "{name}: no-such-file: "
            )));
    }
}

#[test]
fn a_wrong_flag_is_2() {
    for name in READERS {
        tool(name)
            .arg("--no-such-flag")
            .assert()
            .code(2)
            .stdout(predicate::str::is_empty());
    }
}

/// Waits until `child` has read all that `pipe` holds and waits for more.
fn has_read(child: &Child, pipe: impl AsFd) {
    let is_empty = || rustix::io::ioctl_fionread(&pipe).expect("a pipe") == 0;
    until("all is read", || {
        is_empty() && state(child.id()) == Some('S')
    });
}

/// Time for the stages after the agent, beyond its grace.
const STAGES: Duration = Duration::from_millis(4900);

#[test]
fn f5_a_filter_that_is_told_to_end_waits_as_long_as_the_agent_may() {
    let tools: [&[&str]; 4] = [
        &["cr-filter"],
        &["cr-filter", "--format=json"],
        &["cr-git", "end"],
        &["cr-summarize"],
    ];
    let mut running = Vec::new();
    for grace in [0, 4000] {
        for argv in tools {
            let mut child = tool(argv[0]);
            let mut child = child
                .args(&argv[1..])
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
            child.signal(Signal::TERM);
            running.push((argv, grace, Instant::now(), child, stdin));
        }
    }
    for (argv, grace, since, child, stdin) in running {
        // Its input stays open, so that it ends by its own clock.
        let output = child.wait_with_output().expect("ended");
        let took = since.elapsed();
        drop(stdin);
        let least = STAGES + Duration::from_millis(grace);
        assert!(took >= least, "{argv:?} {grace}: {took:?}");
        let out = String::from_utf8_lossy(&output.stdout);
        assert_eq!(
            out.contains(r#""incomplete":true"#),
            argv[0] == "cr-summarize",
            "{out}"
        );
    }
}

#[test]
fn a_longest_line_of_nothing_is_refused() {
    for name in ["cr-spawn", "cr-summarize", "cr-extract"] {
        for text in ["0", "-1", "much"] {
            tool(name)
                .args([format!("--max-line={text}")])
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
    for (argv, shown) in cases {
        let run = |others: &[&Path]| {
            tool(argv[0])
                .args(&argv[1..])
                .arg("-")
                .args(others)
                .stdin(fs::File::open(&capture).expect("a recording"))
                .output()
                .expect("run")
        };
        let out = |others: &[&Path]| String::from_utf8(run(others).stdout).expect("text");
        let both = out(&[&capture]);
        assert!(both.contains(shown), "{argv:?}: {both}");
        assert!(both.contains("14-schema.ndjson"), "{argv:?}: {both}");
        let alone = out(&[]);
        assert!(!alone.contains(shown), "{argv:?}: {alone}");
    }
}
