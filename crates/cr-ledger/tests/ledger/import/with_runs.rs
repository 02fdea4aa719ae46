//! The same run from its summary and from its log.

use serde_json::Value;

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
