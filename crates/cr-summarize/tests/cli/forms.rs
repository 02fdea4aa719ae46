//! The forms that input comes in.

use serde_json::{Value, json};

use crate::tool::{fixture, good, lines, of_bytes, of_file};

fn events() -> Vec<Value> {
    let lines = good();
    lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("an event"))
        .collect()
}

#[test]
fn an_array_of_events_is_the_stream_they_make() {
    let (_, wanted) = of_bytes(good());
    let array = Value::from(events());
    let pretty = serde_json::to_string_pretty(&array).expect("JSON");
    for text in [
        array.to_string(),
        format!("\n{array}\n"),
        pretty.clone(),
        pretty.replace('\n', "\r\n"),
    ] {
        let (code, summary) = of_bytes(text);
        assert_eq!(code, 0);
        assert_eq!(summary["tokens"], wanted["tokens"]);
        assert_eq!(
            lines(&summary) - summary["counts"]["blank"].as_u64().expect("a count"),
            3
        );
    }
}

#[test]
fn an_object_is_a_stream_of_one_also_when_spread_over_lines() {
    let result = &events()[2];
    let pretty = serde_json::to_string_pretty(result).expect("JSON");
    for text in [result.to_string(), pretty.clone()] {
        let (code, summary) = of_bytes(text);
        assert_eq!((code, &summary["result"]), (0, &json!("hi")));
        assert_eq!(lines(&summary), 1);
    }
    let (_, summary) = of_bytes(format!("{pretty}\n{pretty}\n"));
    assert_eq!((&summary["results"], lines(&summary)), (&json!(2), 2));
}

#[test]
fn what_only_looks_like_a_document_is_taken_line_by_line() {
    let torn = "[\n{\"type\":\"x\"\n";
    let cases = [
        ("[12:00:01] starting\n".to_owned() + &good(), 0, 4),
        ("[warning] {x\n".to_owned() + &good(), 0, 4),
        ("[\n".to_owned() + &good(), 0, 4),
        ("{\n".to_owned() + &good(), 0, 4),
        ("[]\n".to_owned() + &good(), 0, 4),
        ("[1,2]\n".to_owned() + &good(), 0, 4),
        (torn.to_owned(), 6, 2),
        ("[{\"a\":1}, 2]".to_owned(), 6, 2),
    ];
    for (text, code, count) in cases {
        let (got, summary) = of_bytes(text.clone());
        assert_eq!((got, lines(&summary)), (code, count), "{text}: {summary}");
    }
}

#[test]
fn an_array_between_lines_is_no_event() {
    let (code, summary) = of_bytes(format!("{}[{}]\n", good(), events()[2]));
    assert_eq!((code, &summary["results"]), (0, &json!(1)));
    assert_eq!(summary["counts"]["bad_json"], 1);
}

#[test]
fn the_last_of_several_results_decides() {
    let turn = |is_error: bool, cost: f64| {
        let id = "80f8ae6e-b027-4253-8e9c-1ffd717366a1";
        json!({"type": "result", "subtype": "success", "is_error": is_error, "num_turns": 2,
            "session_id": id, "total_cost_usd": cost, "result": "x"})
        .to_string()
            + "\n"
    };
    let (code, summary) = of_bytes(turn(true, 0.1) + &turn(false, 0.3));
    assert_eq!((code, &summary["results"]), (0, &json!(2)));
    assert_eq!(summary["cost_usd"], 0.3);
    assert_eq!(summary["turns"][1]["cost_usd"], 0.2);
    let (code, summary) = of_bytes(turn(false, 0.1) + &turn(true, 0.3));
    assert_eq!((code, &summary["outcome"]), (1, &json!("failed")));
}

#[test]
fn an_empty_error_after_a_success_is_ignored() {
    let line = r#"{"type":"result","subtype":"error_during_execution","is_error":true,"num_turns":0,"duration_ms":0}"#;
    let (code, summary) = of_bytes(good() + line);
    assert_eq!(
        (code, &summary["result"], &summary["results"]),
        (0, &json!("hi"), &json!(2))
    );
    assert!(summary["resume_command"].is_string());
}

#[test]
fn a_turn_that_was_begun_after_the_last_result_is_missing_its_end() {
    let more = good() + good().lines().nth(1).expect("a line");
    let (code, summary) = of_bytes(more);
    assert_eq!((code, &summary["incomplete"]), (6, &json!(true)));
    assert_eq!(summary["cost_usd"], 0.5);
}

#[test]
fn json_in_the_answer_is_given_as_json() {
    let text = "Done.\n```json\n{\"a\": [1]}\n```";
    let line = json!({"type": "result", "subtype": "success", "result": text});
    let (_, summary) = of_bytes(line.to_string());
    assert_eq!(summary["json"], json!({"a": [1]}));
    let (_, summary) = of_file(&fixture("captures/14-schema.ndjson"));
    assert!(summary["structured_output"].is_object());
}
