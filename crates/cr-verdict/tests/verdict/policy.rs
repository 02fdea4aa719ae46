//! The next action after each kind of end.

use std::time::Duration;

use cr_verdict::Outcome;
use cr_verdict::policy::{
    Action, Attempt, Clock, Decision, Limits, RanOut, RetryOptions, Settings, next,
};
use jiff::{Timestamp, ToSpan};

pub(crate) const LIMITS: Limits = Limits {
    budget_usd: Some(2.0),
    max_turns: Some(10),
    timeout: Some(Duration::from_mins(10)),
    startup: None,
    idle: None,
    tool: None,
    turn: None,
};

fn noon() -> Timestamp {
    "2026-11-18T12:00:00Z".parse().expect("a timestamp")
}

pub(crate) fn ended(outcome: Outcome) -> Attempt {
    Attempt {
        outcome,
        category: None,
        advice: "none",
        ran_out: None,
        limits: LIMITS,
        ended_at: noon(),
        retry_at: None,
        can_resume: true,
        resumed: false,
        session_missing: false,
        error: "it broke".to_owned(),
    }
}

fn after(outcome: Outcome) -> Decision {
    next(&ended(outcome), &[], &Settings::default())
}

pub(crate) fn retry(decision: Decision) -> RetryOptions {
    match decision.action {
        Action::Retry(again) => again,
        other => panic!("{other:?}: {}", decision.reason),
    }
}

#[test]
fn what_cannot_be_helped_by_trying_ends_at_once() {
    let cases = [
        (Outcome::Success, Action::Done),
        (Outcome::Auth, Action::StopAll),
        (Outcome::Billing, Action::StopAll),
        (Outcome::Interrupted, Action::StopAll),
        (Outcome::NeedsInput, Action::NeedsHuman),
        (Outcome::SpawnFailed, Action::GiveUp),
    ];
    for (outcome, action) in cases {
        let decision = after(outcome);
        assert_eq!(decision.action, action, "{outcome:?}");
        assert!(!decision.reason.is_empty());
    }
}

#[test]
fn each_kind_of_failure_is_retried_with_what_was_missing() {
    type Change = fn(&mut RetryOptions);
    let cases: [(Outcome, Change); 11] = [
        (Outcome::LimitTurns, |a| {
            a.limits.max_turns = Some(20);
            a.resume = true;
        }),
        (Outcome::LimitBudget, |a| {
            a.limits.budget_usd = Some(3.0);
            a.resume = true;
        }),
        (Outcome::Timeout, |a| {
            a.limits.timeout = Some(Duration::from_mins(20));
        }),
        (Outcome::Killed, |a| a.resume = true),
        (Outcome::Incomplete, |a| a.resume = true),
        (Outcome::Failed, |_| {}),
        (Outcome::NoAnswer, |_| {}),
        (Outcome::VerifyFailed, |_| {}),
        (Outcome::NoCommit, |_| {}),
        (Outcome::ScopeViolation, |_| {}),
        (Outcome::Looping, |_| {}),
    ];
    for (outcome, change) in cases {
        let mut expected = RetryOptions {
            limits: LIMITS,
            error_context: Some("it broke".to_owned()),
            ..RetryOptions::default()
        };
        change(&mut expected);
        assert_eq!(retry(after(outcome)), expected, "{outcome:?}");
    }
}

#[test]
fn every_outcome_has_a_decision_with_a_reason() {
    for outcome in Outcome::ALL {
        assert!(!after(outcome).reason.is_empty(), "{outcome:?}");
        assert_eq!(Outcome::parse(outcome.as_str()), Some(outcome));
    }
}

/// An attempt that has reached its limit of `turns`.
fn out_of_turns(turns: u64) -> Attempt {
    let mut attempt = ended(Outcome::LimitTurns);
    attempt.limits.max_turns = Some(turns);
    attempt
}

#[test]
fn a_limit_of_turns_is_doubled_up_to_the_maximum_unless_it_is_above_that() {
    // (the maximum, the limit, the next)
    let cases = [
        (30, 5, 10),
        (30, 10, 20),
        (30, 15, 30),
        (30, 20, 30),
        (30, 30, 30),
        (30, 31, 62),
        (30, 100, 200),
        (150, 50, 100),
        (150, 100, 150),
        (10, 20, 40),
    ];
    for (turns_max, limit, expected) in cases {
        let settings = Settings {
            turns_max,
            ..Settings::default()
        };
        let again = retry(next(&out_of_turns(limit), &[], &settings));
        assert_eq!(
            again.limits.max_turns,
            Some(expected),
            "{turns_max} {limit}"
        );
        assert!(again.resume, "{turns_max} {limit}");
    }
}

#[test]
fn a_limit_of_turns_is_raised_once() {
    let many = Settings {
        retries: 9,
        ..Settings::default()
    };
    let failed = ended(Outcome::Failed);
    for earlier in [
        vec![out_of_turns(10)],
        vec![out_of_turns(10), failed.clone()],
        vec![failed.clone(), out_of_turns(10)],
    ] {
        let decision = next(&out_of_turns(20), &earlier, &many);
        assert_eq!(decision.action, Action::GiveUp);
        let reason = "the limit of turns, 20, was reached again; it is raised once";
        assert_eq!(decision.reason, reason);
    }
    let again = retry(next(&out_of_turns(10), &[failed], &many));
    assert_eq!(again.limits.max_turns, Some(20), "a first time");
}

#[test]
fn the_highest_limit_of_turns_is_given_again_only_to_a_session() {
    let mut attempt = out_of_turns(30);
    attempt.can_resume = false;
    let decision = next(&attempt, &[], &Settings::default());
    assert_eq!(decision.action, Action::GiveUp);
    assert_eq!(decision.reason, "the limit of turns is at its maximum, 30");
}

#[test]
fn a_limit_that_nobody_set_is_not_raised() {
    for outcome in [Outcome::LimitTurns, Outcome::LimitBudget] {
        let mut attempt = ended(outcome);
        attempt.limits = Limits::default();
        let decision = next(&attempt, &[], &Settings::default());
        assert_eq!(decision.action, Action::GiveUp, "{outcome:?}");
    }
}

#[test]
fn what_was_cut_off_is_resumed_once_and_only_if_it_can_be() {
    for outcome in [Outcome::Killed, Outcome::Incomplete] {
        let mut without = ended(outcome);
        without.can_resume = false;
        assert!(!retry(next(&without, &[], &Settings::default())).resume);

        let mut resumed = ended(outcome);
        resumed.resumed = true;
        let again = retry(next(&resumed, &[ended(outcome)], &Settings::default()));
        assert!(!again.resume, "{outcome:?}");
        assert_eq!(again.error_context.as_deref(), Some("it broke"));
    }
}

#[test]
fn w5_retries_are_counted_and_waits_are_not() {
    let failed = || ended(Outcome::Failed);
    let waits = [Outcome::RateLimited, Outcome::Overloaded, Outcome::Network].map(ended);
    let mut earlier = vec![failed()];
    earlier.extend(waits);
    let settings = Settings::default();
    assert!(matches!(
        next(&failed(), &earlier, &settings).action,
        Action::Retry(_)
    ));
    earlier.push(failed());
    let last = next(&failed(), &earlier, &settings);
    assert_eq!(last.action, Action::GiveUp);
    assert_eq!(last.reason, "failed after 3 attempts");
    let none = Settings {
        retries: 0,
        ..settings
    };
    let only = next(&failed(), &[], &none);
    assert_eq!(only.action, Action::GiveUp);
    assert_eq!(only.reason, "failed after 1 attempt");
}

#[test]
fn a_rate_limit_holds_everything_until_a_moment_after_its_reset() {
    let at = |text: &str| text.parse::<Timestamp>().expect("a timestamp");
    let mut limited = ended(Outcome::RateLimited);
    let mut settings = Settings::default();
    // (resets at, the longest wait in hours, goes on at)
    let cases = [
        (Some("15:00:00"), None, Ok("15:01:00")),
        (Some("15:00:00"), Some(4), Ok("15:01:00")),
        (Some("15:00:00"), Some(3), Err("15:01:00")),
        // A short wait is at most doubled.
        (Some("12:00:04"), None, Ok("12:00:08")),
        (Some("12:00:59"), None, Ok("12:01:58")),
        (Some("12:02:00"), None, Ok("12:03:00")),
        // After a reset in the past there is only the usual pause.
        (Some("11:59:50"), None, Ok("12:00:01")),
        (Some("11:00:00"), Some(1), Ok("12:00:01")),
        (None, None, Ok("12:15:00")),
    ];
    for (resets, longest, expected) in cases {
        limited.retry_at = resets.map(|time| at(&format!("2026-11-18T{time}Z")));
        settings.max_wait = longest.map(|hours| Duration::from_secs(hours * 3600));
        let action = next(&limited, &[], &settings).action;
        let moment = |time| at(&format!("2026-11-18T{time}Z"));
        match (action, expected) {
            (Action::Wait { until, again }, Ok(time)) => {
                assert_eq!(until, moment(time), "{resets:?}");
                assert!(again.resume && again.error_context.is_none());
                assert_eq!(again.limits, LIMITS);
            }
            (Action::Later { until }, Err(time)) => assert_eq!(until, moment(time)),
            (action, _) => panic!("{resets:?} {longest:?}: {action:?}"),
        }
    }
}

#[test]
fn an_overloaded_service_is_asked_again_for_twenty_minutes() {
    for outcome in [Outcome::Overloaded, Outcome::Network] {
        let mut earlier = Vec::new();
        let settings = Settings {
            retries: 0,
            ..Settings::default()
        };
        for seconds in [1, 5, 30, 30] {
            let again = retry(next(&ended(outcome), &earlier, &settings));
            assert_eq!(again.after, Duration::from_secs(seconds), "{outcome:?}");
            assert!(again.resume);
            earlier.push(ended(outcome));
        }
        let mut last = ended(outcome);
        last.ended_at = noon() + 19.minutes() + 30.seconds();
        retry(next(&last, &earlier, &settings));
        last.ended_at = noon() + 19.minutes() + 31.seconds();
        assert_eq!(next(&last, &earlier, &settings).action, Action::GiveUp);
        // Another ending between them starts the count anew.
        earlier.push(ended(Outcome::Failed));
        assert_eq!(
            retry(next(&last, &earlier, &settings)).after,
            Duration::from_secs(1)
        );
    }
}

#[test]
fn jitter_adds_up_to_a_tenth() {
    for (jitter, ms) in [(0.0, 1000), (0.5, 1050), (1.0, 1100), (7.0, 1100)] {
        let settings = Settings {
            jitter,
            ..Settings::default()
        };
        let again = retry(next(&ended(Outcome::Overloaded), &[], &settings));
        assert_eq!(again.after, Duration::from_millis(ms));
    }
}

#[test]
fn a_full_context_is_followed_by_a_new_session() {
    let Action::FreshSession(again) = after(Outcome::ContextExhausted).action else {
        panic!("no new session");
    };
    assert!(!again.resume);
}

#[test]
fn an_error_is_handed_on_up_to_a_length() {
    let mut attempt = ended(Outcome::Failed);
    attempt.error = "é".repeat(9000);
    let again = retry(next(&attempt, &[], &Settings::default()));
    assert_eq!(again.error_context.expect("an error").chars().count(), 4000);
    attempt.error = " \n".to_owned();
    let again = retry(next(&attempt, &[], &Settings::default()));
    assert_eq!(again.error_context, None);
}

#[test]
fn the_clock_that_ran_out_gets_twice_the_time_and_the_others_keep_theirs() {
    let secs = Duration::from_secs;
    // (the clock, what it stood at, what a task says of it, the next)
    let cases = [
        (Clock::Timeout, Some(600), None, Some(1200)),
        (Clock::Timeout, None, None, Some(1200)),
        (Clock::Idle, Some(900), None, Some(1800)),
        (Clock::Idle, Some(900), Some(900), Some(1800)),
        (Clock::Idle, None, Some(900), Some(1800)),
        (Clock::Idle, None, None, None),
        (Clock::Startup, Some(120), None, Some(240)),
        (Clock::Tool, Some(3600), None, Some(7200)),
        (Clock::Turn, Some(60), None, Some(120)),
    ];
    for (clock, stood_at, said, expected) in cases {
        let mut attempt = ended(Outcome::Timeout);
        if said.is_some() {
            attempt.limits = LIMITS.with(clock, said.map(secs));
        }
        let limit = stood_at.map(secs);
        attempt.ran_out = Some(RanOut { clock, limit });
        let decision = next(&attempt, &[], &Settings::default());
        let reason = decision.reason.clone();
        let time = expected.map(secs).or(attempt.limits.of(clock));
        let limits = attempt.limits.with(clock, time);
        assert_eq!(retry(decision).limits, limits, "{clock:?}");
        let is_longer = clock != Clock::Timeout && expected.is_some_and(|time| time >= 600);
        assert_eq!(
            reason.ends_with("; --timeout stays at 600s"),
            is_longer,
            "{clock:?}: {reason}"
        );
    }
}

#[test]
fn a_session_that_was_not_saved_costs_no_attempt() {
    let killed = ended(Outcome::Killed);
    let mut refused = ended(Outcome::Failed);
    refused.advice = "fix";
    refused.resumed = true;
    refused.session_missing = true;
    refused.can_resume = false;
    "no conversation found".clone_into(&mut refused.error);
    let once = Settings {
        retries: 1,
        ..Settings::default()
    };
    let again = retry(next(&refused, std::slice::from_ref(&killed), &once));
    assert!(!again.resume);
    assert_eq!(again.error_context.as_deref(), Some("it broke"));
    // It is not resumed for ever.
    let decision = next(&killed, &[killed.clone(), refused], &once);
    assert_eq!(decision.action, Action::GiveUp);
}
