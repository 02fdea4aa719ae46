//! The ends of runs of the real agent, as its fields report them.

use super::{bare, check, error_of, is, success};
use cr_verdict::Category::{Logic, Network, RateLimit, Validation};
use cr_verdict::{Evidence, Outcome, ResultFacts, judge};
use cr_verdict::{Finding, RateLimit as Window};

/// The fields of a failed request, with a text that says nothing.
fn request<'a>(
    assistant_error: &'a str,
    api_error: Option<&'a str>,
    status: Option<u64>,
) -> Evidence<'a> {
    Evidence {
        assistant_error: Some(assistant_error),
        ..bare(ResultFacts {
            is_error: true,
            terminal_reason: Some("api_error"),
            api_error,
            api_error_status: status,
            text: "",
            ..success()
        })
    }
}

#[test]
fn structured_fields_suffice() {
    let wait = |outcome, category| is(outcome, 75, Some(category), "wait");
    let stop = |outcome| is(outcome, 77, Some(Validation), "stop");
    let fix = is(Outcome::Failed, 1, Some(Validation), "fix");
    let cases = [
        (
            "server_error",
            Some("connection_failed"),
            None,
            wait(Outcome::Network, Network),
        ),
        ("unknown", Some("invalid_request_error"), Some(400), fix),
        (
            "billing_error",
            Some("invalid_request_error"),
            Some(400),
            stop(Outcome::Billing),
        ),
        (
            "authentication_failed",
            Some("authentication_error"),
            Some(401),
            stop(Outcome::Auth),
        ),
        (
            "authentication_failed",
            Some("permission_error"),
            Some(403),
            stop(Outcome::Auth),
        ),
        ("model_not_found", Some("not_found_error"), Some(404), fix),
        (
            "rate_limit",
            Some("rate_limit_error"),
            Some(429),
            wait(Outcome::RateLimited, RateLimit),
        ),
        (
            "server_error",
            Some("api_error"),
            Some(500),
            wait(Outcome::Overloaded, Network),
        ),
        (
            "server_error",
            Some("overloaded_error"),
            Some(529),
            wait(Outcome::Overloaded, RateLimit),
        ),
        (
            "server_error",
            None,
            None,
            wait(Outcome::Overloaded, Network),
        ),
        ("authentication_failed", None, None, stop(Outcome::Auth)),
        (
            "unknown",
            None,
            None,
            is(Outcome::Failed, 1, Some(Logic), "retry"),
        ),
        (
            "kind_of_next_year",
            Some("neither"),
            None,
            is(Outcome::Failed, 1, Some(Logic), "retry"),
        ),
    ];
    for (assistant, api, status, expected) in cases {
        let name = format!("{assistant} {api:?} {status:?}");
        check(&name, &request(assistant, api, status), expected);
    }
}

#[test]
fn structured_fields_outrank_the_text() {
    let mut evidence = request("authentication_failed", None, Some(401));
    if let Some(result) = &mut evidence.result {
        result.text = "rate limit, overloaded, ECONNREFUSED";
    }
    check(
        "auth",
        &evidence,
        is(Outcome::Auth, 77, Some(Validation), "stop"),
    );
}

#[test]
fn a_conversation_that_is_too_long_is_known_by_its_reason() {
    for terminal_reason in ["prompt_too_long", "blocking_limit", "rapid_refill_breaker"] {
        for is_error in [true, false] {
            let evidence = bare(ResultFacts {
                is_error,
                terminal_reason: Some(terminal_reason),
                ..success()
            });
            let expected = is(
                Outcome::ContextExhausted,
                76,
                Some(Validation),
                "fresh_session",
            );
            check(terminal_reason, &evidence, expected);
        }
    }
}

#[test]
fn older_agents_have_only_a_status_and_a_text() {
    let old = |status, text| {
        bare(ResultFacts {
            is_error: true,
            api_error_status: status,
            text,
            ..success()
        })
    };
    let fix = is(Outcome::Failed, 1, Some(Validation), "fix");
    check("400", &old(Some(400), "API Error: 400 messages: bad"), fix);
    let unpaid = old(Some(400), "Credit balance is too low");
    check(
        "unpaid",
        &unpaid,
        is(Outcome::Billing, 77, Some(Validation), "stop"),
    );
    let long = old(
        Some(400),
        "prompt is too long: 210000 tokens > 200000 maximum",
    );
    let expected = is(
        Outcome::ContextExhausted,
        76,
        Some(Validation),
        "fresh_session",
    );
    check("long", &long, expected);
}

#[test]
fn the_event_says_when_a_limit_is_lifted_before_the_text_does() {
    let at = "2026-11-19T03:06:40Z".parse().ok();
    let limited = Evidence {
        rate_limit: Some(Window {
            rejected: true,
            resets_at: at,
        }),
        ..bare(ResultFacts {
            is_error: true,
            text: "You've hit your limit · resets 12pm (America/Phoenix)",
            ..success()
        })
    };
    let expected = is(Outcome::RateLimited, 75, Some(RateLimit), "wait");
    let verdict = check("event", &limited, expected);
    assert_eq!(verdict.retry.at, at);
    assert!(
        verdict.next.contains("2026-11-19 03:06 UTC"),
        "{}",
        verdict.next
    );

    // A window that still admits requests is not the one that was hit.
    let warned = Evidence {
        rate_limit: Some(Window {
            rejected: false,
            resets_at: at,
        }),
        ..limited.clone()
    };
    let verdict = check("text", &warned, expected);
    assert_eq!(verdict.retry.at, "2026-11-18T19:00:00Z".parse().ok());

    let unsaid = Evidence {
        now: None,
        ..warned
    };
    assert_eq!(check("no clock", &unsaid, expected).retry.at, None);
}

#[test]
fn a_rejected_window_explains_an_error_that_nothing_else_does() {
    let evidence = Evidence {
        rate_limit: Some(Window {
            rejected: true,
            resets_at: None,
        }),
        ..request("unknown", None, None)
    };
    check(
        "rejected",
        &evidence,
        is(Outcome::RateLimited, 75, Some(RateLimit), "wait"),
    );
    // With a good result it does not matter: the run went on elsewhere.
    let evidence = Evidence {
        result: Some(success()),
        assistant_error: None,
        ..evidence
    };
    check("went on", &evidence, is(Outcome::Success, 0, None, "none"));
}

#[test]
fn any_field_that_means_failure_is_enough() {
    let quiet = ResultFacts {
        is_error: false,
        ..success()
    };
    let failed = is(Outcome::Failed, 1, Some(Logic), "retry");
    let subtype = ResultFacts {
        subtype: "error_during_execution",
        ..quiet
    };
    check("subtype", &bare(subtype), failed);
    let reason = ResultFacts {
        terminal_reason: Some("model_error"),
        ..quiet
    };
    check("reason", &bare(reason), failed);
    let status = ResultFacts {
        api_error_status: Some(529),
        ..quiet
    };
    let expected = is(Outcome::Overloaded, 75, Some(RateLimit), "wait");
    check("status", &bare(status), expected);
    let turns = ResultFacts {
        terminal_reason: Some("max_turns"),
        ..quiet
    };
    let expected = is(
        Outcome::LimitTurns,
        3,
        Some(Validation),
        "retry_with_more_turns",
    );
    check("turns", &bare(turns), expected);
    let money = ResultFacts {
        terminal_reason: Some("budget_exhausted"),
        ..quiet
    };
    let expected = is(
        Outcome::LimitBudget,
        3,
        Some(Validation),
        "retry_with_more_budget",
    );
    check("money", &bare(money), expected);
}

#[test]
fn a_schema_that_was_never_met_is_worth_a_retry() {
    let never = bare(error_of("error_max_structured_output_retries", ""));
    check(
        "retries",
        &never,
        is(Outcome::Failed, 1, Some(Validation), "retry"),
    );
}

#[test]
fn agent_text_cannot_break_out_of_its_sentence() {
    let nasty = "\n\n\u{1b}[2J\u{202e}evil\u{2028}line\rtwo\u{0}\t… and so on ".repeat(40);
    let verdict = judge(&bare(error_of("error_during_execution", &nasty)));
    assert!(verdict.why.chars().count() <= 200, "{}", verdict.why);
    assert!(!verdict.why.contains(char::is_control), "{:?}", verdict.why);
    assert!(
        !verdict.why.contains(['\u{202e}', '\u{2028}']),
        "{:?}",
        verdict.why
    );
    assert!(verdict.why.contains("evil"), "{}", verdict.why);
}

#[test]
fn findings_do_not_excuse_an_error() {
    let evidence = Evidence {
        verification: Some(Finding::NoCommit),
        ..bare(error_of("error_max_turns", ""))
    };
    let expected = is(
        Outcome::LimitTurns,
        3,
        Some(Validation),
        "retry_with_more_turns",
    );
    check("limit first", &evidence, expected);
}
