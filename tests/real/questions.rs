//! Questions of the agent: permissions, choices, plans, and who answers them.

use std::fs;

use serde_json::{Value, json};

use crate::cli::each;
use crate::place::Place;
use crate::script::{bash, call, script, text};
use crate::talk::{Start, Talk};

/// Waits for the next question; its id.
fn asked(talk: &mut Talk<'_>) -> (Value, String) {
    let ask = talk.until_own("ask", "open");
    let id = ask["id"].as_str().expect("an id").to_owned();
    (ask, id)
}

/// The files below the agent's settings and the repository's, and what is in them.
fn settings(place: &Place) -> Vec<String> {
    let names = ["home/.claude/settings.json", "repository/.claude"];
    let there = names.iter().filter(|name| place.path(name).exists());
    there.map(|name| (*name).to_owned()).collect()
}

#[test]
fn a_call_is_made_if_it_is_allowed_and_not_if_it_is_denied() {
    each(|cli| {
        let place = Place::new();
        let scenario = script(&[
            bash("touch yes.txt"),
            text("made"),
            bash("touch no.txt"),
            text("not made"),
            bash("touch often.txt"),
            text("once"),
            bash("touch often.txt"),
            text("twice"),
        ]);
        let mut talk = Start::new(&place, cli, &scenario).asking().go();
        talk.say("m1");
        let (ask, id) = asked(&mut talk);
        assert_eq!(
            (&ask["kind"], &ask["tool"], &ask["text"]),
            (
                &json!("permission"),
                &json!("Bash"),
                &json!("touch yes.txt")
            )
        );
        assert!(talk.sent(&["--asks"]).contains("touch yes.txt"));
        talk.sent(&["--allow", &id]);
        talk.until_input("m1", "done");
        talk.say("m2");
        let (_, id) = asked(&mut talk);
        talk.sent(&["--deny", &id, "not here"]);
        // An answer is given once.
        assert_eq!(talk.send(&["--allow", &id]).0, Some(66));
        talk.until_input("m2", "done");
        talk.say("m3");
        let (_, id) = asked(&mut talk);
        talk.sent(&["--allow", &id, "--always"]);
        talk.until_input("m3", "done");
        // The same call is not asked about again.
        talk.say("m4");
        talk.until_input("m4", "done");
        let over = talk.finish();

        assert_eq!(over.code, Some(0), "{over:#?}");
        let file = |name: &str| fs::read_to_string(place.repository().join(name)).ok();
        assert_eq!(file("yes.txt").as_deref(), Some(""));
        assert_eq!(file("no.txt"), None);
        assert_eq!(file("often.txt").as_deref(), Some(""));
        let states: Vec<&Value> = over.own("ask").iter().map(|it| &it["state"]).collect();
        assert_eq!(states, ["open", "answered"].repeat(3), "{cli}");
        // It is remembered in the session alone.
        assert_eq!(settings(&place), [""; 0], "{cli}");
        let said = place.requests().pop().expect("a request").to_string();
        assert!(said.contains("not here"), "the reason reaches the agent");
    });
}

#[test]
fn a_choice_and_a_plan_are_asked_for_also_with_permissions_skipped() {
    each(|cli| {
        let place = Place::new();
        let question = json!({"question": "Which colour?", "header": "Colour",
            "multiSelect": false, "options": [
                {"label": "Red", "description": "r"}, {"label": "Blue", "description": "b"}]});
        let scenario = script(&[
            call("AskUserQuestion", &json!({"questions": [question]})),
            text("coloured"),
            call("EnterPlanMode", &json!({})),
            call("ExitPlanMode", &json!({"plan": "# Plan\n1. do it"})),
            text("planned"),
        ]);
        let mut talk = Start::new(&place, cli, &scenario).args(&["--ask"]).go();
        talk.say("m1");
        let (ask, id) = asked(&mut talk);
        assert_eq!(
            (&ask["kind"], &ask["text"]),
            (&json!("choice"), &json!("Which colour?"))
        );
        assert_eq!(talk.send(&["--allow", &id]).0, Some(65));
        talk.sent(&["--answer", &id, "Blue"]);
        talk.until_input("m1", "done");
        let told = place.requests().pop().expect("a request")["messages"].to_string();
        assert!(
            told.contains("Which colour?") && told.contains("Blue"),
            "{told}"
        );
        talk.say("m2");
        let mut kinds = Vec::new();
        loop {
            let line = talk.until("a question or the end", |line| {
                line["subtype"] == "ask" && line["state"] == "open"
                    || line["subtype"] == "input" && line["state"] == "done"
            });
            let Some(id) = line["id"].as_str().filter(|_| line["subtype"] == "ask") else {
                break;
            };
            kinds.push(format!("{} {}", line["tool"], line["kind"]));
            talk.sent(&["--allow", id]);
        }
        let over = talk.finish();
        assert_eq!(over.code, Some(0), "{over:#?}");
        println!("{kinds:?}");
        assert!(
            kinds.contains(&r#""ExitPlanMode" "plan""#.to_owned()),
            "{kinds:?}"
        );
    });
}

#[test]
fn an_answer_that_comes_after_the_end_is_given_to_the_same_question_of_the_resumed_session() {
    each(|cli| {
        let place = Place::new();
        let scenario = script(&[bash("touch late.txt")]);
        let mut talk = Start::new(&place, cli, &scenario).asking().go();
        talk.say("m1");
        let (_, id) = asked(&mut talk);
        cr_test::until("the call is in the log", || {
            talk.log_records()
                .iter()
                .any(|it| it.to_string().contains("touch late.txt"))
        });
        talk.kill_agent(cli);
        let run = talk.run.clone();
        let over = talk.finish();
        let session = over.session().to_owned();
        let mut send = place.world.tool("cr-send");
        let kept = send
            .arg(&run)
            .args(["--allow", &id])
            .output()
            .expect("cr-send");
        assert!(kept.status.success(), "{kept:?}");
        assert!(!place.repository().join("late.txt").exists());

        let scenario = script(&[
            bash("touch late.txt"),
            bash("touch other.txt"),
            text("done"),
        ]);
        let mut talk = Start::new(&place, cli, &scenario)
            .asking()
            .resuming(&session)
            .go();
        // The turn that was cut off goes on, and asks again.
        let answered = talk.until_own("ask", "answered");
        assert_eq!(answered["answer"], "allow", "{answered}");
        let (ask, id) = asked(&mut talk);
        assert_eq!(ask["text"], "touch other.txt", "asked anew");
        talk.sent(&["--deny", &id]);
        let over = talk.finish();
        assert_eq!(over.code, Some(0), "{over:#?}");
        assert!(place.repository().join("late.txt").exists(), "{over:#?}");
        assert!(!place.repository().join("other.txt").exists());
        assert_eq!(over.own("input")[0]["state"], "continued", "{over:#?}");
    });
}
