//! What was gathered, as the verdict wants to hear it.

use cr_verdict::{Evidence, ExitFacts, Finding, Outcome, ResultFacts};

use crate::gather::{Gather, LogEnd};
use crate::ours::Ended;

/// Everything that the verdict rests on.
pub(crate) fn evidence<'a>(gather: &'a Gather, result: Option<ResultFacts<'a>>) -> Evidence<'a> {
    let exit = gather.ours.exit.as_ref();
    let last = gather.turns.last.as_ref();
    let failure = gather
        .failure
        .as_ref()
        .map(|failure| failure.error.as_str());
    let asked = gather.about.schema_asked || gather.ours.schema_asked;
    let answered = last.is_some_and(|last| last.structured.is_some());
    // A command of the CLI's own answers to no schema.
    let is_local = last.is_some_and(|last| last.num_turns == Some(0));
    Evidence {
        supervised: gather.ours.seen,
        exit: exit.map(exit_facts),
        result,
        assistant_error: last
            .and_then(|last| last.assistant_error.as_deref())
            .or(failure),
        rate_limit: gather.rate_limit,
        stderr: exit.map_or("", said),
        schema_missed: asked && !answered && !is_local,
        last_call_denied: gather.calls.last_denied(),
        question_open: gather.calls.is_asking(),
        verification: finding(gather),
        now: gather.about.ended(),
    }
}

/// What the orchestrator's verification found in the last attempt: it reports an
/// attempt that has ended by a `cr/task` line with the outcome.
fn finding(gather: &Gather) -> Option<Finding> {
    let ended = gather.ours.attempts.get(gather.attempts_before..)?;
    let outcome = Outcome::parse(ended.last()?.outcome.as_deref()?)?;
    Finding::of(outcome)
}

/// What the agent, or the system in its place, wrote to standard error.
pub(crate) fn said(exit: &Ended) -> &str {
    match &exit.error {
        Some(error) if exit.stderr.is_empty() => error,
        _ => &exit.stderr,
    }
}

fn exit_facts(exit: &Ended) -> ExitFacts<'_> {
    ExitFacts {
        reason: &exit.reason,
        exit_code: exit.exit_code,
        signal: exit.signal,
        spawn_code: exit.spawn_code,
        interrupted_by: exit.interrupted_by,
    }
}

/// What stands for the result of the run; nothing where reading was cut.
pub(crate) fn facts(gather: &Gather) -> Option<ResultFacts<'_>> {
    let facts = result_facts(gather).or_else(|| log_facts(gather));
    facts.filter(|_| !gather.is_cut)
}

/// What the last result says, unless a further turn was begun and cut: its end
/// is missing then. What we end after a result keeps that.
fn result_facts(gather: &Gather) -> Option<ResultFacts<'_>> {
    let last = gather.turns.last.as_ref()?;
    let exit = gather.ours.exit.as_ref();
    let is_ours = exit.is_some_and(|exit| !matches!(&*exit.reason, "exit" | "signal"));
    if gather.turns.is_open && !is_ours {
        return None;
    }
    let error = last.errors.first().map(String::as_str);
    Some(ResultFacts {
        is_error: last.is_error,
        subtype: &last.subtype,
        terminal_reason: last.terminal_reason.as_deref(),
        api_error_status: last.api_error_status,
        api_error: last.api_error.as_deref(),
        text: last.text.as_deref().or(error).unwrap_or_default(),
    })
}

/// A log has no results; its last lines stand in for one.
fn log_facts(gather: &Gather) -> Option<ResultFacts<'_>> {
    if !gather.about.is_log || gather.turns.results > 0 {
        return None;
    }
    let good = ResultFacts {
        subtype: "success",
        text: &gather.said,
        ..ResultFacts::default()
    };
    match gather.log {
        LogEnd::Open => None,
        LogEnd::Answered => Some(good),
        LogEnd::Aborted => Some(ResultFacts {
            is_error: true,
            terminal_reason: Some("aborted_tools"),
            ..good
        }),
        LogEnd::Failed => gather.failure.as_ref().map(|failure| ResultFacts {
            is_error: true,
            api_error_status: failure.status,
            text: &failure.text,
            ..good
        }),
    }
}
