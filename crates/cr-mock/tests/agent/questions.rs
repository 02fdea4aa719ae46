//! Permission questions and questions with choices.

use cr_test::World;
use serde_json::json;

use crate::driver::{Agent, BOTH, HELD, NEW, OLD, kinds};

#[test]
fn an_allowed_command_really_runs() {
    for version in BOTH {
        let mut agent = Agent::asking(version);
        agent.say("a", "ask:Bash:echo hi > x.txt; echo said");
        let question = agent.question();
        assert_eq!(question["request"]["tool_name"], "Bash");
        agent.allow(&question);
        let result = agent.until_kind("user tool_result");
        assert_eq!(result["message"]["content"][0]["content"], "said");
        assert!(agent.world.path("x.txt").exists());
        let kinds = kinds(&agent.close().lines);
        let asked = [
            "state requires_action",
            "control_request",
            "control_response",
            "state running",
        ];
        assert!(kinds.windows(4).any(|it| it == asked), "{kinds:?}");
    }
}

#[test]
fn a_denied_command_does_not_run() {
    for version in BOTH {
        let mut agent = Agent::asking(version);
        agent.say("a", HELD);
        let question = agent.question();
        agent.answer(&question, &json!({"behavior": "deny", "message": "no way"}));
        let result = agent.until_kind("user tool_result");
        assert_eq!(result["message"]["content"][0]["content"], "no way");
        assert_eq!(agent.result()["permission_denials"][0]["tool_name"], "Bash");
        assert!(!agent.world.path("held.txt").exists());
        agent.close();
    }
}

#[test]
fn a_denial_can_end_the_turn() {
    let mut agent = Agent::asking(NEW);
    agent.say("a", HELD);
    let question = agent.question();
    let decision = json!({"behavior": "deny", "message": "stop", "interrupt": true});
    agent.answer(&question, &decision);
    assert_eq!(agent.result()["terminal_reason"], "aborted_tools");
    agent.say("b", "next");
    assert_eq!(agent.result()["result"], "answer to: next");
    agent.close();
}

#[test]
fn an_interrupt_withdraws_the_question() {
    for version in BOTH {
        let mut agent = Agent::asking(version);
        agent.say("a", HELD);
        let question = agent.question();
        agent.request("i", &json!({"subtype": "interrupt"}));
        let withdrawn = agent.until_kind("control_cancel_request");
        assert_eq!(withdrawn["request_id"], question["request_id"]);
        agent.result();
        // A late answer is ignored.
        agent.allow(&question);
        agent.say("b", "next");
        assert_eq!(agent.result()["result"], "answer to: next");
        assert!(!agent.world.path("held.txt").exists());
        agent.close();
    }
}

#[test]
fn a_command_that_was_allowed_for_the_session_is_not_asked_for_again() {
    for version in BOTH {
        let mut agent = Agent::asking(version);
        agent.say("a", HELD);
        let question = agent.question();
        let request = &question["request"];
        let mut rule = request["permission_suggestions"][0].clone();
        rule["destination"] = json!("session");
        let decision = json!({
            "behavior": "allow",
            "updatedInput": request["input"],
            "updatedPermissions": [rule],
        });
        agent.answer(&question, &decision);
        agent.until_idle();
        agent.say("b", HELD);
        agent.until_idle();
        let kinds = kinds(&agent.close().lines);
        let asked = kinds.iter().filter(|it| *it == "control_request").count();
        assert_eq!(asked, 1, "{kinds:?}");
    }
}

#[test]
fn the_older_release_wants_the_input_back() {
    for (version, runs) in [(NEW, true), (OLD, false)] {
        let mut agent = Agent::asking(version);
        agent.say("a", HELD);
        let question = agent.question();
        agent.answer(&question, &json!({"behavior": "allow"}));
        agent.until_idle();
        assert_eq!(agent.world.path("held.txt").exists(), runs);
        agent.close();
    }
}

#[test]
fn a_choice_comes_back_as_the_answer() {
    for version in BOTH {
        let flags = [
            "--permission-prompt-tool=stdio",
            "--dangerously-skip-permissions",
        ];
        let mut agent = Agent::start(&World::new(), version, &flags);
        agent.say("a", "choose:Which colour?:Red,Blue");
        let question = agent.question();
        let request = &question["request"];
        assert_eq!(request["tool_name"], "AskUserQuestion");
        let labels = &request["input"]["questions"][0]["options"];
        assert_eq!(labels[1]["label"], "Blue");
        let mut input = request["input"].clone();
        input["answers"] = json!({"Which colour?": "Blue"});
        agent.answer(
            &question,
            &json!({"behavior": "allow", "updatedInput": input}),
        );
        let result = agent.until_kind("user tool_result");
        let text = result["message"]["content"][0]["content"]
            .as_str()
            .expect("text");
        assert!(text.contains(r#""Which colour?"="Blue""#), "{text}");
        agent.close();
    }
}

#[test]
fn without_a_prompt_tool_the_command_is_denied() {
    for version in BOTH {
        let mut agent = Agent::start(&World::new(), version, &[]);
        agent.say("a", HELD);
        agent.until_kind("permission_denied");
        assert_eq!(agent.result()["is_error"], false);
        assert!(!agent.world.path("held.txt").exists());
        agent.close();
    }
}

#[test]
fn a_question_that_nobody_can_answer_any_more_is_an_error_for_the_tool() {
    for version in BOTH {
        let mut agent = Agent::asking(version);
        agent.say("a", HELD);
        agent.question();
        let ended = agent.close();
        assert_eq!(ended.code, Some(0));
        assert_eq!(ended.lines.last().expect("a line")["state"], "idle");
    }
}
