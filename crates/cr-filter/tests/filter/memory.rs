//! Memory has a bound, whatever comes.

use std::io::Write;
use std::process::{Command, Stdio};

use assert_cmd::cargo::cargo_bin;

/// Address space that the tool may take, in kilobytes: the bound on memory, and
/// room for what is only reserved.
const MOST: u32 = 180_000;

#[test]
fn a5_a_line_takes_no_more_than_its_bytes() {
    let objects = r#"{"a":1},"#.repeat(3 << 20);
    let long = "y".repeat(80 << 20);
    let lines = [
        ("", format!("[{objects}{{}}]\n")),
        ("--format json", format!("[{objects}{{}}]\n")),
        ("--tee", format!(r#"{{"type":"assistant","x":"{long}"}}"#)),
    ];
    let tool = cargo_bin!("cr-filter").display();
    for (args, line) in lines {
        let mut child = Command::new("sh")
            .args(["-c", &format!("ulimit -v {MOST}; exec {tool} {args}")])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("start cr-filter");
        let mut stdin = child.stdin.take().expect("piped");
        stdin.write_all(line.as_bytes()).expect("read to the end");
        drop(stdin);
        assert!(child.wait().expect("ended").success(), "{args}");
    }
}
