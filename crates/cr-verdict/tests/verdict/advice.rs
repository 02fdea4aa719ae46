//! From the verdict to the next action.

use std::time::Duration;

use cr_verdict::policy::{Action, Attempt, Decision, Settings, next};
use cr_verdict::{Category, Evidence, Finding, Outcome, judge};

use super::policy::{LIMITS, ended, retry};
use super::{exit, good, silent};

type Expected<'a> = &'a dyn Fn(&Decision) -> bool;

#[test]
fn a_failure_without_a_result_is_followed_by_what_standard_error_says() {
    let stop = |decision: &Decision| decision.action == Action::StopAll;
    let waits = |decision: &Decision| matches!(decision.action, Action::Wait { .. });
    let pauses = |decision: &Decision| match &decision.action {
        Action::Retry(again) => again.after == Duration::from_secs(1),
        _ => false,
    };
    let fresh = |decision: &Decision| matches!(decision.action, Action::FreshSession(_));
    let give_up = |decision: &Decision| decision.action == Action::GiveUp;
    let again = |decision: &Decision| match &decision.action {
        Action::Retry(again) => again.error_context.is_some() && again.after.is_zero(),
        _ => false,
    };
    let cases: [(&str, Expected<'_>); 8] = [
        ("Invalid API key · Please run /login", &stop),
        ("Credit balance is too low", &stop),
        ("Error: 429 rate limit", &waits),
        ("fetch failed", &pauses),
        ("the request timed out", &pauses),
        ("Prompt is too long", &fresh),
        ("error: unknown option '--no-such-flag'", &give_up),
        ("boom", &again),
    ];
    for (stderr, expected) in cases {
        let verdict = judge(&Evidence {
            exit: Some(exit("exit", 1)),
            stderr,
            ..silent()
        });
        let attempt = Attempt {
            outcome: verdict.outcome,
            category: verdict.category,
            advice: verdict.retry.action,
            ..ended(Outcome::Failed)
        };
        let decision = next(&attempt, &[], &Settings::default());
        assert!(expected(&decision), "{stderr}: {decision:?}");
    }
}

#[test]
fn a_refused_request_is_made_again_only_if_the_one_before_it_was_another() {
    let refused = || Attempt {
        advice: "fix",
        category: Some(Category::Validation),
        ..ended(Outcome::Failed)
    };
    let settings = Settings::default();
    let after = |earlier: &[Attempt]| next(&refused(), earlier, &settings).action;
    assert_eq!(after(&[]), Action::GiveUp);
    assert_eq!(after(&[refused()]), Action::GiveUp);
    let resumed = after(&[ended(Outcome::Killed)]);
    assert!(matches!(resumed, Action::Retry(again) if !again.resume));
}

/// The table of a protocol for headless runs that was there before ours: what it
/// detects, and what it does then.
#[test]
fn the_error_table_of_old_holds() {
    let found = |finding| {
        let evidence = Evidence {
            verification: Some(finding),
            ..good()
        };
        ended(judge(&evidence).outcome)
    };
    let with = |outcome, advice| Attempt {
        advice,
        ..ended(outcome)
    };
    let budget = with(Outcome::LimitBudget, "retry_with_more_budget");
    let time = with(Outcome::Timeout, "retry_with_more_time");
    // (error, attempt, a higher budget, a longer time)
    let cases = [
        ("budget exceeded", budget, true, false),
        ("timeout", time, false, true),
        (
            "verification failed",
            found(Finding::VerifyFailed),
            false,
            false,
        ),
        ("no commit", found(Finding::NoCommit), false, false),
        (
            "scope violation",
            found(Finding::ScopeViolation),
            false,
            false,
        ),
        (
            "process crash",
            with(Outcome::Failed, "retry"),
            false,
            false,
        ),
        ("looping", found(Finding::Looping), false, false),
    ];
    for (name, attempt, budget, time) in cases {
        let again = retry(next(&attempt, &[], &Settings::default()));
        assert_eq!(
            again.limits.budget_usd > LIMITS.budget_usd,
            budget,
            "{name}"
        );
        assert_eq!(again.limits.timeout > LIMITS.timeout, time, "{name}");
        assert!(again.error_context.is_some(), "{name}");
        // What was only stopped by a limit of its own goes on.
        let is_limit = attempt.outcome == Outcome::LimitBudget;
        assert_eq!(again.resume, is_limit, "{name}");
    }
}
