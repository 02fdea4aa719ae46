//! Ends of runs that other programs were tested with.

use super::{api_error, bare, check, error_of, exit, good, is, silent, success};
use cr_verdict::Category::{Logic, Network, RateLimit, Validation};
use cr_verdict::{Evidence, Outcome, ResultFacts};

#[test]
fn process_cases_hold() {
    let boom = Evidence {
        exit: Some(exit("exit", 3)),
        stderr: "boom bad model",
        ..silent()
    };
    let verdict = check("boom", &boom, is(Outcome::Failed, 1, Some(Logic), "retry"));
    assert!(verdict.incomplete);
    assert!(verdict.why.contains("boom bad model"));
    let warning = Evidence {
        stderr: "warning",
        ..silent()
    };
    check(
        "warning",
        &warning,
        is(Outcome::Incomplete, 6, Some(Network), "resume"),
    );
    let limited = Evidence {
        exit: Some(exit("exit", 1)),
        result: Some(api_error("API Error: 429 rate limit")),
        ..good()
    };
    check(
        "429",
        &limited,
        is(Outcome::RateLimited, 75, Some(RateLimit), "wait"),
    );
    let lingering = Evidence {
        exit: Some(exit("timeout", 143)),
        ..good()
    };
    let verdict = check(
        "lingering",
        &lingering,
        is(Outcome::Success, 0, None, "none"),
    );
    assert!(verdict.killed && !verdict.incomplete);
}

#[test]
fn terminal_events_are_judged_as_listed() {
    let turns = is(
        Outcome::LimitTurns,
        3,
        Some(Validation),
        "retry_with_more_turns",
    );
    let money = is(
        Outcome::LimitBudget,
        3,
        Some(Validation),
        "retry_with_more_budget",
    );
    let ok = is(Outcome::Success, 0, None, "none");
    let budget = ResultFacts {
        is_error: false,
        ..error_of("error_max_budget_usd", "")
    };
    let max_turns = ResultFacts {
        terminal_reason: Some("max_turns"),
        ..error_of("error_max_turns", "Reached maximum number of turns (1)")
    };
    let max_turns_2025 = ResultFacts {
        is_error: false,
        ..error_of("error_max_turns", "")
    };
    let bad_resume = error_of(
        "error_during_execution",
        "No conversation found with session ID: 99999999-2222-4333-8444-555555555555",
    );
    let without_text = ResultFacts {
        text: "",
        ..success()
    };
    let cases = [
        ("success", success(), ok),
        ("budget", budget, money),
        ("turns", max_turns, turns),
        ("turns, 2025", max_turns_2025, turns),
        (
            "bad resume",
            bad_resume,
            is(Outcome::Failed, 1, Some(Validation), "fix"),
        ),
        ("no result key", without_text, ok),
        (
            "success with is_error",
            api_error("API Error: something"),
            is(Outcome::Failed, 1, Some(Logic), "retry"),
        ),
    ];
    for (name, result, expected) in cases {
        check(name, &bare(result), expected);
    }
}
