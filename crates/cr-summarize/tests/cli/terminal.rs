//! The ends of runs that other programs get wrong, as whole streams.

use serde_json::{Value, json};

use crate::supervised::run;
use crate::tool::{good, lines, of_bytes};

/// A result of these fields.
fn result(fields: &Value) -> String {
    let mut line = json!({"type": "result", "session_id": "80f8ae6e-b027-4253-8e9c-1ffd717366a1"});
    let fields = fields.as_object().expect("fields").clone();
    line.as_object_mut().expect("an object").extend(fields);
    format!("{line}\n")
}

/// A good turn whose result has these fields instead.
fn ending(fields: &Value) -> String {
    let lines = good();
    let before: Vec<&str> = lines.lines().take(2).collect();
    before.join("\n") + "\n" + &result(fields)
}

#[test]
fn every_terminal_event_has_its_verdict() {
    let turns = "Reached maximum number of turns (1)";
    let unknown = "No conversation found with session ID: 99999999-2222-4333-8444-555555555555";
    #[rustfmt::skip]
    let cases = [
        (json!({"subtype": "success", "is_error": false, "result": "x"}), 0, "success"),
        (json!({"subtype": "success", "is_error": false}), 0, "success"),
        (json!({"subtype": "success", "is_error": false, "num_turns": 73}), 0, "success"),
        (json!({"subtype": "error_max_budget_usd", "is_error": false, "result": "", "total_cost_usd": 0.21}), 3, "limit_budget"),
        (json!({"subtype": "error_max_turns", "is_error": true, "errors": [turns], "num_turns": 2, "terminal_reason": "max_turns"}), 3, "limit_turns"),
        (json!({"subtype": "error_max_turns", "is_error": false, "errors": []}), 3, "limit_turns"),
        (json!({"subtype": "error_tool", "is_error": true, "result": "broken"}), 1, "failed"),
        (json!({"subtype": "error_tool", "is_error": false, "result": "broken"}), 1, "failed"),
        (json!({"subtype": "error_during_execution", "is_error": true, "errors": [unknown], "num_turns": 0}), 1, "failed"),
        (json!({"subtype": "success", "is_error": true, "result": "API Error: something"}), 1, "failed"),
    ];
    for (fields, code, outcome) in cases {
        // The agent ends with 0 or 1, whatever it thinks of its work.
        let ends: &[i32] = if code == 0 { &[0] } else { &[0, 1] };
        for end in ends {
            let (found, summary) = run(&ending(&fields), &json!({"exit_code": end}));
            assert_eq!(found, code, "{fields} {end}: {summary}");
            assert_eq!(summary["outcome"], outcome, "{fields} {end}");
            assert_eq!(summary["ok"], code == 0, "{fields} {end}");
            lines(&summary);
        }
        let (found, summary) = of_bytes(ending(&fields));
        assert_eq!(
            (found, &summary["outcome"]),
            (code, &json!(outcome)),
            "{fields}"
        );
    }
}

#[test]
fn a_success_before_the_first_answer_is_not_the_end() {
    let early =
        result(&json!({"subtype": "success", "is_error": false, "result": "", "num_turns": 0}));
    let lines = good();
    let (init, rest) = lines.split_once('\n').expect("lines");
    let (code, summary) = of_bytes(format!("{init}\n{early}{rest}"));
    assert_eq!((code, &summary["result"]), (0, &json!("hi")));
    let cut = rest.lines().next().expect("an answer");
    let (code, summary) = of_bytes(format!("{init}\n{early}{cut}\n"));
    assert_eq!((code, &summary["outcome"]), (6, &json!("incomplete")));
}

#[test]
fn older_names_of_counts_are_understood() {
    let usage = json!({"input_tokens": 85_000, "output_tokens": 12_000,
        "cache_creation_tokens": 3, "cache_read_tokens": 45_000});
    let fields = json!({"subtype": "success", "is_error": false, "duration_ms": 45_200, "num_turns": 12,
        "result": "done", "total_cost_usd": 0.42, "usage": usage});
    let (code, summary) = of_bytes(result(&fields));
    assert_eq!(code, 0);
    let tokens = &summary["tokens"];
    assert_eq!(tokens["input"], 85_000);
    assert_eq!(tokens["output"], 12_000);
    assert_eq!(tokens["cache_creation"], 3);
    assert_eq!(tokens["cache_read"], 45_000);
    assert_eq!(summary["cost_usd"], 0.42);
}

#[test]
fn a_warning_on_standard_error_is_no_error() {
    let (code, summary) = run(
        &good(),
        &json!({"stderr": {"bytes": 5, "head": "warn\n", "tail": ""}}),
    );
    assert_eq!((code, &summary["errors"]), (0, &json!([])));
}

#[test]
fn the_error_is_what_the_agent_said_and_not_its_code() {
    let fields = json!({"subtype": "success", "is_error": true, "result": "the disk is full"});
    let (code, summary) = run(&ending(&fields), &json!({"exit_code": 1}));
    assert_eq!(
        (code, &summary["errors"]),
        (1, &json!(["the disk is full"]))
    );
    let why = summary["why"].as_str().expect("a sentence");
    assert!(why.contains("the disk is full"), "{why}");
}
