//! An answer of a shape that was asked for, from the real CLI.

use std::fs;
use std::path::PathBuf;

use cr_event::Raw;
use serde_json::{Value, json};

use crate::cli::{Cli, each};
use crate::place::Place;
use crate::runner::runner;

const SCHEMA: &str = r#"{
  "type": "object",
  "properties": {"name": {"type": "string"}, "born": {"type": "integer"}},
  "required": ["name"]
}"#;

/// The code, the answer and the words of a run that is asked for one.
fn asked(place: &Place, cli: &Cli, scenario: &str) -> (Option<i32>, String, String) {
    fs::write(place.repository().join("s.json"), SCHEMA).expect("write");
    runner(place, cli, scenario)
        .options(&["--env", "IS_SANDBOX=1"])
        .args(&["--output", "answer", "--json-schema", "s.json"])
        .text()
}

/// A file that the only run here has left.
fn left(place: &Place, name: &str) -> Vec<u8> {
    let runs = fs::read_dir(place.path("home/.local/state/claude-runner/runs"));
    let runs: Vec<PathBuf> = runs
        .expect("runs")
        .map(|run| run.expect("an entry").path())
        .filter(|path| path.is_dir())
        .collect();
    let [run] = &runs[..] else {
        panic!("one run: {runs:?}");
    };
    fs::read(run.join(name)).expect("a file of the run")
}

#[test]
fn the_json_that_was_asked_for_is_given_as_the_cli_wrote_it() {
    each(|cli| {
        let place = Place::new();
        let (code, answer, said) = asked(&place, cli, "schema");
        assert_eq!(code, Some(0), "{said}");
        let value: Value = serde_json::from_str(&answer).expect("JSON");
        assert_eq!(value, json!({"name": "Ada", "born": 1815, "ratio": 0.5}));
        let stream = left(&place, "stream.ndjson");
        let mut lines = stream.split(|&byte| byte == b'\n').filter_map(Raw::of);
        let written = lines.find_map(|line| line.get("structured_output"));
        let written = written.expect("a result with structured output").bytes();
        assert_eq!(answer.trim_end().as_bytes(), written);
        // One try missed the schema, and the CLI itself asked again.
        assert_eq!(place.requests().len(), 2, "{said}");
    });
}

#[test]
fn a_schema_that_the_model_ignores_is_no_answer() {
    each(|cli| {
        let place = Place::new();
        let (code, answer, said) = asked(&place, cli, "ignored");
        assert_eq!((code, answer.as_str()), (Some(1), ""), "{said}");
        let wanted = "no answer: no_answer: A schema was asked for, and no answer meets it.";
        assert!(said.contains(wanted), "{said}");
        let summary: Value =
            serde_json::from_slice(&left(&place, "summary.json")).expect("a summary");
        assert_eq!(summary["outcome"], "no_answer");
        assert_eq!(summary["category"], "validation");
        assert_eq!(summary["retry"]["retryable"], true);
        // What it said instead is there to be looked at.
        assert_eq!(summary["structured_output"], Value::Null);
        assert_eq!(summary["json"], json!({"name": "Ada"}));
    });
}
