//! Background tasks, and turns that nobody typed.

use cr_test::{Signal, World};
use serde_json::{Value, json};

use crate::driver::{Agent, BOTH, HELD, NEW, OLD, kinds, results};

fn position(kinds: &[String], wanted: &str) -> usize {
    let at = kinds.iter().position(|kind| kind == wanted);
    at.unwrap_or_else(|| panic!("no {wanted} in {kinds:?}"))
}

#[test]
fn an_agent_that_ends_wakes_the_leader() {
    for version in BOTH {
        let mut agent = Agent::new(version);
        agent.say("a", "agent:100ms");
        agent.until_kind("task_started");
        agent.result();
        let woken = agent.result();
        assert_eq!(woken["origin"]["kind"], "task-notification");
        agent.until_idle();
        let ended = agent.close();
        assert_eq!(ended.code, Some(0));
        let kinds = kinds(&ended.lines);
        let idle = kinds.iter().filter(|it| *it == "state idle").count();
        // The older one is idle after each turn, the newer after the last.
        assert_eq!(idle, if version == NEW { 1 } else { 2 });
        let updated = position(&kinds, "task_updated");
        assert!(updated < position(&kinds, "task_notification"));
    }
}

#[test]
fn the_list_of_tasks_is_empty_before_the_leader_is_woken() {
    let mut agent = Agent::new(NEW);
    agent.say("a", "agent:100ms");
    agent.result();
    let empty = agent.until(|line| line["tasks"] == json!([]));
    assert_eq!(empty["subtype"], "background_tasks_changed");
    agent.until_kind("init");
    agent.close();
}

#[test]
fn a_shell_does_not_keep_the_session_from_being_idle() {
    for version in BOTH {
        let mut agent = Agent::new(version);
        agent.say("a", "shell:200ms");
        agent.result();
        agent.until_idle();
        assert_eq!(agent.result()["origin"]["kind"], "task-notification");
        agent.close();
    }
}

#[test]
fn an_agent_that_ends_during_a_tool_begins_no_turn() {
    for version in BOTH {
        let mut agent = Agent::asking(version);
        agent.say("a", &format!("agent:100ms\n{HELD}"));
        let question = agent.question();
        agent.until_kind("task_updated");
        agent.allow(&question);
        agent.until_idle();
        let ended = agent.close();
        assert_eq!(results(&ended.lines).len(), 1);
        let is_told = kinds(&ended.lines).contains(&"task_notification".to_owned());
        assert_eq!(is_told, version == NEW);
    }
}

#[test]
fn two_agents_that_end_during_a_text_leave_an_empty_result_in_the_newer_release() {
    for (version, empty) in [(NEW, 1), (OLD, 0)] {
        let mut agent = Agent::new(version);
        agent.say("a", "agent:100ms agent:100ms text:1s");
        let ended = agent.close();
        let results: Vec<&Value> = ended
            .lines
            .iter()
            .filter(|it| it["type"] == "result")
            .collect();
        assert_eq!(results.len(), 3);
        let nothing = results.iter().filter(|it| it["num_turns"] == 0);
        assert_eq!(nothing.count(), empty, "{version}");
    }
}

#[test]
fn an_interrupt_kills_the_agents_and_not_the_shells() {
    for version in BOTH {
        let mut agent = Agent::new(version);
        agent.say("a", "agent:1h shell:300ms");
        agent.result();
        agent.request("i", &json!({"subtype": "interrupt"}));
        let updated = agent.until_kind("task_updated");
        assert_eq!(updated["patch"]["status"], "killed");
        // Only the shell wakes the leader.
        assert_eq!(agent.result()["origin"]["kind"], "task-notification");
        assert_eq!(results(&agent.close().lines).len(), 2);
    }
}

#[test]
fn a_task_can_be_stopped_and_its_end_wakes_the_leader() {
    for version in BOTH {
        let mut agent = Agent::new(version);
        agent.say("a", "agent:1h");
        let task = agent.until_kind("task_started")["task_id"].clone();
        agent.result();
        agent.control("s", &json!({"subtype": "stop_task", "task_id": task}));
        assert_eq!(agent.result()["origin"]["kind"], "task-notification");
        assert_eq!(agent.close().code, Some(0));
    }
}

#[test]
fn an_agent_may_end_without_waking_the_leader() {
    for version in BOTH {
        let mut agent = Agent::new(version);
        agent.say("a", "nowake:50ms");
        agent.until_kind("task_updated");
        assert_eq!(results(&agent.close().lines).len(), 1);
    }
}

#[test]
fn another_session_can_begin_a_turn_unless_it_is_refused() {
    for version in BOTH {
        let mut agent = Agent::new(version);
        agent.say("a", "peer");
        agent.result();
        assert_eq!(agent.result()["origin"]["kind"], "peer");
        agent.close();

        let settings = r#"--settings={"crossSessionInbound":"refuse"}"#;
        let mut agent = Agent::start(&World::new(), version, &[settings]);
        agent.say("a", "peer");
        assert_eq!(results(&agent.close().lines).len(), 1);
    }
}

#[test]
fn a_task_that_ended_with_its_process_leaves_an_empty_result_to_the_next() {
    for version in BOTH {
        for task in ["agent:1h", "shell:1h"] {
            let world = World::new();
            let id = "11111111-2222-4333-8444-555555555555";
            let mut agent = Agent::start(&world, version, &["--session-id", id]);
            agent.say("a", task);
            agent.result();
            agent.signal(Signal::TERM);
            agent.end();

            let mut agent = Agent::start(&world, version, &["--resume", id]);
            agent.say("b", "hello");
            let ended = agent.close();
            assert_eq!(results(&ended.lines), ["", "answer to: hello"]);
        }
    }
}

#[test]
fn results_wait_for_the_agents_once_input_is_closed() {
    for version in BOTH {
        let mut agent = Agent::new(version);
        agent.say("a", "agent:300ms");
        agent.until_kind("init");
        let ended = agent.close();
        assert_eq!(ended.code, Some(0));
        let kinds = kinds(&ended.lines);
        let both = ["result", "result"];
        assert!(kinds.windows(2).any(|it| it == both), "{kinds:?}");
    }
}
