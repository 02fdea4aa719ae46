//! Signals to the tool itself.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

use cr_test::{Signal, World};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

#[test]
fn f5_the_second_interrupt_ends_it_with_130() {
    let world = World::new();
    let mut child = world
        .tool("cr-git")
        .arg("end")
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

#[test]
fn g4_in_the_foreground_of_a_terminal_a_signal_by_kill_reaches_the_command() {
    let world = World::new();
    let status = world.command("git").args(["init", "-q"]).status();
    assert!(status.expect("git runs").success());
    for (signal, code) in [(Signal::INT, 42), (Signal::QUIT, 44)] {
        // The terminal exists as long as somebody has this side of it open.
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&terminal).expect("granted");
        unlockpt(&terminal).expect("unlocked");
        let name = ptsname(&terminal, Vec::new()).expect("its name");
        let other = File::options()
            .read(true)
            .write(true)
            .open(name.to_str().expect("text"))
            .expect("opened");
        let script = "trap 'exit 42' INT; trap 'exit 44' QUIT; echo ready; \
                      while :; do sleep 0.01; done";
        let mut child = world
            .command("setsid")
            .arg("--ctty")
            .arg(cr_test::bin("cr-git"))
            .args(["lock", "--", "sh", "-c", script])
            .stdin(other)
            .stdout(Stdio::piped())
            .spawn()
            .expect("started");
        let mut out = BufReader::new(child.stdout.take().expect("piped"));
        let mut line = String::new();
        out.read_line(&mut line).expect("read");
        assert_eq!(line, "ready\n");
        child.signal(signal);
        assert_eq!(child.wait().expect("ended").code(), Some(code));
    }
}
