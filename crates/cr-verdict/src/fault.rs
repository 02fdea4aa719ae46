//! The error of the last result: structured fields first, then its text.

use crate::{Class, Evidence, ResultFacts, classify};

/// The error of the last result.
pub(crate) struct Fault<'a> {
    pub(crate) class: Class,
    pub(crate) status: Option<u64>,
    pub(crate) text: &'a str,
    /// The answer never met the schema.
    pub(crate) schema: bool,
}

/// The error of the last result. A bare stream without a result, say a session
/// log, has it in its last text.
pub(crate) fn fault<'a>(evidence: &Evidence<'a>) -> Option<Fault<'a>> {
    let result = match evidence.result {
        Some(result) => result,
        None if evidence.supervised => return None,
        None => ResultFacts {
            is_error: evidence.assistant_error.is_some(),
            text: evidence.assistant_text,
            ..ResultFacts::default()
        },
    };
    is_error(&result).then(|| Fault {
        class: class(evidence, &result),
        status: result.api_error_status,
        text: result.text,
        schema: missed_schema(&result),
    })
}

fn missed_schema(result: &ResultFacts<'_>) -> bool {
    result.subtype == "error_max_structured_output_retries"
        || result.terminal_reason == Some("structured_output_retry_exhausted")
}

fn is_error(result: &ResultFacts<'_>) -> bool {
    result.is_error
        || result.subtype.starts_with("error")
        || result
            .terminal_reason
            .is_some_and(|reason| FATAL.contains(&reason))
        || result.api_error_status.is_some_and(|status| status >= 400)
}

/// Structured fields first, the most telling one before the others; then text.
fn class(evidence: &Evidence<'_>, result: &ResultFacts<'_>) -> Class {
    /// An error message is short; a long text is an answer.
    const LONGEST: usize = 4096;
    let rejected = evidence.rate_limit.is_some_and(|limit| limit.rejected);
    let structured = missed_schema(result)
        .then_some(Class::Validation)
        .or_else(|| result.terminal_reason.and_then(of_reason))
        .or_else(|| evidence.assistant_error.and_then(of_name))
        .or_else(|| result.api_error.and_then(of_name))
        // A bad request may be too long, or not paid for: the text decides.
        .or_else(|| {
            result
                .api_error_status
                .filter(|status| *status != 400)
                .and_then(Class::of_status)
        })
        .or_else(|| rejected.then_some(Class::RateLimit));
    structured.unwrap_or_else(|| {
        match classify(&result.text[..result.text.floor_char_boundary(LONGEST)]) {
            Class::Logic => vague(evidence, result),
            class => class,
        }
    })
}

/// The values of `terminal_reason` that mean failure, whatever `is_error` says.
const FATAL: [&str; 9] = [
    "api_error",
    "blocking_limit",
    "image_error",
    "malformed_tool_use_exhausted",
    "model_error",
    "prompt_too_long",
    "rapid_refill_breaker",
    "structured_output_retry_exhausted",
    "turn_setup_failed",
];

/// The kind of error that a `terminal_reason` names. For some of them the text
/// is an answer and says nothing about the error: they are listed here so that
/// the text is not read.
fn of_reason(reason: &str) -> Option<Class> {
    match reason {
        "prompt_too_long" | "blocking_limit" | "rapid_refill_breaker" => Some(Class::Context),
        "image_error"
        | "malformed_tool_use_exhausted"
        | "stop_hook_prevented"
        | "hook_stopped"
        | "tool_deferred"
        | "tool_deferred_unavailable"
        | "background_requested" => Some(Class::Logic),
        _ => None,
    }
}

/// The kind of error that an API or the agent names; none for a vague name.
pub(crate) fn of_name(name: &str) -> Option<Class> {
    match name {
        "rate_limit" | "rate_limit_error" => Some(Class::RateLimit),
        "overloaded" | "overloaded_error" => Some(Class::Overloaded),
        "connection_failed" | "connection_error" => Some(Class::Network),
        "timeout_error" => Some(Class::Timeout),
        "request_too_large" => Some(Class::Context),
        "billing_error" => Some(Class::Billing),
        "authentication_failed"
        | "authentication_error"
        | "permission_error"
        | "oauth_org_not_allowed"
        | "account_on_hold"
        | "verification_required"
        | "cloud_credential_error" => Some(Class::Auth),
        "model_not_found" | "not_found_error" => Some(Class::Validation),
        _ => None,
    }
}

/// The class by the vague fields, when the text has none.
fn vague(evidence: &Evidence<'_>, result: &ResultFacts<'_>) -> Class {
    let says = |name| evidence.assistant_error == Some(name) || result.api_error == Some(name);
    if says("server_error") || says("api_error") {
        Class::Server
    } else if says("invalid_request") || says("invalid_request_error") {
        Class::Validation
    } else {
        result
            .api_error_status
            .and_then(Class::of_status)
            .unwrap_or(Class::Logic)
    }
}
