//! How the tests call the tool.

use std::path::{Path, PathBuf};
use std::process::Output;

use cr_test::Command;
pub(crate) use cr_test::fixture;
use serde_json::Value;

/// The tool.
pub(crate) fn tool() -> Command {
    cr_test::tool("cr-summarize")
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

/// Checks that the fates of the lines add up; returns their number.
pub(crate) fn lines(summary: &Value) -> u64 {
    let counts = summary["counts"].as_object().expect("counts");
    let fates = counts.iter().filter(|(name, _)| *name != "lines");
    let sum: u64 = fates
        .map(|(_, count)| count.as_u64().expect("a count"))
        .sum();
    assert_eq!(counts["lines"], sum, "{counts:?}");
    sum
}

/// A stream of one good turn: a banner, an answer, a result.
pub(crate) fn good() -> String {
    [
        r#"{"type":"system","subtype":"init","session_id":"80f8ae6e-b027-4253-8e9c-1ffd717366a1","cwd":"/w","model":"m"}"#,
        r#"{"type":"assistant","message":{"id":"a","model":"m","content":[{"type":"text","text":"hi"}],"usage":{"input_tokens":7,"output_tokens":1}},"session_id":"80f8ae6e-b027-4253-8e9c-1ffd717366a1"}"#,
        r#"{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"hi","session_id":"80f8ae6e-b027-4253-8e9c-1ffd717366a1","total_cost_usd":0.5}"#,
    ]
    .join("\n")
        + "\n"
}
