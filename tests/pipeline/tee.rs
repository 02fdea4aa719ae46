//! `cr-filter --tee | cr-summarize`, the way a shell joins them.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::bins::bin;
use crate::fixtures;

/// What `cr-summarize` makes of `input`, on its standard input.
fn summary(input: impl Into<Stdio>) -> Output {
    Command::new(bin("cr-summarize"))
        .stdin(input)
        .output()
        .expect("run cr-summarize")
}

/// The same of the recording `path` behind `cr-filter --tee`.
fn behind_tee(path: &Path) -> Output {
    let mut filter = Command::new(bin("cr-filter"))
        .args(["--tee=/dev/null"])
        .stdin(File::open(path).expect("a recording"))
        .stdout(Stdio::piped())
        .spawn()
        .expect("start cr-filter");
    let output = summary(filter.stdout.take().expect("piped"));
    assert!(filter.wait().expect("wait").success(), "{}", path.display());
    output
}

#[test]
fn the_tee_passes_every_byte_of_every_recording() {
    for path in fixtures::all() {
        let output = Command::new(bin("cr-filter"))
            .arg("--tee=/dev/null")
            .arg(&path)
            .output()
            .expect("run cr-filter");
        assert!(output.status.success(), "{path:?}");
        let bytes = fs::read(&path).expect("a recording");
        assert!(output.stdout == bytes, "{path:?}: the bytes differ");
    }
}

#[test]
fn the_text_of_a_tee_is_the_text_without_it() {
    let text = |arguments: &[&str]| {
        Command::new(bin("cr-filter"))
            .args(arguments)
            .arg(fixtures::capture("02-tools"))
            .env("TZ", "UTC")
            .output()
            .expect("run cr-filter")
    };
    assert_eq!(
        String::from_utf8_lossy(&text(&["--tee"]).stderr),
        String::from_utf8_lossy(&text(&[]).stdout),
    );
}

#[test]
fn every_recording_has_the_same_summary_behind_a_tee() {
    for path in fixtures::all() {
        let alone = summary(File::open(&path).expect("a recording"));
        let behind = behind_tee(&path);
        assert_eq!(alone.status.code(), behind.status.code(), "{path:?}");
        assert_eq!(
            String::from_utf8_lossy(&alone.stdout),
            String::from_utf8_lossy(&behind.stdout),
            "{path:?}"
        );
    }
}
