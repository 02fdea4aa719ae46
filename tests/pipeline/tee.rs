//! `cr-filter --tee | cr-summarize`, the way a shell joins them.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Output, Stdio};

use cr_test::World;

use crate::fixtures;

/// What `cr-summarize` makes of `input`, on its standard input.
fn summary(world: &World, input: impl Into<Stdio>) -> Output {
    let mut command = world.tool("cr-summarize");
    command.stdin(input).output().expect("run cr-summarize")
}

/// The same of the recording `path` behind `cr-filter --tee`.
fn behind_tee(world: &World, path: &Path) -> Output {
    let mut filter = world.tool("cr-filter");
    let mut filter = filter
        .args(["--tee=/dev/null"])
        .stdin(File::open(path).expect("a recording"))
        .stdout(Stdio::piped())
        .spawn()
        .expect("start cr-filter");
    let output = summary(world, filter.stdout.take().expect("piped"));
    assert!(filter.wait().expect("wait").success(), "{}", path.display());
    output
}

#[test]
fn the_tee_passes_every_byte_of_every_recording() {
    let world = World::new();
    for path in fixtures::all() {
        let mut filter = world.tool("cr-filter");
        let output = filter
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
        let mut filter = cr_test::tool("cr-filter");
        filter
            .args(arguments)
            .arg(fixtures::capture("02-tools"))
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
    let world = World::new();
    for path in fixtures::all() {
        let alone = summary(&world, File::open(&path).expect("a recording"));
        let behind = behind_tee(&world, &path);
        assert_eq!(alone.status.code(), behind.status.code(), "{path:?}");
        assert_eq!(
            String::from_utf8_lossy(&alone.stdout),
            String::from_utf8_lossy(&behind.stdout),
            "{path:?}"
        );
    }
}
