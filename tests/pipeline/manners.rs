//! Readers that leave, disks that are full.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

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
