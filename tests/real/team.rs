//! A leader and its agents in one session, to completion.
//!
//! With `sessions.rs` these are the acceptance criteria of sessions of many turns,
//! each as a test of that name:
//!
//! | criterion | test |
//! |---|---|
//! | a session can run multiple turns | `a_session_runs_multiple_turns_…` |
//! | teammate messages are delivered back | `teammate_messages_are_delivered_back_…` |
//! | the full pipeline in a single session | `the_full_pipeline_executes_…` |
//! | time out, per turn and per session | `sessions::sessions_time_out_gracefully_…` |
//! | stopped by the user at any point | `sessions::sessions_can_be_stopped_…` |
//! | failed teammates don't crash the session | `failed_teammate_processes_…` |
//! | event logs capture the conversation | `session_event_logs_capture_…` |
//!
//! Two criteria are about a page: events by SSE throughout the session, and agent
//! banners, groups and message cards. They belong to the tool that shows a page.

use std::fs;

use serde_json::{Value, json};

use crate::cli::{Cli, each};
use crate::place::Place;
use crate::script::{agent, bash, call, error, gated, lane, text, wait, waiting};
use crate::talk::{Start, Talk};
use cr_test::root;

/// The agents of the example.
const ROLES: [&str; 6] = ["pm", "architect", "designer", "frontend", "backend", "qa"];

/// A call of several agents at once.
fn start(agents: &[&str]) -> Value {
    let calls: Vec<Value> = agents.iter().map(|name| agent(name)).collect();
    json!({"blocks": calls})
}

/// The answers of an agent that waits for the file `NAME-go`, writes a file and
/// reports.
fn worker(name: &str) -> Value {
    let work = format!(
        "{}; echo {name} > {name}.md",
        waiting(&format!("{name}-go"))
    );
    lane(name, &[bash(&work), text(&format!("{name} report"))])
}

/// A session with the one message "lead the team".
fn lead<'a>(place: &'a Place, cli: &'a Cli, scenario: &'a Value) -> Talk<'a> {
    let mut talk = Start::new(place, cli, scenario)
        .args(&["--partial-messages"])
        .go();
    talk.say("lead the team");
    talk.end_input();
    talk
}

/// Lets the agent `name` end, and waits until the session knows.
fn end_agent(talk: &mut Talk<'_>, name: &str) {
    talk.open(&format!("{name}-go"));
    talk.until("the end of an agent", |line| {
        line["subtype"] == "task_updated" && line["patch"]["status"] == "completed"
    });
}

fn until_result(talk: &mut Talk<'_>, text: &str) {
    talk.until(text, |line| {
        line["type"] == "result" && line["result"] == text
    });
}

#[test]
fn a_session_runs_multiple_turns_in_which_the_leader_starts_agents_and_acts_on_their_output() {
    each(|cli| {
        let place = Place::new();
        let lanes = ["one", "two", "three", "four"].map(worker);
        let scenario = json!({"lanes": lanes, "turns": [
            start(&["one"]), text("one works"),
            // Agents that end while the leader is in a tool.
            start(&["two", "three"]), wait("tool-go"),
            // An agent that ends while the leader is in its text.
            start(&["four"]), gated("four works", "text-go"),
            text("all is done"), text("nothing more"),
        ]});
        let mut talk = lead(&place, cli, &scenario);
        until_result(&mut talk, "one works");
        end_agent(&mut talk, "one");
        talk.until("the leader's tool", |line| {
            line["type"] == "assistant" && line.to_string().contains("tool-go")
        });
        end_agent(&mut talk, "two");
        end_agent(&mut talk, "three");
        talk.open("tool-go");
        talk.until_text();
        end_agent(&mut talk, "four");
        talk.open("text-go");
        let over = talk.finish();

        assert_eq!(over.code, Some(0), "{over:#?}");
        assert_eq!(over.exit()["completed_by"], "input_end");
        // Two and three were folded into the turn of the tool.
        assert_eq!(over.causes(), ["message", "task", "task"], "{over:#?}");
        let results: Vec<&str> = over
            .results()
            .into_iter()
            .filter(|it| !it.is_empty())
            .collect();
        assert_eq!(results, ["one works", "four works", "all is done"]);
        let last = place.requests().pop().expect("a request")["messages"].to_string();
        for name in ["one", "two", "three", "four"] {
            assert!(last.contains(&format!("{name} report")), "{name}");
        }
    });
}

#[test]
fn the_full_pipeline_executes_within_a_single_session() {
    each(|cli| {
        let world = cr_test::World::new();
        let dir = world.path("team");
        fs::create_dir(&dir).expect("made");
        let output = world
            .command(root().join("scripts/examples/team/run"))
            .env("CR_BIN_DIR", cr_test::bin_dir())
            .env("CR_CLAUDE", &cli.path)
            .arg(&dir)
            .timeout(crate::run::RUN_LIMIT)
            .output()
            .expect("run the example");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        for name in ROLES {
            assert!(dir.join(format!("{name}.md")).is_file(), "{name}: {said}");
        }
        let summary: Value = serde_json::from_slice(&output.stdout).expect("a summary");
        assert_eq!(summary["outcome"], "success", "{said}");
        assert_eq!(summary["result"], "The work is complete.", "{said}");
        let stream = fs::read_to_string(dir.join("team.ndjson")).expect("the stream");
        let exit = stream.lines().last().expect("a line");
        assert!(exit.contains(r#""completed_by":"input_end""#), "{exit}");
    });
}

#[test]
fn teammate_messages_are_delivered_back_to_the_leader_and_trigger_follow_up_turns() {
    each(|cli| {
        let place = Place::new();
        let tell = call(
            "SendMessage",
            &json!({"to": "main", "summary": "a step is done", "message": "HALF-DONE"}),
        );
        let worker = lane(
            "helper",
            &[wait("tell-go"), tell, wait("end-go"), text("DONE")],
        );
        let scenario = json!({"lanes": [worker], "turns": [
            start(&["helper"]), text("it works"), text("half is done"), text("all is done"),
        ]});
        let mut talk = lead(&place, cli, &scenario);
        until_result(&mut talk, "it works");
        talk.open("tell-go");
        until_result(&mut talk, "half is done");
        talk.open("end-go");
        let over = talk.finish();
        assert_eq!(over.code, Some(0), "{over:#?}");
        assert_eq!(over.results(), ["it works", "half is done", "all is done"]);
        assert_eq!(over.causes(), ["message", "peer", "task"], "{over:#?}");
        let said = place.requests().pop().expect("a request")["messages"].to_string();
        assert!(
            said.contains("HALF-DONE") && said.contains("DONE"),
            "{said}"
        );
    });
}

#[test]
fn failed_teammate_processes_do_not_crash_the_session() {
    each(|cli| {
        let place = Place::new();
        let broken = lane("broken", &[wait("broken-go"), error(403), error(403)]);
        let scenario = json!({"lanes": [broken], "turns": [
            start(&["broken"]), text("it works"), text("it failed, I go on"), text("fine"),
        ]});
        let mut talk = Start::new(&place, cli, &scenario).go();
        talk.say("lead the team");
        until_result(&mut talk, "it works");
        talk.open("broken-go");
        until_result(&mut talk, "it failed, I go on");
        talk.say("and now?");
        talk.until_input("and now?", "done");
        let over = talk.finish();
        assert_eq!(over.code, Some(0), "{over:#?}");
        assert_eq!(over.results(), ["it works", "it failed, I go on", "fine"]);
        assert_eq!(over.causes(), ["message", "task", "message"]);
        // The older version tells a failed agent as completed.
        let told = over
            .lines
            .iter()
            .rfind(|it| it["subtype"] == "task_notification");
        let status = told.map(|it| &it["status"]);
        let is_older = cli.to_string().contains("2.1.197");
        let expected = json!(if is_older { "completed" } else { "failed" });
        assert_eq!(status, Some(&expected), "{over:#?}");
    });
}

#[test]
fn session_event_logs_capture_the_full_multi_turn_conversation() {
    each(|cli| {
        let place = Place::new();
        let scenario = json!({"lanes": [worker("one")], "turns": [
            start(&["one"]), text("one works"), text("one is done"), wait("never"),
        ]});
        let mut talk = Start::new(&place, cli, &scenario).go();
        talk.say("lead the team");
        until_result(&mut talk, "one works");
        talk.open("one-go");
        until_result(&mut talk, "one is done");
        talk.say("wait");
        talk.until_tool();
        // Killed at any moment, it leaves a readable log.
        talk.kill_agent(cli);
        let run = talk.run.clone();
        let over = talk.finish();
        let kept = fs::read_to_string(run.join("stream.ndjson")).expect("a record");
        let kept: Vec<Value> = kept
            .lines()
            .map(|line| serde_json::from_str(line).expect("a line of JSON"))
            .collect();
        assert_eq!(kept, over.lines, "what was written is what was kept");
        for said in ["one report", "one works", "one is done"] {
            assert!(
                kept.iter().any(|line| line.to_string().contains(said)),
                "{said}"
            );
        }
        assert_eq!(over.states("lead the team"), ["queued", "started", "done"]);
        assert_eq!(over.exit()["reason"], "signal");
    });
}

#[test]
fn an_agent_that_is_told_to_go_on_after_its_end_is_waited_for() {
    each(|cli| {
        let place = Place::new();
        let go_on = json!({"to": "one", "summary": "go on please", "message": "go on"});
        let report = ["first report", "second report"].map(text);
        let work = [
            wait("one-go"),
            report[0].clone(),
            wait("again-go"),
            report[1].clone(),
        ];
        let scenario = json!({"lanes": [lane("one", &work)], "turns": [
            start(&["one"]), text("one works"),
            call("SendMessage", &go_on), text("one works again"), text("all is done")]});
        let mut talk = lead(&place, cli, &scenario);
        until_result(&mut talk, "one works");
        talk.open("one-go");
        until_result(&mut talk, "one works again");
        // Older versions are idle now, and tell of no task.
        talk.open("again-go");
        let over = talk.finish();

        assert_eq!(over.code, Some(0), "{over:#?}");
        let at = |fits: &dyn Fn(&Value) -> bool| over.lines.iter().position(fits);
        let last = at(&|line| line["type"] == "result" && line["result"] == "all is done");
        let stopping = at(&|line| line["subtype"] == "state" && line["state"] == "stopping");
        assert!(last.is_some() && last < stopping, "{over:#?}");
    });
}
