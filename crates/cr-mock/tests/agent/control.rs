//! Control requests and signals.

use cr_test::Signal;
use serde_json::{Value, json};

use crate::driver::{Agent, BOTH, HELD, NEW, OLD, kinds, results};

fn interrupt() -> Value {
    json!({"subtype": "interrupt"})
}

#[test]
fn an_interrupt_ends_a_tool_and_the_queue_is_the_next_turn() {
    for version in BOTH {
        let mut agent = Agent::new(version);
        agent.say("a", "tool:1h");
        agent.until_kind("assistant tool_use");
        agent.say("b", "queued");
        agent.request("i", &interrupt());
        agent.say("c", "behind");
        let result = agent.result();
        assert_eq!(result["subtype"], "error_during_execution");
        assert_eq!(result["terminal_reason"], "aborted_tools");
        assert_eq!(result["num_turns"], 3);
        assert_eq!(
            agent.result()["result"]
                .as_str()
                .map(|it| it.contains("queued")),
            Some(true)
        );
        let ended = agent.close();
        let kinds = kinds(&ended.lines);
        assert_eq!(kinds.contains(&"cancelled a".to_owned()), version == NEW);
        let texts = results(&ended.lines).concat();
        assert!(texts.contains("behind"), "{texts}");
    }
}

#[test]
fn an_interrupt_ends_a_text_and_a_silence() {
    for version in BOTH {
        for (text, blocks) in [("text:1h", 1), ("silent", 0)] {
            let mut agent = Agent::new(version);
            agent.say("a", text);
            agent.until_kind("init");
            // The first moment of the turn is the model's.
            agent.say("b", "wait");
            agent.control(
                "c",
                &json!({"subtype": "cancel_async_message", "message_uuid": "b"}),
            );
            agent.control("i", &interrupt());
            assert_eq!(agent.result()["terminal_reason"], "aborted_streaming");
            let ended = agent.close();
            let kinds = kinds(&ended.lines);
            let said = kinds.iter().filter(|it| *it == "assistant text").count();
            assert!(said <= blocks, "{kinds:?}");
            assert_eq!(ended.code, Some(1));
        }
    }
}

#[test]
fn the_newer_release_says_what_is_still_queued_or_was_cancelled() {
    let mut agent = Agent::new(NEW);
    agent.say("a", "tool:1h");
    agent.say("b", "queued");
    agent.until_kind("queued b");
    agent.until_kind("assistant tool_use");
    let request = json!({"subtype": "interrupt", "cancel_queued": true});
    let answer = agent.control("i", &request);
    assert_eq!(
        answer["response"],
        json!({"still_queued": [], "cancelled": ["b"]})
    );
    agent.until_idle();
    // A cancelled message is dropped when it is sent again.
    agent.say("b", "queued");
    agent.until_idle();
    assert_eq!(results(&agent.close().lines), ["-"]);
}

#[test]
fn the_older_release_ignores_the_wish_to_cancel() {
    let mut agent = Agent::new(OLD);
    agent.say("a", "tool:1h");
    agent.until_kind("assistant tool_use");
    agent.say("b", "queued");
    let request = json!({"subtype": "interrupt", "cancel_queued": true});
    let answer = agent.control("i", &request);
    assert_eq!(answer["response"], Value::Null);
    let ended = agent.close();
    assert_eq!(results(&ended.lines), ["-", "answer to: queued"]);
}

#[test]
fn a_queued_message_can_be_cancelled_by_its_uuid() {
    for version in BOTH {
        let mut agent = Agent::asking(version);
        agent.say("a", HELD);
        let question = agent.question();
        agent.say("b", "queued");
        let request = json!({"subtype": "cancel_async_message", "message_uuid": "b"});
        let answer = agent.control("c", &request);
        assert_eq!(answer["response"]["cancelled"], true);
        assert_eq!(answer["response"]["message_uuid"] == "b", version == NEW);
        assert_eq!(agent.control("d", &request)["response"]["cancelled"], false);
        agent.allow(&question);
        assert_eq!(agent.result()["result"], format!("answer to: {HELD}"));
        agent.close();
    }
}

#[test]
fn the_model_and_the_mode_can_be_set() {
    let mut agent = Agent::new(NEW);
    let answer = agent.control("m", &json!({"subtype": "set_model", "model": "sonnet"}));
    assert_eq!(answer["response"]["model"], "claude-sonnet-5-5");
    let request = json!({"subtype": "set_permission_mode", "mode": "plan"});
    assert_eq!(agent.control("p", &request)["response"]["mode"], "plan");
    agent.say("a", "hello");
    let init = agent.until_kind("init");
    assert_eq!(init["model"], "claude-sonnet-5-5");
    assert_eq!(init["permissionMode"], "plan");
    agent.close();
}

#[test]
fn the_context_usage_is_that_of_the_last_call() {
    for version in BOTH {
        let mut agent = Agent::new(version);
        let request = json!({"subtype": "get_context_usage"});
        let before = agent.control("u", &request)["response"].clone();
        assert_eq!(before["apiUsage"], Value::Null);
        assert_eq!(before["maxTokens"], 1_000_000);
        agent.say("a", "hello");
        agent.until_idle();
        let after = agent.control("v", &request)["response"].clone();
        assert_eq!(after["apiUsage"]["input_tokens"], after["totalTokens"]);
        agent.close();
    }
}

#[test]
fn an_unknown_request_is_refused() {
    let mut agent = Agent::new(NEW);
    let answer = agent.control("x", &json!({"subtype": "bogus"}));
    assert_eq!(answer["error_code"], "unsupported_request");
    agent.close();
}

#[test]
fn ending_the_session_interrupts_it_with_exit_code_one() {
    for version in BOTH {
        let mut agent = Agent::new(version);
        agent.say("a", "tool:1h");
        agent.until_kind("assistant tool_use");
        agent.control("e", &json!({"subtype": "end_session"}));
        let ended = agent.end();
        assert_eq!(ended.code, Some(1));
        assert_eq!(results(&ended.lines), ["-"]);
    }
}

#[test]
fn sigterm_ends_it_without_a_result() {
    for version in BOTH {
        let mut agent = Agent::new(version);
        agent.say("a", "tool:1h");
        agent.until_kind("assistant tool_use");
        agent.signal(Signal::TERM);
        let ended = agent.end();
        assert_eq!(ended.code, Some(143));
        assert_eq!(results(&ended.lines).len(), 0);
    }
}

#[test]
fn sigint_loses_the_queue_in_the_newer_release_only() {
    for (version, texts) in [(NEW, &["-"][..]), (OLD, &["-", "answer to: queued"])] {
        let mut agent = Agent::new(version);
        agent.say("a", "tool:1h");
        agent.until_kind("assistant tool_use");
        agent.say("b", "queued");
        // Its answer proves that the message was read.
        agent.control("x", &json!({"subtype": "bogus"}));
        agent.signal(Signal::INT);
        let ended = agent.end();
        assert_eq!(ended.code, Some(0));
        assert_eq!(results(&ended.lines), texts);
    }
}
