//! Turns from the past of the ledger.

use cr_test::World;
use serde_json::{Value, json};

/// Records `count` finished tasks, of 1, 2, 3, … turns.
fn record(world: &World, kind: &str, count: u64) {
    let summaries = (1..=count).map(|turns| {
        json!({"schema": 1, "run_id": format!("{kind}-{turns}"), "session_id": "s", "code": 0,
            "outcome": "success", "cwd": world.dir(), "num_turns": turns})
    });
    for (number, summary) in summaries.enumerate() {
        let mut command = world.tool("cr-ledger");
        let task = format!("{kind}/task-{number}");
        command.args(["record", "--task", &task, "--task-type", kind]);
        let output = command.write_stdin(format!("{summary}\n")).output();
        assert!(output.expect("run").status.success());
    }
}

fn estimate(world: &World, args: &[&str]) -> (u64, String) {
    let mut command = world.tool("cr-turns");
    command.current_dir(world.dir()).args(args);
    let output = command.output().expect("run");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let estimate: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let reason = estimate["max_turns_reason"].as_str().expect("text");
    let turns = estimate["max_turns"].as_u64().expect("a number");
    (turns, reason.to_owned())
}

#[test]
fn twenty_finished_tasks_of_the_same_type_and_project_give_their_p90() {
    let world = World::new();
    record(&world, "Debugging", 20);
    record(&world, "testing", 19);
    let (turns, reason) = estimate(&world, &["--history", "--type", "debugging"]);
    assert_eq!(turns, 18);
    assert!(reason.contains("90% of 20 finished tasks"), "{reason}");
    // Too few, another project, no type, and without the option.
    let (turns, reason) = estimate(&world, &["--history", "--type", "testing"]);
    assert_eq!(turns, 8);
    assert!(
        reason.contains("19 finished tasks, at least 20 needed"),
        "{reason}"
    );
    let elsewhere = ["--history", "--type", "debugging", "--project", "/"];
    let (turns, reason) = estimate(&world, &elsewhere);
    assert_eq!(turns, 20);
    assert!(reason.contains("0 finished tasks"), "{reason}");
    let (turns, reason) = estimate(&world, &["--history", "--title", "Fix typo"]);
    assert_eq!(turns, 3);
    assert!(reason.contains("the task has no type"), "{reason}");
    let (turns, reason) = estimate(&world, &["--type", "debugging"]);
    assert_eq!((turns, reason.contains("history")), (20, false), "{reason}");
}

#[test]
fn without_a_ledger_the_fields_decide_and_the_reason_says_so() {
    let world = World::new();
    let (turns, reason) = estimate(&world, &["--history", "--type", "debugging"]);
    assert_eq!(turns, 20);
    assert!(reason.contains("there is no ledger yet"), "{reason}");
}
