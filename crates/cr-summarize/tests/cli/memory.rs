//! Memory has a bound, whatever comes.

use std::io::Write;
use std::process::{Command, Stdio};

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
    let tool = assert_cmd::cargo::cargo_bin!("cr-summarize").display();
    for line in lines {
        let mut child = Command::new("sh")
            .args(["-c", &format!("ulimit -v {MOST}; exec {tool}")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("run");
        let mut stdin = child.stdin.take().expect("piped");
        stdin.write_all(line.as_bytes()).expect("read to the end");
        drop(stdin);
        let output = child.wait_with_output().expect("ended");
        assert!(!output.stdout.is_empty(), "{}", &line[..60]);
    }
}
