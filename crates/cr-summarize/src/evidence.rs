//! The collected facts as evidence for the verdict.

use cr_event::Raw;
use cr_stream::Reason;
use cr_verdict::{Evidence, ExitFacts, Finding, Missing, Outcome, RateLimit, ResultFacts};

use crate::collector::Collector;
use crate::log_end::LogEnd;
use crate::own_lines::Ended;
use crate::quota::resets_at;
use crate::turns::LastResult;

/// The evidence for the verdict.
pub(crate) fn evidence<'a>(
    collector: &'a Collector,
    result: Option<ResultFacts<'a>>,
    question: Option<&'a AskedInVain>,
) -> Evidence<'a> {
    let exit = collector.run_facts.exit.as_ref();
    let last = collector.turns.last.as_ref();
    let failure = collector.failure.as_ref();
    let git = collector.run_facts.git.as_ref();
    let asked = collector.session.schema_asked || collector.run_facts.schema_asked;
    let answered = last.is_some_and(|last| last.structured.is_some());
    // A command of the CLI itself answers no schema.
    let is_local = last.is_some_and(|last| last.num_turns == Some(0));
    Evidence {
        supervised: collector.run_facts.seen,
        exit: exit.map(|exit| exit_facts(exit, collector)),
        result,
        assistant_error: last
            .and_then(|last| last.assistant_error.as_deref())
            .or(failure.map(|failure| failure.error.as_str())),
        assistant_text: failure.map_or("", |failure| failure.text.as_str()),
        rate_limit: collector.rate_limit,
        stderr: exit.map_or("", stderr_text),
        schema_missed: asked && !answered && !is_local,
        last_call_denied: collector.calls.last_denied(),
        question_open: question.is_some() || collector.calls.is_asking(),
        question: question.map(|question| question.text.as_str()),
        ask_timed_out: question.is_some_and(|question| question.timed_out),
        verification: finding(collector),
        missing: missing(collector),
        denials: collector.calls.denied_now(),
        no_commit: git.is_some_and(|git| git.commits.as_ref().is_some_and(Vec::is_empty)),
        now: collector.session.ended(),
    }
}

/// A question that nobody answered.
#[derive(Debug)]
pub(crate) struct AskedInVain {
    /// In one line, with its tool.
    text: String,
    /// Nobody answered it in time, and the run ended by that.
    timed_out: bool,
}

/// The question that a person must answer, if there is one.
pub(crate) fn asked_in_vain(collector: &Collector) -> Option<AskedInVain> {
    let (question, timed_out) = collector.run_facts.conversation.first_question()?;
    let text = match (&question.tool, &*question.kind) {
        (Some(tool), "permission") => format!("{tool}: {}", question.text),
        _ => question.text.clone(),
    };
    Some(AskedInVain { text, timed_out })
}

/// Why there is no result that counts, if there is none.
fn missing(collector: &Collector) -> Missing {
    if is_torn(collector) {
        Missing::LineEnd
    } else if is_cut_off(collector) {
        Missing::Messages
    } else if collector.turns.is_open {
        Missing::WorkAfterResult
    } else if collector.session.is_log && collector.log == LogEnd::Spoken {
        Missing::StopReason
    } else if collector.sessions_before > 0 {
        Missing::LastSession
    } else {
        Missing::Result
    }
}

/// What the orchestrator's verification found in the last attempt: it reports an
/// attempt that has ended by a `cr/task` line with the outcome.
fn finding(collector: &Collector) -> Option<Finding> {
    let ended = collector
        .run_facts
        .attempts
        .get(collector.attempts_before..)?;
    let outcome = Outcome::parse(ended.last()?.outcome.as_deref()?)?;
    Finding::of(outcome)
}

/// The agent's standard error, or why it could not be started.
pub(crate) fn stderr_text(exit: &Ended) -> &str {
    match &exit.exit.error {
        Some(error) if exit.stderr.is_empty() => error,
        _ => &exit.stderr,
    }
}

fn exit_facts<'a>(Ended { exit, .. }: &'a Ended, collector: &Collector) -> ExitFacts<'a> {
    let limit = collector.run_facts.limit.as_ref();
    let limit = limit.filter(|limit| limit.clock.as_str() == exit.reason.as_str());
    ExitFacts {
        reason: exit.reason.as_str(),
        exit_code: exit.exit_code,
        signal: exit.signal,
        spawn_code: exit.spawn_code,
        interrupted_by: exit.interrupted_by,
        limit_ms: limit.and_then(|limit| limit.limit_ms),
    }
}

/// The result of the run; none where reading was cut, and no good one where the
/// last line is cut off: more may have followed.
pub(crate) fn facts(collector: &Collector) -> Option<ResultFacts<'_>> {
    let facts = result_facts(collector).or_else(|| log_facts(collector))?;
    let is_last = !collector.is_cut && (!is_torn(collector) || facts.is_error);
    is_last.then_some(facts)
}

/// Whether the agent's last line is cut off.
fn is_torn(collector: &Collector) -> bool {
    let exit = collector.run_facts.exit.as_ref();
    collector.is_torn || exit.is_some_and(|ended| ended.exit.has_cut_line())
}

fn is_ended_by_us(collector: &Collector) -> bool {
    let exit = collector.run_facts.exit.as_ref();
    exit.is_some_and(|ended| {
        let reason = ended.exit.reason.known();
        !matches!(reason, Some(Reason::Exit | Reason::Signal))
    })
}

/// The last result, unless a further turn was begun and cut: its end is missing
/// then. A run that the supervisor ended after a result keeps it, if it has a
/// single prompt: the further turn was not asked for.
pub(crate) fn last_result(collector: &Collector) -> Option<&LastResult> {
    let is_kept = is_ended_by_us(collector) && !collector.run_facts.takes_messages;
    let is_over = (!collector.turns.is_open || is_kept) && !is_cut_off(collector);
    collector.turns.last.as_ref().filter(|_| is_over)
}

/// Whether messages of a session have no answer, and nobody wanted it to end like
/// that.
fn is_cut_off(collector: &Collector) -> bool {
    let exit = collector.run_facts.exit.as_ref();
    let how = exit.and_then(|ended| ended.exit.completed_by.as_deref());
    how.is_none_or(|how| how == "input_end")
        && exit.is_some()
        && collector.run_facts.conversation.unanswered() > 0
}

fn result_facts(collector: &Collector) -> Option<ResultFacts<'_>> {
    let last = last_result(collector)?;
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

/// A log has no results; its last lines are taken for one.
fn log_facts(collector: &Collector) -> Option<ResultFacts<'_>> {
    if !collector.session.is_log || collector.turns.results > 0 {
        return None;
    }
    let good = ResultFacts {
        subtype: "success",
        text: &collector.last_text,
        ..ResultFacts::default()
    };
    match collector.log {
        LogEnd::Open | LogEnd::Spoken => None,
        LogEnd::Answered => Some(good),
        LogEnd::Aborted => Some(ResultFacts {
            is_error: true,
            terminal_reason: Some("aborted_tools"),
            ..good
        }),
        LogEnd::Failed => collector.failure.as_ref().map(|failure| ResultFacts {
            is_error: true,
            api_error_status: failure.status,
            text: &failure.text,
            ..good
        }),
    }
}

/// The limit that a `rate_limit_event` reports.
pub(crate) fn rate_limit(line: Raw<'_>) -> Option<RateLimit> {
    let info = line.get("rate_limit_info")?;
    Some(RateLimit {
        rejected: info.string("status").as_deref() == Some("rejected"),
        resets_at: resets_at(info),
    })
}
