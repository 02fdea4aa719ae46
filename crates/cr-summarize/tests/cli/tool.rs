//! How the tests call the tool.

use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

/// The tool, with nothing of the environment that changes its words.
pub(crate) fn tool() -> Command {
    let mut command = Command::cargo_bin("cr-summarize").expect("built");
    command
        .env_clear()
        .env("TZ", "UTC")
        .env("PATH", "/usr/bin:/bin");
    command
}

/// A recording, or a folder of them.
pub(crate) fn fixture(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join("../../tests/fixtures").join(name)
}

/// The files in a folder of recordings.
pub(crate) fn files(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(fixture(folder)).expect("a folder");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    files
}

/// The code, and the one object on standard output.
pub(crate) fn summary(output: &Output) -> (i32, Value) {
    let text = std::str::from_utf8(&output.stdout).expect("UTF-8");
    assert!(text.ends_with('\n') && text.lines().count() == 1, "{text}");
    let value = serde_json::from_str(text).expect("one object");
    (output.status.code().expect("a code"), value)
}

/// Summarises a file.
pub(crate) fn of_file(path: &Path) -> (i32, Value) {
    summary(&tool().arg(path).output().expect("run"))
}

/// Summarises bytes on standard input.
pub(crate) fn of_bytes(bytes: impl Into<Vec<u8>>) -> (i32, Value) {
    summary(&tool().write_stdin(bytes).output().expect("run"))
}
