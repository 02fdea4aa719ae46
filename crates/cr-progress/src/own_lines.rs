//! The progress lines of our own lines: how the run was started, limited and
//! ended.

use std::borrow::Cow;

use cr_event::Event;
use cr_stream::{Clock, Exit, GitEnd, Limit, Named, OwnLine, Reason, Run, Start, Subtype, Task};
use jiff::Timestamp;

use crate::line::{ProgressLine, Tone, elapsed, setting};
use crate::session_lines;

/// The progress line of a line of our own, if it has one; `limit` is the last
/// clock that ran out.
pub(crate) fn line(line: &OwnLine<'_>, limit: Option<(Clock, u64)>) -> Option<ProgressLine> {
    Some(match line {
        OwnLine::Start(line) => start(line),
        OwnLine::Limit(line) => ran_out(line),
        OwnLine::Exit(line) => exit(line, limit),
        OwnLine::Stderr(line) => text("Stderr", &line.text).tone(Tone::Warning),
        OwnLine::Noise(line) => text("Noise", &line.text).detail(),
        OwnLine::Forged(line) => text("Forged", &line.line).key(Tone::Error),
        OwnLine::Oversize(line) => {
            let text = format!("a line of {} bytes was moved to a file", line.bytes);
            ProgressLine::new("Oversize", text).tone(Tone::Warning)
        }
        OwnLine::GitEnd(line) => return git(line),
        OwnLine::Task(line) => task(line),
        OwnLine::Run(line) => return run(line),
        OwnLine::Input(line) => session_lines::input(line),
        _ => return None,
    })
}

/// When a run that has a time limit began, and its milliseconds.
pub(crate) fn timeout(event: &Event<'_>) -> Option<(Timestamp, i64)> {
    let limit = start_of(event)?.limits.timeout_ms?;
    let at = event.at?.decode().parse().ok()?;
    Some((at, i64::try_from(limit).ok()?))
}

/// The milliseconds between a run's first signal and its last.
pub fn grace(event: &Event<'_>) -> Option<u64> {
    start_of(event)?.limits.grace_ms
}

fn start_of<'a>(event: &Event<'a>) -> Option<Box<Start<'a>>> {
    // Other lines are many, and are not read twice.
    Subtype::of(event).filter(|subtype| *subtype == Subtype::Start)?;
    match OwnLine::read(event)? {
        OwnLine::Start(start) => Some(start),
        _ => None,
    }
}

fn start(start: &Start<'_>) -> ProgressLine {
    let mut parts = Vec::new();
    let model = start.model.as_deref().unwrap_or("the session's");
    parts.push(format!("model: {model}"));
    let limits = &start.limits;
    let off = || "disabled".to_owned();
    let turns = limits.max_turns.map_or_else(off, |n| n.to_string());
    // In a session of many messages it matters what a limit counts.
    let takes_messages = start.takes_messages();
    let per = |unit| if takes_messages { unit } else { "" };
    let per_message = limits.max_turns.map_or("", |_| per(" per message"));
    parts.push(format!("max-turns: {turns}{per_message}"));
    let budget = limits.max_budget_usd;
    let per_process = budget.map_or("", |_| per(" per process"));
    let budget = budget.map_or_else(off, |usd| format!("${usd}"));
    parts.push(format!("max-budget: {budget}{per_process}"));
    let clocks = [
        ("timeout", limits.timeout_ms),
        ("idle", limits.idle_timeout_ms),
        ("tool", limits.tool_timeout_ms),
        ("turn", limits.turn_timeout_ms),
    ];
    for (name, limit) in clocks {
        let clock = limit.map_or_else(off, setting);
        parts.push(format!("{name}: {clock}"));
    }
    let mode = match start.permission_mode.as_deref().unwrap_or_default() {
        "" => "default",
        "bypassPermissions" => "skipped",
        mode => mode,
    };
    parts.push(format!("permissions: {mode}"));
    for (name, value) in [("cwd", &start.cwd), ("run", &start.run_dir)] {
        parts.extend(value.as_ref().map(|value| format!("{name}: {value}")));
    }
    ProgressLine::new("Session started", parts.join(" | ")).most(600)
}

fn ran_out(limit: &Limit<'_>) -> ProgressLine {
    let length = limit.limit_ms.map(setting).unwrap_or_default();
    let mut text = if limit.clock.is(Clock::Wake) {
        format!("no turn has reported a finished background task for {length}")
    } else {
        format!("{} of {length} ran out", limit.clock)
    };
    if let Some(doing) = &limit.doing {
        match (&doing.tool, doing.what.as_str()) {
            (Some(tool), _) => {
                text.push_str(&format!(" in {tool}"));
                text.extend(doing.target.as_ref().map(|target| format!(": {target}")));
            }
            (None, "") => {}
            (None, what) => text.push_str(&format!(" while {what}")),
        }
    }
    if !limit.action.is_empty() {
        text.push_str(&format!(" ({})", limit.action));
    }
    if !limit.stopped_tasks.is_empty() {
        let ids = limit.stopped_tasks.join(", ");
        text.push_str(&format!(", which also ends the agents {ids}"));
    }
    let goes_on = matches!(&*limit.action, "interrupt" | "remind");
    let tone = if goes_on { Tone::Warning } else { Tone::Error };
    ProgressLine::new("Limit", text).key(tone)
}

/// One sentence, then the details: `Timed out after 2h0m (idle clock of 15m0s):
/// killed`.
fn exit(exit: &Exit<'_>, limit: Option<(Clock, u64)>) -> ProgressLine {
    let is_own = exit.reason.is(Reason::Exit);
    let (verb, cause) = ending(exit, limit);
    let after = exit.duration_ms.map(elapsed);
    let after = after.map_or_else(String::new, |time| format!(" after {time}"));
    let cause = cause.map_or_else(String::new, |cause| format!(" ({cause})"));
    let mut details = Vec::new();
    details.extend(exit.error.as_deref().map(str::to_owned));
    match (exit.signal, exit.exit_code) {
        _ if is_own || exit.reason.is(Reason::Signal) => {}
        (Some(signal), _) => details.push(format!("signal {signal}")),
        (None, Some(code)) => details.push(format!("code {code}")),
        (None, None) => {}
    }
    if exit.killed {
        details.push("killed".to_owned());
    }
    let left = exit.leaked_total.unwrap_or(exit.leaked.len() as u64);
    if left > 0 {
        let noun = if left == 1 { "process" } else { "processes" };
        let fate = if exit.children_kept { "kept" } else { "killed" };
        details.push(format!("{left} leftover {noun} {fate}"));
    }
    let is_good = is_own && exit.exit_code == Some(0);
    let tone = if is_good { Tone::Plain } else { Tone::Error };
    ProgressLine::new(format!("{verb}{after}{cause}"), details.join(", ")).key(tone)
}

/// How the agent ended, and the cause where the first does not say it.
fn ending(exit: &Exit<'_>, limit: Option<(Clock, u64)>) -> (Cow<'static, str>, Option<String>) {
    let reason = exit.reason.known();
    if let Some(clock) = reason.and_then(Reason::clock) {
        let length = limit.filter(|(ran_out, _)| *ran_out == clock);
        return expired(clock, length.map(|(_, ms)| setting(ms)));
    }
    let stopped = |cause: &str| ("Stopped".into(), Some(cause.to_owned()));
    match (reason, exit.exit_code, exit.signal) {
        (Some(Reason::Exit), Some(code), _) => {
            (format!("Exited with code {code}").into(), completion(exit))
        }
        (Some(Reason::Signal), _, Some(signal)) => {
            (format!("Killed by signal {signal}").into(), None)
        }
        (Some(Reason::Interrupted), ..) => match exit.interrupted_by {
            _ if exit.parent_died => stopped("its starter died"),
            Some(signal) => (format!("Interrupted by signal {signal}").into(), None),
            None => ("Interrupted".into(), None),
        },
        (Some(Reason::StdoutClosed), ..) => stopped("the reader of its output left"),
        (Some(Reason::GuardianDied), ..) => stopped("its guardian died"),
        (Some(Reason::RelayLost), ..) => ("Relay lost".into(), None),
        (Some(Reason::SpawnFailed), ..) => ("Could not start".into(), None),
        (Some(Reason::Internal), ..) => stopped("internal error"),
        _ => ("Ended".into(), Some(exit.reason.to_string())),
    }
}

/// Why a session was complete.
fn completion(exit: &Exit<'_>) -> Option<String> {
    let text = match exit.completed_by.as_deref()? {
        "input_end" => "the input ended and the work is complete",
        "field" => "the structured output says that the work is complete",
        "stop" => "stopped on request",
        "ask_timeout" => "nobody answered a question in time",
        other => other,
    };
    Some(text.to_owned())
}

/// The end by a clock, with its length where that is known.
fn expired(clock: Clock, length: Option<String>) -> (Cow<'static, str>, Option<String>) {
    if clock == Clock::PostResult {
        let time = length.map_or_else(String::new, |time| format!("{time} "));
        let cause = format!("still alive {time}after its result");
        return ("Stopped".into(), Some(cause));
    }
    let time = length.map_or_else(String::new, |time| format!(" of {time}"));
    let cause = format!("{} clock{time}", clock.as_str());
    ("Timed out".into(), Some(cause))
}

fn text(label: &'static str, text: &str) -> ProgressLine {
    ProgressLine::new(label, text.trim_end())
}

/// A change of a task: of one attempt at it.
fn task(task: &Task<'_>) -> ProgressLine {
    let mut text = format!("{}: attempt {}: {}", task.id, task.attempt, task.state);
    let outcome = task.outcome.as_deref().unwrap_or_default();
    if !outcome.is_empty() {
        text.push_str(&format!(" ({outcome})"));
    }
    text.push_str(&format!(": {}", task.reason));
    let is_bad = !matches!(outcome, "" | "success");
    let tone = if is_bad { Tone::Warning } else { Tone::Plain };
    ProgressLine::new("Task", text).key(tone)
}

/// A change of a run of tasks, unless it only says that it has begun.
fn run(run: &Run<'_>) -> Option<ProgressLine> {
    let next = run.next.as_ref()?;
    let text = format!("{}: {}; to continue: {next}", run.state, run.reason);
    Some(ProgressLine::new("Run", text).key(Tone::Warning))
}

/// What the run did to the repository, when it is over. Outside a repository
/// there is nothing to say.
fn git(git: &GitEnd<'_>) -> Option<ProgressLine> {
    let changed = git.changed_files?;
    let commits = git.commits.as_ref().map_or(0, Vec::len) as u64;
    let text = format!(
        "{}, {} changed, +{} -{}, {} uncommitted",
        cr_io::counted(commits.saturating_add(git.commits_more), "commit"),
        cr_io::counted(changed, "file"),
        git.insertions.unwrap_or(0),
        git.deletions.unwrap_or(0),
        git.uncommitted_changes.unwrap_or(0),
    );
    Some(ProgressLine::new("Git", text).key(Tone::Plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_says_what_its_limits_count() {
        let shown = |argv: &str| {
            let line = format!(
                r#"{{"type":"cr","subtype":"start","argv":[{argv}],"limits":{{"max_turns":9,"max_budget_usd":2}}}}"#
            );
            let event = Event::parse(line.as_bytes()).expect("an event");
            let own = OwnLine::read(&event).expect("a line of our own");
            super::line(&own, None).expect("it is shown").text
        };
        let single = shown("\"-p\"");
        assert!(
            single.contains("max-turns: 9 | max-budget: $2 | "),
            "{single}"
        );
        let session = shown("\"--input-format=stream-json\"");
        let limits = "max-turns: 9 per message | max-budget: $2 per process | ";
        assert!(session.contains(limits), "{session}");
    }

    #[test]
    fn an_exit_says_how_the_agent_ended() {
        let shown = |fields: &str| {
            let line = format!(r#"{{"type":"cr","subtype":"exit",{fields}}}"#);
            let event = Event::parse(line.as_bytes()).expect("an event");
            let own = OwnLine::read(&event).expect("a line of our own");
            let limit = Some((Clock::Idle, 900_000));
            let line = super::line(&own, limit).expect("it is shown");
            format!("{}: {}", line.label, line.text)
        };
        #[rustfmt::skip]
        let cases = [
            (r#""reason":"exit","exit_code":0,"duration_ms":61000"#, "Exited with code 0 after 1m1s: "),
            (r#""reason":"signal","signal":9,"duration_ms":1000"#, "Killed by signal 9 after 1s: "),
            (r#""reason":"idle","exit_code":143,"killed":true,"duration_ms":7200000,"leaked":[{"pid":1}]"#,
                "Timed out after 2h0m (idle clock of 15m0s): code 143, killed, 1 leftover process killed"),
            (r#""reason":"timeout","exit_code":143"#, "Timed out (timeout clock): code 143"),
            (r#""reason":"exit","exit_code":0,"duration_ms":600"#, "Exited with code 0 after 1s: "),
            (r#""reason":"post_result","signal":9"#, "Stopped (still alive after its result): signal 9"),
            (r#""reason":"interrupted","interrupted_by":2"#, "Interrupted by signal 2: "),
            (r#""reason":"interrupted","interrupted_by":15,"parent_died":true"#, "Stopped (its starter died): "),
            (r#""reason":"spawn_failed","error":"claude: not found""#, "Could not start: claude: not found"),
            (r#""reason":"exit","exit_code":0,"completed_by":"stop""#, "Exited with code 0 (stopped on request): "),
            (r#""reason":"new one","exit_code":1"#, "Ended (new one): code 1"),
        ];
        for (fields, sentence) in cases {
            assert_eq!(shown(fields), sentence);
        }
    }
}
