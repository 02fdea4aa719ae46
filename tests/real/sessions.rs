//! Sessions of many turns: delivery, interrupts, stops, failures, limits.

use serde_json::{Value, json};

use crate::cli::{Cli, each};
use crate::place::Place;
use crate::script::{bash, call, error, gated, script, text, wait, waiting};
use crate::talk::{Start, Talk};

/// Waits until a turn is where it is to be interrupted.
type Reached = fn(&mut Talk<'_>) -> Value;

/// A session that shows its text while it is written.
fn talk<'a>(place: &'a Place, cli: &'a Cli, scenario: &'a Value) -> Talk<'a> {
    Start::new(place, cli, scenario)
        .args(&["--partial-messages"])
        .go()
}

#[test]
fn each_message_is_answered_once_alone_folded_merged_and_queued_at_the_end() {
    each(|cli| {
        let place = Place::new();
        let scenario = script(&[
            text("one"),
            text("two"),
            text("three"),
            wait("tool"),
            text("four and five"),
            gated("six is long", "text"),
            text("seven and eight"),
            wait("last"),
            text("nine and ten"),
        ]);
        let mut talk = talk(&place, cli, &scenario);
        for message in ["m1", "m2", "m3"] {
            talk.say(message);
            talk.until_input(message, "done");
        }
        talk.say("m4");
        talk.until_tool();
        talk.say("m5");
        talk.until_agent_has("m5");
        talk.open("tool");
        talk.until_input("m5", "done");
        talk.say("m6");
        talk.until_text();
        talk.say("m7");
        talk.say("m8");
        talk.until_agent_has("m8");
        talk.open("text");
        talk.until_input("m8", "done");
        // The input ends while a message waits.
        talk.say("m9");
        talk.until_tool();
        talk.say("m10");
        talk.end_input();
        talk.until_agent_has("m10");
        talk.open("last");
        let over = talk.finish();

        assert_eq!(over.code, Some(0), "{over:#?}");
        assert_eq!(over.exit()["completed_by"], "input_end");
        let own = ["queued", "started", "done"];
        for message in ["m1", "m2", "m3", "m4", "m6", "m7", "m8", "m9"] {
            assert_eq!(over.states(message), own, "{message}");
        }
        let folded = ["queued", "started folded", "done folded"];
        assert_eq!(over.states("m5"), folded);
        assert_eq!(over.states("m10"), folded);
        let turns = ["m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9", "m10"];
        let turns: Vec<u64> = turns.iter().map(|it| over.turn(it)).collect();
        assert_eq!(turns, [1, 2, 3, 4, 4, 5, 6, 6, 7, 7]);
        assert_eq!(over.causes(), ["message"; 7]);
        assert_eq!(over.results().len(), 7);
    });
}

#[test]
fn a_turn_is_interrupted_in_a_text_a_tool_a_subagent_and_a_retry_and_the_next_one_is_answered() {
    each(|cli| {
        let place = Place::new();
        let slow = json!({"error": {"status": 529, "headers": {"retry-after": "60"}}});
        let subagent = call(
            "Agent",
            &json!({"description": "waits", "prompt": "ROLE-waiter please",
                    "subagent_type": "general-purpose", "run_in_background": false}),
        );
        let mut scenario = script(&[
            gated("a long text", "never"),
            text("after the text"),
            wait("never"),
            text("after the tool"),
            subagent,
            text("after the subagent"),
            slow,
            text("after the retry"),
        ]);
        scenario["lanes"] = json!([crate::script::lane("waiter", &[wait("never")])]);
        let mut talk = talk(&place, cli, &scenario);
        let places: [(&str, Reached); 4] = [
            ("text", |talk| talk.until_text()),
            ("tool", |talk| talk.until_tool()),
            ("subagent", |talk| {
                talk.until("a call of the subagent", |line| {
                    line["type"] == "assistant" && line["parent_tool_use_id"].is_string()
                })
            }),
            ("retry", |talk| {
                talk.until("a retry", |line| line["subtype"] == "api_retry")
            }),
        ];
        for (name, reached) in places {
            talk.say(&format!("{name} one"));
            reached(&mut talk);
            talk.sent(&["--interrupt"]);
            talk.until_input(&format!("{name} one"), "cancelled");
            talk.say(&format!("{name} two"));
            talk.until_input(&format!("{name} two"), "done");
        }
        let over = talk.finish();
        assert_eq!(over.code, Some(0), "{over:#?}");
        for (name, _) in places {
            let result = format!("after the {name}");
            assert!(over.results().contains(&&*result), "{name}");
            let states = over.states(&format!("{name} one"));
            assert_eq!(states, ["queued", "started", "cancelled"], "{name}");
        }
    });
}

#[test]
fn a_message_for_now_interrupts_and_is_the_next_turn() {
    each(|cli| {
        let place = Place::new();
        let scenario = script(&[wait("never"), text("urgent is done")]);
        let mut talk = talk(&place, cli, &scenario);
        talk.say("one");
        talk.until_tool();
        let answer = talk.sent(&["--when", "now", "--wait", "urgent"]);
        assert_eq!(answer.trim(), "urgent is done");
        let over = talk.finish();
        assert_eq!(over.code, Some(0), "{over:#?}");
        assert_eq!(over.states("one"), ["queued", "started", "cancelled"]);
    });
}

#[test]
fn a_turn_that_fails_does_not_end_the_session_and_the_sender_learns_it() {
    each(|cli| {
        let place = Place::new();
        let scenario = script(&[error(403), text("good")]);
        let talk = talk(&place, cli, &scenario);
        let (code, said) = talk.send(&["--wait", "bad"]);
        assert_eq!(code, Some(77), "{said}");
        let (code, said) = talk.send(&["--wait", "fine"]);
        assert_eq!((code, said.trim()), (Some(0), "good"));
        let over = talk.finish();
        assert_eq!((over.code, over.results().len()), (Some(0), 2), "{over:#?}");
    });
}

#[test]
fn sessions_can_be_stopped_by_the_user_at_any_point() {
    each(|cli| {
        // When idle: the end is clean.
        let place = Place::new();
        let scenario = script(&[text("one")]);
        let mut idle = Start::new(&place, cli, &scenario)
            .args(&["--keep-open"])
            .go();
        idle.say("m1");
        idle.until_input("m1", "done");
        idle.until_own("state", "waiting_for_input");
        idle.sent(&["--stop"]);
        let over = idle.finish();
        assert_eq!(over.code, Some(0), "{over:#?}");
        assert_eq!(over.exit()["completed_by"], "stop");

        // In mid-turn, with a process that ignores the end: nobody survives, which
        // `finish` checks.
        let place = Place::new();
        let stubborn = bash("trap '' TERM INT HUP; touch here; sleep 300; sleep 300");
        let scenario = script(&[stubborn]);
        let mut busy = talk(&place, cli, &scenario);
        busy.say("m1");
        busy.until_tool();
        cr_test::appears(&place.repository().join("here"));
        busy.sent(&["--stop"]);
        let over = busy.finish();
        assert_eq!(over.code, Some(143), "{over:#?}");
        assert_eq!(over.exit()["completed_by"], "stop");
    });
}

#[test]
fn sessions_time_out_gracefully_per_turn_and_per_session() {
    each(|cli| {
        let place = Place::new();
        let scenario = script(&[wait("never"), text("in time"), wait("never")]);
        let mut talk = Start::new(&place, cli, &scenario)
            .args(&["--turn-timeout", "5s", "--timeout", "60s"])
            .go();
        talk.say("too long");
        let limit = talk.until("a limit", |line| line["subtype"] == "limit");
        assert_eq!(
            (&limit["clock"], &limit["action"]),
            (&json!("turn"), &json!("interrupt"))
        );
        talk.until_input("too long", "cancelled");
        talk.say("short");
        talk.until_input("short", "done");
        let over = talk.finish();
        assert_eq!(over.code, Some(0), "{over:#?}");
        assert!(over.results().contains(&"in time"));

        let place = Place::new();
        // The end of the tool must not be the beginning of an answer.
        let scenario = script(&[text("one"), wait("never"), json!({"silent": true})]);
        let mut talk = Start::new(&place, cli, &scenario)
            .args(&["--timeout", "8s"])
            .go();
        talk.say("short");
        talk.until_input("short", "done");
        talk.say("too long");
        let over = talk.finish();
        assert_eq!(
            (over.code, &over.exit()["reason"]),
            (Some(124), &json!("timeout")),
            "{over:#?}"
        );
    });
}

#[test]
fn a_stale_result_after_a_resume_is_not_taken_for_the_answer() {
    each(|cli| {
        let place = Place::new();
        let shell = call(
            "Bash",
            &json!({"command": waiting("never"), "description": "wait", "run_in_background": true}),
        );
        let scenario = script(&[shell, text("it runs")]);
        let mut talk = talk(&place, cli, &scenario);
        talk.say("m1");
        talk.until_input("m1", "done");
        cr_test::until("the turn is in the log", || {
            talk.log_records()
                .iter()
                .any(|it| it.to_string().contains("it runs"))
        });
        talk.kill_agent(cli);
        let session = talk.finish().session().to_owned();

        let scenario = script(&[text("the real answer"), text("more")]);
        let talk = Start::new(&place, cli, &scenario).resuming(&session).go();
        let answer = talk.sent(&["--wait", "m2"]);
        assert_eq!(answer.trim(), "the real answer", "{cli}");
        let over = talk.finish();
        assert_eq!(over.code, Some(0), "{over:#?}");
        assert_eq!(over.results()[0], "", "the stale one comes first");
    });
}

#[test]
fn a_command_of_the_cli_has_a_turn_of_its_own_and_ends_its_message() {
    each(|cli| {
        let place = Place::new();
        let scenario = script(&[text("one"), text("two"), text("three")]);
        let mut talk = Start::new(&place, cli, &scenario).go();
        // All at once: the older version repeats only what the model gets.
        let messages = ["/cost", "m1", "/unknown", "/clear", "m2"];
        for it in &messages {
            talk.say(it);
        }
        let over = talk.finish();

        assert_eq!(over.code, Some(0), "{over:#?}");
        assert_eq!(over.exit()["completed_by"], "input_end", "{over:#?}");
        for message in messages {
            assert_eq!(
                over.states(message),
                ["queued", "started", "done"],
                "{message}"
            );
        }
        assert!(over.turn("/cost") < over.turn("m1"), "{over:#?}");
        assert!(over.turn("m1") < over.turn("/clear"), "{over:#?}");
    });
}

#[test]
fn a_block_that_would_end_the_cli_never_reaches_it() {
    each(|cli| {
        let place = Place::new();
        let scenario = script(&[text("good")]);
        let mut talk = Start::new(&place, cli, &scenario).go();
        let blocks = [
            json!({"type": "image"}),
            json!({"type": "image", "source": {"type": "base64"}}),
            json!({"type": "document"}),
            json!({"type": "text", "text": null}),
            json!({"type": "tool_result", "tool_use_id": "none", "content": "x"}),
        ];
        for block in blocks {
            talk.say_blocks(&json!([{"type": "text", "text": "look"}, block]));
            talk.until_own("input", "rejected");
        }
        talk.say("m1");
        talk.until_input("m1", "done");
        let over = talk.finish();
        assert_eq!(
            (over.code, over.results()),
            (Some(0), vec!["good"]),
            "{over:#?}"
        );
    });
}
