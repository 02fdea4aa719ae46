//! The table of verdicts, row by row, each with its border to the next.

use super::{api_error, bare, check, error_of, exit, good, is, signal, silent, success};
use cr_verdict::Category::{Logic, Network, RateLimit, Timeout, Validation};
use cr_verdict::{Evidence, ExitFacts, Finding, Outcome, ResultFacts, judge};

fn interrupted(by: Option<i32>) -> ExitFacts<'static> {
    ExitFacts {
        interrupted_by: by,
        ..exit("interrupted", 143)
    }
}

fn aborted() -> ResultFacts<'static> {
    ResultFacts {
        terminal_reason: Some("aborted_tools"),
        ..error_of(
            "error_during_execution",
            "[ede_diagnostic] result_type=user",
        )
    }
}

#[test]
fn what_could_not_start_is_spawn_failed() {
    for (code, said) in [
        (125, "could not be started"),
        (126, "cannot be executed"),
        (127, "not found"),
    ] {
        let evidence = Evidence {
            exit: Some(ExitFacts {
                reason: "spawn_failed",
                spawn_code: Some(code),
                ..ExitFacts::default()
            }),
            ..silent()
        };
        let expected = is(Outcome::SpawnFailed, code, Some(Validation), "fix");
        let verdict = check("spawn", &evidence, expected);
        assert!(verdict.why.contains(said), "{}", verdict.why);
        assert!(verdict.incomplete && !verdict.killed);
    }
    let unnamed = Evidence {
        exit: Some(ExitFacts {
            reason: "spawn_failed",
            ..ExitFacts::default()
        }),
        ..silent()
    };
    check(
        "no code",
        &unnamed,
        is(Outcome::SpawnFailed, 125, Some(Validation), "fix"),
    );
}

#[test]
fn a_stop_from_outside_is_interrupted_even_after_a_good_result() {
    for (by, code) in [(Some(2), 130), (Some(15), 143), (Some(1), 129), (None, 130)] {
        for result in [
            None,
            Some(success()),
            Some(aborted()),
            Some(api_error("429")),
        ] {
            let evidence = Evidence {
                exit: Some(interrupted(by)),
                result,
                ..good()
            };
            let verdict = check(
                "stopped",
                &evidence,
                is(Outcome::Interrupted, code, None, "none"),
            );
            assert!(verdict.killed);
            assert_eq!(verdict.incomplete, result.is_none());
        }
    }
}

#[test]
fn an_agent_that_ends_with_0_after_sigint_is_no_success() {
    let expected = is(Outcome::Interrupted, 130, None, "none");
    for terminal_reason in ["aborted_tools", "aborted_streaming"] {
        let result = ResultFacts {
            terminal_reason: Some(terminal_reason),
            ..aborted()
        };
        check("bare", &bare(result), expected);
        for code in [0, 1] {
            let evidence = Evidence {
                result: Some(result),
                exit: Some(exit("exit", code)),
                ..good()
            };
            check("supervised", &evidence, expected);
        }
    }
}

#[test]
fn a_reader_that_left_interrupts_unless_there_is_a_result() {
    let left = |result| Evidence {
        exit: Some(exit("stdout_closed", 143)),
        result,
        ..good()
    };
    check(
        "before",
        &left(None),
        is(Outcome::Interrupted, 141, None, "none"),
    );
    check(
        "after",
        &left(Some(success())),
        is(Outcome::Success, 0, None, "none"),
    );
}

#[test]
fn a_clock_before_a_result_is_a_timeout() {
    let expected = is(Outcome::Timeout, 124, Some(Timeout), "retry_with_more_time");
    for reason in ["timeout", "idle", "startup", "tool", "turn"] {
        for end in [exit(reason, 143), signal(reason, 9)] {
            let evidence = Evidence {
                exit: Some(end),
                ..silent()
            };
            let verdict = check(reason, &evidence, expected);
            assert!(verdict.killed && verdict.incomplete);
            assert!(verdict.next.contains("timeout"), "{}", verdict.next);
        }
    }
    // The turn that a clock cut off leaves a result, which is no answer.
    let cut = Evidence {
        exit: Some(exit("turn", 0)),
        result: Some(aborted()),
        ..good()
    };
    check("aborted by the clock", &cut, expected);
}

#[test]
fn a_result_keeps_its_verdict_when_a_clock_ends_the_run_after_it() {
    for reason in [
        "post_result",
        "timeout",
        "idle",
        "tool",
        "turn",
        "guardian_died",
    ] {
        for end in [exit(reason, 143), signal(reason, 9)] {
            let evidence = Evidence {
                exit: Some(end),
                ..good()
            };
            let verdict = check(reason, &evidence, is(Outcome::Success, 0, None, "none"));
            assert!(verdict.killed && !verdict.incomplete);
            let limited = Evidence {
                result: Some(error_of("error_max_turns", "")),
                ..evidence
            };
            let expected = is(
                Outcome::LimitTurns,
                3,
                Some(Validation),
                "retry_with_more_turns",
            );
            check(reason, &limited, expected);
        }
    }
}

#[test]
fn a_limit_is_a_limit_whatever_is_error_says() {
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
    for (subtype, expected) in [("error_max_turns", turns), ("error_max_budget_usd", money)] {
        for is_error in [true, false] {
            let result = ResultFacts {
                is_error,
                ..error_of(subtype, "")
            };
            check(subtype, &bare(result), expected);
            for code in [0, 1] {
                let evidence = Evidence {
                    result: Some(result),
                    exit: Some(exit("exit", code)),
                    ..good()
                };
                check(subtype, &evidence, expected);
            }
        }
    }
    let named = judge(&bare(error_of(
        "error_max_turns",
        "Reached maximum number of turns (2)",
    )));
    assert_eq!(named.why, "The run reached its limit of turns (2).");
    let named = judge(&bare(error_of(
        "error_max_budget_usd",
        "Reached maximum budget ($0.01)",
    )));
    assert_eq!(named.why, "The run reached its limit of money ($0.01).");
}

#[test]
fn an_error_result_is_judged_by_its_kind() {
    let wait = |outcome, category| is(outcome, 75, Some(category), "wait");
    let stop = |outcome| is(outcome, 77, Some(Validation), "stop");
    let cases = [
        (
            "API Error: Request rejected (429) · slow down",
            wait(Outcome::RateLimited, RateLimit),
        ),
        (
            "API Error: 529 Overloaded.",
            wait(Outcome::Overloaded, RateLimit),
        ),
        (
            "API Error: 500 Internal server error.",
            wait(Outcome::Overloaded, Network),
        ),
        (
            "API Error: Connection refused (ECONNREFUSED)",
            wait(Outcome::Network, Network),
        ),
        (
            "API Error: Request timed out.",
            wait(Outcome::Network, Timeout),
        ),
        (
            "Prompt is too long",
            is(
                Outcome::ContextExhausted,
                76,
                Some(Validation),
                "fresh_session",
            ),
        ),
        (
            "Invalid API key · Fix external API key",
            stop(Outcome::Auth),
        ),
        ("Credit balance is too low", stop(Outcome::Billing)),
        (
            "API Error: 400 messages: bad",
            is(Outcome::Failed, 1, Some(Validation), "fix"),
        ),
        (
            "Something went wrong",
            is(Outcome::Failed, 1, Some(Logic), "retry"),
        ),
    ];
    for (text, expected) in cases {
        check(text, &bare(api_error(text)), expected);
        // An error outranks what its run did afterwards.
        for end in [
            exit("exit", 1),
            signal("signal", 9),
            exit("post_result", 143),
        ] {
            let evidence = Evidence {
                exit: Some(end),
                schema_missed: true,
                last_call_denied: true,
                verification: Some(Finding::NoCommit),
                result: Some(api_error(text)),
                ..good()
            };
            check(text, &evidence, expected);
        }
    }
}

#[test]
fn a_death_by_a_signal_is_not_hidden_by_a_good_result() {
    for (number, code) in [(9, 137), (15, 143), (11, 139), (34, 162)] {
        let evidence = Evidence {
            exit: Some(signal("signal", number)),
            ..silent()
        };
        let expected = is(Outcome::Killed, code, Some(Logic), "resume");
        let verdict = check("no result", &evidence, expected);
        assert!(verdict.killed && verdict.incomplete);
        let evidence = Evidence {
            result: Some(success()),
            ..evidence
        };
        let verdict = check("good result", &evidence, expected);
        assert!(verdict.killed && !verdict.incomplete);
    }
}

#[test]
fn a_code_of_128_and_more_is_a_signal_that_the_agent_caught() {
    for code in [129, 143] {
        let evidence = Evidence {
            exit: Some(exit("exit", i32::from(code))),
            ..silent()
        };
        check(
            "caught",
            &evidence,
            is(Outcome::Killed, code, Some(Logic), "resume"),
        );
    }
}

#[test]
fn without_a_result_the_code_fails_and_stderr_says_how() {
    let cases = [
        ("", Logic, "retry"),
        ("boom bad model", Logic, "retry"),
        ("Error: 429 rate limit", RateLimit, "wait"),
        ("fetch failed", Network, "wait"),
        ("the request timed out", Timeout, "retry_with_more_time"),
        ("error: unknown option '--no-such-flag'", Validation, "fix"),
        (
            "Error: Invalid session ID. Must be a valid UUID.",
            Validation,
            "fix",
        ),
        ("Invalid API key · Please run /login", Validation, "stop"),
        ("Prompt is too long", Validation, "fresh_session"),
    ];
    for (stderr, category, action) in cases {
        let evidence = Evidence {
            exit: Some(exit("exit", 3)),
            stderr,
            ..silent()
        };
        let expected = is(Outcome::Failed, 1, Some(category), action);
        let verdict = check(stderr, &evidence, expected);
        assert!(verdict.incomplete && !verdict.killed);
        assert!(verdict.why.contains("code 3"), "{}", verdict.why);
    }
}

#[test]
fn the_reason_is_looked_for_behind_the_warnings() {
    let why = |stderr| {
        judge(&Evidence {
            exit: Some(exit("exit", 1)),
            stderr,
            ..silent()
        })
        .why
    };
    let both = why("Warning: no stdin data received in 3s\nError: no prompt.\n");
    assert_eq!(
        both,
        "The agent ended with code 1 and no result: Error: no prompt."
    );
    let only = why("\nwarning: odd\n");
    assert_eq!(
        only,
        "The agent ended with code 1 and no result: warning: odd."
    );
    assert_eq!(why(" \n"), "The agent ended with code 1 and no result.");
}

#[test]
fn no_result_otherwise_is_incomplete() {
    let expected = is(Outcome::Incomplete, 6, Some(Network), "resume");
    let warned = Evidence {
        stderr: "warning: rate limit",
        ..silent()
    };
    check("code 0", &warned, expected);
    check("nothing at all", &Evidence::default(), expected);
    let cut = Evidence {
        exit: None,
        ..good()
    };
    let verdict = check("cr/* without cr/exit", &cut, expected);
    assert!(verdict.incomplete);
    let broken = Evidence {
        exit: Some(signal("guardian_died", 9)),
        ..silent()
    };
    check("we broke", &broken, expected);
}

#[test]
fn a_session_log_is_judged_by_its_last_words() {
    let evidence = Evidence {
        supervised: false,
        exit: None,
        assistant_error: Some("rate_limit"),
        ..silent()
    };
    let verdict = check(
        "log",
        &evidence,
        is(Outcome::RateLimited, 75, Some(RateLimit), "wait"),
    );
    assert!(verdict.incomplete);
}

#[test]
fn a_good_result_with_a_bad_code_wants_a_look() {
    let evidence = Evidence {
        exit: Some(exit("exit", 1)),
        stderr: "Error: a hook failed",
        ..good()
    };
    check(
        "code 1",
        &evidence,
        is(Outcome::Failed, 1, Some(Logic), "look"),
    );
}

#[test]
fn the_last_rows_come_in_their_order() {
    let all = Evidence {
        schema_missed: true,
        question_open: true,
        last_call_denied: true,
        verification: Some(Finding::Conflict),
        ..good()
    };
    check(
        "13",
        &all,
        is(Outcome::NoAnswer, 1, Some(Validation), "retry"),
    );
    let all = Evidence {
        schema_missed: false,
        ..all
    };
    check(
        "14",
        &all,
        is(Outcome::NeedsInput, 4, Some(Validation), "ask"),
    );
    let all = Evidence {
        question_open: false,
        ..all
    };
    check(
        "14",
        &all,
        is(Outcome::NeedsInput, 4, Some(Validation), "ask"),
    );
    let findings = [
        (Finding::NoCommit, Outcome::NoCommit),
        (Finding::ScopeViolation, Outcome::ScopeViolation),
        (Finding::VerifyFailed, Outcome::VerifyFailed),
        (Finding::Conflict, Outcome::Conflict),
        (Finding::Looping, Outcome::Looping),
    ];
    for (finding, outcome) in findings {
        let evidence = Evidence {
            last_call_denied: false,
            verification: Some(finding),
            ..all.clone()
        };
        check("15", &evidence, is(outcome, 5, Some(Logic), "retry"));
    }
    let verdict = check("16", &good(), is(Outcome::Success, 0, None, "none"));
    assert!(!verdict.incomplete && !verdict.killed);
    check(
        "16, bare",
        &bare(success()),
        is(Outcome::Success, 0, None, "none"),
    );
}

#[test]
fn a_good_answer_is_never_read() {
    for text in [
        "I fixed the rate limit bug: HTTP 429",
        "Prompt is too long",
        "Invalid API key",
    ] {
        let result = ResultFacts { text, ..success() };
        check(text, &bare(result), is(Outcome::Success, 0, None, "none"));
        // Nor is it when a hook, and not the service, made it an error.
        let result = ResultFacts {
            is_error: true,
            terminal_reason: Some("stop_hook_prevented"),
            ..result
        };
        check(
            text,
            &bare(result),
            is(Outcome::Failed, 1, Some(Logic), "retry"),
        );
    }
}

#[test]
fn outcomes_and_categories_have_the_words_of_the_summary() {
    let outcomes = [
        (Outcome::Success, "success"),
        (Outcome::SpawnFailed, "spawn_failed"),
        (Outcome::LimitTurns, "limit_turns"),
        (Outcome::ContextExhausted, "context_exhausted"),
        (Outcome::NeedsInput, "needs_input"),
        (Outcome::VerifyFailed, "verify_failed"),
    ];
    for (outcome, word) in outcomes {
        assert_eq!(outcome.as_str(), word);
    }
    assert_eq!(RateLimit.as_str(), "rate-limit");
    assert_eq!(Validation.as_str(), "validation");
}
