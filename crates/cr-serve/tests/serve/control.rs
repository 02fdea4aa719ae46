//! What a person may do to a run.

use std::fs;
use std::io::{BufRead, BufReader, Write};

use cr_rundir::RunDir;
use cr_test::World;

use crate::http::Server;
use crate::place::{Growing, RUN};

#[test]
fn without_permission_nothing_can_be_done() {
    let world = World::new();
    let _run = Growing::start(&world, RUN);
    let server = Server::start(&world, &[]);
    for (action, body) in [
        ("stop", ""),
        ("message", "{\"text\":\"x\"}"),
        ("answer", "{}"),
    ] {
        let reply = server.post(&format!("/api/runs/{RUN}/{action}"), body);
        assert_eq!(reply.status, 403, "{}", reply.body);
        assert!(reply.body.contains("--allow-control"));
    }
}

#[test]
fn a_message_and_an_answer_reach_the_socket_of_the_run() {
    let world = World::new();
    let run = Growing::start(&world, RUN);
    let dir = RunDir::existing(&run.dir).expect("opened");
    let socket = cr_control::bind(&dir).expect("bound");
    let server = Server::start(&world, &["--allow-control"]);
    let asked = std::thread::scope(|scope| {
        let asked = scope.spawn(|| {
            let mut requests = Vec::new();
            for _ in 0..2 {
                let (stream, _) = socket.accept().expect("a connection");
                let mut line = String::new();
                BufReader::new(&stream).read_line(&mut line).expect("a request");
                let value: serde_json::Value = serde_json::from_str(&line).expect("JSON");
                let id = value["id"].clone();
                let reply = serde_json::json!({"schema": 1, "ok": true, "id": id, "data": {"state": "queued"}});
                (&stream).write_all(format!("{reply}\n").as_bytes()).expect("replied");
                requests.push(value);
            }
            requests
        });
        let text = "--stop it; `rm -rf ~` $(x)\n\"é\"";
        let body = serde_json::json!({"text": text, "when": "idle"}).to_string();
        let reply = server.post(&format!("/api/runs/{RUN}/message"), &body);
        assert_eq!(reply.status, 200, "{}", reply.body);
        let body = r#"{"id":"7f2c-0001","decision":"deny","text":"--not there"}"#;
        let reply = server.post(&format!("/api/runs/{RUN}/answer"), body);
        assert_eq!(reply.status, 200, "{}", reply.body);
        let asked = asked.join().expect("no panic");
        assert_eq!(asked[0]["message"]["content"], text);
        asked
    });
    assert_eq!(
        (asked[0]["op"].as_str(), asked[0]["when"].as_str()),
        (Some("send"), Some("idle"))
    );
    assert_eq!(asked[0]["from"], "cr-serve");
    assert_eq!(asked[1]["op"], "answer");
    assert_eq!(asked[1]["decision"], "deny");
    assert_eq!(
        (asked[1]["id"].as_str(), asked[1]["text"].as_str()),
        (Some("7f2c-0001"), Some("--not there"))
    );
}

#[test]
fn a_question_is_listed_and_its_answer_is_kept_after_the_end() {
    let world = World::new();
    let run = Growing::start(&world, RUN);
    let question = "{\"schema\":1,\"id\":\"7f2c0001\",\"at\":\"2026-11-18T03:15:30.000Z\",\"tool\":\"Bash\",\
                    \"kind\":\"permission\",\"text\":\"touch <x>\",\"input\":{\"command\":\"touch <x>\"},\
                    \"input_sha256\":\"9f86\",\"state\":\"open\"}\n";
    let path = run.dir.join("questions");
    fs::write(&path, question).expect("written");
    let server = Server::start(&world, &["--allow-control"]);
    run.end();
    let asks = server.get("/api/asks");
    assert!(!asks.body.contains('<'), "{}", asks.body);
    let asks = asks.json();
    assert_eq!(
        (asks[0]["run"].as_str(), asks[0]["text"].as_str()),
        (Some(RUN), Some("touch <x>"))
    );
    let path = format!("/api/runs/{RUN}/answer");
    let reply = server.post(&path, r#"{"id":"7f2c0001","decision":"allow"}"#);
    assert_eq!(reply.status, 200, "{}", reply.body);
    cr_test::until("the answer counts", || {
        server.get("/api/asks").json() == serde_json::json!([])
    });
    let again = server.post(&path, r#"{"id":"7f2c0001","decision":"allow"}"#);
    assert_eq!(again.status, 400, "{}", again.body);
}

#[test]
fn a_body_that_is_none_of_ours_changes_nothing() {
    let world = World::new();
    let _run = Growing::start(&world, RUN);
    let server = Server::start(&world, &["--allow-control"]);
    let path = format!("/api/runs/{RUN}/answer");
    for body in [
        "",
        "{}",
        "[]",
        r#"{"id":"--stop","decision":"allow","x":1}"#,
        r#"{"id":"a b","decision":"allow"}"#,
        r#"{"id":"../x","decision":"allow"}"#,
        r#"{"id":"a","decision":"yes"}"#,
    ] {
        assert_eq!(server.post(&path, body).status, 400, "{body}");
    }
    let right = server.right();
    let origin = format!("Origin: http://127.0.0.1:{}", server.port);
    let form = "Content-Type: application/x-www-form-urlencoded";
    let headers = [right[0].as_str(), &right[1], &origin, form];
    let body = r#"{"id":"a","decision":"allow"}"#;
    assert_eq!(
        server.ask(&format!("POST {path}"), &headers, body).status,
        400
    );
}
