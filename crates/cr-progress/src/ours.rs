//! Lines of our own: how the run was started, limited and ended.

use cr_event::{Event, Kind, Raw, Text};
use jiff::Timestamp;

use crate::line::{ProgressLine, Tone, duration};

/// The progress line of a `cr` line, if it has one.
pub(crate) fn line(event: &Event<'_>) -> Option<ProgressLine> {
    let line = event.line;
    let subtype = event.subtype?.decode();
    Some(match &*subtype {
        "start" => start(line),
        "limit" => limit(line),
        "exit" => exit(line),
        "stderr" => said(line, "Stderr", "text").tone(Tone::Warning),
        "noise" => said(line, "Noise", "text").detail(),
        "forged" => said(line, "Forged", "line").key(Tone::Error),
        "oversize" => {
            let bytes = line.get("bytes").and_then(Raw::u64).unwrap_or(0);
            ProgressLine::new("Oversize", format!("a line of {bytes} bytes was set aside"))
                .tone(Tone::Warning)
        }
        "git" => return git(line),
        "task" => task(line),
        "run" => return run(line),
        _ => return None,
    })
}

/// When a run that has a time limit began, and its milliseconds.
pub(crate) fn timeout(event: &Event<'_>) -> Option<(Timestamp, i64)> {
    let start = event.at.filter(|_| event.is("start"))?;
    let limit = event.line.at(&["limits", "timeout_ms"])?.u64()?;
    Some((start.decode().parse().ok()?, i64::try_from(limit).ok()?))
}

/// The milliseconds between a run's first signal and its last.
pub fn grace(event: &Event<'_>) -> Option<u64> {
    let is_start = event.kind == Kind::Cr && event.is("start");
    let grace = is_start.then(|| event.line.at(&["limits", "grace_ms"]))?;
    grace?.u64()
}

fn start(line: Raw<'_>) -> ProgressLine {
    let mut parts = Vec::new();
    let text = |key: &str| line.string(key).unwrap_or_default();
    parts.push(format!(
        "model: {}",
        line.string("model").unwrap_or("the session's".into())
    ));
    let limits = line.get("limits");
    let number = |key: &str| limits.and_then(|limits| limits.get(key)?.u64());
    let budget = limits.and_then(|limits| limits.get("max_budget_usd")?.f64());
    let off = || "disabled".to_owned();
    parts.push(format!(
        "max-turns: {}",
        number("max_turns").map_or_else(off, |n| n.to_string())
    ));
    parts.push(format!(
        "max-budget: {}",
        budget.map_or_else(off, |usd| format!("${usd}"))
    ));
    let clocks = [
        ("timeout", "timeout_ms"),
        ("idle", "idle_timeout_ms"),
        ("tool", "tool_timeout_ms"),
        ("turn", "turn_timeout_ms"),
    ];
    for (name, key) in clocks {
        let clock = number(key).map_or_else(off, |ms| duration(ms / 1000));
        parts.push(format!("{name}: {clock}"));
    }
    let mode = match &*text("permission_mode") {
        "" => "default".to_owned(),
        "bypassPermissions" => "skipped".to_owned(),
        mode => mode.to_owned(),
    };
    parts.push(format!("permissions: {mode}"));
    for (name, key) in [("cwd", "cwd"), ("run", "run_dir")] {
        parts.extend(line.string(key).map(|value| format!("{name}: {value}")));
    }
    ProgressLine::new("Session started", parts.join(" | ")).most(600)
}

fn limit(line: Raw<'_>) -> ProgressLine {
    let number = |key| {
        line.get(key)
            .and_then(Raw::u64)
            .map(|ms| duration(ms / 1000))
    };
    let clock = line.string("clock").unwrap_or_default();
    let mut words = format!(
        "{clock} of {} ran out",
        number("limit_ms").unwrap_or_default()
    );
    let doing = |key| line.get("doing").and_then(|doing| doing.string(key));
    match (doing("tool"), doing("what")) {
        (Some(tool), _) => {
            words.push_str(&format!(" in {tool}"));
            words.extend(doing("target").map(|target| format!(": {target}")));
        }
        (None, Some(what)) => words.push_str(&format!(" while {what}")),
        (None, None) => {}
    }
    words.extend(line.string("action").map(|action| format!(" ({action})")));
    ProgressLine::new("Limit", words).key(Tone::Error)
}

fn exit(line: Raw<'_>) -> ProgressLine {
    let reason = line.string("reason").unwrap_or_default();
    let number = |key| line.get(key).and_then(Raw::u64);
    let mut words = reason.clone().into_owned();
    if let Some(signal) = number("signal") {
        words.push_str(&format!(", signal {signal}"));
    } else if let Some(code) = number("exit_code") {
        words.push_str(&format!(", code {code}"));
    }
    if let Some(ms) = number("duration_ms") {
        words.push_str(&format!(", {}", duration(ms / 1000)));
    }
    let leaked = line.get("leaked").map(Raw::items).unwrap_or_default().len();
    if leaked > 0 {
        words.push_str(&format!(", left behind and ended: {leaked}"));
    }
    let fine = reason == "exit" && number("exit_code") == Some(0);
    ProgressLine::new("Exit", words).key(if fine { Tone::Plain } else { Tone::Error })
}

fn said(line: Raw<'_>, label: &'static str, key: &str) -> ProgressLine {
    let words = line
        .get(key)
        .and_then(Raw::text)
        .map(Text::decode)
        .unwrap_or_default();
    ProgressLine::new(label, words.trim_end())
}

/// A change of a task: of one attempt at it.
fn task(line: Raw<'_>) -> ProgressLine {
    let text = |key: &str| line.string(key).unwrap_or_default();
    let attempt = line.get("attempt").and_then(Raw::u64).unwrap_or(0);
    let mut words = format!("{}: attempt {attempt}: {}", text("id"), text("state"));
    let outcome = text("outcome");
    if !outcome.is_empty() {
        words.push_str(&format!(" ({outcome})"));
    }
    words.push_str(&format!(": {}", text("reason")));
    let is_bad = !matches!(&*outcome, "" | "success");
    ProgressLine::new("Task", words).key(if is_bad { Tone::Warning } else { Tone::Plain })
}

/// A change of a run of tasks, unless it only says that it has begun.
fn run(line: Raw<'_>) -> Option<ProgressLine> {
    let next = line.string("next")?;
    let text = |key: &str| line.string(key).unwrap_or_default();
    let words = format!("{}: {}; to go on: {next}", text("state"), text("reason"));
    Some(ProgressLine::new("Run", words).key(Tone::Warning))
}

/// What the run did to the repository, when it is over.
fn git(line: Raw<'_>) -> Option<ProgressLine> {
    if line.string("phase")? != "end" {
        return None;
    }
    // Outside a repository there is nothing to say.
    line.get("changed_files").and_then(Raw::u64)?;
    let number = |key| line.get(key).and_then(Raw::u64).unwrap_or(0);
    let commits = line
        .get("commits")
        .map(Raw::items)
        .unwrap_or_default()
        .len() as u64;
    let words = format!(
        "{}, {} changed, +{} -{}, {} uncommitted",
        cr_io::counted(commits.saturating_add(number("commits_more")), "commit"),
        cr_io::counted(number("changed_files"), "file"),
        number("insertions"),
        number("deletions"),
        number("uncommitted_changes"),
    );
    Some(ProgressLine::new("Git", words).key(Tone::Plain))
}
