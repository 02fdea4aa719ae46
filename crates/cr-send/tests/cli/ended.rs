//! Runs that have ended, and answers that are kept for them.

use std::fs;

use serde_json::Value;

use crate::server::{FakeRun, RUN, outcome};

const QUESTIONS: &str = concat!(
    r#"{"schema":1,"id":"q1","at":"2026-11-18T09:00:00.000Z","tool":"Bash","kind":"permission","text":"rm x","input":{"command":"rm x"},"input_sha256":"9f86","state":"open"}"#,
    "\n",
    r#"{"schema":1,"id":"q2","at":"2026-11-18T09:00:00.000Z","tool":"Bash","kind":"permission","text":"ls","input":{},"input_sha256":"8e","state":"open"}"#,
    "\n",
    r#"{"schema":1,"id":"q2","at":"2026-11-18T09:00:01.000Z","state":"answered","answer":"deny","by":"ann"}"#,
    "\n",
    r#"{"schema":1,"id":"q3","at":"2026-11-18T09:00:01.000Z","tool":"Bash","kind":"permission","text":"pwd","input":{},"input_sha256":"7d","state":"open"}"#,
    "\n",
    r#"{"schema":1,"id":"q3","at":"2026-11-18T09:00:02.000Z","state":"withdrawn"}"#,
    "\n",
);

fn ended_run() -> FakeRun {
    let mut run = FakeRun::new();
    fs::write(run.dir.path().join("questions"), QUESTIONS).expect("written");
    run.end();
    run
}

/// The lines of `answers`.
fn answers(run: &FakeRun) -> Vec<Value> {
    let text = fs::read_to_string(run.dir.path().join("answers")).unwrap_or_default();
    text.lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

#[test]
fn a_run_that_has_ended_is_named_with_the_command_that_continues_it() {
    let want = format!(
        "cr-send: {RUN}: the run has ended (success); claude-runner --resume-run {RUN} continues it\n"
    );
    for is_stale in [false, true] {
        let run = ended_run();
        if is_stale {
            drop(run.listener());
        }
        for args in [
            &["docs", "x"][..],
            &["docs", "x", "--wait"],
            &["docs", "--json"],
            &["docs", "--interrupt"],
            &["docs", "--context"],
            &["docs", "--stop"],
        ] {
            let got = outcome(&mut run.send(args));
            assert_eq!(got, (66, String::new(), want.clone()), "{args:?}");
        }
    }
}

#[test]
fn a_run_that_was_cut_off_is_lost_even_if_something_listens() {
    let mut run = FakeRun::new();
    let requests = run.acknowledge_all();
    run.end();
    fs::remove_file(run.dir.path().join("summary.json")).expect("removed");
    let (code, _, notes) = outcome(&mut run.send(&["docs", "x"]));
    assert_eq!(code, 66);
    assert!(notes.contains("the run has ended (lost)"), "{notes}");
    assert!(requests.all().is_empty());
}

#[test]
fn a_directory_elsewhere_is_named_by_its_path() {
    let world = cr_test::World::new();
    let path = world.path("my runs/one");
    let mut run = FakeRun::at(world, &path);
    run.end();
    let name = path.display().to_string();
    let (code, _, notes) = outcome(&mut run.send(&[&name, "x"]));
    assert_eq!(code, 66);
    let command = format!("claude-runner --resume-run '{name}' continues it");
    assert!(notes.contains(&command), "{notes}");
}

#[test]
fn a_run_that_goes_on_without_a_socket_takes_no_messages() {
    let run = FakeRun::new();
    let (code, _, notes) = outcome(&mut run.send(&["docs", "x"]));
    assert_eq!(
        (code, &*notes),
        (66, &*format!("cr-send: {RUN}: it has no control socket\n"))
    );
    drop(run.listener());
    let (code, _, notes) = outcome(&mut run.send(&["docs", "x"]));
    assert_eq!(
        (code, &*notes),
        (
            75,
            &*format!("cr-send: {RUN}: nobody listens on its socket\n")
        )
    );
}

#[test]
fn a_connection_that_is_closed_while_the_run_goes_on_can_be_tried_again() {
    let run = FakeRun::new();
    run.serve(|connection| drop(connection.next()));
    let (code, out, notes) = outcome(&mut run.send(&["docs", "x"]));
    let says = format!("cr-send: {RUN}: the connection was closed without a reply\n");
    assert_eq!((code, &*out, notes), (75, "", says));
}

#[test]
fn a_run_that_has_just_started_is_waited_for() {
    let run = FakeRun::new();
    let mut command = run.send(&["docs", "x"]);
    command.stdout(std::process::Stdio::piped());
    let child = command.spawn().expect("started");
    // It has the directory open and sleeps: it has found no socket.
    cr_test::until("it waits for the socket", || {
        let files = fs::read_dir(format!("/proc/{}/fd", child.id()));
        let mut files = files.into_iter().flatten().flatten();
        let is_dir = |path| fs::read_link(path).is_ok_and(|path| path == run.dir.path());
        files.any(|file| is_dir(file.path())) && cr_test::state(child.id()) == Some('S')
    });
    let requests = run.acknowledge_all();
    let output = child.wait_with_output().expect("ended");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(requests.all().len(), 1);
}

#[test]
fn an_answer_to_a_run_that_has_ended_is_kept() {
    #[rustfmt::skip]
    let cases: &[(&[&str], &str, Option<&str>)] = &[
        (&["--allow", "q1"],             "allow",         None),
        (&["--allow", "q1", "--always"], "allow_session", None),
        (&["--deny", "q1", "not there"], "deny",          Some("not there")),
        (&["--answer", "q1", "second"],  "choose",        Some("second")),
    ];
    for (args, decision, text) in cases {
        let run = ended_run();
        if *decision == "choose" {
            let asked = QUESTIONS.replace(r#""kind":"permission""#, r#""kind":"choice""#);
            fs::write(run.dir.path().join("questions"), asked).expect("written");
        }
        let mut command = run.send(&["docs", "--from", "me"]);
        let (code, out, notes) = outcome(command.args(*args));
        let says = format!(
            "cr-send: {RUN}: the run has ended; the answer is kept and given when it is resumed: claude-runner --resume-run {RUN}\n"
        );
        assert_eq!((code, &*out, notes), (0, "", says), "{args:?}");
        let kept = answers(&run);
        assert_eq!(kept.len(), 1);
        let mut want = serde_json::json!({
            "schema": 1, "id": "q1", "at": kept[0]["at"], "tool": "Bash",
            "input_sha256": "9f86", "decision": decision, "by": "me",
        });
        if let Some(text) = text {
            want["text"] = (*text).into();
        }
        assert_eq!(kept[0], want);
    }
}

#[test]
fn a_question_takes_one_answer_and_only_while_it_is_open() {
    let run = ended_run();
    assert_eq!(outcome(&mut run.send(&["docs", "--allow", "q1"])).0, 0);
    #[rustfmt::skip]
    let cases = [
        ("q1", 65, "question q1: it has an answer already"),
        ("q2", 65, "question q2: it was answered by ann: deny"),
        ("q3", 65, "question q3: the agent has withdrawn it"),
        ("q4", 66, "q4: no such question"),
    ];
    for (id, code, says) in cases {
        let (got, _, notes) = outcome(&mut run.send(&["docs", "--deny", id]));
        assert_eq!((got, notes), (code, format!("cr-send: {RUN}: {says}\n")));
    }
    assert_eq!(answers(&run).len(), 1);
}

#[test]
fn of_many_answers_at_once_one_is_kept() {
    let run = ended_run();
    let children: Vec<_> = (0..8)
        .map(|_| {
            let mut command = run.send(&["docs", "--allow", "q1"]);
            command.stderr(std::process::Stdio::piped());
            command.spawn().expect("started")
        })
        .collect();
    let codes: Vec<i32> = children
        .into_iter()
        .map(|child| child.wait_with_output().expect("ended"))
        .map(|output| output.status.code().expect("not killed"))
        .collect();
    assert_eq!(
        codes.iter().filter(|code| **code == 0).count(),
        1,
        "{codes:?}"
    );
    assert!(
        codes.iter().all(|code| [0, 65, 75].contains(code)),
        "{codes:?}"
    );
    assert_eq!(answers(&run).len(), 1);
}

#[test]
fn the_questions_that_a_run_left_open_are_listed() {
    let run = ended_run();
    let (code, out, _) = outcome(&mut run.send(&["docs", "--asks"]));
    assert_eq!((code, &*out), (0, "q1 permission Bash: rm x\n"));
    assert_eq!(outcome(&mut run.send(&["docs", "--allow", "q1"])).0, 0);
    let (code, out, _) = outcome(&mut run.send(&["docs", "--asks"]));
    assert_eq!((code, &*out), (0, ""), "it has an answer now");
}

#[test]
fn an_answer_is_kept_when_the_run_ends_instead_of_taking_it() {
    let mut run = FakeRun::new();
    fs::write(run.dir.path().join("questions"), QUESTIONS).expect("written");
    let listener = run.listener();
    let mut command = run.send(&["docs", "--allow", "q1"]);
    command.stderr(std::process::Stdio::piped());
    let child = command.spawn().expect("started");
    let (stream, _) = listener.accept().expect("connected");
    run.end();
    drop((stream, listener));
    let output = child.wait_with_output().expect("ended");
    assert_eq!(
        output.status.code(),
        Some(0),
        "{:?}",
        crate::server::text(&output.stderr)
    );
    assert_eq!(answers(&run).len(), 1);
}

#[test]
fn of_a_run_with_attempts_the_current_attempt_is_talked_to() {
    let run = FakeRun::new();
    let path = run.dir.path().join("attempts/task/2");
    let attempt = FakeRun::at(run.world.clone(), &path);
    let requests = attempt.acknowledge_all();
    let (code, _, notes) = outcome(&mut run.send(&["docs", "x"]));
    assert_eq!(code, 0, "{notes}");
    assert_eq!(requests.all().len(), 1);
}
