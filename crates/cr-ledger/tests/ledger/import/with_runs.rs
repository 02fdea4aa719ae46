//! The same run from its summary and from its log.

use serde_json::{Value, json};

use super::logs::{answer, with};
use crate::case::Case;

/// The summary of a recorded run.
fn summary(case: &Case, name: &str) -> String {
    let stream = cr_test::fixture(&format!("captures/{name}.ndjson"));
    let output = case.world.tool("cr-summarize").arg(stream).output();
    String::from_utf8(output.expect("run").stdout).expect("text")
}

fn record(case: &Case, name: &str) {
    let done = case.feed(&["record"], &summary(case, name));
    assert_eq!(done.code, Some(0), "{done:?}");
}

fn import(case: &Case, name: &str) {
    let log = cr_test::fixture(&format!("session-logs/{name}.jsonl"));
    case.ok(&["import", log.to_str().expect("text")]);
}

/// Tokens and dollars of each model.
fn sums(case: &Case) -> Vec<Value> {
    case.sql(
        "SELECT model, sum(input_tokens) AS input, sum(output_tokens) AS output,
            sum(cache_read_tokens) AS cache_read, sum(cache_creation_tokens) AS cache_creation,
            round(sum(cost_usd), 6) AS usd
        FROM usage GROUP BY model ORDER BY model",
    )
}

#[test]
fn l3_a_run_recorded_and_its_log_imported_count_once_in_either_order() {
    for name in ["01-simple", "02-tools", "03-agent"] {
        let [recorded, imported, first, second] = [(); 4].map(|()| Case::new());
        record(&recorded, name);
        import(&imported, name);
        record(&first, name);
        import(&first, name);
        import(&second, name);
        record(&second, name);
        let expected = sums(&first);
        assert!(!expected.is_empty(), "{name}");
        assert_eq!(sums(&second), expected, "{name}");
        let exported = |case: &Case| -> Vec<String> {
            case.exported().into_iter().map(|done| done.out).collect()
        };
        assert_eq!(exported(&first), exported(&second), "{name}");
        // Each alone knows the same run; the log of a session with subagents has
        // their logs beside it, which are not here.
        let money = |case: &Case| -> Vec<Value> {
            sums(case).iter().map(|row| row["usd"].clone()).collect()
        };
        assert_eq!(money(&recorded), money(&first), "{name}");
        assert_eq!(money(&imported), money(&first), "{name}");
        assert_eq!(sums(&recorded), expected, "{name}");
    }
}

#[test]
fn l3_a_subagent_that_works_on_after_the_last_line_of_a_log_counts_once() {
    let case = Case::new();
    let log = case.put("p/s.jsonl", &[answer("s", "m", 10)]);
    let later = json!({"isSidechain": true, "agentId": "a",
        "timestamp": "2026-11-18T03:25:00.000Z"});
    let agent = with(answer("s", "n", 20), &later);
    case.put("p/s/subagents/agent-a.jsonl", &[agent]);
    let output = case.world.tool("cr-summarize").arg(log).output();
    let summary = String::from_utf8(output.expect("run").stdout).expect("text");
    assert_eq!(case.feed(&["record"], &summary).code, Some(0));
    assert_eq!(case.counted().1, 30);
    case.import();
    assert_eq!(case.counted(), (2, 30));
    // What comes after the next prompt is not the run's.
    let more = with(
        answer("s", "k", 5),
        &json!({"timestamp": "2026-11-18T04:00:00.000Z"}),
    );
    case.put("p/s.jsonl", &[answer("s", "m", 10), more]);
    case.import();
    assert_eq!(case.counted(), (3, 35));
}

#[test]
fn l3_a_summary_of_a_forks_log_counts_no_message_of_the_original_again() {
    let at = |time: &str| json!({"timestamp": format!("2026-11-18T{time}:00:00.000Z")});
    let copy = json!({"forkedFrom": {"sessionId": "s", "messageUuid": "u"}});
    let case = Case::new();
    case.put("p/s.jsonl", &[answer("s", "m", 10), answer("s", "n", 20)]);
    let fork = [
        with(answer("f", "m", 10), &copy),
        with(answer("f", "k", 5), &at("05")),
    ];
    let log = case.put("p/f.jsonl", &fork);
    let output = case.world.tool("cr-summarize").arg(log).output();
    let summary = String::from_utf8(output.expect("run").stdout).expect("text");
    let done = case.feed(&["record"], &summary);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(case.counted(), (2, 15), "no log is imported");
    case.import();
    assert_eq!(case.counted(), (3, 35));
    // What came after the last import counts from the summary.
    let later = [
        fork[0].clone(),
        fork[1].clone(),
        with(answer("f", "l", 7), &at("06")),
    ];
    let log = case.put("p/f.jsonl", &later);
    let output = case.world.tool("cr-summarize").arg(log).output();
    let summary = String::from_utf8(output.expect("run").stdout).expect("text");
    assert_eq!(case.feed(&["record"], &summary).code, Some(0));
    case.import();
    assert_eq!(case.counted(), (4, 42));
}

#[test]
fn l3_runs_that_follow_each_other_at_once_keep_the_costs_of_their_results() {
    let case = Case::new();
    let lines = ["15:00", "15:01"].map(|time| {
        let at = json!({"timestamp": format!("2026-11-18T03:{time}.000Z")});
        with(answer("s", time, 10), &at)
    });
    case.put("p/s.jsonl", &lines);
    for (run, from, to) in [
        ("r1", "14:59.500", "15:00.100"),
        ("r2", "15:00.200", "15:01.100"),
    ] {
        let mut ran = crate::record::summary(run, "s", 0.000_01);
        ran["started_at"] = json!(format!("2026-11-18T03:{from}Z"));
        ran["ended_at"] = json!(format!("2026-11-18T03:{to}Z"));
        ran["models"] = json!({"claude-sonnet-5-5": {"input": 1, "output": 10,
            "cache_read": 100, "cache_creation": 0, "cost_usd": 0.000_01}});
        case.record(&ran);
    }
    // An estimate of the messages is more.
    case.import();
    let sums = "SELECT round(sum(cost_usd), 9) AS usd, round(sum(estimated_usd), 9) AS estimated,
        sum(total_tokens) AS tokens FROM usage";
    assert_eq!(
        case.sql(sums),
        [json!({"usd": 0.000_02, "estimated": 0.0, "tokens": 222})]
    );
}
