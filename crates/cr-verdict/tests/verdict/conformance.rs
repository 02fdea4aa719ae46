//! Error texts from the tests of other retry policies, and where ours differs on
//! purpose.

use super::{api_error, bare, check, exit, is, silent};
use cr_verdict::Category::{self, Logic, Network, RateLimit, Timeout, Validation};
use cr_verdict::{Class, Evidence, Outcome, classify, judge};

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

/// What three classifiers of the same project make of the same inputs, and what
/// we make of them. The third one is held to its own tests, in the list above.
#[test]
fn inputs_on_which_others_disagree_get_the_right_class() {
    // (input, one of theirs, another of theirs, ours)
    let cases = [
        ("ECONNRESET", Logic, Network, Class::Network),
        ("socket hang up", Logic, Network, Class::Network),
        ("EAI_AGAIN", Logic, Logic, Class::Network),
        ("Connection refused", Logic, Network, Class::Network),
        (
            "API Error: 529 Overloaded",
            Logic,
            RateLimit,
            Class::Overloaded,
        ),
        ("overloaded_error", Logic, RateLimit, Class::Overloaded),
        ("throttled", Logic, RateLimit, Class::RateLimit),
        ("quota exceeded", Logic, RateLimit, Class::RateLimit),
        ("fetch failed", Network, Logic, Class::Network),
        ("usage limit reached", Logic, Logic, Class::RateLimit),
        (
            "Claude AI usage limit reached|1700000000",
            Logic,
            Logic,
            Class::RateLimit,
        ),
        (
            "You've hit your limit · resets 3pm",
            Logic,
            Logic,
            Class::RateLimit,
        ),
        ("line 4291 failed", RateLimit, RateLimit, Class::Logic),
        (
            "Invalid API key · Please run /login",
            Validation,
            Logic,
            Class::Auth,
        ),
        ("authentication_error", Logic, Logic, Class::Auth),
        ("Credit balance is too low", Logic, Logic, Class::Billing),
        (
            "prompt is too long: 210000 tokens > 200000 maximum",
            Logic,
            Logic,
            Class::Context,
        ),
        (
            "API Error (Connection error.)",
            Logic,
            Logic,
            Class::Network,
        ),
        ("500 internal server error", Logic, Logic, Class::Server),
        ("rate_limit", RateLimit, RateLimit, Class::RateLimit),
        ("ratelimit", RateLimit, RateLimit, Class::RateLimit),
        ("rate  limit", Logic, RateLimit, Class::RateLimit),
        ("Network  error", Logic, Network, Class::Network),
        ("time out", Logic, Logic, Class::Timeout),
        ("deadline exceeded", Logic, Timeout, Class::Timeout),
        ("an invalidated cache", Validation, Logic, Class::Logic),
        ("schema", Validation, Logic, Class::Logic),
        ("Invalid YAML", Validation, Logic, Class::Validation),
    ];
    let mut wrong = [0, 0];
    for (text, first, second, class) in cases {
        assert_eq!(classify(text), class, "{text}");
        wrong[0] += usize::from(first != class.category());
        wrong[1] += usize::from(second != class.category());
    }
    // The first is wrong on 23 of them, so that many are worth this table.
    assert_eq!(wrong, [23, 14]);
}

#[test]
fn the_inputs_with_a_time_tell_when_to_come_back() {
    for (text, at) in [
        (
            "Claude AI usage limit reached|1700000000",
            "2023-11-14T22:13:20Z",
        ),
        (
            "You've hit your limit · resets 3pm (UTC)",
            "2026-11-18T15:00:00Z",
        ),
    ] {
        let verdict = judge(&bare(api_error(text)));
        assert_eq!(verdict.outcome, Outcome::RateLimited, "{text}");
        let expected = at.parse().expect("a timestamp");
        assert_eq!(verdict.retry.at, Some(expected), "{text}");
    }
}

#[test]
fn classes_are_ours_where_another_names_messages_only() {
    let cases = [
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
fn of_two_classes_in_a_text_the_more_patient_wins() {
    let phrases = [
        (RateLimit, "rate limit"),
        (Network, "network error"),
        (Timeout, "timeout"),
        (Validation, "validation"),
    ];
    for (at, (category, first)) in phrases.iter().enumerate() {
        for (_, second) in &phrases[at..] {
            all(*category, &[&format!("{first}, {second}")]);
            all(*category, &[&format!("{second}, {first}")]);
        }
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
