//! `quota` and `budget`.

use serde_json::{Value, json};

use crate::case::Case;
use crate::record::summary;

const NOON: &str = "2026-11-18T12:00:00Z";

/// A run that reported a window of 5 hours, which ends at 14:00.
fn reported(run: &str, at: &str, used: f64) -> Value {
    let mut summary = summary(run, "s1", 0.25);
    summary["ended_at"] = json!(at);
    summary["quota"] = json!({"five_hour": {"used": used, "status": "allowed",
        "resets_at": "2026-11-18T14:00:00Z", "at": at}});
    summary
}

#[test]
fn an_account_without_windows_says_so() {
    let case = Case::new();
    case.record(&summary("r1", "s1", 0.25));
    let text = case.ok(&["quota"]).out;
    assert!(text.contains("with an API key there is none"), "{text}");
    let json = case.ok(&["quota", "--json"]).rows().remove(0);
    assert_eq!(json["windows"], Value::Null);
    assert!(json["why"].as_str().expect("text").contains("API key"));
}

#[test]
fn a_window_has_its_use_its_reset_its_rate_and_when_it_is_exhausted() {
    let case = Case::new();
    case.record(&reported("r1", "2026-11-18T10:00:00Z", 0.2));
    let quota =
        |at| case.ok(&["quota", "--json", "--at", at]).rows().remove(0)["windows"][0].clone();
    // One report: since the window began, at 9:00.
    let one = quota(NOON);
    assert_eq!(one["name"], "five_hour");
    assert_eq!(
        (&one["used"], &one["rate_per_hour"]),
        (&json!(0.2), &json!(0.2))
    );
    assert_eq!(
        (&one["rate_from"], &one["exhausted_at"]),
        (&json!("window"), &Value::Null)
    );
    // Two reports: between them.
    case.record(&reported("r2", "2026-11-18T11:00:00Z", 0.7));
    let two = quota(NOON);
    assert_eq!(
        (&two["used"], &two["rate_per_hour"]),
        (&json!(0.7), &json!(0.5))
    );
    assert_eq!(two["rate_from"], "reports");
    assert_eq!(two["exhausted_at"], "2026-11-18T11:36:00Z");
    assert_eq!(two["resets_at"], "2026-11-18T14:00:00Z");
    let text = case.ok(&["quota", "--at", NOON]).out;
    assert!(
        text.starts_with("five_hour: 70 % used (allowed), resets at "),
        "{text}"
    );
    assert!(text.contains("50.0 % an hour, exhausted at "), "{text}");
    // What was not reported yet does not count, and a window ends.
    assert_eq!(quota("2026-11-18T10:30:00Z")["used"], 0.2);
    let over = quota("2026-11-18T14:00:00Z");
    assert_eq!(
        (&over["used"], &over["status"]),
        (&Value::Null, &Value::Null)
    );
    let text = case.ok(&["quota", "--at", "2026-11-18T15:00:00Z"]).out;
    assert!(
        text.contains("it has ended since the last report"),
        "{text}"
    );
}

/// The decision for a run of 2.50 dollars and 1,100 tokens on 2026-11-18.
fn next(case: &Case, at: &str) -> (Option<i32>, Value) {
    let done = case.run(&["next", "--session", "s1", "--at", at]);
    (done.code, done.rows().remove(0))
}

fn spent() -> Value {
    let mut run = reported("r1", "2026-11-18T03:16:00Z", 0.6);
    run["cost_usd"] = json!(2.5);
    run["models"]["claude-sonnet-5-5"]["cost_usd"] = json!(2.5);
    run["models"]["claude-sonnet-5-5"]["cache_read"] = json!(1030);
    run
}

#[test]
fn each_kind_of_budget_stops_when_it_is_used_up_and_says_the_numbers() {
    let per: [&[&str]; 3] = [
        &["--per", "day"],
        &["--per", "project", "/home/dev/repo"],
        &["--per", "milestone", "login"],
    ];
    let limits = [
        ("--usd", "2.5", "2.6", "$2.50 of $2.50"),
        ("--tokens", "1100", "1101", "1100 of 1100 tokens"),
        (
            "--quota",
            "60",
            "61",
            "60 % of the window of 5 hours is used, the limit is 60 %",
        ),
    ];
    for whose in per {
        for (unit, limit, more, numbers) in limits {
            let case = Case::new();
            case.record(&spent());
            case.milestone("m1", "login", "s1", "active");
            let set = |limit| case.ok(&[&["budget", "set"], whose, &[unit, limit]].concat());
            set(more);
            let (code, decision) = next(&case, NOON);
            assert_eq!(
                (code, &decision["action"]),
                (Some(0), &json!("resume")),
                "{decision}"
            );
            assert_eq!(decision["budget"]["is_exhausted"], false);
            set(limit);
            let (code, decision) = next(&case, NOON);
            assert_eq!(
                (code, &decision["action"]),
                (Some(3), &json!("stop")),
                "{decision}"
            );
            let why = decision["why"].as_str().expect("text");
            assert!(why.contains(numbers), "{why}");
            assert_eq!(decision["budget"]["unit"], unit.trim_start_matches('-'));
            let shown = case.ok(&["budget", "show", "--at", NOON]).out;
            assert!(
                shown.contains(numbers) && shown.contains("exhausted"),
                "{shown}"
            );
            let removed = case.ok(&[&["budget", "remove"], whose].concat());
            assert_eq!(removed.out, "");
            assert_eq!(next(&case, NOON).1["budget"], Value::Null);
        }
    }
}

#[test]
fn a_budget_counts_only_what_it_is_for() {
    let case = Case::new();
    case.record(&spent());
    for whose in [
        &["--per", "project", "/home/dev/other"][..],
        &["--per", "project", "/home/dev/rep"],
        &["--per", "milestone", "login"],
    ] {
        case.ok(&[&["budget", "set"], whose, &["--usd", "1"]].concat());
    }
    case.ok(&["budget", "set", "--per", "day", "--usd", "1"]);
    // On the day after, and before the run.
    let (code, decision) = next(&case, "2026-11-20T12:00:00Z");
    assert_eq!(
        (code, &decision["action"]),
        (Some(0), &json!("resume")),
        "{decision}"
    );
    assert_eq!(decision["budget"]["used"], 0.0);
    assert_eq!(next(&case, NOON).0, Some(3));
    // A directory above counts.
    case.ok(&["budget", "remove", "--per", "day"]);
    case.ok(&[
        "budget",
        "set",
        "--per",
        "project",
        "/home/dev",
        "--usd",
        "2",
    ]);
    let (code, decision) = next(&case, "2026-11-20T12:00:00Z");
    assert_eq!(
        (code, &decision["budget"]["name"]),
        (Some(3), &json!("/home/dev"))
    );
}

#[test]
fn the_day_of_a_budget_is_a_local_one() {
    let case = Case::new();
    case.record(&spent());
    case.ok(&["budget", "set", "--per", "day", "--usd", "1"]);
    // 03:16 in UTC is the evening before in New York.
    for (zone, code) in [("UTC", 3), ("America/New_York", 0)] {
        let mut command = case.command(&["next", "--session", "s1", "--at", NOON]);
        command.env("TZ", zone);
        let done = crate::case::done(command, "");
        assert_eq!(done.code, Some(code), "{zone}: {done:?}");
    }
}

#[test]
fn a_budget_is_shown_changed_and_removed_by_its_unit() {
    let case = Case::new();
    case.record(&spent());
    case.ok(&[
        "budget", "set", "--per", "day", "--usd", "10", "--tokens", "5000",
    ]);
    case.ok(&["budget", "set", "--per", "day", "--usd", "20"]);
    let shown = case.ok(&["budget", "show", "--json", "--at", NOON]).rows();
    assert_eq!(shown.len(), 2, "{shown:?}");
    let usd = json!({"per": "day", "name": null, "unit": "usd", "limit": 20.0, "used": 2.5,
        "is_exhausted": false, "unpriced": 0});
    assert_eq!(shown[1], usd);
    case.ok(&["budget", "remove", "--per", "day", "--tokens"]);
    assert_eq!(case.ok(&["budget", "show", "--json"]).rows().len(), 1);
    let again = case.run(&["budget", "remove", "--per", "day", "--tokens"]);
    assert_eq!(again.code, Some(1), "{again:?}");
    assert!(again.err.contains("no such budget"), "{again:?}");
}

#[test]
fn a_budget_that_makes_no_sense_is_refused() {
    let case = Case::new();
    let wrong: [&[&str]; 8] = [
        &["--per", "day"],
        &["--per", "day", "x", "--usd", "1"],
        &["--per", "milestone", "--usd", "1"],
        &["--per", "week", "--usd", "1"],
        &["--per", "day", "--usd", "0"],
        &["--per", "day", "--usd", "NaN"],
        &["--per", "day", "--tokens", "0"],
        &["--per", "day", "--quota", "101"],
    ];
    for args in wrong {
        let done = case.run(&[&["budget", "set"], args].concat());
        assert_eq!(done.code, Some(2), "{args:?}: {done:?}");
    }
    assert!(!case.path("ledger.db").exists());
}
