//! How the tests call the tool.

use std::process::Output;

use cr_event::Raw;
use cr_test::Command;
pub(crate) use cr_test::fixture;

/// The tool.
pub(crate) fn tool(args: &[&str]) -> Command {
    let mut command = cr_test::tool("cr-extract");
    command.args(args);
    command
}

/// Runs the tool on `input`.
pub(crate) fn run(args: &[&str], input: impl Into<Vec<u8>>) -> Output {
    tool(args).write_stdin(input).output().expect("run")
}

/// What it prints for `input`, without the last newline; `None` if it says
/// that there is no answer, and prints nothing.
pub(crate) fn extracted(args: &[&str], input: impl Into<Vec<u8>>) -> Option<String> {
    let output = run(args, input);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    match output.status.code() {
        Some(0) => Some(text.strip_suffix('\n').expect("a whole line").to_owned()),
        Some(1) => {
            assert_eq!(text, "");
            assert!(output.stderr.starts_with(b"cr-extract: "));
            None
        }
        code => panic!("{code:?}: {}", String::from_utf8_lossy(&output.stderr)),
    }
}

/// The JSON that cr-summarize finds in `stream`.
pub(crate) fn summarized(stream: &str) -> Option<String> {
    let mut command = cr_test::tool("cr-summarize");
    command.args(["--full", "--no-redact"]).write_stdin(stream);
    let text = command.output().expect("run").stdout;
    let line = Raw::of(&text).expect("a summary");
    let field = |name| {
        let raw = line.get(name)?;
        (!raw.is_null()).then(|| String::from_utf8(raw.bytes().to_vec()).expect("UTF-8"))
    };
    field("structured_output").or_else(|| field("json"))
}

/// What it says on standard error.
pub(crate) fn said(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

/// A JSON string.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a string is JSON")
}

/// A good result with this text.
pub(crate) fn result(text: &str) -> String {
    format!(
        "{{\"duration_ms\":5,\"subtype\":\"success\",\"type\":\"result\",\"is_error\":false,\"num_turns\":1,\"result\":{}}}\n",
        quoted(text)
    )
}

/// A message of the main thread with this text.
pub(crate) fn message(id: &str, text: &str) -> String {
    format!(
        "{{\"type\":\"assistant\",\"message\":{{\"id\":\"{id}\",\"content\":[{{\"type\":\"text\",\"text\":{}}}]}}}}\n",
        quoted(text)
    )
}
