//! What ends a turn or a session: limits, a field of the answer; and other
//! sessions, which begin no turn in ours.

use std::fs;

use serde_json::json;

use crate::cli::{Cli, each};
use crate::place::Place;
use crate::script::{bash, call, script, text, wait};
use crate::talk::{Over, Start};
use cr_test::bin;

#[test]
fn max_turns_counts_per_message() {
    each(|cli| {
        let place = Place::new();
        let scenario = script(&[bash("true"), bash("true"), bash("true"), text("good")]);
        let talk = Start::new(&place, cli, &scenario)
            .args(&["--max-turns", "2"])
            .go();
        assert_eq!(talk.send(&["--wait", "too much"]).0, Some(3));
        // Two turns again: the count begins anew.
        let (code, answer) = talk.send(&["--wait", "less"]);
        assert_eq!((code, answer.trim()), (Some(0), "good"), "{cli}");
        assert_eq!(talk.finish().code, Some(0));
    });
}

#[test]
fn a_message_sent_in_the_last_allowed_turn_is_answered_or_shares_its_failure() {
    each(|cli| {
        let place = Place::new();
        let scenario = script(&[wait("go"), text("for the second"), text("more")]);
        let mut talk = Start::new(&place, cli, &scenario)
            .args(&["--max-turns", "1"])
            .go();
        talk.say("one");
        talk.until_tool();
        talk.say("two");
        talk.until_agent_has("two");
        talk.open("go");
        talk.until_input("two", "done");
        let over = talk.finish();
        // The older version folds it into the turn that is over.
        let is_older = cli.to_string().contains("2.1.197");
        assert_eq!(over.turn("two") == over.turn("one"), is_older, "{over:#?}");
        assert_eq!(over.results().contains(&"for the second"), !is_older);
    });
}

#[test]
fn max_budget_counts_per_process() {
    each(|cli| {
        let place = Place::new();
        let usage = json!({"input_tokens": 500_000, "output_tokens": 5000});
        let dear = json!({"text": "dear", "usage": usage});
        let scenario = script(&[dear, text("cheap")]);
        let talk = Start::new(&place, cli, &scenario)
            .args(&["--max-budget", "0.01"])
            .go();
        let first = talk.send(&["--wait", "one"]);
        // What the budget does not pay for fails, whatever it costs.
        let second = talk.send(&["--wait", "two"]);
        let over = talk.finish();
        assert_eq!(second.0, Some(3), "{cli} {first:?} {second:?} {over:#?}");
        assert_eq!(place.requests().len(), 1, "{over:#?}");
    });
}

#[test]
fn a_field_of_the_structured_output_ends_the_session() {
    each(|cli| {
        let place = Place::new();
        let report = |done| call("StructuredOutput", &json!({"done": done}));
        let scenario = script(&[report(false), text("not yet"), report(true), text("done")]);
        let schema =
            r#"{"type":"object","properties":{"done":{"type":"boolean"}},"required":["done"]}"#;
        let mut talk = Start::new(&place, cli, &scenario)
            .args(&[
                "--keep-open",
                "--until-field",
                "done",
                "--json-schema",
                schema,
            ])
            .go();
        talk.say("one");
        talk.until_input("one", "done");
        talk.say("two");
        let over = talk.finish();
        assert_eq!(
            (over.code, &over.exit()["completed_by"]),
            (Some(0), &json!("field")),
            "{over:#?}"
        );
    });
}

/// A session of ours that another session of the same user sends a message to.
/// Returns what became of ours, and what the other one was told.
fn with_a_peer(cli: &Cli, args: &[&str]) -> (Over, String) {
    let place = Place::new();
    let path = |name: &str| place.repository().join(name).display().to_string();
    let other = format!(
        "(until [ -e go ]; do sleep 0.05; done
         {mock} api --scenario other.json --port-file port & api=$!
         until [ -s port ]; do sleep 0.05; done
         export ANTHROPIC_BASE_URL=http://127.0.0.1:$(cat port)
         {claude} -p --verbose --output-format stream-json --dangerously-skip-permissions hello > told
         kill $api; wait $api; mv told other) < /dev/null > /dev/null 2>&1 &
         exec \"$@\"",
        mock = bin("cr-mock").display(),
        claude = cli.path.display(),
    );
    let launch = place.world.script("with-other", &other);
    let scenario = script(&[text("one"), text("for the peer"), text("two")]);
    let mut talk = Start::new(&place, cli, &scenario)
        .behind(&launch)
        .launcher(&["--linger", "20"])
        .args(args)
        .go();
    talk.say("m1");
    let init = talk.until("init", |line| line["subtype"] == "init");
    talk.until_input("m1", "done");
    let socket = init["messaging_socket_path"].as_str().unwrap_or("/none");
    let send = json!({"to": format!("uds:{socket}"), "summary": "hello there", "message": "HELLO"});
    let other = script(&[call("SendMessage", &send), text("sent"), text("and more")]);
    fs::write(path("other.json"), other.to_string()).expect("written");
    talk.open("go");
    if args.contains(&"--accept-peers") && init["messaging_socket_path"].is_string() {
        talk.until("the peer's turn", |line| {
            line["subtype"] == "state" && line["cause"] == "peer"
        });
    }
    cr_test::appears(&place.repository().join("other"));
    talk.say("m2");
    talk.until_input("m2", "done");
    let over = talk.finish();
    (over, fs::read_to_string(path("other")).expect("its output"))
}

#[test]
fn another_session_begins_no_turn_in_ours_unless_it_is_accepted() {
    each(|cli| {
        let (over, told) = with_a_peer(cli, &[]);
        assert_eq!(over.code, Some(0), "{over:#?}");
        assert_eq!(over.causes(), ["message", "message"], "{over:#?}");
        assert_eq!(over.results(), ["one", "for the peer"]);
        // The older version has no messages between sessions.
        let has_peers = over
            .lines
            .iter()
            .any(|it| it["messaging_socket_path"].is_string());
        assert_eq!(has_peers, !cli.to_string().contains("2.1.197"), "{cli}");
        assert_eq!(told.contains("refused"), has_peers, "{told}");
        if has_peers {
            let (over, _) = with_a_peer(cli, &["--accept-peers"]);
            assert_eq!(over.causes(), ["message", "peer", "message"], "{over:#?}");
        }
    });
}
