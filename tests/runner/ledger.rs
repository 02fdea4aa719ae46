//! A run is recorded in the ledger, and the ledger never disturbs a run.

use std::fs;

use serde_json::{Value, json};

use crate::case::{Case, INIT, RESULT, SESSION};

/// The rows of a query.
fn sql(case: &Case, query: &str) -> Vec<Value> {
    let mut command = case.command(cr_test::bin("cr-ledger"));
    let output = command.args(["sql", query]).output().expect("run");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("text");
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

#[test]
fn every_run_is_in_the_ledger_with_its_cost_unless_told_otherwise() {
    let case = Case::new(&[INIT, RESULT].concat());
    let done = case.run(&["go"]);
    assert_eq!(done.code(), Some(0), "{done:?}");
    for args in [&["go", "--no-ledger"][..], &["go", "--no-record"]] {
        assert_eq!(case.run(args).code(), Some(0));
    }
    let rows = sql(
        &case,
        "SELECT run_id, session_id, outcome, cost_usd FROM runs",
    );
    let run = &done.summary()["run_id"];
    let row = json!({"run_id": run, "session_id": SESSION, "outcome": "success",
        "cost_usd": 0.01});
    assert_eq!(rows, [row]);
}

#[test]
fn a_run_with_retries_is_in_the_ledger_once_with_the_cost_of_all() {
    let fail = "[ -e \"$HOME/again\" ] || { touch \"$HOME/again\"; echo '{\"type\":\"result\",\
        \"subtype\":\"error_during_execution\",\"is_error\":true,\"result\":\"x\",\
        \"session_id\":\"80f8ae6e-b027-4253-8e9c-1ffd717366a1\",\"num_turns\":1,\
        \"total_cost_usd\":0.02,\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}'; exit 1; }\n";
    let case = Case::new(&[INIT, fail, RESULT].concat());
    let done = case.run(&["go", "--retry", "1"]);
    assert_eq!(done.code(), Some(0), "{done:?}");
    let rows = sql(
        &case,
        "SELECT count(*) AS n, sum(cost_usd) AS usd FROM runs",
    );
    let usd = &done.summary()["cost_usd"];
    assert_eq!(rows, [json!({"n": 1, "usd": usd})]);
}

#[test]
fn a_ledger_that_cannot_be_written_is_said_in_the_summary_and_changes_nothing_else() {
    let case = Case::new(&[INIT, RESULT].concat()).env("CR_LEDGER", "/proc/ledger.db");
    let done = case.run(&["go", "--run-dir", "kept"]);
    assert_eq!(done.code(), Some(0), "{done:?}");
    let kept = fs::read_to_string(case.path("repo/kept/summary.json")).expect("a summary");
    let kept: Value = serde_json::from_str(&kept).expect("JSON");
    let why = kept["ledger_error"].as_str().expect("the reason");
    assert!(why.contains("/proc/ledger.db"), "{why}");
    assert_eq!(kept["outcome"], "success");
    assert_eq!(kept["run_id"], done.summary()["run_id"]);
}

#[test]
fn the_tasks_of_a_plan_are_in_the_ledger_with_their_kind() {
    let case = Case::new(&[INIT, RESULT].concat());
    case.world.write(
        "plan.yaml",
        "tasks:\n- {id: a, prompt: go, task_type: debugging}\n- {id: b, prompt: go}\n",
    );
    let mut command = case.command(cr_test::bin("cr-orchestrate"));
    let status = command.arg(case.path("plan.yaml")).status().expect("run");
    assert_eq!(status.code(), Some(0));
    // The name has the run of the plan before it.
    let name = "substr(task_id, instr(task_id, '/'))";
    let query = format!("SELECT {name} AS id, task_type, done FROM tasks ORDER BY 1");
    let rows = sql(&case, &query);
    let first = json!({"id": "/a", "task_type": "debugging", "done": 1});
    let second = json!({"id": "/b", "task_type": null, "done": 1});
    assert_eq!(rows, [first, second]);
}

#[test]
fn a_plan_starts_no_task_when_a_budget_is_used_up() {
    let case = Case::new(&[INIT, RESULT].concat());
    assert_eq!(case.run(&["go"]).code(), Some(0));
    fs::remove_file(case.path("home/got")).expect("the agent was asked");
    let ledger = |args: &[&str]| {
        let mut command = case.command(cr_test::bin("cr-ledger"));
        command.args(args).output().expect("run").status.code()
    };
    case.world
        .write("plan.yaml", "tasks:\n- {id: a, prompt: go}\n");
    let plan = || {
        let mut command = case.command(cr_test::bin("cr-orchestrate"));
        command.arg(case.path("plan.yaml")).output().expect("run")
    };
    // The run before has cost 0.01.
    let limit = ["budget", "set", "--per", "day", "--usd", "0.01"];
    assert_eq!(ledger(&limit), Some(0));
    assert_eq!(ledger(&["budget", "check"]), Some(3));
    let stopped = plan();
    assert_eq!(stopped.status.code(), Some(3), "{stopped:?}");
    let said = String::from_utf8_lossy(&stopped.stderr);
    assert!(
        said.contains("the budget of the day is used up: $0.01 of $0.01"),
        "{said}"
    );
    assert!(!case.path("home/got").exists(), "no agent was started");
    assert_eq!(ledger(&["budget", "remove", "--per", "day"]), Some(0));
    assert_eq!(ledger(&["budget", "check"]), Some(0));
    assert_eq!(plan().status.code(), Some(0));
}
