//! The schedule that a dry run prints.

use serde_json::{Value, json};

use crate::case::Case;

/// A plan in which tasks wait for every reason there is.
fn plan() -> Case {
    let case = Case::new();
    case.plan(&[
        ("schema", "estimated_duration: 20m, budget_usd: 2, files: src/db/"),
        ("docs", "estimated_duration: 5m, budget_usd: 0.5"),
        ("api", "estimated_duration: 30m, budget_usd: 2, depends_on: schema, files: [src/api/**, src/lib.rs]"),
        ("ui", "estimated_duration: 10m, budget_usd: 2, depends_on: schema, files: [src/ui/**, src/*.rs]"),
        ("lint", "estimated_duration: 5m, budget_usd: 1"),
        ("release", "estimated_duration: 5m, budget_usd: 1, wave: 1"),
    ]);
    case
}

fn json_of(case: &Case, args: &[&str]) -> Value {
    let mut all = vec!["../plan.yaml", "--dry-run", "--json"];
    all.extend(args);
    let ended = case.run(&all);
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""));
    assert_eq!(ended.out.lines().count(), 1);
    serde_json::from_str(&ended.out).expect("JSON")
}

#[test]
fn the_schedule_says_when_each_task_starts_and_what_it_waits_for() {
    let case = plan();
    let run = json_of(&case, &["-j2"]);
    let rows = run["tasks"].as_array().expect("tasks").iter().map(|task| {
        let waits = task["waits_for"].as_array().expect("a list").iter();
        let waits = waits.map(|wait| json!([wait["why"], wait["task"], wait["wave"]]));
        let waits: Vec<Value> = waits.collect();
        json!([task["id"], task["slot"], task["start_seconds"], waits])
    });
    let after_schema = json!(["dependency", "schema", null]);
    let expected = [
        json!(["schema", 1, 0.0, []]),
        json!(["docs", 2, 0.0, []]),
        json!(["lint", 2, 300.0, [["slot", null, null]]]),
        json!(["api", 1, 1200.0, [after_schema]]),
        json!(["ui", 1, 3000.0, [after_schema, ["files", "api", null]]]),
        json!(["release", 1, 3600.0, [["wave", null, 0]]]),
    ];
    assert_eq!(rows.collect::<Vec<_>>(), expected);
    let conflict = json!([{"first": "api", "second": "ui", "files": ["src/*.rs"]}]);
    assert_eq!(run["conflicts"], conflict);
    assert_eq!(run["cost_ceiling_usd"], 8.5);
    assert_eq!(run["duration_seconds"], 3900.0);
    assert_eq!(run["run_budget"], "12.75");
    assert_eq!(json_of(&case, &["--budget", "80%"])["run_budget"], "80%");
    assert!(!case.path("state").exists(), "a dry run leaves nothing");
}

#[test]
fn the_schedule_is_readable() {
    let ended = plan().run(&["../plan.yaml", "--dry-run", "-j2"]);
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""));
    let expected = "\
6 tasks in 2 waves, 2 slots

      task     slot    start     takes   budget  waits for
Wave 0
   1  schema      1       0s       20m    $2.00
   2  docs        2       0s        5m    $0.50
   3  lint        2       5m        5m    $1.00  a free slot
   4  api         1      20m       30m    $2.00  schema (it depends on it)
   5  ui          1      50m       10m    $2.00  schema (it depends on it); api (both may change the same files)
Wave 1
   6  release     1       1h        5m    $1.00  wave 0

Same files, so never at the same time
  api, ui: src/*.rs

Cost  at most $8.50 for the first attempts; --budget 12.75 for the run
Time  about 1h5m
";
    assert_eq!(ended.out, expected);
}

#[test]
fn what_a_plan_does_not_say_is_unknown() {
    let case = Case::new();
    case.plan(&[("a", "budget_usd: 1"), ("b", "estimated_duration: 60")]);
    let run = json_of(&case, &[]);
    for name in ["cost_ceiling_usd", "duration_seconds"] {
        assert_eq!(run[name], Value::Null, "{name}");
    }
    assert_eq!(run["without_budget"], json!(["b"]));
    assert_eq!(run["without_estimate"], json!(["a"]));
    assert_eq!(run["tasks"][1]["start_seconds"], Value::Null);
    let ended = case.run(&["../plan.yaml", "--dry-run"]);
    for line in [
        "Cost  unknown: no budget_usd in b",
        "Time  unknown: no estimated_duration in a",
    ] {
        assert!(ended.out.contains(line), "{}", ended.out);
    }
}

#[test]
fn what_is_done_or_out_of_range_is_left_out() {
    let case = Case::new();
    case.plan(&[("a", ""), ("b", "depends_on: a"), ("c", "")]);
    assert_eq!(case.go(&["--until", "a"]).code, Some(0));
    let id = case.run_id();
    let ended = case.run(&["--resume-run", &id, "--dry-run", "--json", "--until", "b"]);
    let run: Value = serde_json::from_str(&ended.out).expect("JSON");
    assert_eq!(run["left_out"], json!(["a", "c"]));
    assert_eq!(run["tasks"][0]["id"], "b");
    assert_eq!(run["tasks"][0]["waits_for"], json!([]), "a is done");
    let ended = case.run(&["--resume-run", &id, "--dry-run", "--quiet"]);
    assert_eq!(ended.out, "a\nb\nc\n");
}

#[test]
fn patterns_in_the_schedule_are_no_terminal_escapes() {
    let case = Case::new();
    let files = r#"files: ["a\e[2Jb"]"#;
    case.plan(&[("a", files), ("b", files)]);
    let ended = case.run(&["../plan.yaml", "--dry-run"]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(!ended.out.contains('\x1b'), "{:?}", ended.out);
}
