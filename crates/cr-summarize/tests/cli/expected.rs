//! What was worked out by hand from the recordings.

use serde_json::{Map, Value};

use crate::tool::{files, fixture, of_file};

fn table(name: &str) -> Map<String, Value> {
    let text = std::fs::read_to_string(fixture(name)).expect("a table");
    serde_json::from_str(&text).expect("an object")
}

/// The fields of `got` that differ from those of `wanted`.
fn differences(name: &str, wanted: &Value, got: &Value) -> Vec<String> {
    let fields = wanted.as_object().expect("an entry");
    let fields = fields.iter().filter(|(key, _)| *key != "note");
    let mut wrong = Vec::new();
    for (key, value) in fields {
        let found = match key.as_str() {
            "tokens" => {
                let spent = value.as_object().expect("tokens").keys();
                spent
                    .map(|key| (key.clone(), got["tokens"][key].clone()))
                    .collect()
            }
            "context_used" | "context_window" => got["tokens"][key].clone(),
            "denials" => got["permission_denials"]
                .as_array()
                .map_or(0, Vec::len)
                .into(),
            _ => got[key].clone(),
        };
        if found != *value {
            wrong.push(format!("{name}: {key}: wanted {value}, got {found}"));
        }
    }
    wrong
}

#[test]
fn every_capture_gives_the_summary_that_its_lines_hold() {
    let table = table("expected.json");
    assert_eq!(
        table.len(),
        files("captures")
            .iter()
            .filter(|f| f.extension() == Some("ndjson".as_ref()))
            .count()
    );
    let mut wrong = Vec::new();
    for (name, wanted) in &table {
        let (code, got) = of_file(&fixture(&format!("captures/{name}.ndjson")));
        wrong.extend(differences(name, wanted, &got));
        if i64::from(code) != wanted["code"] {
            wrong.push(format!("{name}: exit code {code}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_session_log_gives_the_summary_that_its_lines_hold() {
    let mut wrong = Vec::new();
    for (name, wanted) in &table("expected-logs.json") {
        let (_, got) = of_file(&fixture(&format!("session-logs/{name}.jsonl")));
        wrong.extend(differences(name, wanted, &got));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
