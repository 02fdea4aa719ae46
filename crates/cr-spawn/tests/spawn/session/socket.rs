//! The control socket.

use std::time::{Duration, Instant};

use cr_rundir::{ControlOperation, ControlRequest};
use serde_json::Value;

use super::talk::{Talk, VERSIONS, request};
use crate::case::{CALL, Case, INIT};

const LIMIT: Duration = Duration::from_secs(20);

#[test]
fn a_client_that_waits_gets_the_result_of_its_turn() {
    for version in VERSIONS {
        let mut talk = Talk::start(version, &["--keep-open"]);
        talk.until_state("state", "waiting_for_input");
        let mut client = talk.client();
        let send = ControlRequest {
            text: Some("hello".to_owned()),
            wait: true,
            ..ControlRequest::new(ControlOperation::Send)
        };
        let deadline = Instant::now() + LIMIT;
        let queued = client.request(&send, Some(deadline)).expect("acknowledged");
        assert!(queued.ok && queued.id.is_some());
        let done = client.reply(Some(deadline)).expect("an end");
        let data: Value = serde_json::from_str(done.data.expect("data").get()).expect("JSON");
        assert_eq!(
            (done.id, &data["state"]),
            (queued.id, &"done".into()),
            "{version}"
        );
        assert_eq!(data["result"]["result"], "answer to: hello");
        talk.ask(&ControlRequest::new(ControlOperation::Stop));
        talk.end_input();
        talk.finish();
    }
}

#[test]
fn a_message_is_withdrawn_before_the_agent_takes_it() {
    for version in VERSIONS {
        let mut talk = Talk::start(version, &[]);
        talk.say("text:500ms one");
        talk.until_state("state", "running");
        let waiting = talk.send("two", "idle").id.expect("an id");
        let sent = talk.send("three", "next").id.expect("an id");
        for id in [&waiting, &sent] {
            let reply = talk.ask(&request(ControlOperation::Cancel, id));
            assert!(reply.ok, "{version} {reply:?}");
        }
        let again = talk.ask(&request(ControlOperation::Cancel, &waiting));
        assert_eq!((again.ok, again.code), (false, Some(66)), "{version}");
        let over = talk.finish();
        assert_eq!(over.logged(), ["text:500ms one"], "{version}");
    }
}

#[test]
fn an_interrupt_tells_which_agents_it_stopped() {
    for version in VERSIONS {
        let mut talk = Talk::start(version, &[]);
        talk.say("agent:30s tool:30s one");
        talk.until("a task", |line| line["subtype"] == "task_started");
        talk.until("the tool", |line| line["type"] == "assistant");
        let reply = talk.ask(&ControlRequest::new(ControlOperation::Interrupt));
        let data: Value = serde_json::from_str(reply.data.expect("data").get()).expect("JSON");
        assert_eq!(
            data["stopped_tasks"].as_array().map(Vec::len),
            Some(1),
            "{version}"
        );
        talk.until_state("input", "cancelled");
        talk.say("two");
        talk.until_state("input", "done");
        assert_eq!(talk.finish().code, Some(0), "{version}");
    }
}

#[test]
fn the_agents_own_figures_are_passed_on() {
    let mut talk = Talk::start("2.1.326", &[]);
    talk.say("one");
    talk.until_state("input", "done");
    let reply = talk.ask(&ControlRequest::new(ControlOperation::Context));
    let data: Value = serde_json::from_str(reply.data.expect("data").get()).expect("JSON");
    assert_eq!(
        (&data["tokens"], &data["max_tokens"]),
        (&100.into(), &1_000_000.into())
    );
    let model = ControlRequest {
        value: Some("opus".to_owned()),
        ..ControlRequest::new(ControlOperation::SetModel)
    };
    assert!(talk.ask(&model).ok);
    talk.finish();
}

#[test]
fn a_sender_that_repeats_a_message_gets_the_same_answer_and_it_runs_once() {
    let id = "6f0e3b2a-1111-4222-8333-444455556666";
    let mut talk = Talk::start("2.1.326", &["--keep-open"]);
    talk.until_state("state", "waiting_for_input");
    let send = ControlRequest {
        text: Some("one".to_owned()),
        ..request(ControlOperation::Send, id)
    };
    assert_eq!(talk.ask(&send).id.as_deref(), Some(id));
    talk.until_state("input", "done");
    let again = talk.ask(&send);
    assert!(again.ok);
    assert!(again.data.expect("data").get().contains("done"));
    talk.ask(&ControlRequest::new(ControlOperation::Stop));
    assert_eq!(talk.finish().logged(), ["one"]);
}

#[test]
fn a_full_queue_refuses_a_message_by_the_reason() {
    let mut talk = Talk::start("2.1.326", &["--keep-open"]);
    talk.say("tool:30s one");
    talk.until_state("state", "running");
    let mut client = talk.client();
    let send = ControlRequest {
        text: Some("x".to_owned()),
        when: Some(cr_rundir::Delivery::Idle),
        ..ControlRequest::new(ControlOperation::Send)
    };
    let deadline = Instant::now() + LIMIT;
    for _ in 0..999 {
        assert!(client.request(&send, Some(deadline)).expect("a reply").ok);
    }
    let refused = client.request(&send, Some(deadline)).expect("a reply");
    assert_eq!((refused.ok, refused.code), (false, Some(75)));
    assert!(refused.error.expect("a reason").contains("1000 messages"));
    talk.child.signal(cr_test::Signal::TERM);
    talk.finish();
}

#[test]
fn what_is_no_request_is_refused_and_the_session_goes_on() {
    use std::io::{BufRead, BufReader, Write};
    let mut talk = Talk::start("2.1.326", &[]);
    talk.until_state("state", "waiting_for_input");
    let dir = cr_rundir::RunDir::existing(&talk.run_dir()).expect("a directory");
    let mut stream = cr_control::connect(&dir, LIMIT).expect("connected");
    stream
        .write_all(b"\xff\xfe\n{\"op\":\"fly\"}\n{\"schema\":9,\"op\":\"stop\"}\n")
        .expect("written");
    stream.set_read_timeout(Some(LIMIT)).expect("a limit");
    let mut replies = BufReader::new(stream)
        .lines()
        .map(|line| line.expect("a line"));
    for code in [65, 65, 78] {
        let reply: Value = serde_json::from_str(&replies.next().expect("a reply")).expect("JSON");
        assert_eq!(
            (&reply["ok"], &reply["code"]),
            (&false.into(), &code.into()),
            "{reply}"
        );
    }
    talk.say("one");
    assert_eq!(talk.finish().code, Some(0));
}

#[test]
fn a_run_with_a_single_prompt_refuses_messages_and_can_be_stopped() {
    let mut run = Case::playing(&[INIT, CALL], "hang").start();
    run.wait_for("assistant");
    let dir = crate::case::run_dirs(run.world.dir()).remove(0);
    let dir = cr_rundir::RunDir::existing(&dir).expect("a directory");
    let mut client = cr_control::Client::connect(&dir, LIMIT).expect("connected");
    let send = ControlRequest {
        text: Some("one".to_owned()),
        ..ControlRequest::new(ControlOperation::Send)
    };
    let refused = client
        .request(&send, Some(Instant::now() + LIMIT))
        .expect("a reply");
    assert_eq!((refused.ok, refused.code), (false, Some(2)));
    assert!(refused.error.expect("a reason").contains("single prompt"));
    let stop = ControlRequest::new(ControlOperation::Stop);
    assert!(
        client
            .request(&stop, Some(Instant::now() + LIMIT))
            .expect("a reply")
            .ok
    );
    assert_eq!(run.finish().code(), Some(143));
}
