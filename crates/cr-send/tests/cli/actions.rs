//! Every action but messages: its request and its output.

use serde_json::{Value, json};

use crate::server::{FakeRun, outcome};

const OK: &str = r#"{"schema":1,"ok":true}"#;

#[test]
fn each_action_is_one_request() {
    #[rustfmt::skip]
    let cases: &[(&[&str], Value)] = &[
        (&["--interrupt"],             json!({"op": "interrupt"})),
        (&["--cancel", "m1"],          json!({"op": "cancel", "id": "m1"})),
        (&["--model", "opus"],         json!({"op": "set_model", "value": "opus"})),
        (&["--permission-mode", "plan"], json!({"op": "set_permission_mode", "value": "plan"})),
        (&["--context"],               json!({"op": "context"})),
        (&["--asks"],                  json!({"op": "asks"})),
        (&["--allow", "q1"],           json!({"op": "answer", "id": "q1", "decision": "allow", "from": "me"})),
        (&["--allow", "q1", "--always"], json!({"op": "answer", "id": "q1", "decision": "allow_session", "from": "me"})),
        (&["--deny", "q1", "not there"], json!({"op": "answer", "id": "q1", "decision": "deny", "text": "not there", "from": "me"})),
        (&["--deny", "q1"],            json!({"op": "answer", "id": "q1", "decision": "deny", "from": "me"})),
        (&["--answer", "q1", "the second"], json!({"op": "answer", "id": "q1", "decision": "choose", "text": "the second", "from": "me"})),
        (&["--stop-task", "t1"],       json!({"op": "stop_task", "id": "t1"})),
        (&["--stop"],                  json!({"op": "stop"})),
    ];
    for run_name in ["docs", "--last"] {
        for (args, want) in cases {
            let run = FakeRun::new();
            let requests = run.answer_all(OK);
            let mut command = run.send(&[run_name]);
            command.args(*args).args(["--from", "me"]);
            let (code, _, notes) = outcome(&mut command);
            assert_eq!(code, 0, "{args:?}: {notes}");
            let mut want = want.clone();
            want["schema"] = json!(1);
            assert_eq!(requests.one(), want, "{args:?}");
        }
    }
}

#[test]
fn a_command_line_that_means_two_things_is_refused_before_anything_is_sent() {
    let cases: &[&[&str]] = &[
        &[],
        &["docs", "--interrupt", "--stop"],
        &["docs", "--allow", "q1", "--deny", "q2"],
        &["docs", "--interrupt", "--wait"],
        &["docs", "--stop", "--when", "now"],
        &["docs", "--always", "x"],
        &["docs", "--interrupt", "text"],
        &["--last", "--interrupt", "text"],
        &["docs", "--allow", "q1", "text"],
        &["docs", "--answer", "q1"],
        &["docs", "--json", "text"],
        &[
            "docs",
            "--json",
            "--id",
            "6f0e9a52-3c1d-4b7e-9a60-2d5c8f1b7e43",
        ],
        &["docs", "x", "--id", "7"],
        &["docs", "x", "--when", "later"],
        &["docs", "x", "--timeout", "soon"],
        &["--last", "docs", "x"],
        &["docs", "--cancel", ""],
        &["docs", "x", "y"],
    ];
    let run = FakeRun::new();
    let requests = run.answer_all(OK);
    for args in cases {
        let (code, out, notes) = outcome(&mut run.send(args));
        assert_eq!((code, &*out), (2, ""), "{args:?}: {notes}");
        assert!(!notes.is_empty(), "{args:?}");
    }
    assert!(requests.all().is_empty());
}

#[test]
fn open_questions_are_lines_for_people_and_objects_for_programs() {
    const ASKS: &str = concat!(
        r#"{"schema":1,"ok":true,"data":[{"id":"q1","kind":"permission","tool":"Bash","agent":null,"text":"rm -rf x","input":{"command":"rm -rf x"},"state":"open"},"#,
        r#"{"id":"q2","kind":"choice","tool":"AskUserQuestion","agent":"a7","text":"Which?","input":{"n":12345678901234567890123},"state":"open","later":1}]}"#,
    );
    let run = FakeRun::new();
    run.answer_all(ASKS);
    let (code, out, _) = outcome(&mut run.send(&["docs", "--asks"]));
    let want = "q1 permission Bash: rm -rf x\nq2 choice AskUserQuestion a7: Which?\n";
    assert_eq!((code, &*out), (0, want));
    let (code, out, _) = outcome(&mut run.send(&["docs", "--asks", "--json"]));
    assert_eq!((code, out.lines().count()), (0, 2));
    assert!(out.contains(r#""input":{"n":12345678901234567890123},"state":"open","later":1}"#));
    let (_, out, _) = outcome(&mut run.send(&["docs", "--asks", "--output", "json"]));
    assert_eq!(out.trim_end(), ASKS);
}

#[test]
fn no_open_question_is_no_line() {
    let run = FakeRun::new();
    run.answer_all(r#"{"schema":1,"ok":true,"data":[]}"#);
    for args in [&["docs", "--asks"][..], &["docs", "--asks", "--json"]] {
        assert_eq!(
            outcome(&mut run.send(args)),
            (0, String::new(), String::new())
        );
    }
}

#[test]
fn the_use_of_the_context_is_shown_and_what_is_not_known_is_said() {
    let run = FakeRun::new();
    run.answer_all(
        r#"{"schema":1,"ok":true,"data":{"tokens":90000,"max_tokens":200000,"percent":45.0,"model":"m","auto_compact_at":160000}}"#,
    );
    let (_, out, _) = outcome(&mut run.send(&["docs", "--context"]));
    assert_eq!(
        out,
        "context 45.0%: 90000 of 200000 tokens, model m, compacts at 160000\n"
    );
    let (_, out, _) = outcome(&mut run.send(&["docs", "--context", "--json"]));
    assert_eq!(
        out,
        "{\"tokens\":90000,\"max_tokens\":200000,\"percent\":45.0,\"model\":\"m\",\"auto_compact_at\":160000}\n"
    );
    let run = FakeRun::new();
    run.answer_all(
        r#"{"schema":1,"ok":true,"data":{"tokens":null,"max_tokens":null,"percent":null,"model":null,"auto_compact_at":null}}"#,
    );
    let (_, out, _) = outcome(&mut run.send(&["docs", "--context"]));
    assert_eq!(out, "context unknown: unknown of unknown tokens\n");
}

#[test]
fn an_interrupt_says_what_stays_queued_and_what_it_ended() {
    let run = FakeRun::new();
    run.answer_all(
        r#"{"schema":1,"ok":true,"data":{"still_queued":["m1","m2"],"stopped_tasks":["t1"]}}"#,
    );
    let (_, out, _) = outcome(&mut run.send(&["docs", "--interrupt"]));
    assert_eq!(out, "queued m1\nqueued m2\nstopped t1\n");
}
