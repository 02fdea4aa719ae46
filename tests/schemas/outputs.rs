//! The output for every recording.

use std::process::Stdio;

use cr_test::{World, fixture};

use crate::checker::Checker;

/// The folders with recordings.
const FOLDERS: [&str; 6] = [
    "captures",
    "made",
    "multiturn",
    "rundirs",
    "session-logs",
    "transcripts",
];

/// Checks what `tool` prints for every recording, the directories at once and the
/// files of `made` one by one.
fn check_all(checker: &mut Checker, tool: &str, args: &[&str]) {
    let world = World::new();
    let mut command = world.tool(tool);
    command.args(args).args(FOLDERS.map(fixture));
    // A recording without an answer is a failure of cr-extract.
    let output = command.stderr(Stdio::null()).output().expect("run");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.lines().count() > 50, "{tool}: {text}");
    checker.check_lines(&text);
    if tool == "cr-extract" {
        return;
    }
    for file in std::fs::read_dir(fixture("made")).expect("a folder") {
        let path = file.expect("a file").path();
        let output = world.tool(tool).args(args).arg(path).output().expect("run");
        let text = String::from_utf8(output.stdout).expect("text");
        checker.check_lines(&text);
    }
}

#[test]
fn every_summary_satisfies_the_schema_and_every_field_has_a_value_in_one() {
    let mut checker = Checker::of("cr-summarize", "--output-schema");
    check_all(&mut checker, "cr-summarize", &[]);
    check_all(&mut checker, "cr-summarize", &["--full"]);
    check_all(&mut checker, "cr-summarize", &["--per-session", "--full"]);
    let prices = ["--estimate-cost", "--context-window", "200000", "--total"];
    check_all(&mut checker, "cr-summarize", &prices);
    checker.check_lines(&summary_without_ledger());
    checker.every_property_had_a_value();
}

/// The summary in the directory of a run whose ledger could not be written.
fn summary_without_ledger() -> String {
    let world = World::new();
    let mut command = world.command(cr_test::runner_script());
    let status = command
        .env("PATH", world.path_with_tools())
        .env("CR_CLAUDE", cr_test::bin("cr-replay"))
        .env("CR_REPLAY", fixture("captures/01-simple.ndjson"))
        .env("CR_REPLAY_SPEED", "instant")
        .env("CR_LEDGER", "/proc/ledger.db")
        .args(["go", "--json", "--run-dir"])
        .arg(world.path("run"))
        .current_dir(world.dir())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert_eq!(status.expect("run").code(), Some(0));
    std::fs::read_to_string(world.path("run/summary.json")).expect("a summary")
}

#[test]
fn every_row_satisfies_the_schema_and_every_field_has_a_value_in_one() {
    let mut checker = Checker::of("cr-filter", "--output-schema");
    check_all(&mut checker, "cr-filter", &["--format", "json"]);
    checker.every_property_had_a_value();
}

#[test]
fn every_answer_of_several_inputs_satisfies_the_schema() {
    let mut checker = Checker::of("cr-extract", "--output-schema");
    check_all(&mut checker, "cr-extract", &["--text"]);
    let world = World::new();
    let mut command = world.tool("cr-extract");
    let output = command.arg(fixture("captures")).output().expect("run");
    let text = String::from_utf8(output.stdout).expect("text");
    checker.check_lines(&text);
    checker.every_property_had_a_value();
}

#[test]
fn the_turns_of_one_task_satisfy_the_schema() {
    let mut checker = Checker::of("cr-turns", "--output-schema");
    for args in [["--type", "debugging"], ["--title", "Migrate all"]] {
        let output = World::new().tool("cr-turns").args(args).output();
        let text = String::from_utf8(output.expect("run").stdout).expect("text");
        checker.check_lines(&text);
    }
    checker.every_property_had_a_value();
}

#[test]
fn every_row_of_a_report_satisfies_the_schema_and_every_field_has_a_value_in_one() {
    let mut checker = Checker::of("cr-ledger", "report --output-schema");
    let world = World::new();
    let ledger = world.path("ledger.db");
    std::fs::copy(fixture("ledger/v1.db"), &ledger).expect("copied");
    for by in [
        "day",
        "hour",
        "project",
        "model",
        "session",
        "milestone",
        "tool",
    ] {
        let mut command = world.tool("cr-ledger");
        command.args(["report", "--json", "--by", by, "--ledger"]);
        let output = command.arg(&ledger).output().expect("run");
        let text = String::from_utf8(output.stdout).expect("text");
        assert!(!text.is_empty(), "{by}");
        checker.check_lines(&text);
    }
    checker.every_property_had_a_value();
}
