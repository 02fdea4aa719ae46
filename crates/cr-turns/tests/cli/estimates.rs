//! The turns of tasks.

use cr_test::World;
use serde_json::{Value, json};

use crate::tool::{turns, written};

/// The title, the description, files, lines of code, turns.
type Row = (Value, Value, Value, Value, u64);

fn rows() -> Vec<Row> {
    #[rustfmt::skip]
    let rows: [(&str, &str, u64, u64, u64); 22] = [
        ("Fix typo", "Fix typo in config file", 1, 5, 3),
        ("Add validation", "Add email validation to user form", 2, 50, 6),
        ("Implement authentication", "Implement JWT authentication system", 5, 300, 12),
        ("Refactor entire module", "Refactor the entire authentication module", 10, 600, 20),
        ("Update dependencies", "Update dependencies across entire codebase", 20, 100, 20),
        ("Migrate database", "Migrate database schema", 3, 200, 6),
        ("Update all files", "Update imports throughout repository", 15, 300, 20),
        ("Task with moderate complexity", "Some task description", 4, 150, 12),
        ("", "", 1, 0, 3),
        ("REFACTOR MODULE", "MIGRATE DATABASE ACROSS ENTIRE CODEBASE", 10, 400, 20),
        ("Refactor and migrate", "Refactor module and migrate to new framework", 6, 350, 12),
        ("Update project-wide", "Update across entire codebase in all files", 25, 200, 20),
        ("Update 8 files", "", 8, 200, 12),
        ("Task with 500 lines", "", 5, 500, 12),
        ("Task with 501 lines", "", 5, 501, 20),
        ("Add feature", "Add new feature to module", 7, 400, 12),
        ("refactor and debug", "", 9, 0, 12),
        ("migrate refactor implement", "", 9, 0, 12),
        ("migrate refactor implement across", "", 9, 0, 12),
        ("Install the package", "small change, call the API, everything", 0, 0, 3),
        ("across multiple", "", 1, 0, 20),
        ("Add tests to all files", "", 1, 0, 12),
    ];
    let mut all: Vec<Row> = rows
        .map(|(title, text, files, loc, n)| {
            (title.into(), text.into(), files.into(), loc.into(), n)
        })
        .into();
    let null = || Value::Null;
    all.push((null(), "Some task".into(), null(), null(), 3));
    all.push((null(), null(), null(), null(), 3));
    all.push((null(), null(), 9.into(), null(), 12));
    all.push((null(), null(), null(), 501.into(), 20));
    all.push(("Implement a thing".into(), null(), null(), null(), 6));
    all.push(("every file".into(), null(), null(), null(), 12));
    all
}

#[test]
fn each_task_gets_the_turns_that_its_fields_deserve() {
    let task = |(title, description, files, loc, _): &Row| {
        json!({"title": title, "description": description,
               "estimated_files": files, "estimated_loc": loc, "complexity_score": 65})
    };
    let rows = rows();
    let lines: Vec<String> = rows.iter().map(|row| task(row).to_string()).collect();
    let text = written(&[], lines.join("\n"));
    assert_eq!(text.lines().count(), rows.len());
    for (line, row) in text.lines().zip(&rows) {
        let task: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!(task["max_turns"], row.4, "{row:?}");
        assert!(task["max_turns_reason"].is_string(), "{row:?}");
    }
}

#[test]
fn one_task_of_the_command_line_gets_the_same() {
    for (title, description, files, loc, expected) in rows() {
        let mut args = Vec::new();
        for (flag, value) in [("--title", title), ("--description", description)] {
            args.extend(value.as_str().map(|text| format!("{flag}={text}")));
        }
        for (flag, value) in [("--files", files), ("--loc", loc)] {
            args.extend(value.as_u64().map(|number| format!("{flag}={number}")));
        }
        if args.is_empty() {
            continue;
        }
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        assert_eq!(turns(&args, "").0, expected, "{args:?}");
    }
}

#[test]
fn a_type_decides_alone_in_any_case() {
    #[rustfmt::skip]
    let types = [
        ("validation", 5), ("code_generation", 12), ("refactoring", 15), ("debugging", 20),
        ("error_analysis", 8), ("planning", 5), ("documentation", 3), ("testing", 8),
        ("Debugging", 20), ("STORY", 3), ("feature", 3),
    ];
    for (name, expected) in types {
        assert_eq!(turns(&["--type", name], "").0, expected, "{name}");
    }
    let large = json!({"task_type": "documentation", "title": "Complete refactor",
        "description": "the entire system across all files", "estimated_files": 20,
        "estimated_loc": 1000});
    let expected = (3, "type documentation".to_owned());
    assert_eq!(turns(&[], &large.to_string()), expected);
}

#[test]
fn the_reason_names_the_evidence() {
    let args = ["--title", "Update across the entire codebase"];
    let text = written(&args, "");
    assert_eq!(
        text,
        "{\"max_turns\":20,\"max_turns_reason\":\"2 scope phrases: across, entire codebase\"}\n"
    );
}

#[test]
fn without_a_description_the_prompt_counts() {
    let (found, reason) = turns(&[], r#"{"id":"a","prompt":"Refactor the parser"}"#);
    assert_eq!((found, reason.as_str()), (6, "1 complexity word: refactor"));
    let both = r#"{"prompt":"Refactor the parser","description":"a typo"}"#;
    assert_eq!(turns(&[], both).0, 3);
}

#[test]
fn the_bounds_hold_for_every_estimate() {
    // (arguments, type, turns)
    let cases: [(&[&str], &str, u64); 5] = [
        (&["--min", "5"], "documentation", 5),
        (&["--max", "10"], "debugging", 10),
        (&["--min", "5", "--max", "25"], "documentation", 5),
        (&["--min", "5", "--max", "25"], "debugging", 20),
        (&["--min", "25"], "validation", 25),
    ];
    for (args, name, expected) in cases {
        let args = [args, &["--type", name]].concat();
        assert_eq!(turns(&args, "").0, expected, "{args:?}");
    }
    let (_, reason) = turns(&["--max", "10", "--type", "debugging"], "");
    assert_eq!(reason, "type debugging; 20 is above the maximum of 10");
}

#[test]
fn the_configuration_has_bounds_and_types_and_a_flag_counts_more() {
    let world = World::new();
    let file = world.path("config.toml");
    let text = "turns_max = 150\nturns_min = 4\n\
                turns_by_type = { custom_type = 18, validation = 8, STORY = 50, epic = 100 }\n";
    std::fs::write(&file, text).expect("written");
    // (arguments, turns)
    let cases: [(&[&str], u64); 9] = [
        (&["--type", "custom_type"], 18),
        (&["--type", "validation"], 8),
        (&["--type", "debugging"], 20),
        (&["--type", "STORY"], 50),
        (&["--type", "story"], 50),
        (&["--type", "EPIC"], 100),
        (&["--type", "documentation"], 4),
        (&["--type", "documentation", "--min", "3"], 3),
        (&["--type", "epic", "--max", "30"], 30),
    ];
    for (args, expected) in cases {
        let mut command = world.tool("cr-turns");
        let output = command.args(args).env("CR_CONFIG", &file).output();
        let text = output.expect("run").stdout;
        let found: Value = serde_json::from_slice(&text).expect("JSON");
        assert_eq!(found["max_turns"], expected, "{args:?}");
    }
}
