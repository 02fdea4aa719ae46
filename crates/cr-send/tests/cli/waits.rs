//! `--wait`, and servers that take their time.

use std::time::{Duration, Instant};

use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with};

use crate::server::{FakeRun, RUN, acknowledgement, done, outcome};

/// A run that answers every message with `result`.
fn run_with(result: &'static str) -> FakeRun {
    let run = FakeRun::new();
    run.serve(move |connection| {
        while let Some(request) = connection.next() {
            assert_eq!(request["wait"], true);
            connection.line(&acknowledgement(&request));
            connection.line(&done(&request, result));
        }
    });
    run
}

#[test]
fn the_final_text_is_printed_and_the_verdict_on_the_turn_is_the_code() {
    #[rustfmt::skip]
    let cases = [
        (r#"{"type":"result","subtype":"success","is_error":false,"result":"All\tdone.\nBye."}"#, 0, "All\tdone.\nBye."),
        (r#"{"subtype":"success","is_error":false,"result":""}"#, 0, ""),
        (r#"{"subtype":"error_max_turns","is_error":true,"num_turns":5}"#, 3, ""),
        (r#"{"subtype":"success","is_error":true,"api_error_status":529,"result":"Overloaded"}"#, 75, "Overloaded"),
        (r#"{"subtype":"success","is_error":true,"result":"Prompt is too long"}"#, 76, "Prompt is too long"),
        (r#"{"subtype":"success","is_error":true,"api_error_status":401,"result":"Invalid API key"}"#, 77, "Invalid API key"),
        (r#"{"subtype":"error_during_execution","is_error":true,"errors":["boom"]}"#, 1, ""),
        (r#"{"subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_tools"}"#, 130, ""),
        ("null", 6, ""),
    ];
    for (result, code, text) in cases {
        let run = run_with(result);
        let (got, out, notes) = outcome(&mut run.send(&["docs", "go on", "--wait"]));
        assert_eq!(got, code, "{result}: {notes}");
        assert_eq!(out.trim_end_matches('\n'), text, "{result}");
        assert_eq!(out.ends_with('\n'), !text.is_empty(), "{result}");
        assert_eq!(notes.is_empty(), code == 0, "{result}: {notes}");
        assert!(
            code == 0 || notes.starts_with(&format!("cr-send: {RUN}: ")),
            "{notes}"
        );
    }
}

#[test]
fn other_replies_before_the_turn_ends_are_passed_over() {
    let run = FakeRun::new();
    run.serve(|connection| {
        let request = connection.next().expect("a message");
        connection.line(&acknowledgement(&request));
        connection.line(r#"{"schema":1,"ok":true,"id":"another","data":{"state":"done"}}"#);
        connection.line(&done(&request, r#"{"subtype":"success","result":"mine"}"#));
    });
    let (code, out, _) = outcome(&mut run.send(&["docs", "x", "--wait"]));
    assert_eq!((code, &*out), (0, "mine\n"));
}

#[test]
fn each_message_waits_for_the_turn_before_and_a_failed_turn_ends_them() {
    let run = FakeRun::new();
    let requests = run.serve(|connection| {
        let results = [
            r#"{"subtype":"success","result":"one"}"#,
            r#"{"subtype":"error_max_turns","is_error":true}"#,
            r#"{"subtype":"success","result":"three"}"#,
        ];
        for result in results {
            let Some(request) = connection.next() else {
                return;
            };
            connection.line(&acknowledgement(&request));
            connection.line(&done(&request, result));
        }
    });
    let input = "{\"text\":\"a\"}\n{\"text\":\"b\"}\n{\"text\":\"c\"}\n";
    let (code, out, _) = outcome(run.send(&["docs", "--json", "--wait"]).write_stdin(input));
    assert_eq!(code, 3);
    assert_eq!(out, "one\n");
    assert_eq!(requests.all().len(), 2, "the third is not sent");
}

#[test]
fn a_message_that_was_cancelled_has_the_words_and_the_code_of_the_run() {
    let run = FakeRun::new();
    run.serve(|connection| {
        let request = connection.next().expect("a message");
        connection.line(&acknowledgement(&request));
        let id = &request["id"];
        connection.line(&format!(
            r#"{{"schema":1,"ok":false,"id":{id},"code":66,"error":"withdrawn by ann","data":{{"state":"cancelled"}}}}"#
        ));
    });
    let (code, out, notes) = outcome(&mut run.send(&["docs", "x", "--wait"]));
    assert_eq!((code, &*out), (66, ""));
    assert_eq!(notes, format!("cr-send: {RUN}: withdrawn by ann\n"));
}

#[test]
fn a_run_that_ends_before_the_turn_is_named_with_the_command_that_continues_it() {
    let run = FakeRun::new();
    let requests = run.serve(|connection| {
        let request = connection.next().expect("a message");
        connection.line(&acknowledgement(&request));
    });
    let (code, _, notes) = outcome(&mut run.send(&["docs", "x", "--wait"]));
    let id = requests.one()["id"].as_str().expect("an id").to_owned();
    let want = format!(
        "cr-send: {RUN}: the run ended before message {id} was answered; claude-runner --resume-run {RUN} continues it\n"
    );
    assert_eq!((code, notes), (6, want));
}

#[test]
fn a_turn_that_takes_longer_than_the_timeout_ends_with_124() {
    let run = FakeRun::new();
    let requests = run.serve(|connection| {
        let request = connection.next().expect("a message");
        connection.line(&acknowledgement(&request));
        // Stays open until the client leaves.
        assert!(connection.next().is_none());
    });
    let (code, _, notes) = outcome(&mut run.send(&["docs", "x", "--wait", "--timeout", "1"]));
    let id = requests.one()["id"].as_str().expect("an id").to_owned();
    let want = format!("cr-send: {RUN}: message {id}: no answer within 1s; it stays queued\n");
    assert_eq!((code, notes), (124, want));
}

#[test]
fn a_server_that_does_not_acknowledge_ends_with_75_and_the_id_to_send_again() {
    let run = FakeRun::new();
    let requests = run.serve(|connection| {
        connection.next();
        assert!(connection.next().is_none());
    });
    let start = Instant::now();
    let (code, out, notes) = outcome(&mut run.send(&["docs", "x", "--timeout", "1"]));
    assert!(start.elapsed() >= Duration::from_secs(1));
    let id = requests.one()["id"].as_str().expect("an id").to_owned();
    assert_eq!((code, &*out), (75, ""));
    assert!(notes.contains("no reply within 1s"), "{notes}");
    assert!(notes.contains(&format!("--id {id} ")), "{notes}");
    let (code, _, notes) = outcome(&mut run.send(&["docs", "--context", "--timeout", "1"]));
    assert_eq!(
        (code, &*notes),
        (75, &*format!("cr-send: {RUN}: no reply within 1s\n"))
    );
}

#[test]
fn a_server_that_does_not_read_is_given_up() {
    let run = FakeRun::new();
    let listener = run.listener();
    let text = "x".repeat(8 << 20);
    let mut command = run.send(&["docs", "--timeout", "1"]);
    let (code, out, notes) = outcome(command.write_stdin(text));
    assert_eq!((code, &*out), (75, ""), "{notes}");
    drop(listener);
}

#[test]
fn a_server_that_accepts_no_more_connections_is_given_up() {
    let run = FakeRun::new();
    let _listener = run.listener();
    let address = SocketAddrUnix::new(cr_control::socket_path(&run.dir)).expect("short");
    let connect = || {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let kind = (AddressFamily::UNIX, SocketType::STREAM);
        let socket = socket_with(kind.0, kind.1, flags, None).expect("a socket");
        rustix::net::connect(&socket, &address)
            .ok()
            .map(|()| socket)
    };
    // The kernel refuses one more when it would have to wait.
    let waiting: Vec<_> = std::iter::from_fn(connect).take(5000).collect();
    assert!(waiting.len() < 5000, "there is no limit");
    let (code, out, notes) = outcome(&mut run.send(&["docs", "x", "--timeout", "1"]));
    let says = format!("cr-send: {RUN}: it does not take the connection\n");
    assert_eq!((code, &*out, notes), (75, "", says));
}

#[test]
fn both_replies_are_printed_on_request() {
    let run = run_with(r#"{"subtype":"success","result":"x"}"#);
    let (code, out, _) = outcome(&mut run.send(&["docs", "x", "--wait", "--output", "json"]));
    let replies: Vec<serde_json::Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let state = |reply: &serde_json::Value| reply["data"]["state"].clone();
    let states: Vec<_> = replies.iter().map(state).collect();
    assert_eq!((code, states), (0, vec!["queued".into(), "done".into()]));
    assert_eq!(replies[1]["data"]["result"]["result"], "x");
}
