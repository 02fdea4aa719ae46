//! `cr-dev bounded`, which runs the suite.

#![allow(missing_docs, reason = "an integration test is a crate of its own")]

use std::process::Stdio;

use cr_test::{Command, Signal, World, appears};

fn bounded(world: &World, deadline: &str, script: &str) -> Command {
    let mut command = world.tool("cr-dev");
    command.args(["bounded", "--deadline", deadline, "--", "sh", "-c", script]);
    command.env("AT", world.dir());
    command
}

#[test]
fn the_code_is_that_of_the_command() {
    let world = World::new();
    for (script, code) in [("exit 0", 0), ("exit 7", 7), ("kill -KILL $$", 137)] {
        bounded(&world, "60", script).assert().code(code);
    }
}

#[test]
fn signals_are_default_whatever_the_caller_ignores() {
    let world = World::new();
    let mut shell = world.shell(r#"trap '' HUP INT QUIT; exec "$@""#);
    let inner = "trap 'exit 42' INT; kill -INT $$; sleep 1; exit 1";
    shell.arg("sh").arg(cr_test::bin("cr-dev"));
    shell.args(["bounded", "--deadline", "60", "--", "sh", "-c", inner]);
    shell.assert().code(42);
}

#[test]
fn at_the_deadline_the_tests_that_ran_are_named_and_nobody_is_left() {
    let world = World::new();
    let script = "echo suite the_test >\"$CR_TEST_RUNNING/1\"; setsid sleep 600 & sleep 600";
    let run = bounded(&world, "1", script).assert().code(124);
    run.stderr("cr-dev: not over after 1 s\ncr-dev: was running: suite the_test\n");
    world.assert_nobody_left("the deadline");
}

#[test]
fn a_signal_and_a_command_that_ends_leave_nobody() {
    let world = World::new();
    let hang = "setsid sleep 600 >/dev/null 2>&1 & touch \"$AT/up\"; ";
    let run = bounded(&world, "60", &format!("{hang} exit 3"))
        .assert()
        .code(3);
    let text = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(text.contains("left behind, killed: "), "{text}");
    world.assert_nobody_left("an end");
    std::fs::remove_file(world.path("up")).expect("removed");
    let mut command = bounded(&world, "60", &format!("{hang} sleep 600"));
    let mut child = command.stderr(Stdio::null()).spawn().expect("started");
    appears(&world.path("up"));
    child.signal(Signal::TERM);
    assert_eq!(child.wait().expect("ended").code(), Some(143));
    world.assert_nobody_left("a signal");
}
