//! The first eight rows of the table of verdicts, each with its border to the next.

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
fn a_clock_is_named_with_its_length() {
    #[rustfmt::skip]
    let cases = [
        ("idle", Some(900_000), "The agent was silent for longer than the idle limit of 15m, before a result."),
        ("startup", Some(500), "The agent wrote nothing within the startup limit of 0.5s."),
        ("tool", Some(60_000), "One tool call ran longer than the tool limit of 1m, before a result."),
        ("turn", Some(5_000), "One turn ran longer than the turn limit of 5s, before a result."),
        ("timeout", Some(7_200_000), "The time limit of 2h passed before a result."),
        ("timeout", None, "The time limit passed before a result."),
    ];
    for (reason, limit_ms, why) in cases {
        let exit = ExitFacts {
            limit_ms,
            ..exit(reason, 143)
        };
        let evidence = Evidence {
            exit: Some(exit),
            ..silent()
        };
        assert_eq!(judge(&evidence).why, why);
    }
}
