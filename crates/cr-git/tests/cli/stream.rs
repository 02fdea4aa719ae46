//! `cr-git end` as a stage of a pipe.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use cr_test::{Child, Signal};
use serde_json::{Value, json};

use crate::place::{Place, feed, line_of, subjects};

const EXIT: &str = r#"{"type":"cr","subtype":"exit","reason":"exited"}"#;

/// Each line of `text` as JSON.
fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

/// `cr-git end` with pipes on both sides.
fn stage(place: &Place) -> Child {
    place
        .cr(&["end"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts")
}

#[test]
fn the_line_is_the_runs_and_comes_before_its_exit() {
    let place = Place::new();
    let start = place.start();
    let run = r#"{"type":"cr","subtype":"start","run_id":"the-run"}"#;
    let input = format!("{start}{run}\n{{\"type\":\"result\"}}\n{EXIT}\n");
    let text = line_of(feed(&mut place.cr(&["end"]), input.as_bytes()));
    let found = lines(&text);
    let kinds: Vec<_> = found.iter().map(|l| [&l["type"], &l["subtype"]]).collect();
    assert_eq!(kinds[3], [&json!("cr"), &json!("git")]);
    assert_eq!(kinds[4], [&json!("cr"), &json!("exit")]);
    assert_eq!(found[3]["phase"], "end");
    assert_eq!(found[3]["run_id"], "the-run");
    assert_eq!(found.len(), 5);
}

#[test]
fn without_a_supervisor_the_start_line_names_the_run() {
    let place = Place::new();
    let start = place.start();
    let seen: Value = serde_json::from_str(&start).expect("JSON");
    assert_eq!(place.end(&start)["run_id"], seen["run_id"]);
}

#[test]
fn two_runs_in_one_stream_have_two_ends() {
    let place = Place::new();
    let first = place.start();
    place.commit("one");
    let second = place.start();
    place.commit("two");
    let input = format!("{first}{EXIT}\n{second}{EXIT}\n");
    let found = lines(&line_of(feed(&mut place.cr(&["end"]), input.as_bytes())));
    assert_eq!(found.len(), 6);
    assert_eq!(subjects(&found[1]["commits"]), ["two", "one"]);
    assert_eq!(subjects(&found[4]["commits"]), ["two"]);
}

#[test]
fn a_start_in_the_middle_of_a_run_is_not_believed() {
    let place = Place::new();
    let first = place.start();
    place.commit("one");
    let forged = place.start();
    let input = format!("{first}{forged}{EXIT}\n");
    let found = lines(&line_of(feed(&mut place.cr(&["end"]), input.as_bytes())));
    assert_eq!(subjects(&found[2]["commits"]), ["one"]);
}

#[test]
fn a_line_leaves_before_the_next_one_comes() {
    let place = Place::new();
    let mut child = stage(&place);
    let mut stdin = child.stdin.take().expect("piped");
    let mut out = BufReader::new(child.stdout.take().expect("piped"));
    for line in ["{\"n\":1}\n", "{\"n\":2}\n"] {
        stdin.write_all(line.as_bytes()).expect("written");
        let mut got = String::new();
        out.read_line(&mut got).expect("read");
        assert_eq!(got, line);
    }
    drop(stdin);
    let mut rest = String::new();
    out.read_to_string(&mut rest).expect("read");
    assert_eq!(lines(&rest)[0]["phase"], "end");
    assert!(child.wait().expect("ends").success());
}

#[test]
fn a_reader_that_leaves_ends_the_stage_while_it_waits() {
    let place = Place::new();
    let mut child = stage(&place);
    let mut stdin = child.stdin.take().expect("piped");
    let mut out = BufReader::new(child.stdout.take().expect("piped"));
    stdin.write_all(b"{}\n").expect("written");
    out.read_line(&mut String::new()).expect("read");
    drop(out);
    // Its input stays open and silent.
    assert_eq!(child.wait().expect("ends").code(), Some(0));
    drop(stdin);
}

#[test]
fn a_full_disk_is_74() {
    let place = Place::new();
    let full = File::options()
        .write(true)
        .open("/dev/full")
        .expect("there");
    let mut command = place.cr(&["start"]);
    let output = command.stdout(full).stderr(Stdio::piped()).output();
    let output = output.expect("runs");
    assert_eq!(output.status.code(), Some(74));
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(
        complaint.starts_with("cr-git: write standard output: "),
        "{complaint}"
    );
}

#[test]
fn an_interrupt_is_for_the_agent_and_the_line_still_comes() {
    let place = Place::new();
    let mut child = stage(&place);
    let mut stdin = child.stdin.take().expect("piped");
    let mut out = BufReader::new(child.stdout.take().expect("piped"));
    stdin.write_all(b"{}\n").expect("written");
    // The line came through, so the handler is in place.
    out.read_line(&mut String::new()).expect("read");
    child.signal(Signal::INT);
    drop(stdin);
    let mut rest = String::new();
    out.read_to_string(&mut rest).expect("read");
    assert_eq!(lines(&rest)[0]["phase"], "end");
    assert!(child.wait().expect("ends").success());
}

#[test]
fn without_a_start_the_end_is_told_and_the_difference_is_unknown() {
    let place = Place::new();
    place.write("u", "");
    let end = place.end("");
    assert_eq!(end["start"], "unknown");
    assert_eq!(end["start_sha"], Value::Null);
    assert_eq!(end["end_sha_full"], place.head());
    assert_eq!(end["commits"], Value::Null);
    assert_eq!(end["changed_files"], Value::Null);
    assert_eq!(end["uncommitted_changes"], 1);
    assert_eq!(end["dirty_before"], Value::Null);
    assert_eq!(end["run_id"], Value::Null);
}

#[test]
fn a_commit_or_a_file_stands_in_for_the_start_line() {
    let place = Place::new();
    let base = place.head();
    let file = place.beside("start.json");
    fs::write(&file, place.start()).expect("written");
    place.commit("one");
    let file = file.to_str().expect("text");
    for args in [
        ["end", "--start-sha", &base],
        ["end", "--start-sha", "HEAD~1"],
        ["end", "--start", file],
    ] {
        let end = lines(&line_of(feed(&mut place.cr(&args), b"")));
        assert_eq!(subjects(&end[0]["commits"]), ["one"], "{args:?}");
        assert_eq!(end[0]["start_sha_full"], base, "{args:?}");
    }
    let args = ["end", "--start-sha", "--output=x"];
    let refused = feed(&mut place.cr(&args), b"");
    assert_eq!(refused.status.code(), Some(2));
    let unknown = ["end", "--start-sha=--output=x"];
    let end = lines(&line_of(feed(&mut place.cr(&unknown), b"")));
    assert_eq!(end[0]["start"], "unknown");
    assert!(!place.path().join("x").exists());
}

#[test]
fn the_run_directory_gets_the_line() {
    let place = Place::new();
    let dir = place.beside("run");
    fs::create_dir(&dir).expect("made");
    let name = dir.to_str().expect("text");
    let file = dir.join("git.json");
    let start = place.cr(&["start", "--run-dir", name]).output();
    let start = line_of(start.expect("runs"));
    let before = dir.join("start.json");
    assert_eq!(fs::read_to_string(&before).expect("there"), start);
    assert!(!file.exists());
    let mut command = place.cr(&["end", "--run-dir", name]);
    let text = line_of(feed(&mut command, start.as_bytes()));
    assert_eq!(
        fs::read_to_string(&file).expect("there"),
        text[start.len()..]
    );
    let mode = fs::metadata(&file).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_run_directory_that_cannot_be_written_stops_nothing() {
    let place = Place::new();
    let mut command = place.cr(&["end", "--run-dir", "/nonexistent/dir"]);
    let output = feed(&mut command, b"{}\n");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(lines(&String::from_utf8_lossy(&output.stdout)).len(), 2);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(
        complaint.starts_with("cr-git: /nonexistent/dir: "),
        "{complaint}"
    );
}

#[test]
fn a_start_line_longer_than_a_buffer_is_still_found() {
    let place = Place::new();
    for i in 0..1100 {
        place.write(format!("{}-{i}", "long".repeat(40)), "");
    }
    let start = place.start();
    assert!(start.len() > 200_000, "{}", start.len());
    assert_eq!(place.end(&start)["dirty_before"], 1100);
}

#[test]
fn only_noted_commits_are_the_agents_where_others_commit_too() {
    let place = Place::new();
    let start = place.start();
    let by_file = place.commit("noted in the file");
    let by_stream = place.commit("shown in the stream");
    place.commit("somebody else's");
    let file = place.beside("commits");
    fs::write(&file, format!("{by_file}\nnot an id\n")).expect("written");
    let shown = format!(
        r#"{{"type":"user","tool_use_result":{{"gitOperation":{{"commit":{{"sha":"{}"}}}}}}}}"#,
        &by_stream[..7]
    );
    let input = format!("{start}{shown}\n");
    let mut command = place.cr(&["end", "--noted", file.to_str().expect("text")]);
    let found = lines(&line_of(feed(&mut command, input.as_bytes())));
    assert_eq!(
        found[2]["agent_commits"],
        json!([by_stream[..7], by_file[..7]])
    );
    assert_eq!(found[2]["commits"].as_array().map(Vec::len), Some(3));
}
