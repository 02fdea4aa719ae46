//! `why` and `next`: one plain sentence each, for the user.

use std::time::Duration;

use cr_stream::{Clock, Named, Reason};

use crate::fault::Fault;
use crate::outcome::{Outcome, Retry};
use crate::{Class, Evidence, ExitFacts, Finding, Missing};
use jiff::Timestamp;

/// Why, and what next.
pub(crate) type Words = (String, String);

/// A sentence is at most this many characters.
const LONGEST: usize = 200;

/// Characters of agent text in a sentence.
const QUOTED: usize = 110;

pub(crate) fn words(why: impl Into<String>, next: impl Into<String>) -> Words {
    (sentence(why.into()), sentence(next.into()))
}

fn sentence(text: String) -> String {
    debug_assert!(text.chars().count() <= LONGEST, "too long: {text}");
    text
}

/// The first line of agent text that is not empty, for use in a sentence: short,
/// on one line, and without characters that act on a terminal or are invisible.
fn quote(text: &str) -> String {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    // A warning is seldom the reason; it is used only if there is nothing else.
    let first = lines().position(|line| !is_warning(line)).unwrap_or(0);
    let mut lines = lines().skip(first);
    let line = lines.next().unwrap_or_default();
    // After "Invalid configuration:" the reason is on the next line.
    let more = lines.next().filter(|_| line.ends_with(':'));
    let whole = [line, " ", more.unwrap_or_default()].concat();
    let whole = whole.trim_end_matches(['.', ':', ' ']);
    let mut quoted: String = whole.chars().take(QUOTED + 1).map(visible).collect();
    if let Some((cut, _)) = quoted.char_indices().nth(QUOTED) {
        quoted.truncate(cut);
        quoted.truncate(quoted.trim_end().len());
        quoted.push('…');
    }
    quoted
}

fn is_warning(line: &str) -> bool {
    let head = line.get(..7);
    head.is_some_and(|head| head.eq_ignore_ascii_case("warning"))
}

pub(crate) fn visible(c: char) -> char {
    match c {
        '\t' => ' ',
        c if cr_io::is_hidden(c) => char::REPLACEMENT_CHARACTER,
        c => c,
    }
}

/// `head: agent text.`, or `head.` if the agent said nothing.
fn with(head: &str, text: &str) -> String {
    match quote(text) {
        quoted if quoted.is_empty() => format!("{head}."),
        quoted if quoted.ends_with('…') => format!("{head}: {quoted}"),
        quoted => format!("{head}: {quoted}."),
    }
}

fn utc(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

fn signal_name(signal: i32) -> String {
    const NAMES: [&str; 15] = [
        "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
        "PIPE", "ALRM", "TERM",
    ];
    let index = usize::try_from(signal).ok().and_then(|n| n.checked_sub(1));
    match index.and_then(|n| NAMES.get(n)) {
        Some(name) => format!("SIG{name}"),
        None => format!("signal {signal}"),
    }
}

pub(crate) fn not_started(code: u8, stderr: &str) -> Words {
    let why = match code {
        127 => "The agent's program was not found",
        126 => "The agent's program cannot be executed",
        _ => "The agent could not be started",
    };
    words(
        with(why, stderr),
        "Fix the command: check that the agent is installed, that CR_CLAUDE names it, and that the directory exists.",
    )
}

pub(crate) fn stopped(signal: i32) -> Words {
    let why = match signal {
        13 => "The run was stopped because the reader of its output left.".to_owned(),
        signal => format!("The run was interrupted ({}).", signal_name(signal)),
    };
    words(
        why,
        "Nothing, if this was intended; else resume the session.",
    )
}

pub(crate) fn clock(clock: Option<Clock>, limit_ms: Option<u64>) -> Words {
    let length = limit_ms.map(|ms| cr_io::show_duration(Duration::from_millis(ms)));
    let of = length.map_or_else(String::new, |length| format!(" of {length}"));
    let (why, next) = match clock {
        Some(Clock::Idle) => (
            format!("The agent was silent for longer than the idle limit{of}, before a result."),
            "Retry with a longer --idle-timeout, or find out what it was waiting for.",
        ),
        Some(Clock::Startup) => (
            format!("The agent wrote nothing within the startup limit{of}."),
            "Retry with a longer --startup-timeout, or run the agent by hand to see what it waits for.",
        ),
        Some(Clock::Tool) => (
            format!("One tool call ran longer than the tool limit{of}, before a result."),
            "Retry with a longer --tool-timeout, or have the agent run something quicker.",
        ),
        Some(Clock::Turn) => (
            format!("One turn ran longer than the turn limit{of}, before a result."),
            "Retry with a longer --turn-timeout, or a smaller task.",
        ),
        Some(Clock::Timeout) => (
            format!("The time limit{of} passed before a result."),
            "Retry with a longer --timeout, or a smaller task.",
        ),
        _ => (
            "The agent ended with code 124: a time limit around it passed before a result."
                .to_owned(),
            "Retry with more time in the command that wraps the agent, or a smaller task.",
        ),
    };
    words(why, next)
}

/// The figure in "Reached maximum number of turns (2)".
fn figure(text: &str) -> Option<&str> {
    let inside = text.split_once('(')?.1.split_once(')')?.0;
    let is_figure = inside
        .bytes()
        .all(|b| b.is_ascii_digit() || b"$.,".contains(&b));
    (is_figure && (1..=16).contains(&inside.len())).then_some(inside)
}

pub(crate) fn limit(outcome: Outcome, text: &str) -> Words {
    let (what, flag) = match outcome {
        Outcome::LimitTurns => ("turns", "--max-turns"),
        _ => ("money", "--max-budget"),
    };
    let why = match figure(text) {
        Some(figure) => format!("The run reached its limit of {what} ({figure})."),
        None => format!("The run reached its limit of {what}."),
    };
    words(
        why,
        format!("Retry with a higher {flag}, or resume the session with one."),
    )
}

pub(crate) fn busy(fault: &Fault<'_>, at: Option<Timestamp>) -> Words {
    let status = status(fault);
    if fault.class == Class::RateLimit {
        let why = with(
            &format!("The account's limit was reached{status}"),
            fault.text,
        );
        let next = match at {
            Some(at) => format!(
                "Wait until {}, when the limit resets, then resume.",
                utc(at)
            ),
            None => "Wait some minutes, then resume; no reset time was given.".to_owned(),
        };
        return words(why, next);
    }
    let (why, next) = match fault.class {
        Class::Overloaded => (
            "The service is overloaded",
            "Wait some minutes, then resume.",
        ),
        Class::Server => (
            "The service failed on its side",
            "Wait some minutes, then resume.",
        ),
        Class::Timeout => (
            "A request to the service took too long",
            "Wait a moment, then resume; if it goes on, check the connection.",
        ),
        _ => (
            "The service could not be reached",
            "Check the connection and any proxy, then resume.",
        ),
    };
    words(with(&format!("{why}{status}"), fault.text), next)
}

fn status(fault: &Fault<'_>) -> String {
    match fault.status {
        Some(status) => format!(" (status {status})"),
        None => String::new(),
    }
}

pub(crate) fn full(fault: &Fault<'_>) -> Words {
    words(
        with(
            "The conversation no longer fits the model's context",
            fault.text,
        ),
        "Start a fresh session with a handoff, or with less input; resuming this one fails again.",
    )
}

pub(crate) fn locked_out(fault: &Fault<'_>) -> Words {
    let status = status(fault);
    let (why, next) = match fault.class {
        Class::Billing => (
            "The account cannot pay",
            "Stop all runs of this account until a person has added credit or raised the spend limit.",
        ),
        _ => (
            "Authentication was refused",
            "Stop all runs of this account until a person has logged in (claude /login) or set a valid API key.",
        ),
    };
    words(with(&format!("{why}{status}"), fault.text), next)
}

pub(crate) fn error(fault: &Fault<'_>, action: &str) -> Words {
    if fault.schema {
        let why = with(
            "The agent never met the schema that was asked for",
            fault.text,
        );
        return words(why, "Retry, or ask for a simpler schema.");
    }
    let why = match fault.class {
        Class::Validation => with(
            &format!("The request was refused{}", status(fault)),
            fault.text,
        ),
        _ => with(
            &format!("The agent ended with an error{}", status(fault)),
            fault.text,
        ),
    };
    let next = match action {
        "fix" => "Fix what the error names; the same request fails again.",
        _ => "Retry with the error as context.",
    };
    words(why, next)
}

pub(crate) fn died(signal: i32, had_result: bool) -> Words {
    let name = signal_name(signal);
    let when = if had_result {
        "after its result"
    } else {
        "before a result"
    };
    let next = match signal {
        9 => "Resume the session once; if it dies again, look for an out-of-memory kill.",
        _ => "Resume the session once; if it dies again, find out who sends the signal.",
    };
    words(format!("The agent was killed by {name} {when}."), next)
}

pub(crate) fn failed_silently(code: i32, stderr: &str, retry: &Retry) -> Words {
    let why = with(
        &format!("The agent ended with code {code} and no result"),
        stderr,
    );
    let next = match (retry.action, retry.at) {
        ("wait", Some(at)) => return words(why, format!("Wait until {}, then retry.", utc(at))),
        ("wait", None) => "Wait some minutes, then retry.",
        ("fresh_session", _) => "Start a fresh session with a handoff, or with less input.",
        ("stop", _) => {
            "Stop all runs of this account until a person has fixed the login or the credit."
        }
        ("fix", _) => "Fix the command; the same one fails again.",
        _ => "Retry with the error as context.",
    };
    words(why, next)
}

fn is_failure_of_supervisor(exit: &ExitFacts<'_>) -> bool {
    let reason = Reason::from_name(exit.reason);
    matches!(reason, Some(Reason::GuardianDied | Reason::Internal))
}

pub(crate) fn incomplete(evidence: &Evidence<'_>) -> Words {
    let why = match (&evidence.result, &evidence.exit) {
        (_, Some(exit)) if Reason::from_name(exit.reason) == Some(Reason::RelayLost) => {
            "The relay to the agent's machine was lost: how the agent ended is not known."
        }
        (Some(_), _) => {
            "The stream has a result but its end is missing: how the agent ended is not known."
        }
        (None, Some(exit)) if is_failure_of_supervisor(exit) => {
            "The supervisor broke and stopped the agent before a result."
        }
        (None, _) if evidence.missing == Missing::Messages => {
            "The session ended before every message was answered."
        }
        (None, _) if evidence.missing == Missing::LineEnd => {
            "The last line is cut off: how the work ended is not known."
        }
        (None, _) if evidence.missing == Missing::StopReason => {
            "The log ends with a text, and does not say whether the model was done."
        }
        (None, Some(_)) if evidence.missing == Missing::WorkAfterResult => {
            "The agent ended with code 0, and its work after the last result has no result."
        }
        (None, None) if evidence.missing == Missing::WorkAfterResult => {
            "The stream ends with work after the last result, which has no result."
        }
        (None, None) if evidence.missing == Missing::LastSession => {
            "The last session in the stream ends without a result."
        }
        (None, Some(_)) => "The agent ended with code 0 and no result.",
        (None, None) => "The stream ends without a result.",
    };
    words(
        why,
        "Resume the session once, after a look at what is already done.",
    )
}

pub(crate) fn contradiction(code: i32, stderr: &str) -> Words {
    let why = format!("The result is good, yet the agent ended with code {code}");
    words(
        with(&why, stderr),
        "Look at the transcript and at the work before you rely on either.",
    )
}

pub(crate) fn no_answer() -> Words {
    words(
        "A schema was asked for, and no answer meets it.",
        "Retry, or ask for a simpler schema.",
    )
}

pub(crate) fn question_open(question: Option<&str>) -> Words {
    words(
        with(
            "The agent asked a question and ended without an answer",
            question.unwrap_or_default(),
        ),
        "Answer the question, then resume the session.",
    )
}

pub(crate) fn verification(finding: Finding) -> Words {
    let (why, next) = match finding {
        Finding::NoCommit => (
            "The run says it is done, but there is no new commit.",
            "Retry, and say that the work must be committed.",
        ),
        Finding::ScopeViolation => (
            "Files outside the task's scope were changed.",
            "Retry with the list of those files, or widen the scope.",
        ),
        Finding::VerifyFailed => (
            "The check failed on the finished work.",
            "Retry with the output of the check as context.",
        ),
        Finding::Conflict => (
            "The finished work conflicts with what was merged before it.",
            "Retry from the merged state, with the conflict as context.",
        ),
        Finding::Looping => (
            "The agent took many turns without progress.",
            "Retry with a smaller task, or with what it was stuck on as context.",
        ),
    };
    words(why, next)
}
