//! The last eight rows of the table of verdicts, each with its border to the next.

use super::{bare, check, exit, good, is, signal, silent, success};
use cr_verdict::Category::{Logic, Network, RateLimit, Timeout, Validation};
use cr_verdict::{Denials, Evidence, ExitFacts, Finding, Outcome, ResultFacts, judge};

#[test]
fn a_death_by_a_signal_is_not_hidden_by_a_good_result() {
    let signals = [
        (9, 137, "SIGKILL"),
        (15, 143, "SIGTERM"),
        (11, 139, "SIGSEGV"),
        (34, 162, "signal 34"),
    ];
    for (number, code, name) in signals {
        let evidence = Evidence {
            exit: Some(signal("signal", number)),
            ..silent()
        };
        let expected = is(Outcome::Killed, code, Some(Logic), "resume");
        let verdict = check("no result", &evidence, expected);
        assert!(verdict.killed && verdict.incomplete);
        assert!(
            verdict.why.contains(&format!(" {name} ")),
            "{}",
            verdict.why
        );
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
    #[rustfmt::skip]
    let cases = [
        ("", Outcome::Failed, 1, Logic, "retry"),
        ("boom bad model", Outcome::Failed, 1, Logic, "retry"),
        ("Error: 429 rate limit", Outcome::RateLimited, 75, RateLimit, "wait"),
        ("API Error: 529 overloaded", Outcome::Overloaded, 75, RateLimit, "wait"),
        ("fetch failed", Outcome::Network, 75, Network, "wait"),
        ("the request timed out", Outcome::Network, 75, Timeout, "wait"),
        ("error: unknown option '--no-such-flag'", Outcome::Failed, 1, Validation, "fix"),
        ("Error: Invalid session ID. Must be a valid UUID.", Outcome::Failed, 1, Validation, "fix"),
        ("Invalid API key · Please run /login", Outcome::Auth, 77, Validation, "stop"),
        ("Credit balance is too low", Outcome::Billing, 77, Validation, "stop"),
        ("Prompt is too long", Outcome::ContextExhausted, 76, Validation, "fresh_session"),
    ];
    for (stderr, outcome, code, category, action) in cases {
        let evidence = Evidence {
            exit: Some(exit("exit", 3)),
            stderr,
            ..silent()
        };
        let expected = is(outcome, code, Some(category), action);
        let verdict = check(stderr, &evidence, expected);
        assert!(verdict.incomplete && !verdict.killed);
        assert!(verdict.why.contains("code 3"), "{}", verdict.why);
    }
}

#[test]
fn the_reason_is_looked_for_behind_the_warnings() {
    let why = |stderr: &str| {
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
    let two = why("Error: Invalid MCP configuration:\nMCP config file not found: x.json\n");
    assert!(
        two.ends_with("Invalid MCP configuration: MCP config file not found: x.json."),
        "{two}"
    );
    let long = why(&"word ".repeat(100));
    assert!(long.ends_with("word…"), "{long}");
    let only = why("\nwarning: odd\n");
    assert_eq!(
        only,
        "The agent ended with code 1 and no result: warning: odd."
    );
    assert_eq!(why(" \n"), "The agent ended with code 1 and no result.");
}

#[test]
fn a_lost_relay_is_incomplete_also_after_a_good_result() {
    let lost = Evidence {
        exit: Some(ExitFacts {
            exit_code: None,
            ..exit("relay_lost", 0)
        }),
        ..silent()
    };
    for result in [None, Some(success())] {
        let evidence = Evidence {
            result,
            ..lost.clone()
        };
        let expected = is(Outcome::Incomplete, 6, Some(Network), "resume");
        let verdict = check("lost", &evidence, expected);
        assert!(verdict.incomplete && !verdict.killed);
        assert!(verdict.why.contains("relay"), "{}", verdict.why);
    }
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

#[test]
fn denied_calls_of_a_good_run_are_named() {
    let denied = Evidence {
        denials: Denials {
            count: 2,
            tools: vec!["Bash", "Write"],
        },
        ..good()
    };
    let verdict = judge(&denied);
    assert_eq!((verdict.outcome, verdict.code), (Outcome::Success, 0));
    assert!(verdict.why.contains("2 denied: Bash, Write"), "{verdict:?}");
    assert!(!verdict.why.contains("commit"), "{verdict:?}");
    assert_ne!(verdict.next, "Nothing.");
    let long = "mcp__x\u{1b}".repeat(50);
    let all = Evidence {
        denials: Denials {
            count: u64::MAX,
            tools: vec![&long; 9],
        },
        no_commit: true,
        last_call_denied: true,
        ..good()
    };
    let verdict = check(
        "long",
        &all,
        is(Outcome::NeedsInput, 4, Some(Validation), "ask"),
    );
    assert!(verdict.why.contains("no commit was made"), "{verdict:?}");
    let done = Evidence {
        last_call_denied: false,
        ..all
    };
    let verdict = check("done", &done, is(Outcome::Success, 0, None, "none"));
    assert!(verdict.why.contains("no commit was made"), "{verdict:?}");
}
