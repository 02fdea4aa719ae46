//! Memory is bounded for every input.

use cr_test::{Command, bin};

/// Address space that the tool may take, in kilobytes: the bound on memory, and
/// room for what is only reserved.
const MOST: u32 = 180_000;

#[test]
fn a5_a_line_takes_no_more_than_its_bytes() {
    let objects = r#"{"a":1},"#.repeat(3 << 20);
    let long = "y".repeat(80 << 20);
    let lines = [
        ("", format!("[{objects}{{}}]\n"), 65),
        ("--format json", format!("[{objects}{{}}]\n"), 65),
        (
            "--tee",
            format!(r#"{{"type":"assistant","x":"{long}"}}"#),
            0,
        ),
    ];
    let tool = bin("cr-filter");
    let tool = tool.display();
    for (args, line, code) in lines {
        let limited = format!("ulimit -v {MOST}; exec {tool} {args} >/dev/null");
        let mut shell = Command::new("sh");
        let status = shell.args(["-c", &limited]).write_stdin(line).status();
        // Without memory it would be killed.
        assert_eq!(status.expect("run cr-filter").code(), Some(code), "{args}");
    }
}
