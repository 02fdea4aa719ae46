//! Memory is bounded for every input.

use cr_test::{Command, bin};
use serde_json::json;

/// Address space that the tool may take, in kilobytes: the bound on memory, and
/// room for what is only reserved.
const MOST: u32 = 180_000;

#[test]
fn a5_lines_of_many_small_parts_take_no_more_than_their_bytes() {
    let objects = r#"{"a":1},"#.repeat(3 << 20);
    let strings = r#""a","#.repeat(1 << 20);
    let lines = [
        format!(r#"{{"type":"assistant","message":{{"content":[{objects}{{}}]}}}}"#),
        format!(r#"{{"type":"result","errors":[{strings}""],"structured_output":[{strings}1]}}"#),
        format!("[{objects}{{}}]"),
        format!("{{\"type\":\"user\",\"x\":\"{}\"}}", "y".repeat(80 << 20)),
    ];
    let tool = bin("cr-summarize");
    let tool = tool.display();
    for line in lines {
        let limited = format!("ulimit -v {MOST}; exec {tool}");
        let begin = line[..60].to_owned();
        let mut shell = Command::new("sh");
        let output = shell.args(["-c", &limited]).write_stdin(line).output();
        assert!(!output.expect("run").stdout.is_empty(), "{begin}");
    }
}

#[test]
fn a5_many_sessions_take_no_more_than_those_that_are_kept() {
    let line = |id| {
        json!({"type": "result", "subtype": "success", "session_id": format!("s{id}")}).to_string()
    };
    let lines: Vec<_> = (0..60_000).map(line).collect();
    let tool = bin("cr-summarize");
    let limited = format!("ulimit -v {MOST}; exec {} --per-session", tool.display());
    let mut shell = Command::new("sh");
    shell.args(["-c", &limited]).write_stdin(lines.join("\n"));
    let output = shell.output().expect("run");
    let printed = String::from_utf8_lossy(&output.stdout).lines().count();
    assert_eq!((printed, output.status.code()), (60_000, Some(0)));
}
