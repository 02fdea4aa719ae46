//! Messages: accepted, given to the agent, answered.

use std::io::{BufRead, BufReader, Write};

use std::fs;

use super::talk::{Talk, VERSIONS};

#[test]
fn three_messages_one_after_the_other_are_three_turns() {
    for version in VERSIONS {
        let mut talk = Talk::start(version, &[]);
        for text in ["one", "two", "three"] {
            talk.say(text);
            talk.until_state("input", "done");
        }
        let over = talk.finish();
        assert_eq!(over.code, Some(0), "{version}");
        let texts = ["one", "two", "three"];
        assert_eq!(
            over.inputs(&texts),
            [
                "one queued",
                "one started 1",
                "one done 1",
                "two queued",
                "two started 2",
                "two done 2",
                "three queued",
                "three started 3",
                "three done 3",
            ],
            "{version}"
        );
        assert_eq!(over.results().len(), 3);
        assert_eq!(over.exit()["completed_by"], "input_end");
        assert_eq!(over.logged(), texts);
    }
}

#[test]
fn a_message_during_a_tool_is_folded_into_the_turn() {
    for version in VERSIONS {
        let mut talk = Talk::start(version, &[]);
        talk.say("tool:400ms one");
        talk.until("a tool call", |line| line["type"] == "assistant");
        talk.say("two");
        let over = talk.finish();
        let inputs = over.inputs(&["one", "two"]);
        assert!(
            inputs.contains(&"two started 1 folded".to_owned()),
            "{inputs:?}"
        );
        assert!(
            inputs.contains(&"two done 1 folded".to_owned()),
            "{inputs:?}"
        );
        assert_eq!(over.results().len(), 1, "{version}");
    }
}

#[test]
fn two_messages_during_the_final_text_share_the_next_turn() {
    for version in VERSIONS {
        let mut talk = Talk::start(version, &["--partial-messages"]);
        talk.say("text:400ms one");
        talk.until_state("state", "running");
        talk.say("two");
        talk.say("three");
        let over = talk.finish();
        let inputs = over.inputs(&["one", "two", "three"]);
        for expected in ["one done 1", "two done 2", "three done 2"] {
            assert!(
                inputs.contains(&expected.to_owned()),
                "{version} {inputs:?}"
            );
        }
        assert_eq!(over.results().len(), 2, "{version}");
    }
}

#[test]
fn a_line_that_would_end_the_agent_is_rejected_and_the_session_goes_on() {
    for version in VERSIONS {
        let mut talk = Talk::start(version, &[]);
        let bad = [
            "null",
            "{\"a\":1}",
            "{not json",
            r#"{"type":"user","message":{"content":"x"}}"#,
            r#"{"type":"user","message":{"role":"assistant","content":"x"}}"#,
            r#"{"text":""}"#,
        ];
        talk.say("   ");
        talk.say("");
        for line in bad {
            talk.say(line);
            let rejected = talk.until_state("input", "rejected");
            assert!(
                rejected["reason"]
                    .as_str()
                    .is_some_and(|why| !why.is_empty())
            );
        }
        talk.say("[1, 2] is text");
        let over = talk.finish();
        assert_eq!(over.code, Some(0), "{version}");
        assert_eq!(over.logged(), ["[1, 2] is text"]);
    }
}

#[test]
fn a_message_keeps_the_id_that_its_sender_gave_it_and_runs_once() {
    let id = "6f0e3b2a-1111-4222-8333-444455556666";
    for version in VERSIONS {
        let mut talk = Talk::start(version, &[]);
        talk.say(&format!(r#"{{"text":"one","id":"{id}","from":"me"}}"#));
        let done = talk.until_state("input", "done");
        assert_eq!((&done["id"], &done["from"]), (&id.into(), &"me".into()));
        talk.say(&format!(r#"{{"text":"one","id":"{id}"}}"#));
        let rejected = talk.until_state("input", "rejected");
        assert_eq!(rejected["id"], id);
        assert_eq!(talk.finish().logged(), ["one"], "{version}");
    }
}

#[test]
fn a_message_for_an_idle_agent_has_a_turn_of_its_own() {
    for version in VERSIONS {
        let mut talk = Talk::start(version, &[]);
        talk.say("tool:400ms one");
        talk.until_state("state", "running");
        talk.say(r#"{"text":"two","when":"idle"}"#);
        // The same sender keeps its order.
        talk.say("three");
        let over = talk.finish();
        let inputs = over.inputs(&["one", "two", "three"]);
        assert!(
            inputs.contains(&"two started 2".to_owned()),
            "{version} {inputs:?}"
        );
        let place = |what: &str| inputs.iter().position(|state| state.starts_with(what));
        assert!(place("two started") < place("three started"), "{inputs:?}");
    }
}

#[test]
fn a_message_for_now_interrupts_the_turn_and_is_the_next_one() {
    for version in VERSIONS {
        let mut talk = Talk::start(version, &[]);
        talk.say("tool:20s one");
        talk.until("a tool call", |line| line["type"] == "assistant");
        talk.say(r#"{"text":"two","when":"now"}"#);
        let over = talk.finish();
        let inputs = over.inputs(&["one", "two"]);
        assert!(
            inputs.contains(&"one cancelled 1".to_owned()),
            "{version} {inputs:?}"
        );
        assert!(
            inputs.contains(&"two done 2".to_owned()),
            "{version} {inputs:?}"
        );
    }
}

#[test]
fn accepted_messages_are_on_disk_when_they_are_acknowledged() {
    let mut talk = Talk::start("2.1.326", &[]);
    talk.say("tool:10s one");
    talk.until_state("input", "queued");
    let queue = fs::read_to_string(talk.run_dir().join("queue")).expect("a queue");
    assert!(queue.contains(r#""content":"tool:10s one""#), "{queue}");
    talk.child.signal(cr_test::Signal::TERM);
    assert_eq!(talk.finish().code, Some(143));
}

#[test]
fn an_agent_that_does_not_read_its_input_does_not_block_its_output() {
    let world = cr_test::World::new();
    let mut talk = Talk::start_in(world, "2.1.326", &[]);
    // More than a pipe holds, while the agent is stopped.
    talk.say("one");
    talk.until_state("input", "done");
    let agent = talk.lines[0]["agent_pid"].as_u64().expect("a pid");
    let agent = u32::try_from(agent).expect("a pid");
    cr_test::kill(agent, cr_test::Signal::STOP);
    let long = "x".repeat(100_000);
    for _ in 0..30 {
        talk.say(&long);
    }
    for _ in 0..30 {
        talk.until_state("input", "queued");
    }
    cr_test::kill(agent, cr_test::Signal::CONT);
    let over = talk.finish();
    assert_eq!(over.code, Some(0));
    assert_eq!(
        over.own("input")
            .iter()
            .filter(|it| it["state"] == "done")
            .count(),
        31
    );
}

#[test]
fn an_agent_that_does_not_read_gets_no_requests_without_end() {
    let mut talk = Talk::start("2.1.326", &[]);
    talk.say("silent");
    talk.until_state("input", "started");
    let agent = talk.lines[0]["agent_pid"].as_u64().expect("a pid");
    let agent = u32::try_from(agent).expect("a pid");
    cr_test::kill(agent, cr_test::Signal::STOP);
    let dir = cr_rundir::RunDir::existing(&talk.run_dir()).expect("a directory");
    let limit = std::time::Duration::from_secs(20);
    let mut stream = cr_control::connect(&dir, limit).expect("connected");
    let request = "{\"schema\":1,\"op\":\"interrupt\"}\n";
    stream
        .write_all(request.repeat(105).as_bytes())
        .expect("written");
    stream.set_read_timeout(Some(limit)).expect("a limit");
    // A hundred wait for the agent; only the others have a reply yet.
    let mut replies = BufReader::new(stream).lines();
    for _ in 0..5 {
        let reply = replies.next().expect("a reply").expect("a line");
        let reply: serde_json::Value = serde_json::from_str(&reply).expect("JSON");
        assert_eq!((&reply["ok"], &reply["code"]), (&false.into(), &75.into()));
    }
    cr_test::kill(agent, cr_test::Signal::CONT);
    talk.finish();
}

#[test]
fn states_are_told_with_their_turn_and_its_cause() {
    for version in VERSIONS {
        let mut talk = Talk::start(version, &[]);
        talk.until_state("state", "waiting_for_input");
        talk.say("one");
        talk.until_state("input", "done");
        talk.until_state("state", "waiting_for_input");
        let over = talk.finish();
        let states = over.own("state");
        let running = states
            .iter()
            .find(|it| it["state"] == "running" && it["turn"] == 1);
        assert_eq!(running.expect("a turn")["cause"], "message", "{version}");
        assert_eq!(states.last().expect("a state")["state"], "stopping");
    }
}
