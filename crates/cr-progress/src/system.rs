//! `system` events: retries, compaction, background work and other news.

use cr_event::{Event, Raw};
use jiff::Timestamp;

use crate::clock::Clock;
use crate::line::{ProgressLine, Tone};

/// Subtypes of `system` that are known, shown or not; others are counted as
/// unknown by `--stats`.
pub const KNOWN: [&str; 25] = [
    "api_error",
    "api_retry",
    "background_tasks_changed",
    "compact_boundary",
    "hook_response",
    "hook_started",
    "informational",
    "init",
    "local_command",
    "local_command_output",
    "model_fallback",
    "notification",
    "permission_denied",
    "session_state_changed",
    "session_title_changed",
    "status",
    "stop_hook_summary",
    "task_notification",
    "task_progress",
    "task_started",
    "task_updated",
    "thinking_tokens",
    "turn_duration",
    "vcs_state_changed",
    "away_summary",
];

/// The progress line of a `system` event, if it has one.
pub(crate) fn line(event: &Event<'_>) -> Option<ProgressLine> {
    let subtype = event.subtype?.decode();
    let line = event.line;
    Some(match &*subtype {
        "api_retry" => retry(line),
        "api_error" => log_retry(line),
        "compact_boundary" => compaction(line),
        "status" => return status(line),
        "permission_denied" => {
            let tool = line.string("tool_name").unwrap_or_default();
            let why = line.string("message").unwrap_or_default();
            ProgressLine::new("Denied", format!("{tool}: {why}")).key(Tone::Warning)
        }
        "model_fallback" => {
            let from = line.string("original_model").unwrap_or_default();
            let to = line.string("fallback_model").unwrap_or_default();
            let why = line.string("trigger").unwrap_or_default();
            ProgressLine::new("Fallback", format!("{from} to {to}: {why}")).tone(Tone::Warning)
        }
        "task_started" => return background(line, "started"),
        "task_notification" => finished(line),
        "informational" | "notification" => {
            let text = line.string("content").or_else(|| line.string("text"))?;
            ProgressLine::new("Notice", text.trim())
        }
        "hook_response" => return hook(line),
        _ => return None,
    })
}

fn retry(line: Raw<'_>) -> ProgressLine {
    let number = |key| line.get(key).and_then(Raw::u64).unwrap_or(0);
    let error = line.string("error").unwrap_or_default();
    let status = line.get("error_status").and_then(Raw::u64);
    let status = status
        .map(|status| format!(" ({status})"))
        .unwrap_or_default();
    let (attempt, most, delay) = (
        number("attempt"),
        number("max_retries"),
        number("retry_delay_ms"),
    );
    let wait = format!("{}.{}s", delay / 1000, delay % 1000 / 100);
    ProgressLine::new(
        "Retry",
        format!("{attempt}/{most} in {wait}: {error}{status}"),
    )
    .tone(Tone::Warning)
}

/// A log's record of the same.
fn log_retry(line: Raw<'_>) -> ProgressLine {
    let text = line
        .at(&["error", "formatted"])
        .or_else(|| line.at(&["error", "message"]));
    let text = text
        .and_then(Raw::text)
        .map(cr_event::Text::decode)
        .unwrap_or_default();
    ProgressLine::new("Retry", text).tone(Tone::Warning)
}

fn compaction(line: Raw<'_>) -> ProgressLine {
    let data = line
        .get("compact_metadata")
        .or_else(|| line.get("compactMetadata"));
    let number = |keys: [&str; 2]| {
        let found = keys.iter().find_map(|key| data?.get(key)?.u64());
        found.map_or("?".to_owned(), |n| n.to_string())
    };
    let trigger = data
        .and_then(|data| data.string("trigger"))
        .unwrap_or_default();
    let (before, after) = (
        number(["pre_tokens", "preTokens"]),
        number(["post_tokens", "postTokens"]),
    );
    ProgressLine::new("Compact", format!("{trigger}, {before} to {after} tokens"))
        .tone(Tone::Warning)
}

fn status(line: Raw<'_>) -> Option<ProgressLine> {
    let failed = line.string("compact_error").or_else(|| {
        let result = line.string("compact_result")?;
        (result == "failed").then_some(result)
    })?;
    Some(ProgressLine::new("Compact", format!("failed: {failed}")).key(Tone::Error))
}

/// Background work; a long call in the foreground has the same events.
fn background(line: Raw<'_>, state: &str) -> Option<ProgressLine> {
    let is_background = line.get("is_backgrounded").and_then(Raw::bool) == Some(true);
    let what = line.string("description").unwrap_or_default();
    is_background.then(|| ProgressLine::new("Background", format!("{state}: {what}")))
}

fn finished(line: Raw<'_>) -> ProgressLine {
    let status = line.string("status").unwrap_or_default();
    let summary = line.string("summary").unwrap_or_default();
    let shown = ProgressLine::new("Task", format!("{status}: {summary}"));
    if status == "completed" {
        shown
    } else {
        shown.tone(Tone::Warning)
    }
}

fn hook(line: Raw<'_>) -> Option<ProgressLine> {
    let outcome = line.string("outcome")?;
    let name = line.string("hook_name").unwrap_or_default();
    let shown = ProgressLine::new("Hook", format!("{name}: {outcome}"));
    Some(if outcome == "success" {
        shown.detail()
    } else {
        shown.tone(Tone::Warning)
    })
}

/// How much of a subscription's limit is used, and when it resets.
pub(crate) fn rate_limit(event: &Event<'_>, clock: &Clock) -> Option<ProgressLine> {
    let info = event.line.get("rate_limit_info")?;
    let status = info.string("status")?;
    let kind = info.string("rateLimitType").unwrap_or_default();
    let mut text = format!("{kind}: {status}");
    if let Some(share) = info.get("utilization").and_then(Raw::f64) {
        text.push_str(&format!(", {:.0}% used", share * 100.0));
    }
    let resets = info.get("resetsAt").and_then(Raw::u64);
    let resets = resets.and_then(|at| Timestamp::from_second(i64::try_from(at).ok()?).ok());
    if let Some(at) = resets {
        text.push_str(&format!(", resets {}", clock.local(at)));
    }
    let shown = ProgressLine::new("Rate limit", text);
    Some(match &*status {
        "allowed" => shown.detail(),
        "rejected" => shown.key(Tone::Error),
        _ => shown.tone(Tone::Warning),
    })
}
