//! Error texts that retry policies in the field are tested with, and how ours
//! differ from them on purpose.

use super::{api_error, bare, check, error_of, exit, good, is, silent, success};
use cr_verdict::Category::{self, Logic, Network, RateLimit, Timeout, Validation};
use cr_verdict::{Class, Evidence, Outcome, ResultFacts, classify, judge};

#[track_caller]
fn all(category: Category, texts: &[&str]) {
    for text in texts {
        let class = classify(text);
        assert_eq!(class.category(), category, "{text}: {class:?}");
    }
}

#[test]
fn categories_agree_with_the_first_list() {
    all(
        RateLimit,
        &[
            "Error: rate limit exceeded",
            "HTTP 429 Too Many Requests",
            "Rate limit hit, please wait",
            "You have been rate limited",
            "RATE LIMIT",
        ],
    );
    all(
        Network,
        &[
            "ECONNREFUSED: Connection refused",
            "Network error: Unable to connect",
            "ENOTFOUND: DNS lookup failed",
            "ETIMEDOUT: Connection timed out during request",
            "fetch failed: Network error",
            "network ERROR",
        ],
    );
    all(
        Timeout,
        &[
            "Error: timeout after 30000ms",
            "Process timed out",
            "Request timeout exceeded",
            "TIMEOUT: Operation did not complete",
            "TimeOut",
        ],
    );
    all(
        Validation,
        &[
            "ValidationError: Invalid input",
            "Schema validation failed",
            "Invalid YAML format",
            "Validation: Missing required field",
        ],
    );
    all(
        Logic,
        &[
            "Something went wrong",
            "Unexpected error occurred",
            "TypeError: Cannot read property",
            "Unknown issue",
            "",
        ],
    );
}

#[test]
fn categories_agree_with_the_second_list() {
    all(
        Network,
        &[
            "network error occurred",
            "connection failed",
            "DNS failed error",
        ],
    );
    all(Network, &["ECONNREFUSED", "network error"]);
    all(
        RateLimit,
        &["rate limit error: 429", "rate limit validation error"],
    );
    all(
        Timeout,
        &["timeout exception occurred", "connection timeout error"],
    );
    all(
        Validation,
        &[
            "validation failed for input",
            "schema validation error",
            "validation error occurred",
        ],
    );
    all(
        Logic,
        &[
            "unknown error in processing",
            "operation failed unexpectedly",
            "some random error",
        ],
    );
}

#[test]
fn classes_are_ours_where_others_disagree() {
    let cases = [
        ("ECONNRESET", Class::Network),
        ("socket hang up", Class::Network),
        ("EAI_AGAIN", Class::Network),
        ("Connection refused", Class::Network),
        ("API Error: 529 Overloaded", Class::Overloaded),
        ("overloaded_error", Class::Overloaded),
        ("throttled", Class::RateLimit),
        ("quota exceeded", Class::RateLimit),
        ("fetch failed", Class::Network),
        ("usage limit reached", Class::RateLimit),
        ("Claude AI usage limit reached|1700000000", Class::RateLimit),
        ("You've hit your limit · resets 3pm", Class::RateLimit),
        ("line 4291 failed", Class::Logic),
        ("Invalid API key · Please run /login", Class::Auth),
        ("authentication_error", Class::Auth),
        ("Credit balance is too low", Class::Billing),
        (
            "prompt is too long: 210000 tokens > 200000 maximum",
            Class::Context,
        ),
        ("API Error (Connection error.)", Class::Network),
        ("500 internal server error", Class::Server),
        ("rate_limit", Class::RateLimit),
        ("ratelimit", Class::RateLimit),
        ("rate  limit", Class::RateLimit),
        ("Network  error", Class::Network),
        ("time out", Class::Timeout),
        ("deadline exceeded", Class::Timeout),
        ("an invalidated cache", Class::Logic),
        ("schema", Class::Logic),
        ("Invalid YAML", Class::Validation),
        ("Agent reported failure in JSON result", Class::Logic),
        ("Rate limit exceeded", Class::RateLimit),
        ("Connection timeout", Class::Timeout),
        ("Service unavailable", Class::Server),
        ("Too many requests", Class::RateLimit),
        ("Invalid input", Class::Validation),
        ("Authentication failed", Class::Auth),
    ];
    for (text, class) in cases {
        assert_eq!(classify(text), class, "{text}");
    }
}

#[test]
fn only_whole_words_count() {
    let cases = [
        ("line 4291 failed", Class::Logic),
        ("line 429 failed", Class::Logic),
        ("src/main.rs:529: assertion failed", Class::Logic),
        ("test 500 of 529 failed", Class::Logic),
        ("14290 tests, 500 failed", Class::Logic),
        ("the rate limiter failed", Class::Logic),
        ("test_rate_limit_is_kept failed", Class::Logic),
        ("moderate limits apply", Class::Logic),
        ("accurate limit", Class::Logic),
        ("we use the network. Error in line 3", Class::Logic),
        ("network\nerror", Class::Logic),
        ("timeoutless", Class::Logic),
        ("runtime output", Class::Logic),
        ("overloadedness", Class::Logic),
        ("ECONNREFUSEDX", Class::Logic),
        ("status 429", Class::RateLimit),
        ("status=429", Class::RateLimit),
        ("{\"status\":429}", Class::RateLimit),
        ("HTTP/1.1 429", Class::RateLimit),
        ("HTTP/2 529", Class::Overloaded),
        ("API Error: 503", Class::Server),
        ("Error: 401", Class::Auth),
        ("429", Class::RateLimit),
        ("rate-limit", Class::RateLimit),
        ("RateLimitError", Class::RateLimit),
        ("You've hit your weekly limit", Class::RateLimit),
        ("You’ve reached your Opus 4 limit", Class::RateLimit),
        ("5-hour limit reached ∙ resets 3pm", Class::RateLimit),
        ("You've hit your monthly spend limit", Class::Billing),
        (
            "Server is temporarily limiting requests (not your usage limit)",
            Class::Overloaded,
        ),
        ("Context limit reached", Class::Context),
        ("OAuth token has expired · Please run /login", Class::Auth),
    ];
    for (text, class) in cases {
        assert_eq!(classify(text), class, "{text}");
    }
}

#[test]
fn some_codes_speak_for_themselves() {
    let ended = |code| Evidence {
        exit: Some(exit("exit", code)),
        ..silent()
    };
    let expected = is(Outcome::Timeout, 124, Some(Timeout), "retry_with_more_time");
    check("124", &ended(124), expected);
    check(
        "137",
        &ended(137),
        is(Outcome::Killed, 137, Some(Timeout), "resume"),
    );
    check(
        "143",
        &ended(143),
        is(Outcome::Killed, 143, Some(Logic), "resume"),
    );
}

#[test]
fn only_what_may_be_repeated_is_retryable() {
    let cases = [
        ("Rate limit exceeded", true),
        ("Connection timeout", true),
        ("Service unavailable", true),
        ("Too many requests", true),
        ("API Error: 529 Overloaded", true),
        ("500 internal server error", true),
        ("Something went wrong", true),
        ("Invalid input", false),
        ("Authentication failed", false),
        ("Credit balance is too low", false),
        ("prompt is too long: 210000 tokens > 200000 maximum", false),
    ];
    for (text, retryable) in cases {
        let verdict = judge(&bare(api_error(text)));
        assert_eq!(verdict.retry.retryable, retryable, "{text}: {verdict:?}");
    }
}

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
