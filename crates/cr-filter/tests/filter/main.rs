//! `cr-filter` as a process, and its loop on bytes cut in every way.

#![allow(missing_docs, reason = "an integration test is a crate of its own")]

mod bytes;
mod commits;
mod formats;
mod manners;
mod memory;
mod recordings;
mod rows;
mod subagents;
mod tools;

use cr_test::Command;

/// The tool.
fn cr_filter(args: &[&str]) -> Command {
    let mut command = cr_test::tool("cr-filter");
    command.args(args);
    command
}

/// What the tool writes for `input`.
fn shown(args: &[&str], input: &str) -> String {
    let output = cr_filter(args)
        .write_stdin(input)
        .output()
        .expect("run cr-filter");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text is UTF-8")
}

/// An assistant line with one block.
fn assistant(block: &str) -> String {
    format!(
        r#"{{"type":"assistant","message":{{"id":"m","model":"claude-x","role":"assistant","content":[{block}]}},"parent_tool_use_id":null,"session_id":"s","timestamp":"2026-01-02T00:23:01.034Z"}}"#
    )
}

/// A call of a tool.
fn call(name: &str, input: &str) -> String {
    assistant(&format!(
        r#"{{"type":"tool_use","id":"t1","name":"{name}","input":{input}}}"#
    ))
}

/// The result of the call above.
fn result(content: &str, is_error: bool) -> String {
    format!(
        r#"{{"type":"user","message":{{"role":"user","content":[{{"tool_use_id":"t1","type":"tool_result","content":{content},"is_error":{is_error}}}]}},"parent_tool_use_id":null,"session_id":"s","timestamp":"2026-01-02T00:23:02.000Z"}}"#
    )
}

/// A JSON string.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a string is JSON")
}
