//! Questions of the agent.

use std::fs;

use cr_rundir::{ControlOperation, ControlRequest, Decision};
use serde_json::Value;

use super::talk::{Talk, VERSIONS, request};

fn answer(id: &Value, decision: Decision, text: Option<&str>) -> ControlRequest {
    ControlRequest {
        decision: Some(decision),
        text: text.map(str::to_owned),
        from: Some("tester".to_owned()),
        ..request(ControlOperation::Answer, id.as_str().expect("an id"))
    }
}

#[test]
fn an_allowed_call_is_made_and_a_denied_one_is_not() {
    for version in VERSIONS {
        let mut talk = Talk::start(version, &["--ask"]);
        talk.say("ask:Bash:touch yes.txt");
        let ask = talk.until_state("ask", "open");
        assert_eq!(
            (&ask["kind"], &ask["tool"]),
            (&"permission".into(), &"Bash".into())
        );
        assert_eq!(ask["text"], "touch yes.txt");
        talk.until_state("state", "asking");
        assert!(
            talk.ask(&answer(&ask["id"], Decision::Allow, None)).ok,
            "{version}"
        );
        let answered = talk.until_state("ask", "answered");
        assert_eq!(
            (&answered["answer"], &answered["answered_by"]),
            (&"allow".into(), &"tester".into())
        );
        talk.until_state("input", "done");
        talk.say("ask:Bash:touch no.txt");
        let ask = talk.until_state("ask", "open");
        assert!(
            talk.ask(&answer(&ask["id"], Decision::Deny, Some("not here")))
                .ok
        );
        let over = talk.finish();
        assert!(over.world.path("yes.txt").exists(), "{version}");
        assert!(!over.world.path("no.txt").exists(), "{version}");
    }
}

#[test]
fn an_answer_is_given_once_and_one_to_no_question_is_refused_by_name() {
    let mut talk = Talk::start("2.1.326", &["--ask"]);
    talk.say("ask:Bash:touch yes.txt");
    let ask = talk.until_state("ask", "open");
    assert!(talk.ask(&answer(&ask["id"], Decision::Allow, None)).ok);
    let second = talk.ask(&answer(&ask["id"], Decision::Deny, None));
    assert_eq!((second.ok, second.code), (false, Some(66)));
    let id = ask["id"].as_str().expect("an id");
    assert!(second.error.expect("a reason").contains(id));
    talk.finish();
}

#[test]
fn a_question_that_is_interrupted_is_withdrawn() {
    for version in VERSIONS {
        let mut talk = Talk::start(version, &["--ask"]);
        talk.say("ask:Bash:touch no.txt");
        let ask = talk.until_state("ask", "open");
        assert!(
            talk.ask(&ControlRequest::new(ControlOperation::Interrupt))
                .ok
        );
        talk.until_state("ask", "withdrawn");
        let late = talk.ask(&answer(&ask["id"], Decision::Allow, None));
        assert!(!late.ok, "{version}");
        talk.say("two");
        talk.until_state("input", "done");
        let over = talk.finish();
        assert!(!over.world.path("no.txt").exists(), "{version}");
    }
}

#[test]
fn a_message_for_now_waits_for_the_open_question_and_says_so() {
    for version in VERSIONS {
        let mut talk = Talk::start(version, &["--ask"]);
        talk.say("ask:Bash:touch yes.txt");
        let ask = talk.until_state("ask", "open");
        assert!(talk.send("urgent", "now").ok);
        let held = talk.until("a message that waits", |line| {
            line["subtype"] == "input" && line["reason"].is_string()
        });
        assert_eq!(held["state"], "queued");
        assert!(
            held["reason"]
                .as_str()
                .is_some_and(|why| why.contains("question"))
        );
        assert!(talk.ask(&answer(&ask["id"], Decision::Allow, None)).ok);
        let over = talk.finish();
        assert!(over.world.path("yes.txt").exists(), "{version}");
        assert!(
            over.logged().iter().any(|text| text.contains("urgent")),
            "{version}"
        );
    }
}

#[test]
fn a_choice_is_given_to_the_agent() {
    for version in VERSIONS {
        // Also with permissions skipped.
        let mut talk = Talk::start(version, &["--ask", "--permission-mode", "acceptEdits"]);
        talk.say("choose:Which colour?:Red,Blue");
        let ask = talk.until_state("ask", "open");
        assert_eq!(
            (&ask["kind"], &ask["text"]),
            (&"choice".into(), &"Which colour?".into())
        );
        let wrong = talk.ask(&answer(&ask["id"], Decision::Allow, None));
        assert!(!wrong.ok && wrong.error.expect("a reason").contains("choice"));
        assert!(
            talk.ask(&answer(&ask["id"], Decision::Choose, Some("Blue")))
                .ok
        );
        let result = talk.until("the tool's result", |line| {
            line["type"] == "user" && line.to_string().contains("Which colour?")
        });
        assert!(result.to_string().contains("Blue"), "{version} {result}");
        talk.finish();
    }
}

#[test]
fn a_policy_answers_what_it_covers_and_the_rest_is_asked() {
    for version in VERSIONS {
        let world = cr_test::World::new();
        let policy = "[[rule]]\ntool = \"Bash\"\ncommand = [\"touch yes.txt\"]\naction = \"allow\"\n\
                      [[rule]]\ntool = \"Bash\"\ncommand = [\"touch no.txt\"]\naction = \"deny\"\nreason = \"not this\"\n";
        let policy = world.write("policy.toml", policy);
        let policy = policy.to_str().expect("UTF-8").to_owned();
        let mut talk = Talk::start_in(world, version, &["--ask-policy", &policy]);
        for (command, by) in [("yes.txt", "policy"), ("no.txt", "policy")] {
            talk.say(&format!("ask:Bash:touch {command}"));
            let answered = talk.until_state("ask", "answered");
            assert_eq!(answered["answered_by"], by, "{version} {command}");
            talk.until_state("input", "done");
        }
        talk.say("ask:Bash:touch yes.txt && touch other.txt");
        let ask = talk.until_state("ask", "open");
        assert!(talk.ask(&answer(&ask["id"], Decision::Deny, None)).ok);
        let over = talk.finish();
        let there = |name: &str| over.world.path(name).exists();
        assert_eq!(
            (there("yes.txt"), there("no.txt"), there("other.txt")),
            (true, false, false)
        );
    }
}

#[test]
fn a_command_answers_and_its_failure_is_no_answer() {
    let script = r#"read question
case $question in *good.txt*) echo allow ;; *bad.txt*) echo '{"decision":"deny","text":"no"}' ;; *) exit 1 ;; esac"#;
    let world = cr_test::World::new();
    let command = world.script("answer", script);
    let command = command.to_str().expect("UTF-8").to_owned();
    let mut talk = Talk::start_in(world, "2.1.326", &["--ask-cmd", &command]);
    for name in ["good.txt", "bad.txt"] {
        talk.say(&format!("ask:Bash:touch {name}"));
        assert_eq!(
            talk.until_state("ask", "answered")["answered_by"],
            "command"
        );
        talk.until_state("input", "done");
    }
    talk.say("ask:Bash:touch other.txt");
    let ask = talk.until_state("ask", "open");
    assert!(talk.ask(&answer(&ask["id"], Decision::Allow, None)).ok);
    let over = talk.finish();
    let there = |name: &str| over.world.path(name).exists();
    assert_eq!(
        (there("good.txt"), there("bad.txt"), there("other.txt")),
        (true, false, true)
    );
}

#[test]
fn a_command_that_hangs_does_not_outlive_the_session() {
    let mut talk = Talk::start("2.1.326", &["--ask-cmd", "sleep 300"]);
    talk.say("ask:Bash:touch x.txt");
    let ask = talk.until_state("ask", "open");
    assert!(talk.ask(&answer(&ask["id"], Decision::Deny, None)).ok);
    talk.finish();
}

#[test]
fn a_question_that_nobody_answers_in_time_ends_the_run_and_stays_open() {
    for version in VERSIONS {
        let mut talk = Talk::start(version, &["--ask", "--ask-timeout", "300ms"]);
        talk.say("ask:Bash:touch no.txt");
        let answered = talk.until_state("ask", "answered");
        assert_eq!(
            (&answered["answer"], &answered["answered_by"]),
            (&"deny".into(), &"timeout".into())
        );
        let over = talk.finish();
        assert_eq!(over.exit()["completed_by"], "ask_timeout", "{version}");
        assert!(!over.world.path("no.txt").exists());
        let questions = fs::read_to_string(over.world.path("run/questions")).expect("a file");
        assert!(questions.contains(r#""state":"open""#) && !questions.contains("answered"));
    }
}

#[test]
fn a_process_of_the_agent_may_send_a_message_but_not_answer_its_questions() {
    let script = r#"import socket,sys,os
os.chdir(sys.argv[1]); s=socket.socket(socket.AF_UNIX); s.settimeout(20); s.connect("control.sock")
f=s.makefile("rw")
for r in ('{"op":"set_permission_mode","value":"bypassPermissions"}','{"op":"answer","id":"aaaa","decision":"allow"}','{"op":"send","text":"mine","from":"me"}'):
    f.write(r+"\n"); f.flush(); print(f.readline().strip())
"#;
    let world = cr_test::World::new();
    let script = world.write("forge.py", script);
    let run = world.dir().join("run");
    let command = format!("python3 {} {} > replies", script.display(), run.display());
    let mut talk = Talk::start_in(world, "2.1.326", &["--ask"]);
    talk.say(&format!("ask:Bash:{command}"));
    let ask = talk.until_state("ask", "open");
    assert!(talk.ask(&answer(&ask["id"], Decision::Allow, None)).ok);
    let sent = talk.until("its message", |line| {
        line["subtype"] == "input" && line["from"] == "agent:me"
    });
    assert_eq!(sent["state"], "queued");
    let over = talk.finish();
    let replies = fs::read_to_string(over.world.path("replies")).expect("replies");
    let replies: Vec<Value> = replies
        .lines()
        .map(|it| serde_json::from_str(it).expect("JSON"))
        .collect();
    let oks: Vec<&Value> = replies.iter().map(|reply| &reply["ok"]).collect();
    assert_eq!(oks, [false, false, true]);
}
