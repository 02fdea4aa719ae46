//! What the harness promises to every test.

#![allow(missing_docs, reason = "an integration test is a crate of its own")]

use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Stdio;
use std::time::Duration;

use cr_test::{Command, Fifo, Signal, World, until};

/// The message of the panic of `action`.
fn panic_of(action: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(action)).expect_err("it fails");
    panic.downcast_ref::<String>().expect("a message").clone()
}

#[test]
#[ignore = "run by the next test, in a process that ignores signals"]
fn the_signals_of_a_child() {
    let output = Command::new("grep")
        .args(["-E", "SigIgn|SigBlk", "/proc/self/status"])
        .output();
    let text = String::from_utf8(output.expect("run").stdout).expect("text");
    let masks = text.lines().filter_map(|line| line.split('\t').nth(1));
    let masks: Vec<u64> = masks
        .map(|mask| u64::from_str_radix(mask, 16).expect("a mask"))
        .collect();
    // Those from 32 on are the C library's.
    let masks: Vec<u64> = masks.iter().map(|mask| mask & 0x7fff_ffff).collect();
    assert_eq!(masks, [0, 0], "{text}");
}

#[test]
fn a_child_starts_with_default_signals_whatever_is_ignored_here() {
    let mut shell = World::new().shell(r#"trap '' HUP INT QUIT TERM; exec "$@""#);
    let program = std::env::current_exe().expect("a path");
    shell.arg("sh").arg(program);
    shell.args(["--exact", "--ignored", "the_signals_of_a_child"]);
    let output = shell.output().expect("run");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("1 passed"), "{text}");
}

#[test]
fn a_wait_that_passes_its_limit_kills_the_tree_and_shows_the_output() {
    let world = World::new();
    let mut command = world.shell("echo words; setsid sleep 600 & sleep 600");
    command.timeout(Duration::from_millis(500));
    let message = panic_of(|| drop(command.output()));
    for part in ["sh -c echo words", "500ms", "alive: ", "words\n"] {
        assert!(message.contains(part), "{message}");
    }
    world.assert_nobody_left("a wait in vain");
}

#[test]
fn a_read_in_vain_and_an_end_that_never_comes_fail_too() {
    let start = || {
        let mut command = Command::new("cat");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.timeout(Duration::from_millis(200));
        command.spawn().expect("started")
    };
    let mut child = start();
    let mut out = child.stdout.take().expect("piped");
    let message = panic_of(|| drop(out.read(&mut [0])));
    assert!(message.contains("writes nothing"), "{message}");
    // Standard input stays open.
    let message = panic_of(|| drop(start().wait()));
    assert!(message.contains("does not end"), "{message}");
    let mut child = World::new().shell("trap '' INT; exec sleep 600");
    child.timeout(Duration::from_millis(200));
    let mut child = child.spawn().expect("started");
    let message = panic_of(|| drop(child.signal_until_it_ends(Signal::INT)));
    assert!(message.contains("does not end by signals"), "{message}");
}

#[test]
fn a_process_that_outlives_a_test_fails_it() {
    let world = World::new();
    let mut command = world.shell("setsid -f sleep 600 >/dev/null 2>&1");
    assert!(command.status().expect("run").success());
    // While a process starts a program, its environment cannot be read.
    until("it runs", || world.processes().len() == 1);
    let pid = world.processes().first().expect("one process").pid;
    drop(command);
    let message = panic_of(|| drop(world));
    assert!(message.contains("sleep"), "{message}");
    until("it is killed", || !cr_test::is_alive(pid));
}

#[test]
fn nothing_of_the_callers_environment_is_there() {
    let output = Command::new("env").output().expect("run");
    let text = String::from_utf8(output.stdout).expect("text");
    let value = |name: &str| {
        let mut values = text.lines().filter_map(|line| line.strip_prefix(name));
        values.next()?.strip_prefix('=').map(str::to_owned)
    };
    assert_ne!(value("HOME"), std::env::var("HOME").ok());
    assert_eq!(value("LC_ALL").as_deref(), Some("C"));
    assert_eq!(value("TZ").as_deref(), Some("UTC"));
    assert_eq!(value("CR_BIN_DIR"), None);
    assert_eq!(value("CARGO_MANIFEST_DIR"), None);
}

#[test]
fn a_named_pipe_waits_for_nobody_for_ever() {
    let world = World::new();
    let pipe = Fifo::new(world.path("pipe"));
    let mut cat = world.command("cat");
    let mut cat = cat.arg(pipe.path()).spawn().expect("started");
    drop(pipe.writer());
    assert!(cat.wait().expect("ended").success());
    let mut echo = world.shell(r#"echo words >"$0""#);
    let mut echo = echo.arg(pipe.path()).spawn().expect("started");
    assert_eq!(pipe.read(), b"words\n");
    assert!(echo.wait().expect("ended").success());
}
