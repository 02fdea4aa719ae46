//! Tables of expected verdicts, one module per source.

mod advice;
mod conformance;
mod noise;
mod policy;
mod recorded;
mod reset;
mod rows_1_to_8;
mod rows_9_to_16;
mod terminal;

use cr_verdict::{Category, Evidence, ExitFacts, Outcome, ResultFacts, Verdict, judge};

/// A supervised run that ended well; cases change what they are about.
fn good() -> Evidence<'static> {
    Evidence {
        supervised: true,
        exit: Some(exit("exit", 0)),
        result: Some(success()),
        now: Some("2026-11-18T10:00:00Z".parse().expect("a timestamp")),
        ..Evidence::default()
    }
}

/// The same without a result.
fn silent() -> Evidence<'static> {
    Evidence {
        result: None,
        ..good()
    }
}

/// A stream that nobody supervised.
fn bare(result: ResultFacts<'_>) -> Evidence<'_> {
    Evidence {
        supervised: false,
        exit: None,
        result: Some(result),
        ..good()
    }
}

fn exit(reason: &str, code: i32) -> ExitFacts<'_> {
    ExitFacts {
        reason,
        exit_code: Some(code),
        ..ExitFacts::default()
    }
}

fn signal(reason: &str, signal: i32) -> ExitFacts<'_> {
    ExitFacts {
        reason,
        signal: Some(signal),
        ..ExitFacts::default()
    }
}

fn success() -> ResultFacts<'static> {
    ResultFacts {
        subtype: "success",
        terminal_reason: Some("completed"),
        text: "Done.",
        ..ResultFacts::default()
    }
}

/// An API failure as the agent reports it: `subtype` is `success`.
fn api_error(text: &str) -> ResultFacts<'_> {
    ResultFacts {
        is_error: true,
        terminal_reason: Some("api_error"),
        text,
        ..success()
    }
}

fn error_of<'a>(subtype: &'a str, text: &'a str) -> ResultFacts<'a> {
    ResultFacts {
        is_error: true,
        subtype,
        terminal_reason: None,
        text,
        ..ResultFacts::default()
    }
}

/// What a row of a table expects.
type Expected = (Outcome, u8, Option<Category>, &'static str);

fn is(outcome: Outcome, code: u8, category: Option<Category>, action: &'static str) -> Expected {
    (outcome, code, category, action)
}

#[track_caller]
fn check(name: &str, evidence: &Evidence<'_>, expected: Expected) -> Verdict {
    let verdict = judge(evidence);
    let found = (
        verdict.outcome,
        verdict.code,
        verdict.category,
        verdict.retry.action,
    );
    assert_eq!(found, expected, "{name}: {verdict:?}");
    assert!(
        cr_verdict::ACTIONS.contains(&verdict.retry.action),
        "{name}: {verdict:?}"
    );
    for sentence in [&verdict.why, &verdict.next] {
        assert!(sentence.ends_with(['.', '…']), "{name}: {sentence}");
        assert!(sentence.chars().count() <= 200, "{name}: {sentence}");
        assert!(!sentence.contains(char::is_control), "{name}: {sentence}");
    }
    verdict
}
