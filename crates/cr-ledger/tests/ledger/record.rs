//! `record`: summaries in, the same out, each run once.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::case::{Case, done};

/// A summary as `cr-summarize` writes it.
pub(crate) fn summary(run: &str, session: &str, cost: f64) -> Value {
    json!({
        "schema": 1, "run_id": run, "session_id": session, "model": "claude-sonnet-5-5",
        "outcome": "success", "code": 0, "cost_usd": cost, "cost_source": "result",
        "cwd": "/home/dev/repo", "started_at": "2026-11-18T03:15:00.000Z",
        "ended_at": "2026-11-18T03:16:00.000Z", "duration_ms": 60000, "num_turns": 4,
        "tokens": {"input": 10, "output": 20, "cache_read": 30, "cache_creation": 40,
            "context_used": 100, "context_window": 1000},
        "models": {"claude-sonnet-5-5": {"input": 10, "output": 20, "cache_read": 30,
            "cache_creation": 40, "cost_usd": cost}},
        "tools": {"Bash": 2}, "tool_calls": 2, "messages": 2
    })
}

#[test]
fn l3_a_summary_is_passed_on_and_recorded_once() {
    let case = Case::new();
    let line = format!("{}\n", summary("r1", "s1", 0.25));
    for _ in 0..3 {
        let done = case.feed(&["record"], &line);
        assert_eq!((done.code, done.out.as_str()), (Some(0), line.as_str()));
    }
    let sums = "SELECT count(*) AS runs, sum(cost_usd) AS usd FROM runs";
    assert_eq!(case.sql(sums), [json!({"runs": 1, "usd": 0.25})]);
    let sums = "SELECT sum(cost_usd) AS usd, sum(total_tokens) AS tokens FROM usage";
    assert_eq!(case.sql(sums), [json!({"usd": 0.25, "tokens": 100})]);
}

#[test]
fn a_summary_over_many_lines_and_the_delimiter_before_it_are_passed_on() {
    let case = Case::new();
    let pretty = serde_json::to_string_pretty(&summary("r1", "s1", 0.5)).expect("JSON");
    let input = format!("---CLAUDE-RUNNER-RESULT---\n{pretty}\n");
    let done = case.feed(&["record"], &input);
    assert_eq!((done.code, done.out.as_str()), (Some(0), input.as_str()));
    assert_eq!(
        case.sql("SELECT run_id FROM runs"),
        [json!({"run_id": "r1"})]
    );
}

#[test]
fn what_is_no_summary_is_named_and_passed_on_and_the_rest_is_recorded() {
    let case = Case::new();
    let good = summary("r1", "s1", 0.5);
    let nameless = json!({"schema": 1, "outcome": "success"});
    let input = format!("{{\"a\":1}}\n{{broken\n{good}\n{nameless}\n{{\"cut\":");
    let done = case.feed(&["record"], &input);
    assert_eq!((done.code, done.out.as_str()), (Some(65), input.as_str()));
    for text in [
        "line 1: not a summary",
        "line 2: not JSON",
        "neither a run nor a session",
        "ends within a summary",
    ] {
        assert!(done.err.contains(text), "{text}: {done:?}");
    }
    assert_eq!(
        case.sql("SELECT count(*) AS n FROM runs"),
        [json!({"n": 1})]
    );
}

#[test]
fn the_summary_that_knows_more_of_a_run_counts_in_either_order() {
    let early = json!({"schema": 1, "run_id": "r1", "session_id": "s1", "cost_source": "none",
        "outcome": "incomplete", "code": 6});
    let late = summary("r1", "s1", 0.5);
    for order in [[&early, &late], [&late, &early]] {
        let case = Case::new();
        for summary in order {
            case.record(summary);
        }
        let rows = case.sql("SELECT outcome, cost_usd FROM runs");
        assert_eq!(rows, [json!({"outcome": "success", "cost_usd": 0.5})]);
    }
}

#[test]
fn l4_a_ledger_that_cannot_be_written_loses_no_summary() {
    let case = Case::new();
    let line = format!("{}\n", summary("r1", "s1", 0.25));
    let path = case.path("ledger.db");
    // Not a database; a directory; a newer version.
    fs::write(&path, "this is a text and not a database at all").expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("private");
    let done_text = case.feed(&["record"], &line);
    assert_eq!(
        (done_text.code, done_text.out.as_str()),
        (Some(78), line.as_str())
    );
    assert!(done_text.err.contains("no ledger"), "{done_text:?}");
    fs::remove_file(&path).expect("removed");
    fs::create_dir(&path).expect("made");
    let done_dir = case.feed(&["record"], &line);
    assert_eq!(
        (done_dir.code, done_dir.out.as_str()),
        (Some(74), line.as_str())
    );
    fs::remove_dir(&path).expect("removed");
    case.record(&summary("r0", "s0", 1.0));
    let db = rusqlite::Connection::open(&path).expect("opened");
    db.pragma_update(None, "user_version", 99).expect("set");
    drop(db);
    let newer = case.feed(&["record"], &line);
    assert_eq!((newer.code, newer.out.as_str()), (Some(78), line.as_str()));
    assert!(newer.err.contains("version 99"), "{newer:?}");
}

#[test]
fn a_ledger_lies_in_the_state_directory_for_the_user_alone() {
    let case = Case::new();
    let mut command = case.world.tool("cr-ledger");
    command.arg("record");
    let line = format!("{}\n", summary("r1", "s1", 0.25));
    assert_eq!(done(command, &line).code, Some(0));
    let path = case.world.state().join("ledger.db");
    let mode = fs::metadata(&path)
        .expect("it is there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_ledger_that_is_not_there_is_said_and_not_made() {
    let case = Case::new();
    let done = case.run(&["sql", "SELECT 1"]);
    assert_eq!(done.code, Some(66), "{done:?}");
    assert!(done.err.contains("there is no ledger yet"), "{done:?}");
    assert!(!case.path("ledger.db").exists());
}

#[test]
fn a_query_cannot_change_the_ledger() {
    let case = Case::new();
    case.record(&summary("r1", "s1", 0.25));
    for query in ["DELETE FROM run", "DROP TABLE run", "SELECT nonsense", ""] {
        let done = case.run(&["sql", query]);
        assert_eq!(done.code, Some(2), "{query}: {done:?}");
    }
    assert_eq!(
        case.sql("SELECT count(*) AS n FROM runs"),
        [json!({"n": 1})]
    );
}

#[test]
fn a_cost_below_zero_is_not_known_and_an_unknown_one_is_null() {
    let case = Case::new();
    case.record(&summary("r1", "s1", -5.0));
    let runs = case.sql("SELECT cost_usd FROM runs");
    assert_eq!(runs, [json!({"cost_usd": null})]);
    let usage = case.sql("SELECT cost_usd, unpriced FROM usage");
    assert_eq!(usage, [json!({"cost_usd": null, "unpriced": 1})]);
    let sessions = case.sql("SELECT total_cost_usd AS usd FROM sessions");
    assert_eq!(sessions, [json!({"usd": null})]);
}

#[test]
fn a_query_reads_no_other_file_and_makes_none() {
    let case = Case::new();
    case.record(&summary("r1", "s1", 0.25));
    let copy = case.path("copy.db");
    let queries = [
        format!("VACUUM INTO '{}'", copy.display()),
        format!("ATTACH '{}' AS other", copy.display()),
    ];
    for query in &queries {
        let done = case.run(&["sql", query]);
        assert_ne!(done.code, Some(0), "{query}: {done:?}");
        assert!(!copy.exists(), "{query}");
    }
}

#[test]
fn what_only_takes_away_makes_no_ledger() {
    let case = Case::new();
    for args in [
        &["forget", "--before", "2026-01-01"][..],
        &["budget", "remove", "--per", "day"],
        &["milestone", "end", "m"],
    ] {
        let done = case.run(args);
        assert_eq!(done.code, Some(66), "{args:?}: {done:?}");
        assert!(!case.path("ledger.db").exists(), "{args:?}");
    }
}

#[test]
fn a_line_that_is_too_long_is_passed_on_whole_and_the_next_one_is_recorded() {
    let case = Case::new();
    let good = format!("{}\n", summary("r1", "s1", 0.25));
    let long = format!("{{\"a\":\"{}\"}}\n", "x".repeat(70 << 20));
    let input = format!("{long}{good}");
    let done = case.feed(&["record"], &input);
    assert_eq!(done.code, Some(65));
    assert!(
        done.out == input,
        "{} of {} bytes",
        done.out.len(),
        input.len()
    );
    assert!(done.err.contains("line 1: too long"), "{}", done.err);
    let runs = case.sql("SELECT count(*) AS n FROM runs");
    assert_eq!(runs, [json!({"n": 1})]);
}
