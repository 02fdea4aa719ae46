//! The schema of a task, against what cr-orchestrate takes.

use std::collections::BTreeSet;

use cr_test::World;
use serde_json::{Value, json};

use crate::checker::Checker;

/// Whether cr-orchestrate takes a plan of this one task.
fn is_taken(world: &World, task: &Value) -> bool {
    let plan = world.write("plan.json", json!([task]).to_string());
    world.write("prompt.md", "do it");
    world.write("schema.json", "{\"type\":\"object\"}");
    let mut command = world.tool("cr-orchestrate");
    command.current_dir(world.dir());
    let output = command.arg("--dry-run").arg(plan).output().expect("run");
    output.status.code() == Some(0)
}

/// A task with one more field.
fn with(name: &str, value: &Value) -> Value {
    let mut task = json!({"id": "a", "prompt": "x"});
    task[name] = value.clone();
    task
}

#[test]
fn the_schema_takes_what_cr_orchestrate_takes_and_nothing_else() {
    let checker = Checker::of("cr-orchestrate", "--task-schema");
    let world = World::new();
    let names = checker.schema["properties"].as_object().expect("fields");
    let values = [
        json!(null),
        json!(true),
        json!(0),
        json!(3),
        json!(-1),
        json!(0.5),
        json!(""),
        json!(" "),
        json!("2h30m"),
        json!("required"),
        json!("HOME"),
        json!([]),
        json!(["HOME=x"]),
        json!([1]),
        json!([""]),
        json!({"type": "object"}),
    ];
    // Names of files and of other tasks, which a schema cannot know.
    let refers = ["prompt_file", "cwd", "schema", "depends_on"];
    for name in names.keys() {
        for value in &values {
            let is_name = value.is_string() || value.is_array() || value.is_number();
            if refers.contains(&name.as_str()) && is_name {
                continue;
            }
            let task = with(name, value);
            let taken = is_taken(&world, &task);
            // An env that is no NAME=VALUE is refused by cr-orchestrate alone.
            if name == "env" && !taken {
                continue;
            }
            assert_eq!(checker.accepts(&task), taken, "{task}");
        }
    }
    assert!(!checker.accepts(&with("promt", &json!("x"))));
}

#[test]
fn a_task_has_an_id_and_one_prompt() {
    let checker = Checker::of("cr-orchestrate", "--task-schema");
    let world = World::new();
    for task in [
        json!({}),
        json!({"id": "a"}),
        json!({"prompt": "x"}),
        json!({"id": "a", "prompt": null}),
        json!({"id": null, "prompt": "x"}),
        json!({"id": "a", "prompt": "x", "prompt_file": "prompt.md"}),
        json!({"id": "a", "prompt": "x", "prompt_file": null}),
        json!({"id": "a", "prompt_file": "prompt.md"}),
        json!({"id": 7, "prompt": "x"}),
        json!({"id": "a.b-c_d.", "prompt": "x"}),
        json!({"id": "a..b", "prompt": "x"}),
        json!({"id": "-a", "prompt": "x"}),
        json!({"id": "a".repeat(64), "prompt": "x"}),
        json!({"id": "a".repeat(65), "prompt": "x"}),
        json!({"id": "a", "prompt": "x", "schema": "schema.json"}),
        json!({"id": "a", "prompt": "x", "depends_on": [""]}),
    ] {
        assert_eq!(checker.accepts(&task), is_taken(&world, &task), "{task}");
    }
}

#[test]
fn a_dry_run_shows_the_fields_of_the_schema_that_are_used() {
    let checker = Checker::of("cr-orchestrate", "--task-schema");
    let names = checker.schema["properties"].as_object().expect("fields");
    let world = World::new();
    let task = "{\"id\":\"a\",\"prompt\":\"x\",\"estimated_duration\":60}\n";
    let plan = world.write("plan.ndjson", task);
    let mut command = world.tool("cr-orchestrate");
    command.args(["--dry-run", "--json"]).arg(plan);
    let output = command.output().expect("run");
    let run: Value = serde_json::from_slice(&output.stdout).expect("a schedule");
    let task = run["tasks"][0]["task"].as_object();
    let shown: BTreeSet<&String> = task.expect("an object").keys().collect();
    let unknown: Vec<_> = shown
        .iter()
        .filter(|name| !names.contains_key(**name))
        .collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}
