//! The class of an error, by its text.
//!
//! Whole words only: "line 4291 failed" is no 429, an "invalidated cache" is
//! not invalid, and the words of a phrase may be apart by blanks or hyphens but
//! not by the end of a sentence.

use crate::Category;

/// The class of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// The account's rate or usage limit.
    RateLimit,
    /// The service is overloaded.
    Overloaded,
    /// The service cannot be reached.
    Network,
    /// Something took too long.
    Timeout,
    /// The conversation does not fit the model's context.
    Context,
    /// Not logged in, or refused.
    Auth,
    /// No credit.
    Billing,
    /// The service failed on its side.
    Server,
    /// The request is wrong.
    Validation,
    /// Anything else.
    Logic,
}

impl Class {
    /// The class of failure that retry policies know it by.
    pub fn category(self) -> Category {
        match self {
            Self::RateLimit | Self::Overloaded => Category::RateLimit,
            Self::Network | Self::Server => Category::Network,
            Self::Timeout => Category::Timeout,
            Self::Context | Self::Auth | Self::Billing | Self::Validation => Category::Validation,
            Self::Logic => Category::Logic,
        }
    }

    /// What an HTTP status means; none for one that is no error.
    pub(crate) fn of_status(status: u64) -> Option<Self> {
        match status {
            401 | 403 => Some(Self::Auth),
            402 => Some(Self::Billing),
            408 | 504 => Some(Self::Timeout),
            413 => Some(Self::Context),
            429 => Some(Self::RateLimit),
            529 => Some(Self::Overloaded),
            500..=599 => Some(Self::Server),
            400..=499 => Some(Self::Validation),
            _ => None,
        }
    }
}

/// Of a longer text only the beginning and the end are read.
const LONGEST: usize = 16 * 1024;

fn ends(text: &str) -> String {
    if text.len() <= LONGEST {
        return plain(text);
    }
    let head = &text[..text.floor_char_boundary(LONGEST / 2)];
    let tail = &text[text.ceil_char_boundary(text.len() - LONGEST / 2)..];
    plain(head) + "\n" + &plain(tail)
}

/// The class of an error text. Only for text that is known to be an error: an
/// answer may speak about rate limits.
pub fn classify(text: &str) -> Class {
    let words = ends(text);
    PHRASES
        .iter()
        .find(|(class, phrases)| {
            phrases.iter().any(|phrase| has(&words, phrase))
                || (*class == Class::RateLimit && hit_a_limit(&words))
        })
        .map(|(class, _)| *class)
        .or_else(|| status(&words))
        .unwrap_or(Class::Logic)
}

/// In this order: errors that need a person or a wait come before errors that
/// allow a retry at once. A connection that timed out is a network error if the
/// text has its error number, and else a timeout.
const PHRASES: [(Class, &[&str]); 9] = [
    (Class::Billing, &BILLING),
    (Class::Context, &CONTEXT),
    (Class::Overloaded, &OVERLOADED),
    (Class::RateLimit, &RATE_LIMIT),
    (Class::Auth, &AUTH),
    (Class::Network, &NETWORK),
    (Class::Timeout, &TIMEOUT),
    (Class::Server, &SERVER),
    (Class::Validation, &VALIDATION),
];

const BILLING: [&str; 8] = [
    "credit balance",
    "insufficient credit",
    "insufficient credits",
    "insufficient_quota",
    "billing_error",
    "billing error",
    "payment required",
    "spend limit",
];

const CONTEXT: [&str; 14] = [
    "prompt is too long",
    "prompt too long",
    "prompt_too_long",
    "input is too long",
    "conversation is too long",
    "conversation too long",
    "request too large",
    "request_too_large",
    "exceed context limit",
    "context limit reached",
    "context length exceeded",
    "context_length_exceeded",
    "context window exceeded",
    "maximum context length",
];

const OVERLOADED: [&str; 6] = [
    "overloaded",
    "overloaded_error",
    "overloadederror",
    "server overload",
    "temporarily limiting requests",
    "at capacity",
];

const RATE_LIMIT: [&str; 21] = [
    "rate limit",
    "rate limits",
    "rate limited",
    "rate limiting",
    "ratelimit",
    "ratelimited",
    "ratelimiterror",
    "rate_limit",
    "rate_limited",
    "rate_limit_error",
    "rate_limit_exceeded",
    "too many requests",
    "too_many_requests",
    "usage limit",
    "limit reached",
    "limit will reset",
    "throttled",
    "throttling",
    "throttlingexception",
    "quota exceeded",
    "exceeded your quota",
];

const AUTH: [&str; 23] = [
    "invalid api key",
    "invalid x api key",
    "invalid bearer token",
    "api key not found",
    "missing api key",
    "not logged in",
    "run login",
    "please log in",
    "failed to authenticate",
    "authentication failed",
    "authentication error",
    "authentication required",
    "authentication_error",
    "authentication_failed",
    "authenticationerror",
    "permission_error",
    "oauth token",
    "oauth_org_not_allowed",
    "token has expired",
    "organization has been disabled",
    "account_on_hold",
    "cloud_credential_error",
    "unauthorized",
];

const NETWORK: [&str; 34] = [
    "econnrefused",
    "econnreset",
    "econnaborted",
    "enotfound",
    "etimedout",
    "eai_again",
    "epipe",
    "ehostunreach",
    "ehostdown",
    "enetunreach",
    "enetdown",
    "network error",
    "network failure",
    "network timeout",
    "network unreachable",
    "network is unreachable",
    "no route to host",
    "connection refused",
    "connection reset",
    "connection failed",
    "connection error",
    "connection closed",
    "connection aborted",
    "connection lost",
    "connectionerror",
    "connection_failed",
    "unable to connect",
    "failed to connect",
    "could not resolve host",
    "fetch failed",
    "socket hang up",
    "dns failed",
    "dns lookup",
    "temporary failure in name resolution",
];

const TIMEOUT: [&str; 8] = [
    "timeout",
    "timeouts",
    "timeouterror",
    "timeout_error",
    "timed out",
    "time out",
    "deadline exceeded",
    "deadline_exceeded",
];

const SERVER: [&str; 7] = [
    "internal server error",
    "internal_server_error",
    "server_error",
    "server side issue",
    "bad gateway",
    "service unavailable",
    "upstream connect error",
];

/// The last ten are how the agent's own command line refuses to start.
const VALIDATION: [&str; 21] = [
    "validation",
    "validationerror",
    "validation_error",
    "invalid",
    "invalid_request",
    "invalid_request_error",
    "not_found_error",
    "model_not_found",
    "missing required",
    "is not valid",
    "not a uuid",
    "no conversation found",
    "session id",
    "unknown option",
    "must be provided",
    "when using print",
    "cannot be used with",
    "also needs",
    "expected message role",
    "parsing streaming input",
    "input exceeds",
];

/// The words of `text` in lower case, each between two blanks. Anything but
/// blanks, hyphens and slashes between two words becomes a line break, so that no
/// phrase reaches over it.
fn plain(text: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut plain = String::with_capacity(text.len() + 2);
    let mut rest = text;
    while let Some(start) = rest.find(is_part) {
        let (gap, tail) = rest.split_at(start);
        if gap.contains(|c| !matches!(c, ' ' | '\t' | '-' | '/')) {
            plain.push_str(" \n");
        }
        let end = tail.find(|c| !is_part(c)).unwrap_or(tail.len());
        plain.push(' ');
        plain.push_str(&tail[..end]);
        rest = &tail[end..];
    }
    plain.push(' ');
    plain.make_ascii_lowercase();
    plain
}

/// Whether `words` contain `phrase`, not as a part of longer words.
fn has(words: &str, phrase: &str) -> bool {
    words
        .match_indices(phrase)
        .any(|(at, _)| words[..at].ends_with(' ') && words[at + phrase.len()..].starts_with(' '))
}

/// "You've hit your limit", "… your weekly limit", "… your Opus 4 limit".
fn hit_a_limit(words: &str) -> bool {
    [" hit your ", " reached your "].iter().any(|begin| {
        let mut after = words.split(begin).skip(1);
        after.any(|rest| rest.split(' ').take(4).any(|word| word == "limit"))
    })
}

/// A number counts as an HTTP status only where the text calls it one: it may
/// as well be a line number.
fn status(words: &str) -> Option<Class> {
    const BEFORE: [&str; 9] = [
        "http",
        "status",
        "statuscode",
        "status_code",
        "code",
        "error",
        "response",
        "rejected",
        "returned",
    ];
    let words: Vec<&str> = words.split_whitespace().collect();
    (0..words.len()).find_map(|at| {
        let (before, number) = (&words[..at], words[at]);
        let named = before.last().is_some_and(|word| BEFORE.contains(word))
            // HTTP/1.1 429
            || before.iter().rev().take(3).any(|word| *word == "http")
            || words.len() == 1;
        let three = number.len() == 3 && number.bytes().all(|b| b.is_ascii_digit());
        (named && three).then(|| Class::of_status(number.parse().ok()?))?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phrase_is_written_as_texts_are_compared() {
        for (class, phrases) in PHRASES {
            for phrase in phrases {
                assert_eq!(plain(phrase), format!(" {phrase} "), "{class:?}");
            }
        }
    }

    #[test]
    fn a_long_text_is_read_at_both_ends() {
        let dump = "x ".repeat(LONGEST);
        assert_eq!(classify(&format!("rate limit {dump}")), Class::RateLimit);
        assert_eq!(classify(&format!("{dump} rate limit")), Class::RateLimit);
        assert_eq!(classify(&format!("{dump} rate limit {dump}")), Class::Logic);
    }
}
