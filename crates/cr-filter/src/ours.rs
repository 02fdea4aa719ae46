//! Lines of our own: how the run was started, limited and ended.

use cr_event::{Event, Raw, Text};

use crate::note::{Note, Tone, duration};

/// The note of a `cr` line, if it deserves one.
pub(crate) fn note(event: &Event<'_>) -> Option<Note> {
    let line = event.line;
    let subtype = event.subtype?.decode();
    Some(match &*subtype {
        "start" => start(line),
        "limit" => limit(line),
        "exit" => exit(line),
        "stderr" => said(line, "Stderr", "line").tone(Tone::Warning),
        "noise" => said(line, "Noise", "line").detail(),
        "forged" => said(line, "Forged", "line").key(Tone::Error),
        "oversize" => {
            let bytes = line.get("bytes").and_then(Raw::u64).unwrap_or(0);
            Note::new("Oversize", format!("a line of {bytes} bytes was set aside"))
                .tone(Tone::Warning)
        }
        "git" => return git(line),
        _ => return None,
    })
}

fn start(line: Raw<'_>) -> Note {
    let mut parts = Vec::new();
    for key in ["model", "cwd", "run_dir"] {
        parts.extend(line.string(key).map(|value| format!("{key}: {value}")));
    }
    let limits = line.get("limits").map(Raw::fields).unwrap_or_default();
    for (name, value) in limits {
        let value = value.text().map_or_else(
            || String::from_utf8_lossy(value.bytes()).into_owned(),
            |text| text.decode().into_owned(),
        );
        if value != "null" {
            parts.push(format!("{}: {value}", name.decode()));
        }
    }
    Note::new("Start", parts.join(" | ")).most(600)
}

fn limit(line: Raw<'_>) -> Note {
    let text = |key| line.string(key).unwrap_or_default();
    let mut words = format!("{} limit", text("clock"));
    let after = line.get("after_ms").and_then(Raw::u64);
    if let Some(after) = after {
        words.push_str(&format!(" after {}", duration(after / 1000)));
    }
    for key in ["doing", "action"] {
        let said = text(key);
        if !said.is_empty() {
            words.push_str(&format!(", {said}"));
        }
    }
    Note::new("Limit", words).key(Tone::Error)
}

fn exit(line: Raw<'_>) -> Note {
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
        words.push_str(&format!(", {leaked} processes left behind were ended"));
    }
    let fine = reason == "exit" && number("exit_code") == Some(0);
    Note::new("Exit", words).key(if fine { Tone::Plain } else { Tone::Error })
}

fn said(line: Raw<'_>, label: &'static str, key: &str) -> Note {
    let words = line
        .get(key)
        .and_then(Raw::text)
        .map(Text::decode)
        .unwrap_or_default();
    Note::new(label, words.trim_end())
}

/// What the run did to the repository, when it is over.
fn git(line: Raw<'_>) -> Option<Note> {
    if line.string("phase")? != "end" {
        return None;
    }
    let number = |key| line.get(key).and_then(Raw::u64).unwrap_or(0);
    let commits = line
        .get("commits")
        .map(Raw::items)
        .unwrap_or_default()
        .len();
    let words = format!(
        "{commits} commits, {} files changed, +{} -{}, {} uncommitted",
        number("changed_files"),
        number("insertions"),
        number("deletions"),
        number("uncommitted_changes"),
    );
    Some(Note::new("Git", words).key(Tone::Plain))
}
