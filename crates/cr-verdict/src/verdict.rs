//! The table of verdicts: the first row that matches the evidence wins.

use cr_stream::{Clock, Named, Reason};

use crate::denied;
use crate::fault::{fault, of_name};
use crate::outcome::{Category, Outcome, Retry, Verdict};
use crate::sentences as say;
use crate::{Class, Evidence, ExitFacts, ResultFacts, classify, reset};
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Says how a run ended, why, and what to do about it.
pub fn judge(evidence: &Evidence<'_>) -> Verdict {
    const ROWS: [Row; 16] = [
        not_started,
        stopped,
        clock,
        not_answered,
        limit,
        busy,
        full,
        locked_out,
        error,
        died,
        failed_silently,
        incomplete,
        contradiction,
        no_answer,
        needs_input,
        verification,
    ];
    let row = ROWS.iter().find_map(|row| row(evidence));
    let verdict = row.unwrap_or_else(|| success(evidence));
    Verdict {
        incomplete: is_incomplete(evidence),
        killed: verdict.outcome == Outcome::Killed || was_killed(evidence),
        ..verdict
    }
}

type Row = fn(&Evidence<'_>) -> Option<Verdict>;

/// Who ended the agent.
enum End {
    /// The agent itself, or an unknown sender: its code and signal count.
    Own,
    NotStarted,
    /// A person or a signal, through us.
    Stopped,
    /// A clock of ours, while there was work to do.
    Clock,
    /// Our reader left.
    Closed,
    /// The supervisor, after the work was done or because of its own failure.
    Ours,
    /// Nobody knows: the relay to the agent's machine was lost.
    Unknown,
}

fn end(exit: &ExitFacts<'_>) -> End {
    if exit.spawn_code.is_some() {
        return End::NotStarted;
    }
    match Reason::from_name(exit.reason) {
        Some(Reason::SpawnFailed) => End::NotStarted,
        Some(Reason::Interrupted) => End::Stopped,
        Some(Reason::Timeout | Reason::Idle | Reason::Startup | Reason::Tool | Reason::Turn) => {
            End::Clock
        }
        Some(Reason::StdoutClosed) => End::Closed,
        Some(Reason::PostResult | Reason::GuardianDied | Reason::Internal) => End::Ours,
        Some(Reason::RelayLost) => End::Unknown,
        Some(Reason::Exit | Reason::Signal) | None => End::Own,
    }
}

fn is_incomplete(evidence: &Evidence<'_>) -> bool {
    let has_end = evidence.exit.map_or(!evidence.supervised, |exit| {
        !matches!(end(&exit), End::Unknown)
    });
    evidence.result.is_none() || !has_end
}

fn was_killed(evidence: &Evidence<'_>) -> bool {
    evidence.exit.is_some_and(|exit| {
        exit.signal.is_some() || !matches!(end(&exit), End::Own | End::NotStarted | End::Unknown)
    })
}

/// The exit, if the agent ended by itself.
fn own_exit<'a>(evidence: &Evidence<'a>) -> Option<ExitFacts<'a>> {
    evidence.exit.filter(|exit| matches!(end(exit), End::Own))
}

/// An interrupted turn also leaves a result, without an answer.
fn is_aborted(result: &ResultFacts<'_>) -> bool {
    result
        .terminal_reason
        .is_some_and(|reason| reason.starts_with("aborted"))
}

fn by_signal(signal: i32) -> u8 {
    u8::try_from(signal.saturating_add(128)).unwrap_or(u8::MAX)
}

fn row(
    (outcome, code): (Outcome, u8),
    category: impl Into<Option<Category>>,
    retry: Retry,
    (why, next): (String, String),
) -> Verdict {
    Verdict {
        outcome,
        code,
        category: category.into(),
        incomplete: false,
        killed: false,
        why,
        next,
        retry,
    }
}

/// 1: could not start.
fn not_started(evidence: &Evidence<'_>) -> Option<Verdict> {
    let exit = evidence
        .exit
        .filter(|exit| matches!(end(exit), End::NotStarted))?;
    let code = exit.spawn_code.unwrap_or(125).clamp(125, 127);
    let words = say::not_started(code, evidence.stderr);
    let ending = (Outcome::SpawnFailed, code);
    Some(row(ending, Category::Validation, Retry::now("fix"), words))
}

/// 2: stopped by a person, or by a signal to us.
fn stopped(evidence: &Evidence<'_>) -> Option<Verdict> {
    const INT: i32 = 2;
    const PIPE: i32 = 13;
    let end_of = evidence.exit.as_ref().map(|exit| (end(exit), exit));
    let aborted = evidence.result.as_ref().is_some_and(is_aborted);
    let signal = match end_of {
        Some((End::Stopped, exit)) => exit.interrupted_by.or(exit.signal).unwrap_or(INT),
        Some((End::Closed, _)) if evidence.result.is_none() => PIPE,
        Some((End::Clock, _)) => return None,
        _ if aborted && !evidence.ask_timed_out => INT,
        _ => return None,
    };
    let words = say::stopped(signal);
    Some(row(
        (Outcome::Interrupted, by_signal(signal)),
        None,
        Retry::now("none"),
        words,
    ))
}

/// 3: a clock, before a result. A wrapper's `timeout` ends with 124.
fn clock(evidence: &Evidence<'_>) -> Option<Verdict> {
    let exit = evidence.exit?;
    if evidence.result.is_some_and(|result| !is_aborted(&result)) {
        return None;
    }
    let ran_out = match end(&exit) {
        End::Clock => true,
        End::Own => exit.exit_code == Some(124),
        _ => false,
    };
    let retry = Retry::now("retry_with_more_time");
    ran_out.then(|| {
        row(
            (Outcome::Timeout, 124),
            Category::Timeout,
            retry,
            say::clock(Clock::from_name(exit.reason), exit.limit_ms),
        )
    })
}

/// 4: turns or budget reached, whatever `is_error` says.
fn limit(evidence: &Evidence<'_>) -> Option<Verdict> {
    let result = evidence.result?;
    let reason = result.terminal_reason.unwrap_or_default();
    let (outcome, action) = if result.subtype.ends_with("max_turns") || reason == "max_turns" {
        (Outcome::LimitTurns, "retry_with_more_turns")
    } else if result.subtype == "error_max_budget_usd" || reason == "budget_exhausted" {
        (Outcome::LimitBudget, "retry_with_more_budget")
    } else {
        return None;
    };
    let words = say::limit(outcome, result.text);
    Some(row(
        (outcome, 3),
        Category::Validation,
        Retry::now(action),
        words,
    ))
}

/// 5: the service is busy, or cannot be reached.
fn busy(evidence: &Evidence<'_>) -> Option<Verdict> {
    let fault = fault(evidence)?;
    let outcome = match fault.class {
        Class::RateLimit => Outcome::RateLimited,
        Class::Overloaded | Class::Server => Outcome::Overloaded,
        Class::Network | Class::Timeout => Outcome::Network,
        _ => return None,
    };
    let at = match fault.class {
        Class::RateLimit => lifted(evidence, fault.text),
        _ => None,
    };
    let words = say::busy(&fault, at);
    Some(row(
        (outcome, 75),
        fault.class.category(),
        Retry::wait(at),
        words,
    ))
}

/// 6: the context is exhausted.
fn full(evidence: &Evidence<'_>) -> Option<Verdict> {
    let fault = fault(evidence).filter(|fault| fault.class == Class::Context)?;
    let ending = (Outcome::ContextExhausted, 76);
    Some(row(
        ending,
        Category::Validation,
        Retry::now("fresh_session"),
        say::full(&fault),
    ))
}

/// 7: authentication, billing.
fn locked_out(evidence: &Evidence<'_>) -> Option<Verdict> {
    let fault = fault(evidence)?;
    let outcome = match fault.class {
        Class::Auth => Outcome::Auth,
        Class::Billing => Outcome::Billing,
        _ => return None,
    };
    let words = say::locked_out(&fault);
    Some(row(
        (outcome, 77),
        Category::Validation,
        Retry::now("stop"),
        words,
    ))
}

/// 8: any other error.
fn error(evidence: &Evidence<'_>) -> Option<Verdict> {
    let fault = fault(evidence)?;
    let action = match fault.class {
        // The next answer may meet the schema; the same bad request never works.
        Class::Validation if !fault.schema => "fix",
        _ => "retry",
    };
    let words = say::error(&fault, action);
    Some(row(
        (Outcome::Failed, 1),
        fault.class.category(),
        Retry::now(action),
        words,
    ))
}

/// 9: died by a signal that was not ours. The agent turns SIGTERM and SIGHUP
/// into codes of 128 and more, as a shell does; 137 there is most often the
/// second shot of a `timeout -k`.
fn died(evidence: &Evidence<'_>) -> Option<Verdict> {
    let exit = own_exit(evidence)?;
    let told = exit.exit_code.filter(|code| (129..=159).contains(code));
    let signal = exit.signal.or(told.map(|code| code - 128))?;
    let category = match told {
        Some(137) => Category::Timeout,
        _ => Category::Logic,
    };
    let words = say::died(signal, evidence.result.is_some());
    Some(row(
        (Outcome::Killed, by_signal(signal)),
        category,
        Retry::now("resume"),
        words,
    ))
}

/// 10: no result, and a code that means failure: standard error has the cause,
/// and the verdict is the one that a result with this error gets.
fn failed_silently(evidence: &Evidence<'_>) -> Option<Verdict> {
    let code = own_exit(evidence)?.exit_code.filter(|code| *code != 0)?;
    if evidence.result.is_some() {
        return None;
    }
    // What the CLI says about a failed call comes before its standard error.
    let text = match evidence.assistant_text {
        "" => evidence.stderr,
        text => text,
    };
    let structured = evidence.assistant_error.and_then(of_name);
    let class = structured.unwrap_or_else(|| classify(text));
    let (ending, retry) = match class {
        Class::RateLimit => (
            (Outcome::RateLimited, 75),
            Retry::wait(lifted(evidence, text)),
        ),
        Class::Overloaded | Class::Server => ((Outcome::Overloaded, 75), Retry::wait(None)),
        Class::Network | Class::Timeout => ((Outcome::Network, 75), Retry::wait(None)),
        Class::Context => ((Outcome::ContextExhausted, 76), Retry::now("fresh_session")),
        Class::Auth => ((Outcome::Auth, 77), Retry::now("stop")),
        Class::Billing => ((Outcome::Billing, 77), Retry::now("stop")),
        Class::Validation => ((Outcome::Failed, 1), Retry::now("fix")),
        Class::Logic => ((Outcome::Failed, 1), Retry::now("retry")),
    };
    let words = say::failed_silently(code, text, &retry);
    Some(row(ending, class.category(), retry, words))
}

/// 11: no result, or an end of the stream that is missing.
fn incomplete(evidence: &Evidence<'_>) -> Option<Verdict> {
    is_incomplete(evidence).then(|| {
        let words = say::incomplete(evidence);
        let ending = (Outcome::Incomplete, 6);
        row(ending, Category::Network, Retry::now("resume"), words)
    })
}

/// 12: a good result and a bad code.
fn contradiction(evidence: &Evidence<'_>) -> Option<Verdict> {
    let code = own_exit(evidence)?.exit_code.filter(|code| *code != 0)?;
    let words = say::contradiction(code, evidence.stderr);
    Some(row(
        (Outcome::Failed, 1),
        Category::Logic,
        Retry::now("look"),
        words,
    ))
}

/// 13: a schema was asked for and not met.
fn no_answer(evidence: &Evidence<'_>) -> Option<Verdict> {
    let ending = (Outcome::NoAnswer, 1);
    let retry = Retry::now("retry");
    evidence
        .schema_missed
        .then(|| row(ending, Category::Validation, retry, say::no_answer()))
}

/// 14: denied at the end, or a question left open.
fn needs_input(evidence: &Evidence<'_>) -> Option<Verdict> {
    let words = match (evidence.question_open, evidence.last_call_denied) {
        (true, _) => say::question_open(evidence.question),
        (false, true) => denied::last_call_denied(evidence),
        (false, false) => return None,
    };
    let ending = (Outcome::NeedsInput, 4);
    Some(row(ending, Category::Validation, Retry::now("ask"), words))
}

/// 14 as well: the run was ended because nobody answered. Its turn was
/// interrupted by that, which is no failure of its own.
fn not_answered(evidence: &Evidence<'_>) -> Option<Verdict> {
    let fails = |result: &ResultFacts<'_>| result.is_error && !is_aborted(result);
    if !evidence.ask_timed_out || evidence.result.as_ref().is_some_and(fails) {
        return None;
    }
    let words = say::question_open(evidence.question);
    let ending = (Outcome::NeedsInput, 4);
    Some(row(ending, Category::Validation, Retry::now("ask"), words))
}

/// 15: verification found something.
fn verification(evidence: &Evidence<'_>) -> Option<Verdict> {
    let finding = evidence.verification?;
    Some(row(
        (finding.outcome(), 5),
        Category::Logic,
        Retry::now("retry"),
        say::verification(finding),
    ))
}

/// 16: else.
fn success(evidence: &Evidence<'_>) -> Verdict {
    row(
        (Outcome::Success, 0),
        None,
        Retry::now("none"),
        denied::success(evidence),
    )
}

/// When the limit is lifted: by the event that announced it, or by the text.
fn lifted(evidence: &Evidence<'_>, text: &str) -> Option<Timestamp> {
    let event = evidence.rate_limit.filter(|limit| limit.rejected);
    event
        .and_then(|limit| limit.resets_at)
        .or_else(|| reset::find(text, evidence.now, TimeZone::system))
}
