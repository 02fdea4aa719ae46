//! Messages: folded, merged, urgent, sent twice.

use cr_test::World;
use serde_json::json;

use crate::driver::{Agent, BOTH, HELD, NEW, OLD, kinds, results};

#[test]
fn the_version_is_the_one_asked_for() {
    for version in BOTH {
        let world = World::new();
        world
            .command(world.stand_in(version))
            .arg("--version")
            .assert()
            .success()
            .stdout(format!("{version} (Claude Code)\n"));
    }
}

#[test]
fn a_prompt_on_standard_input_is_one_turn() {
    let output = cr_test::tool("cr-mock")
        .args(["agent", "-p", "--output-format=stream-json", "--verbose"])
        .write_stdin("hello\n")
        .output()
        .expect("run the stand-in");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.contains(r#""result":"answer to: hello""#), "{text}");
    assert!(output.status.success());
}

#[test]
fn a_message_during_a_tool_is_folded_into_the_turn() {
    for version in BOTH {
        let mut agent = Agent::asking(version);
        agent.say("a", HELD);
        let question = agent.question();
        agent.say("b", "more");
        agent.allow(&question);
        let result = agent.result();
        assert_eq!(
            result["result"],
            format!("answer to: {HELD}\nanswer to: more")
        );
        if version == NEW {
            assert_eq!(result["user_message_uuids"], json!(["a", "b"]));
        }
        agent.close();
    }
}

#[test]
fn messages_during_a_text_are_merged_into_the_next_turn() {
    for version in BOTH {
        let mut agent = Agent::new(version);
        agent.say("a", "text:1s");
        agent.until_kind("init");
        agent.say("b", "two");
        agent.say("c", "three");
        let ended = agent.close();
        let answers = ["answer to: text:1s", "answer to: two\nanswer to: three"];
        assert_eq!(results(&ended.lines), answers);
        let kinds = kinds(&ended.lines);
        let replays: Vec<_> = kinds.iter().filter(|it| it.starts_with("replay")).collect();
        let replayed = [
            r#"replay a "text:1s""#,
            r#"replay b "two""#,
            r#"replay c "two\nthree""#,
        ];
        assert_eq!(replays, replayed);
    }
}

#[test]
fn a_later_message_is_a_turn_of_its_own() {
    let mut agent = Agent::asking(NEW);
    agent.say("a", HELD);
    let question = agent.question();
    agent.send("b", "later", "later");
    agent.say("c", "next");
    agent.allow(&question);
    let ended = agent.close();
    let first = format!("answer to: {HELD}\nanswer to: next");
    assert_eq!(results(&ended.lines), [&first[..], "answer to: later"]);
}

#[test]
fn an_urgent_message_ends_the_turn_after_the_tool() {
    for version in BOTH {
        let mut agent = Agent::asking(version);
        agent.say("a", HELD);
        let question = agent.question();
        agent.send("b", "now", "now");
        agent.allow(&question);
        let first = agent.result();
        assert_eq!(first["terminal_reason"], "aborted_tools");
        assert_eq!(first["subtype"], "success");
        assert_eq!(first["result"], "");
        assert_eq!(agent.result()["result"], "answer to: now");
        agent.close();
    }
}

#[test]
fn an_urgent_message_ends_a_text_at_once() {
    let mut agent = Agent::new(NEW);
    agent.say("a", "text:1h");
    agent.until_kind("init");
    agent.send("b", "now", "now");
    assert_eq!(agent.result()["terminal_reason"], "aborted_streaming");
    agent.until_kind("cancelled a");
    assert_eq!(agent.result()["result"], "answer to: now");
    agent.close();
}

#[test]
fn a_message_that_was_done_is_not_done_again() {
    for version in BOTH {
        let mut agent = Agent::new(version);
        agent.say("a", "one");
        agent.until_idle();
        agent.say("a", "one");
        agent.until_idle();
        let ended = agent.close();
        assert_eq!(results(&ended.lines), ["answer to: one"]);
        let kinds = kinds(&ended.lines);
        assert_eq!(
            kinds[kinds.len() - 2..],
            [r#"replay a "one""#, "state idle"]
        );
    }
}

#[test]
fn the_messages_are_done_to_the_end_when_input_is_closed() {
    for version in BOTH {
        let mut agent = Agent::new(version);
        agent.say("a", "text:100ms");
        agent.say("b", "two");
        let ended = agent.close();
        assert_eq!(ended.code, Some(0));
        assert_eq!(results(&ended.lines).len(), 2);
    }
}

#[test]
fn a_failing_turn_is_an_error_and_the_next_one_is_not() {
    for (version, reason) in [(NEW, "api_error"), (OLD, "completed")] {
        let mut agent = Agent::new(version);
        agent.say("a", "fail");
        let result = agent.result();
        assert_eq!(result["is_error"], true);
        assert_eq!(result["terminal_reason"], reason);
        agent.say("b", "good");
        assert_eq!(agent.result()["is_error"], false);
        assert_eq!(agent.close().code, Some(0));
    }
}

#[test]
fn a_last_result_that_is_an_error_is_exit_code_one() {
    for version in BOTH {
        let mut agent = Agent::new(version);
        agent.say("a", "fail");
        assert_eq!(agent.close().code, Some(1));
    }
}

#[test]
fn a_field_of_the_structured_output_is_true() {
    for version in BOTH {
        let mut agent = Agent::new(version);
        agent.say("a", "field:done");
        assert_eq!(agent.result()["structured_output"], json!({"done": true}));
        agent.close();
    }
}
