//! The scripted API, asked as the CLI asks it: over a socket.

#![allow(missing_docs, reason = "an integration test is a crate of its own")]

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};

use cr_test::{Child, World, appears, limit};
use predicates::prelude::*;
use serde_json::{Value, json};

/// An API that plays `script` until it is dropped.
struct Api {
    child: Child,
    port: u16,
    world: World,
}

impl Api {
    fn start(script: &Value) -> Self {
        let world = World::new();
        let script = world.write("script.json", script.to_string());
        let mut api = world.tool("cr-mock");
        api.arg("api").arg("--scenario").arg(script);
        api.arg("--port-file").arg(world.path("port"));
        api.arg("--log").arg(world.path("log"));
        let child = api.spawn().expect("start cr-mock");
        // It is renamed into its place.
        appears(&world.path("port"));
        let port = fs::read_to_string(world.path("port")).expect("a port");
        let port = port.trim().parse().expect("a port");
        Self { child, port, world }
    }

    /// Everything the API says to `body`, up to the end of the connection.
    fn ask(&self, body: &Value) -> String {
        self.try_ask(body).expect("an answer")
    }

    fn try_ask(&self, body: &Value) -> std::io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(limit()))?;
        let body = body.to_string();
        write!(
            stream,
            "POST /v1/messages?beta=true HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )?;
        // No further request follows, so the API hangs up after its answer.
        stream.shutdown(Shutdown::Write)?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }

    fn log(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.world.path("log")).expect("a log");
        text.lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect()
    }
}

impl Drop for Api {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A request for an answer to `prompt`.
fn request(prompt: &str) -> Value {
    json!({
        "model": "m", "tools": [{"name": "Bash"}],
        "messages": [{"role": "user", "content": prompt}],
    })
}

fn streamed(prompt: &str) -> Value {
    let mut request = request(prompt);
    request["stream"] = json!(true);
    request
}

/// The events in a streamed answer.
fn events(answer: &str) -> Vec<Value> {
    let lines = answer.lines().filter_map(|it| it.strip_prefix("data: "));
    lines
        .map(|it| serde_json::from_str(it).expect("JSON"))
        .collect()
}

#[test]
fn steps_answer_in_order_as_often_as_they_say() {
    let api = Api::start(&json!({
        "turns": [{"text": "one"}, {"text": "two", "repeat": 2}],
        "on_exhausted": {"text": "none left"},
    }));
    for want in ["one", "two", "two", "none left", "none left"] {
        let answer = api.ask(&request("p"));
        assert!(answer.contains(&format!("\"text\":\"{want}\"")), "{answer}");
    }
}

#[test]
fn a_streamed_answer_adds_up_to_the_script() {
    let text = "Grüße, in bits of three — done.";
    let input = json!({"command": "printf 'ü\\n'"});
    let api = Api::start(&json!({"turns": [{
        "chunk_size": 3,
        "usage": {"input_tokens": 7, "output_tokens": 11},
        "blocks": [
            {"type": "thinking", "thinking": "hm"},
            {"type": "text", "text": text},
            {"type": "tool_use", "name": "Bash", "input": input},
        ],
    }]}));
    let events = events(&api.ask(&streamed("p")));
    let joined = |field: &str| -> String {
        let deltas = events.iter().filter_map(|it| it["delta"][field].as_str());
        deltas.collect()
    };
    assert_eq!(joined("text"), text);
    assert_eq!(joined("thinking"), "hm");
    let call: Value = serde_json::from_str(&joined("partial_json")).expect("JSON");
    assert_eq!(call, input);

    let kind = |at: &Value| at["type"].as_str().map(str::to_owned);
    assert_eq!(kind(&events[0]).as_deref(), Some("message_start"));
    assert_eq!(events[0]["message"]["usage"]["output_tokens"], 1);
    let end = &events[events.len() - 2];
    assert_eq!(end["usage"]["output_tokens"], 11);
    assert_eq!(end["delta"]["stop_reason"], "tool_use");
    assert_eq!(
        kind(&events[events.len() - 1]).as_deref(),
        Some("message_stop")
    );
}

#[test]
fn a_lane_takes_the_requests_that_match_it() {
    let api = Api::start(&json!({
        "turns": [{"text": "main"}],
        "lanes": [{"name": "sub", "match": {"first_user_contains": "count"},
                   "turns": [{"text": "four"}]}],
    }));
    let housekeeping = json!({"model": "m", "messages": []});
    assert!(api.ask(&housekeeping).contains("\"ok\""));
    assert!(api.ask(&request("count the files")).contains("four"));
    assert!(api.ask(&request("anything")).contains("main"));
    let log = api.log();
    let lanes: Vec<_> = log.iter().map(|entry| &entry["lane"]).collect();
    assert_eq!(lanes, ["background", "sub", "main"]);
}

#[test]
fn an_error_has_the_status_and_the_headers_of_the_script() {
    let api = Api::start(&json!({"turns": [{"error": {
        "status": 429, "message": "slow down", "headers": {"retry-after": "2"},
    }}]}));
    let answer = api.ask(&streamed("p"));
    assert!(answer.starts_with("HTTP/1.1 429 "), "{answer}");
    assert!(answer.contains("\r\nretry-after: 2\r\n"), "{answer}");
    assert!(answer.contains("rate_limit_error"), "{answer}");
    assert!(answer.contains("slow down"), "{answer}");
}

#[test]
fn a_connection_is_cut_where_the_script_says() {
    let api = Api::start(&json!({"turns": [{"drop": "before"}, {"text": "half", "drop": "mid"}]}));
    for _ in 0..2 {
        let err = api.try_ask(&streamed("p")).expect_err("a reset");
        // The reset may come before we say that we have no more to say.
        let kinds = [ErrorKind::ConnectionReset, ErrorKind::NotConnected];
        assert!(kinds.contains(&err.kind()), "{err:?}");
    }
    assert_eq!(api.log().len(), 2);
}

#[test]
fn an_error_event_ends_the_stream() {
    let api = Api::start(&json!({"turns": [{"text": "x", "stream_error": {"message": "busy"}}]}));
    let events = events(&api.ask(&streamed("p")));
    let last = events.last().expect("an event");
    assert_eq!(last["error"]["message"], "busy");
}

#[test]
fn silence_is_no_answer_at_all() {
    let api = Api::start(&json!({"turns": [{"silent": true}]}));
    assert_eq!(api.ask(&streamed("p")), "");
    assert_eq!(api.log().len(), 1);
}

#[test]
fn a_key_that_means_nothing_is_refused() {
    let world = World::new();
    let script = world.write("script.json", r#"{"turns": [{"txt": "hi"}]}"#);
    world
        .tool("cr-mock")
        .args(["api", "--port-file", "/dev/null", "--scenario"])
        .arg(&script)
        .assert()
        .code(65)
        .stderr(predicate::str::contains("unknown field `txt`"));
}

#[test]
fn a_lane_can_ask_for_several_texts_and_an_answer_can_wait_for_a_file() {
    let world = cr_test::World::new();
    let gate = world.path("gate");
    let api = Api::start(&json!({
        "lanes": [{"name": "both", "match": {"any_user_contains": ["one", "two"]},
                   "turns": [{"text": "both of them", "chunk_size": 4, "gate": gate}]}],
        "turns": [{"text": "only one", "repeat": "forever"}],
    }));
    assert!(api.ask(&streamed("one")).contains("only"));
    let (begun, answer) = std::thread::scope(|scope| {
        let asked = scope.spawn(|| api.ask(&streamed("one two")));
        cr_test::until("the API was asked twice", || api.log().len() == 2);
        let begun = asked.is_finished();
        std::fs::write(&gate, "").expect("written");
        (begun, asked.join().expect("an answer"))
    });
    assert!(!begun && answer.contains("message_stop"), "{answer}");
}
