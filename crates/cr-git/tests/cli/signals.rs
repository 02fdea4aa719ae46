//! Signals to the tool itself.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

use cr_test::{Signal, World};

#[test]
fn f5_the_second_interrupt_ends_it_with_130() {
    let world = World::new();
    let mut child = world
        .tool("cr-git")
        .arg("end")
        .current_dir(world.dir())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    let mut stdin = child.stdin.take().expect("piped");
    let line = "{\"type\":\"user\"}\n";
    stdin.write_all(line.as_bytes()).expect("written");
    let mut out = BufReader::new(child.stdout.take().expect("piped"));
    let mut seen = String::new();
    // Once the line is there, the tool waits for the next one.
    out.read_line(&mut seen).expect("read");
    assert_eq!(seen, line);
    let status = child.signal_until_it_ends(Signal::INT).expect("ended");
    assert_eq!(status.code(), Some(130));
    let mut text = String::new();
    let mut stderr = child.stderr.take().expect("piped");
    stderr.read_to_string(&mut text).expect("read");
    assert_eq!(text, "cr-git: read the stream: interrupted\n");
}
