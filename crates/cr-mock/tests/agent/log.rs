//! The session log, and what a later process knows from it.

use std::fs;
use std::path::PathBuf;

use cr_test::{World, until};
use serde_json::{Value, json};

use crate::driver::{Agent, BOTH, HELD, NEW, kinds, results};

const ID: &str = "11111111-2222-4333-8444-555555555555";

fn path(world: &World) -> PathBuf {
    let cwd = world.dir().canonicalize().expect("a path");
    let cwd = cwd.to_str().expect("text");
    let folder = cwd.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let projects = world.home().join(".claude/projects");
    projects.join(folder).join(format!("{ID}.jsonl"))
}

fn records(world: &World) -> Vec<Value> {
    let text = fs::read_to_string(path(world)).expect("a log");
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

fn session(world: &World, version: &str, how: &str) -> Agent {
    let flags = [&format!("{how}={ID}"), "--permission-prompt-tool=stdio"];
    Agent::start(world, version, &flags)
}

#[test]
fn a_finished_turn_has_its_uuid_and_a_final_stop_reason() {
    for version in BOTH {
        let world = World::new();
        let mut agent = session(&world, version, "--session-id");
        agent.say("a", "hello");
        agent.close();
        let records = records(&world);
        let turn = records
            .iter()
            .find(|it| it["type"] == "user")
            .expect("a turn");
        assert_eq!(turn["uuid"], "a");
        assert_eq!(turn["message"]["content"], "hello");
        let last = records.last().expect("a record");
        assert_eq!(last["message"]["stop_reason"], "end_turn");
    }
}

#[test]
fn a_folded_message_is_an_attachment() {
    for version in BOTH {
        let world = World::new();
        let mut agent = session(&world, version, "--session-id");
        agent.say("a", HELD);
        let question = agent.question();
        agent.say("b", "more");
        agent.allow(&question);
        agent.close();
        let records = records(&world);
        let folded = records.iter().find(|it| it["type"] == "attachment");
        let folded = &folded.expect("an attachment")["attachment"];
        assert_eq!(folded["type"], "queued_command");
        assert_eq!(folded["source_uuid"], "b");
        assert_eq!(folded["prompt"], "more");
    }
}

#[test]
fn merged_messages_are_one_record_with_the_last_uuid() {
    for version in BOTH {
        let world = World::new();
        let mut agent = session(&world, version, "--session-id");
        agent.say("a", "text:1s");
        agent.say("b", "two");
        agent.say("c", "three");
        agent.close();
        let records = records(&world);
        let merged = records.iter().find(|it| it["uuid"] == "c").expect("a turn");
        assert_eq!(merged["message"]["content"], "two\nthree");
        let others = &merged["mergedSendUuids"];
        let expected = if version == NEW {
            json!(["b"])
        } else {
            Value::Null
        };
        assert_eq!(*others, expected);
    }
}

#[test]
fn a_resumed_session_drops_its_turns_and_runs_folded_messages_again() {
    for version in BOTH {
        let world = World::new();
        let mut agent = session(&world, version, "--session-id");
        agent.say("a", HELD);
        let question = agent.question();
        agent.say("b", "more");
        agent.allow(&question);
        agent.close();

        let mut agent = session(&world, version, "--resume");
        agent.say("a", HELD);
        agent.until_idle();
        agent.say("b", "more");
        let ended = agent.close();
        assert_eq!(results(&ended.lines), ["answer to: more"]);
        let kinds = kinds(&ended.lines);
        assert_eq!(kinds[1] == "completed a", version == NEW);
    }
}

#[test]
fn a_turn_that_was_cut_off_has_no_final_record_and_is_dropped_later() {
    for version in BOTH {
        let world = World::new();
        let mut agent = session(&world, version, "--session-id");
        agent.say("a", HELD);
        agent.question();
        agent.say("queued", "never taken");
        until("the record of the tool", || {
            fs::read_to_string(path(&world)).is_ok_and(|text| text.contains("tool_use"))
        });
        agent.signal(cr_test::Signal::KILL);
        agent.end();
        let last = records(&world)
            .into_iter()
            .rfind(|it| it["type"] == "assistant");
        assert_eq!(
            last.expect("a record")["message"]["stop_reason"],
            "tool_use"
        );

        let mut agent = session(&world, version, "--resume");
        agent.say("a", HELD);
        agent.until_idle();
        agent.say("queued", "never taken");
        let ended = agent.close();
        assert_eq!(results(&ended.lines), ["answer to: never taken"]);
        let records = records(&world);
        let is_made_up = |it: &&Value| it["message"]["model"] == "<synthetic>";
        // It looks like the end of the turn that was cut off, and is not.
        let made_up = records.iter().find(is_made_up);
        assert_eq!(made_up.is_some(), version == NEW);
    }
}

#[test]
fn a_crash_loses_the_records_of_the_last_moment() {
    let world = World::new();
    let mut agent = session(&world, NEW, "--session-id");
    agent.say("a", "crash");
    agent.end();
    assert!(!path(&world).exists());
}

#[test]
fn an_unknown_session_cannot_be_resumed_and_a_known_one_not_begun() {
    for version in BOTH {
        let world = World::new();
        let ended = session(&world, version, "--resume").end();
        assert_eq!(ended.code, Some(1));
        assert!(ended.stderr.starts_with("No conversation found"));
        assert_eq!(ended.lines[0]["subtype"], "error_during_execution");

        let mut agent = session(&world, version, "--session-id");
        agent.say("a", "hello");
        agent.close();
        let ended = session(&world, version, "--session-id").end();
        assert_eq!(ended.code, Some(1));
        assert!(ended.stderr.contains("is already in use"));
    }
}

#[test]
fn the_newer_release_repeats_the_message_that_its_log_ends_with() {
    for version in BOTH {
        let world = World::new();
        let mut agent = session(&world, version, "--session-id");
        agent.say("a", "silent");
        until("the record of the message", || path(&world).exists());
        agent.signal(cr_test::Signal::KILL);
        agent.end();

        let mut agent = session(&world, version, "--resume");
        agent.say("a", "hello");
        let ended = agent.close();
        assert_eq!(results(&ended.lines).len(), usize::from(version == NEW));
        let records = records(&world);
        let turns = records.iter().filter(|it| it["uuid"] == "a");
        assert_eq!(turns.count(), 1);
    }
}

#[test]
fn what_the_newer_release_has_told_of_is_on_disk() {
    let world = World::new();
    let mut agent = session(&world, NEW, "--session-id");
    agent.say("a", "hello");
    agent.result();
    agent.signal(cr_test::Signal::KILL);
    agent.end();
    let last = records(&world).pop().expect("a record");
    assert_eq!(last["message"]["stop_reason"], "end_turn");
}
