//! `backtest`: the past with another rule.

use serde_json::{Value, json};

use crate::case::Case;
use crate::record::summary;
use crate::session::{Call, call};

/// Three tasks. The cache still has the context of the first when the second
/// begins, and has lost that of the second when the third does.
fn calls() -> [Call; 6] {
    [
        call("2026-11-18T03:00:00Z", 20_000),
        call("2026-11-18T03:01:00Z", 40_000),
        call("2026-11-18T03:31:00Z", 41_000),
        call("2026-11-18T03:32:00Z", 42_000),
        call("2026-11-18T05:00:00Z", 43_000),
        call("2026-11-18T05:01:00Z", 44_000),
    ]
    .map(Call::for_an_hour)
}

const PROMPTS: [&str; 4] = [
    "2026-11-18T02:59:59Z",
    "2026-11-18T03:30:59Z",
    "2026-11-18T04:59:59Z",
    // Too soon after an answer to begin a task.
    "2026-11-18T05:00:30Z",
];

fn report(case: &Case, args: &[&str]) -> Value {
    case.ok(&[&["backtest", "--json"], args].concat())
        .rows()
        .remove(0)
}

fn cost(report: &Value, way: &str) -> f64 {
    report[way]["cost_usd"].as_f64().expect("a number")
}

#[test]
fn next_is_compared_with_always_resuming_and_always_refreshing() {
    let case = Case::new();
    case.session("s1", &calls());
    case.prompts("s1", &PROMPTS);
    // A run of another session tells the window.
    let mut other = summary("r0", "s0", 0.1);
    other["tokens"]["context_window"] = json!(200_000);
    case.record(&other);
    let report = report(&case, &[]);
    assert_eq!(
        (&report["sessions"], &report["tasks"]),
        (&json!(1), &json!(3))
    );
    // Four dollars for a million tokens that are written, 0.1 for those read.
    let first = 20_000.0 * 4.1e-6;
    let warm = 2.0 * 40_000.0 * 0.1e-6;
    let resumed = 42_000.0 * 4.1e-6;
    let new = 22_048.0 * 4.1e-6;
    // The first task added 19,000 tokens more than the second.
    let new_and_read = (22_048.0 + 19_000.0) * 4.1e-6;
    let ways = [
        ("resume", first + warm + resumed, 0),
        ("refresh", first + new + new_and_read, 2),
        ("next", first + warm + new_and_read, 1),
    ];
    for (way, dollars, refreshes) in ways {
        assert!(
            (cost(&report, way) - dollars).abs() < 2e-6,
            "{way} {dollars}: {report}"
        );
        assert_eq!(report[way]["refreshes"], refreshes, "{way}: {report}");
    }
    let text = case.ok(&["backtest"]).out;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        "1 session, 3 tasks; left out: 0 without a price, 0 whose context is not known"
    );
    assert_eq!(lines[1], "way                cost_usd  refreshes");
    assert_eq!(lines[2], "next                 0.2583          1");
    assert_eq!(lines.len(), 5, "{text}");
}

#[test]
fn the_thresholds_change_what_next_would_have_done() {
    let case = Case::new();
    case.session("s1", &calls());
    case.prompts("s1", &PROMPTS);
    let mut other = summary("r0", "s0", 0.1);
    other["tokens"]["context_window"] = json!(200_000);
    case.record(&other);
    let marks = ["--warn", "0.05", "--refresh", "0.1", "--emergency", "0.9"];
    let report = report(&case, &marks);
    assert_eq!(report["next"]["refreshes"], 2);
    assert!((cost(&report, "next") - cost(&report, "refresh")).abs() < 1e-9);
}

#[test]
fn sessions_without_a_price_or_a_context_are_left_out_and_counted() {
    let case = Case::new();
    case.session_of("s1", "gpt-5", &calls());
    case.prompts("s1", &PROMPTS);
    // Runs without a log: what their first calls sent is not known.
    for (run, hour) in [("r1", 3), ("r2", 5)] {
        let mut run = summary(run, "s2", 0.1);
        run["started_at"] = json!(format!("2026-11-18T0{hour}:00:00Z"));
        run["ended_at"] = json!(format!("2026-11-18T0{hour}:10:00Z"));
        case.record(&run);
    }
    // One task alone decides nothing.
    case.session("s3", &calls()[..2]);
    let report = report(&case, &[]);
    assert_eq!(report["sessions"], 0);
    assert_eq!(
        (&report["without_price"], &report["without_context"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(cost(&report, "next").to_bits(), 0.0_f64.to_bits());
}

#[test]
fn the_runs_of_a_session_are_its_tasks() {
    let case = Case::new();
    case.session("s1", &calls());
    let times = [("03:00:00", "03:01:00"), ("03:31:00", "05:01:00")];
    for (number, (start, end)) in times.iter().enumerate() {
        let mut run = summary(&format!("r{number}"), "s1", 0.1);
        run["started_at"] = json!(format!("2026-11-18T{start}Z"));
        run["ended_at"] = json!(format!("2026-11-18T{end}Z"));
        case.record(&run);
    }
    assert_eq!(report(&case, &[])["tasks"], 2);
    assert_eq!(report(&case, &["--project", "/home/dev"])["tasks"], 2);
    assert_eq!(report(&case, &["--project", "/home/other"])["tasks"], 0);
}
