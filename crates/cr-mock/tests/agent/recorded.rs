//! The stand-in against recordings of the real CLI.

use std::fs;
use std::sync::LazyLock;

use cr_test::fixture;
use serde_json::{Value, json};

use crate::driver::{Agent, BOTH, NEW, kind};

const IDS: [&str; 3] = [
    "564c3b4b-b6f4-56d0-bf58-c219cb74573a",
    "bfb32a44-e459-58e3-8c7b-ba490ecc3c07",
    "eb329ce7-de74-5985-b260-059825d6e4fa",
];

/// The kinds of `lines`, without what differs by the script: the text of a
/// message, an id that the CLI made, and the notes about a tool of over 3 s.
fn comparable(lines: &[Value]) -> Vec<String> {
    let kinds = lines.iter().map(kind).filter(|it| !it.starts_with("task_"));
    let without_text = kinds.map(|kind| match kind.split_once(" \"") {
        Some((replay, _)) if IDS.iter().any(|id| replay.ends_with(id)) => replay.to_owned(),
        Some(_) => "replay of a message without an id".to_owned(),
        None => kind,
    });
    without_text.collect()
}

fn recording(version: &str) -> Vec<Value> {
    let release = version.rsplit('.').next().expect("a number");
    let path = fixture(&format!("multiturn/mt-deliver-fold.{release}.ndjson"));
    let text = fs::read_to_string(path).expect("a recording");
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

/// What the stand-in of each version wrote, once for all tests.
static PLAYED: LazyLock<[Vec<Value>; 2]> = LazyLock::new(|| BOTH.map(play));

fn played(version: &str) -> &'static [Value] {
    &PLAYED[usize::from(version != NEW)]
}

/// Sends what was sent for the recording.
fn play(version: &str) -> Vec<Value> {
    let mut agent = Agent::new(version);
    agent.say(IDS[0], "tool:1s");
    agent.until_kind("assistant tool_use");
    agent.say(IDS[1], "m2 folded?");
    agent.say(IDS[2], "m3 folded?");
    let message = json!({"role": "user", "content": "m4 no uuid"});
    agent.write(&json!({"type": "user", "message": message}).to_string());
    agent.say(IDS[1], "m2 again same uuid");
    agent.until_idle();
    agent.say(IDS[1], "m5 reuse a2 when idle");
    agent.until_idle();
    let ended = agent.close();
    assert_eq!(ended.code, Some(0));
    ended.lines
}

#[test]
fn the_lines_come_in_the_order_of_the_recording() {
    for version in BOTH {
        let played = comparable(played(version));
        assert_eq!(played, comparable(&recording(version)), "{version}");
    }
}

/// The names of the fields of the first line of this kind.
fn keys(lines: &[Value], wanted: &str) -> Vec<String> {
    let line = lines.iter().find(|line| kind(line).starts_with(wanted));
    let line = line.unwrap_or_else(|| panic!("no {wanted}"));
    let keys = line.as_object().expect("an object").keys();
    keys.cloned().collect()
}

#[test]
fn the_lines_have_the_fields_of_the_recording() {
    for version in BOTH {
        let (played, recorded) = (played(version), recording(version));
        for wanted in ["state", "init", "replay", "assistant", "user tool_result"] {
            assert_eq!(keys(played, wanted), keys(&recorded, wanted), "{version}");
        }
        // A result has figures that a script cannot have; none is made up.
        let recorded = keys(&recorded, "result");
        for key in keys(played, "result") {
            assert!(recorded.contains(&key), "{version}: {key}");
        }
    }
}

#[test]
fn only_the_newer_release_tells_the_life_of_a_message() {
    for version in BOTH {
        let lines = played(version);
        let is_told = lines.iter().any(|line| line["type"] == "command_lifecycle");
        assert_eq!(is_told, version == NEW);
    }
}
