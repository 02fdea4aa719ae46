//! The stand-in beside the real CLI: the same input, the same kinds of lines.
//!
//! The real CLI takes no orders from a message, so a script of the API makes it
//! do what the words in the message tell the stand-in.

use std::env;
use std::path::Path;

use cr_test::{World, has_namespaces, left_out};
use serde_json::{Value, json};

use crate::driver::{Agent, BOTH, PROTOCOL, kind};

const SKIP: &str = "--dangerously-skip-permissions";
const ASK: &str = "--permission-prompt-tool=stdio";
/// The API refuses an id that is not a UUID.
const IDS: [&str; 3] = [
    "00000000-0000-4000-8000-000000000001",
    "00000000-0000-4000-8000-000000000002",
    "00000000-0000-4000-8000-000000000003",
];

/// Runs `talk` with the real CLI on the steps `turns`, and with the stand-in;
/// both must write the same.
fn compare(flag: &str, turns: &Value, talk: impl Fn(&mut Agent)) {
    let paths = env::var("CR_REAL_CLAUDE").unwrap_or_default();
    if paths.trim().is_empty() || !has_namespaces("the stand-in beside the real CLI") {
        return missing();
    }
    for path in paths.split_whitespace() {
        // One that is named otherwise is a version that the stand-in does not know.
        if let Some(version) = BOTH.iter().find(|version| path.contains(*version)) {
            let real = finish(real(path, flag, turns), &talk);
            let ours = finish(Agent::start(&World::new(), version, &[flag]), &talk);
            assert_eq!(ours, real, "{version}: ours, then the real one");
        }
    }
}

fn missing() {
    let why = "CR_REAL_CLAUDE is not set, see scripts/setup-claude";
    let required = env::var("CR_REAL").is_ok_and(|it| it == "required");
    assert!(!required, "{why}");
    left_out(&format!("the stand-in beside the real CLI: {why}"));
}

fn real(path: &str, flag: &str, turns: &Value) -> Agent {
    let world = World::new();
    let lane = json!({
        "name": "agent",
        "match": {"first_user_contains": "ROLE-AGENT"},
        "turns": [{"text": "report of the agent", "delay_ms": 3000}],
    });
    // Whatever was asked before it, and whether that was asked at all.
    let go_on = json!({
        "name": "go on",
        "match": {"any_user_contains": "go on"},
        "turns": [{"text": "after"}],
    });
    let script = json!({"turns": turns, "lanes": [lane, go_on]});
    let script = world.write("script.json", script.to_string());
    let mut command = world.tool("cr-mock");
    command.arg("run").arg("--scenario").arg(script);
    command.arg("--cwd").arg(world.dir());
    command.arg("--home").arg(world.path("claude-home"));
    command.args(["--env", "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS=1", "--"]);
    command.arg(Path::new(path)).args(PROTOCOL).arg(flag);
    Agent::spawn(&mut command)
}

/// Talks to the end; returns the kinds of the lines. Agents write beside their
/// leader, and answers to questions beside the state, in no fixed order.
fn finish(mut agent: Agent, talk: &impl Fn(&mut Agent)) -> Vec<String> {
    talk(&mut agent);
    let kinds = agent.close().lines.into_iter().map(|line| kind(&line));
    let told = |kind: &String| !kind.starts_with("nested") && kind != "task_progress";
    kinds
        .filter(|kind| told(kind) && kind != "control_response")
        .collect()
}

fn tool(command: &str) -> Value {
    let input = json!({"command": command, "description": "x"});
    calling("Bash", &input)
}

fn calling(name: &str, input: &Value) -> Value {
    let text = json!({"type": "text", "text": "working"});
    let call = json!({"type": "tool_use", "name": name, "input": input});
    json!({"blocks": [text, call]})
}

/// A text that takes about two seconds.
fn slow() -> Value {
    json!({"text": "slow ".repeat(20), "chunk_size": 5, "chunk_delay_ms": 100})
}

fn interrupt(agent: &mut Agent) {
    agent.control("i", &json!({"subtype": "interrupt"}));
    agent.result();
    agent.until_idle();
    agent.say(IDS[1], "go on");
    agent.until_idle();
}

#[test]
fn messages_during_a_tool() {
    let turns = json!([tool("sleep 2; echo done"), {"text": "after"}]);
    compare(SKIP, &turns, |agent| {
        agent.say(IDS[0], "tool:2s");
        agent.until_kind("assistant tool_use");
        agent.say(IDS[1], "more");
        agent.say(IDS[2], "and more");
        agent.until_idle();
    });
}

#[test]
fn messages_during_a_text() {
    let turns = json!([slow(), {"text": "after"}]);
    compare(SKIP, &turns, |agent| {
        agent.say(IDS[0], "text:2s");
        agent.until_kind("init");
        agent.say(IDS[1], "more");
        agent.say(IDS[2], "and more");
        agent.until_idle();
    });
}

#[test]
fn a_message_that_was_done_before() {
    let turns = json!([{"text": "one"}]);
    compare(SKIP, &turns, |agent| {
        agent.say(IDS[0], "one");
        agent.until_idle();
        agent.say(IDS[0], "one");
        agent.until_idle();
    });
}

#[test]
fn an_interrupt_in_a_tool() {
    let turns = json!([tool("echo a; sleep 60")]);
    compare(SKIP, &turns, |agent| {
        agent.say(IDS[0], "tool:1h");
        agent.until_kind("assistant tool_use");
        interrupt(agent);
    });
}

#[test]
fn an_interrupt_of_a_silent_model() {
    let turns = json!([{"silent": true}]);
    compare(SKIP, &turns, |agent| {
        agent.say(IDS[0], "silent");
        agent.until_kind("init");
        interrupt(agent);
    });
}

#[test]
fn a_turn_that_fails() {
    let error = json!({"status": 403, "type": "permission_error", "message": "no"});
    let turns = json!([{"error": error}, {"text": "good"}]);
    compare(SKIP, &turns, |agent| {
        agent.say(IDS[0], "fail");
        agent.until_idle();
        agent.say(IDS[1], "good");
        agent.until_idle();
    });
}

#[test]
fn an_agent_that_wakes_its_leader() {
    let input = json!({
        "description": "work",
        "prompt": "ROLE-AGENT",
        "subagent_type": "general-purpose",
        "run_in_background": true,
    });
    let turns = json!([calling("Agent", &input), {"text": "started"}, {"text": "woken"}]);
    compare(SKIP, &turns, |agent| {
        agent.say(IDS[0], "agent:3s");
        agent.result();
        agent.result();
        agent.until_idle();
    });
}

#[test]
fn a_shell_that_wakes_the_agent() {
    let input = json!({"command": "sleep 3", "description": "x", "run_in_background": true});
    let turns = json!([calling("Bash", &input), {"text": "started"}, {"text": "woken"}]);
    compare(SKIP, &turns, |agent| {
        agent.say(IDS[0], "shell:3s");
        agent.result();
        agent.result();
        agent.until_idle();
    });
}

#[test]
fn a_question_that_is_allowed_and_one_that_is_denied() {
    let [one, two] = ["touch a.txt", "touch b.txt"].map(tool);
    let turns = json!([one, {"text": "first"}, two, {"text": "second"}]);
    compare(ASK, &turns, |agent| {
        agent.say(IDS[0], "ask:Bash:touch a.txt");
        let question = agent.question();
        agent.allow(&question);
        agent.until_idle();
        agent.say(IDS[1], "ask:Bash:touch b.txt");
        let question = agent.question();
        agent.answer(&question, &json!({"behavior": "deny", "message": "no"}));
        agent.until_idle();
        assert!(agent.world.path("a.txt").exists());
        assert!(!agent.world.path("b.txt").exists());
    });
}

#[test]
fn a_question_that_an_interrupt_withdraws() {
    let turns = json!([tool("touch a.txt")]);
    compare(ASK, &turns, |agent| {
        agent.say(IDS[0], "ask:Bash:touch a.txt");
        agent.question();
        interrupt(agent);
    });
}
