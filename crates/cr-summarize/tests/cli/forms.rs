//! The forms that input comes in.

use serde_json::{Value, json};

use crate::tool::{fixture, good, lines, of_bytes, of_file, summary as summary_of, tool};

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
        ("[{\"a\":1}, 2]".to_owned(), 65, 2),
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
    assert_eq!(summary["resumable"], true);
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

/// A result with these words and, maybe, this structured output.
fn turn(text: &str, structured: Option<Value>) -> String {
    let mut line = json!({"type": "result", "subtype": "success", "num_turns": 1, "result": text});
    if let Some(value) = structured {
        line["structured_output"] = value;
    }
    format!("{line}\n")
}

#[test]
fn the_answer_of_an_earlier_turn_is_not_that_of_the_last() {
    let first = turn("one", Some(json!({"a": 1})));
    let (_, summary) = of_bytes(first.clone() + &turn("two", None));
    assert_eq!(summary["structured_output"], Value::Null);
    assert_eq!(summary["result"], "two");
    let (_, summary) = of_bytes(first.clone() + &turn("{\"b\":2}", None));
    assert_eq!(
        (&summary["structured_output"], &summary["json"]),
        (&Value::Null, &json!({"b": 2}))
    );
    let (_, summary) = of_bytes(turn("one", None) + &first);
    assert_eq!(summary["structured_output"], json!({"a": 1}));
    // A turn that was begun and has no end has no answer yet.
    let said = json!({"type": "assistant", "message": {"id": "m", "model": "m", "content": [{"type": "text", "text": "hm"}]}});
    let (code, summary) = of_bytes(format!("{first}{said}\n"));
    assert_eq!((code, &summary["structured_output"]), (6, &Value::Null));
}

#[test]
fn a_schema_met_in_an_earlier_turn_only_is_not_met() {
    let start = json!({"type": "cr", "subtype": "start", "run_id": "r", "argv": ["claude", "--json-schema={}"]});
    let exit =
        json!({"type": "cr", "subtype": "exit", "run_id": "r", "reason": "exit", "exit_code": 0});
    let met = turn("one", Some(json!({"a": 1})));
    let missed = turn("two", None);
    for (turns, code) in [([&met, &missed], 1), ([&missed, &met], 0)] {
        let [one, two] = turns;
        let (got, summary) = of_bytes(format!("{start}\n{one}{two}{exit}\n"));
        assert_eq!(got, code, "{summary:#}");
    }
}

#[test]
fn a_text_that_is_not_held_whole_is_not_searched() {
    let text = format!(
        "Not {{\"a\":1}} but:\n```json\n{{\"b\":[{}2]}}\n```",
        "1,".repeat(10_000)
    );
    let (_, summary) = of_bytes(turn(&text, None));
    assert_eq!(summary["json"], Value::Null);
    assert_eq!(summary["truncated"], json!(["json", "result"]));
    let full = tool().arg("--full").write_stdin(turn(&text, None)).output();
    let (_, full) = summary_of(&full.expect("run"));
    assert_eq!(full["json"]["b"][0], 1);
}
