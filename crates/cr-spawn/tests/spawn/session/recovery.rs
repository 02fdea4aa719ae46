//! A session that was cut off, and the run that resumes it.

use std::fs;

use cr_rundir::{ControlOperation, ControlRequest, Decision};
use cr_test::{Signal, World};
use serde_json::Value;

use super::talk::{Over, Talk, VERSIONS, logged, request};

/// Kills the agent, and waits for the end of the run.
fn kill_agent(talk: Talk) -> Over {
    let agent = talk.lines[0]["agent_pid"].as_u64().expect("a pid");
    cr_test::kill(u32::try_from(agent).expect("a pid"), Signal::KILL);
    talk.finish()
}

/// The id of the session.
fn session(lines: &[Value]) -> String {
    if let Some(id) = lines.iter().find_map(|line| line["session_id"].as_str()) {
        return id.to_owned();
    }
    let argv = lines[0]["argv"].as_array().expect("arguments");
    let mut ids = argv
        .iter()
        .filter_map(|arg| arg.as_str()?.strip_prefix("--session-id="));
    ids.next().expect("an id").to_owned()
}

/// Resumes the session of `lines` in the same world, with no more messages.
fn resume(world: World, version: &str, lines: &[Value], args: &[&str]) -> Talk {
    let (id, run) = (session(lines), world.dir().join("run"));
    let run = run.to_str().expect("UTF-8").to_owned();
    let fixed = ["--resume", &id, "--resumed-run", &run];
    Talk::start_in(world, version, &[&fixed, args].concat())
}

#[test]
fn each_message_of_a_session_that_was_killed_gets_what_it_needs() {
    for version in VERSIONS {
        let mut talk = Talk::start(version, &[]);
        talk.say("one");
        talk.until_state("input", "done");
        talk.say("tool:4s two");
        talk.until("the tool", |line| {
            line["type"] == "assistant" && line.to_string().contains("tool_use")
        });
        talk.say("three");
        talk.until_state("input", "queued");
        // The agent writes its log a moment later.
        let log = talk.world.home().join(".claude/projects");
        cr_test::until("the turn is in the log", || {
            logged(&talk.world).len() == 2 && log.exists()
        });
        let over = kill_agent(talk);
        let resumed = resume(over.world, version, &over.lines, &[]).finish();
        assert_eq!(resumed.code, Some(0), "{version}");
        let states: Vec<&Value> = resumed.own("input").iter().map(|it| &it["state"]).collect();
        assert_eq!(states[0], "continued", "{version}");
        let texts = resumed.logged();
        let count = |text: &str| texts.iter().filter(|it| **it == text).count();
        assert_eq!(
            (count("one"), count("tool:4s two")),
            (1, 1),
            "{version} {texts:?}"
        );
        assert!(
            texts.iter().any(|it| it.contains("three")),
            "{version} {texts:?}"
        );
        let continued = texts
            .iter()
            .filter(|it| it.contains("was interrupted while"));
        assert_eq!(continued.count(), 1, "{version} {texts:?}");
    }
}

#[test]
fn a_folded_message_is_not_sent_again() {
    for version in VERSIONS {
        let mut talk = Talk::start(version, &[]);
        talk.say("tool:300ms tool:4s one");
        talk.until("the tool", |line| line["type"] == "assistant");
        talk.say("two");
        talk.until_state("input", "started");
        cr_test::until("both are in the log", || logged(&talk.world).len() == 2);
        let over = kill_agent(talk);
        let resumed = resume(over.world, version, &over.lines, &[]).finish();
        let texts = resumed.logged();
        assert_eq!(
            texts.iter().filter(|it| **it == "two").count(),
            1,
            "{version} {texts:?}"
        );
        let continued = resumed.own("input");
        let continued = continued
            .iter()
            .filter(|it| it["state"] == "continued")
            .count();
        assert_eq!(continued, 2, "{version}");
    }
}

#[test]
fn messages_that_shared_a_turn_are_not_sent_again() {
    for version in VERSIONS {
        let mut talk = Talk::start(version, &[]);
        talk.say("text:300ms one");
        talk.until_state("state", "running");
        talk.say("two");
        talk.say("tool:4s three");
        talk.until("the tool", |line| line.to_string().contains("tool_use"));
        cr_test::until("the turn is in the log", || logged(&talk.world).len() == 2);
        let over = kill_agent(talk);
        let resumed = resume(over.world, version, &over.lines, &[]).finish();
        let again = resumed.own("input");
        let again = again
            .iter()
            .filter(|it| it["state"] == "queued" && it["from"] != "claude-runner");
        assert_eq!(again.count(), 0, "{version} {:#?}", resumed.own("input"));
    }
}

/// A session whose agent does nothing.
fn silent(world: World, version: &str) -> Talk {
    let agent = world.script("silent", "exec cat > /dev/null");
    let agent = agent.to_str().expect("UTF-8").to_owned();
    Talk::start_in(world, version, &["--claude", &agent])
}

#[test]
fn a_session_that_has_no_log_yet_begins_anew_with_its_id() {
    for version in VERSIONS {
        let world = World::new();
        let mut talk = silent(world, version);
        talk.say("one");
        talk.until_state("input", "queued");
        let over = kill_agent(talk);
        let resumed = resume(over.world, version, &over.lines, &[]).finish();
        assert_eq!(resumed.logged(), ["one"], "{version}");
    }
}

#[test]
fn a_message_is_taken_over_by_one_run_only() {
    let mut talk = silent(World::new(), "2.1.326");
    talk.say("one");
    talk.until_state("input", "queued");
    let over = kill_agent(talk);
    let first = resume(over.world, "2.1.326", &over.lines, &[]).finish();
    assert_eq!(first.logged(), ["one"]);
    fs::remove_dir_all(first.world.path("resumed")).expect("removed");
    let second = resume(first.world, "2.1.326", &over.lines, &[]).finish();
    assert_eq!(second.own("input").len(), 0);
    assert_eq!(second.logged(), ["one"]);
}

#[test]
fn an_answer_that_came_too_late_is_given_to_the_same_question_once() {
    for version in VERSIONS {
        let mut talk = Talk::start(version, &["--ask"]);
        talk.say("ask:Bash:touch late.txt");
        let ask = talk.until_state("ask", "open");
        let over = kill_agent(talk);
        let questions = fs::read_to_string(over.world.path("run/questions")).expect("a file");
        let question: Value =
            serde_json::from_str(questions.lines().next().expect("a line")).expect("JSON");
        let answer = serde_json::json!({
            "schema": 1, "id": ask["id"], "at": question["at"], "tool": question["tool"],
            "input_sha256": question["input_sha256"], "decision": "allow", "by": "me",
        });
        over.world.write("run/answers", format!("{answer}\n"));
        // The message is sent again, or its turn is continued: the agent asks again.
        let mut talk = resume(over.world, version, &over.lines, &["--ask"]);
        let answered = talk.until_state("ask", "answered");
        assert_eq!(answered["answered_by"], "me", "{version}");
        talk.until_state("input", "done");
        // Another command is asked anew, and so is the same one.
        for command in ["touch other.txt", "touch late.txt"] {
            talk.say(&format!("ask:Bash:{command}"));
            let ask = talk.until_state("ask", "open");
            let mut deny = request(ControlOperation::Answer, ask["id"].as_str().expect("an id"));
            deny.decision = Some(Decision::Deny);
            assert!(talk_in(&talk, "resumed", &deny), "{version} {command}");
            talk.until_state("input", "done");
        }
        let over = talk.finish();
        assert!(over.world.path("late.txt").exists() && !over.world.path("other.txt").exists());
    }
}

/// Sends a request to the run in the directory `name`.
fn talk_in(talk: &Talk, name: &str, request: &ControlRequest) -> bool {
    let dir = cr_rundir::RunDir::existing(&talk.world.path(name)).expect("a directory");
    let limit = std::time::Duration::from_secs(20);
    let mut client = cr_control::Client::connect(&dir, limit).expect("connected");
    let deadline = std::time::Instant::now() + limit;
    client.request(request, Some(deadline)).expect("a reply").ok
}
