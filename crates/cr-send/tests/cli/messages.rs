//! What is sent, and what is printed for it.

use serde_json::json;

use crate::server::{FakeRun, RUN, outcome};

const ID: &str = "6f0e9a52-3c1d-4b7e-9a60-2d5c8f1b7e43";

#[test]
fn a_text_is_sent_as_a_user_message_and_its_id_is_printed() {
    let run = FakeRun::new();
    let requests = run.acknowledge_all();
    let args = [
        "docs",
        "say \"hi\"\n",
        "--id",
        ID,
        "--from",
        "me",
        "--when",
        "idle",
    ];
    let (code, out, notes) = outcome(&mut run.send(&args));
    assert_eq!((code, &*out, &*notes), (0, &*format!("{ID}\n"), ""));
    assert_eq!(
        requests.one(),
        json!({
            "schema": 1, "op": "send", "id": ID, "from": "me", "when": "idle",
            "message": {"role": "user", "content": "say \"hi\"\n"},
        })
    );
}

#[test]
fn a_run_is_named_by_its_id_its_beginning_its_name_its_directory_or_last() {
    let run = FakeRun::new();
    let requests = run.acknowledge_all();
    let dir = run.dir.path().display().to_string();
    for name in [RUN, &RUN[..12], "docs", &dir, "--last"] {
        let (code, out, notes) = outcome(&mut run.send(&[name, "go on"]));
        assert_eq!(code, 0, "{name}: {notes}");
        let all = requests.all();
        let request = all.last().expect("a request");
        assert_eq!(request["message"]["content"], "go on", "{name}");
        assert_eq!(out, format!("{}\n", request["id"].as_str().expect("an id")));
    }
    let (code, _, notes) = outcome(&mut run.send(&["nobody", "go on"]));
    assert_eq!((code, &*notes), (66, "cr-send: nobody: no such run\n"));
}

#[test]
fn without_a_text_standard_input_is_the_message_and_none_is_refused() {
    let run = FakeRun::new();
    let requests = run.acknowledge_all();
    let mut command = run.send(&["docs"]);
    assert_eq!(outcome(command.write_stdin("one\ntwo\n")).0, 0);
    assert_eq!(requests.one()["message"]["content"], "one\ntwo\n");
    for (input, code) in [(&b" \n"[..], 2), (b"", 2), (b"\xff", 65)] {
        let (got, _, notes) = outcome(run.send(&["docs"]).write_stdin(input));
        assert_eq!(got, code, "{notes}");
    }
    assert_eq!(outcome(&mut run.send(&["docs", " "])).0, 2);
    assert_eq!(requests.all().len(), 1);
}

#[test]
fn the_sender_is_given_or_the_own_run_or_the_user() {
    let run = FakeRun::new();
    let requests = run.acknowledge_all();
    let from = |set: &[(&str, &str)], args: &[&str]| {
        let mut command = run.send(&["docs", "x"]);
        command.args(args).envs(set.iter().copied());
        assert_eq!(outcome(&mut command).0, 0);
        let all = requests.all();
        all.last().expect("a request")["from"].clone()
    };
    assert_eq!(from(&[("LOGNAME", "ann"), ("CR_RUN", RUN)], &[]), "docs");
    assert_eq!(from(&[("LOGNAME", "ann")], &[]), "ann");
    assert_eq!(from(&[("CR_RUN", "gone\x1b[31m")], &[]), "gone\\x1b[31m");
    let uid = from(&[], &[]);
    assert!(
        uid.as_str().is_some_and(|name| name.starts_with("uid ")),
        "{uid}"
    );
    let long = from(&[], &["--from", &"é".repeat(200)]);
    assert_eq!(long, "é".repeat(64));
}

#[test]
fn lines_of_json_are_sent_in_their_order() {
    let run = FakeRun::new();
    let requests = run.acknowledge_all();
    let blocks = r#"[{"type":"text","text":"three"}]"#;
    let input = format!(
        "{}\n\n{}\n{}",
        r#"{"text":"one"}"#,
        json!({"text": "two", "id": ID, "when": "now"}),
        format_args!(r#"{{"type":"user","message":{{"role":"user","content":{blocks}}}}}"#),
    );
    let mut command = run.send(&["docs", "--json", "--when", "idle"]);
    let (code, out, notes) = outcome(command.write_stdin(input));
    assert_eq!(code, 0, "{notes}");
    let all = requests.all();
    let ids: Vec<_> = all
        .iter()
        .map(|r| r["id"].as_str().expect("an id"))
        .collect();
    assert_eq!(out, ids.join("\n") + "\n");
    assert_eq!(ids[1], ID);
    let whens: Vec<_> = all.iter().map(|r| r["when"].clone()).collect();
    assert_eq!(whens, ["idle", "now", "idle"]);
    assert_eq!(all[0]["message"]["content"], "one");
    assert_eq!(
        all[2]["message"]["content"],
        json!([{"type": "text", "text": "three"}])
    );
}

#[test]
fn a_line_that_would_end_the_agent_is_refused_with_its_number() {
    #[rustfmt::skip]
    let cases = [
        ("null", "column 4"),
        ("hello", "column 1"),
        (r#"{"text":"x""#, "EOF"),
        ("{}", "neither a text nor a message"),
        (r#"{"text":" "}"#, "the text is empty"),
        (r#"{"text":"x","message":{"role":"user","content":"y"}}"#, "both"),
        (r#"{"message":{"content":"x"}}"#, "role"),
        (r#"{"message":{"role":"assistant","content":"x"}}"#, "the role is not user"),
        (r#"{"message":{"role":"user","content":7}}"#, "the content is no text"),
        (r#"{"message":{"role":"user","content":""}}"#, "the content is no text"),
        (r#"{"text":"x","id":"7"}"#, "not a UUID"),
        (r#"{"text":"x","when":"later"}"#, "later"),
    ];
    let run = FakeRun::new();
    let requests = run.acknowledge_all();
    for (line, says) in cases {
        let before = requests.all().len();
        let input = format!("{{\"text\":\"first\"}}\n{line}\n{{\"text\":\"third\"}}\n");
        let (code, out, notes) = outcome(run.send(&["docs", "--json"]).write_stdin(input));
        assert_eq!(code, 65, "{line}: {notes}");
        assert!(
            notes.contains("standard input: line 2: "),
            "{line}: {notes}"
        );
        assert!(notes.contains(says), "{line}: {notes}");
        assert_eq!(out.lines().count(), 1, "{line}");
        assert_eq!(requests.all().len(), before + 1, "{line}");
    }
}

#[test]
fn a_message_of_many_megabytes_arrives_whole() {
    let run = FakeRun::new();
    let requests = run.acknowledge_all();
    let text = "0123456789abcdef".repeat(512 << 10);
    let (code, _, notes) = outcome(run.send(&["docs"]).write_stdin(text.clone()));
    assert_eq!(code, 0, "{notes}");
    assert!(
        requests.one()["message"]["content"] == *text,
        "it was changed"
    );
    let line = json!({ "text": text }).to_string();
    let (code, _, notes) = outcome(run.send(&["docs", "--json"]).write_stdin(line));
    assert_eq!(code, 0, "{notes}");
    assert!(
        requests.all()[1]["message"]["content"] == *text,
        "it was changed"
    );
}

#[test]
fn the_whole_reply_is_printed_on_request() {
    let run = FakeRun::new();
    run.acknowledge_all();
    let (code, out, _) = outcome(&mut run.send(&["docs", "x", "--id", ID, "--output", "json"]));
    assert_eq!(code, 0);
    let want = format!(r#"{{"schema":1,"ok":true,"id":"{ID}","data":{{"state":"queued"}}}}"#);
    assert_eq!(out, want + "\n");
}

#[test]
fn a_refusal_has_the_words_and_the_code_of_the_run() {
    let run = FakeRun::new();
    let requests = run.answer_all(
        r#"{"schema":1,"ok":false,"code":65,"error":"this run takes a single prompt"}"#,
    );
    let input = "{\"text\":\"one\"}\n{\"text\":\"two\"}\n";
    let (code, out, notes) = outcome(run.send(&["docs", "--json"]).write_stdin(input));
    let says = format!("cr-send: {RUN}: this run takes a single prompt\n");
    assert_eq!((code, &*out, notes), (65, "", says));
    assert_eq!(requests.all().len(), 1, "nothing follows a refusal");
}

#[test]
fn the_text_is_not_in_the_list_of_processes() {
    let run = FakeRun::new();
    let (seen, asked) = std::sync::mpsc::channel();
    run.serve(move |connection| {
        let request = connection.next().expect("a request");
        let pid = connection.peer();
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).expect("alive");
        seen.send(line).expect("the test waits");
        connection.line(&crate::server::acknowledgement(&request));
    });
    assert_eq!(outcome(&mut run.send(&["docs", "a secret plan"])).0, 0);
    let line = asked.recv_timeout(cr_test::limit()).expect("seen");
    let line = String::from_utf8_lossy(&line).into_owned();
    assert!(
        line.starts_with("cr-send\0") && !line.contains("secret"),
        "{line:?}"
    );
}
