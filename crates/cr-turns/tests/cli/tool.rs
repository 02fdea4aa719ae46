//! How the tests call the tool.

use std::process::Output;

use cr_test::Command;
use serde_json::Value;

/// The tool.
pub(crate) fn tool(args: &[&str]) -> Command {
    let mut command = cr_test::tool("cr-turns");
    command.args(args);
    command
}

/// Runs the tool on `input`.
pub(crate) fn run(args: &[&str], input: impl Into<Vec<u8>>) -> Output {
    tool(args).write_stdin(input).output().expect("run")
}

/// What it prints for `input`.
pub(crate) fn written(args: &[&str], input: impl Into<Vec<u8>>) -> String {
    let output = run(args, input);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The turns and the reason that it gives the only task of `input`.
pub(crate) fn turns(args: &[&str], input: &str) -> (u64, String) {
    let text = written(args, input);
    let task: Value = serde_json::from_str(&text).expect("one object");
    let turns = task["max_turns"].as_u64().expect("a number");
    (
        turns,
        task["max_turns_reason"].as_str().expect("text").to_owned(),
    )
}

/// What it says on standard error.
pub(crate) fn said(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}
