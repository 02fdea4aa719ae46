//! The limits of a session: an agent that does not read, a full disk, many and
//! long messages, and two runs that resume at the same time.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use cr_test::{World, bin, until};
use serde_json::{Value, json};

use crate::place::{Agent, Place, VERSIONS};

/// The texts of the messages in the agent's session log, one for each message.
fn logged(records: &[Value]) -> Vec<String> {
    let of_turn = |it: &Value| it["message"]["content"].as_str().map(str::to_owned);
    let text = |it: &Value| match it["type"].as_str() {
        Some("user") => of_turn(it),
        Some("attachment") => it["attachment"]["prompt"].as_str().map(str::to_owned),
        _ => None,
    };
    let texts: Vec<String> = records.iter().filter_map(text).collect();
    texts
        .iter()
        .flat_map(|it| it.lines().map(str::to_owned))
        .collect()
}

fn states(lines: &[Value], state: &str) -> usize {
    let is = |line: &&Value| line["subtype"] == "input" && line["state"] == state;
    lines.iter().filter(is).count()
}

#[test]
fn an_agent_that_never_reads_blocks_nobody_and_its_messages_are_kept() {
    let script = "case $1 in --version) echo '2.1.326 (Claude Code)'; exit ;; esac\n\
                  while echo '{\"type\":\"system\",\"subtype\":\"x\"}'; do sleep 0.02; done";
    let place = Place::with(Agent::Script(script), &["--grace", "1"]);
    let mut child = place.start();
    place.wait_for_start(&mut child);
    let long = "x".repeat(100_000);
    for number in 0..8 {
        let mut command = place.outside("cr-send");
        let text = format!("{number} {long}");
        let sent = command
            .args([&place.latest(), "--timeout", "20"])
            .write_stdin(text);
        let sent = sent.output().expect("cr-send");
        assert!(sent.status.success(), "{sent:?}");
    }
    // Its output is still read.
    let before = place.latest_lines("stream.ndjson").len();
    until("the stream grows", || {
        place.latest_lines("stream.ndjson").len() > before + 5
    });
    let stop = place
        .outside("cr-send")
        .args([&place.latest(), "--stop"])
        .output();
    assert!(stop.expect("cr-send").status.success());
    place.wait_for_end(child);
    let stand_in = place.world.stand_in(VERSIONS[0]);
    let claude = ["--claude", stand_in.to_str().expect("UTF-8")];
    let child = place.resume_with(&place.latest(), &claude);
    place.end_input();
    place.check_code(place.wait_for_end(child));
    let texts = logged(&place.log());
    for number in 0..8 {
        let count = texts
            .iter()
            .filter(|it| **it == format!("{number} {long}"))
            .count();
        assert_eq!(count, 1, "message {number}");
    }
}

#[test]
fn three_thousand_messages_at_once_are_all_answered_once() {
    for version in VERSIONS {
        let place = Place::new(version, &[]);
        let child = place.start();
        let lines: Vec<String> = (0..3000)
            .map(|number| format!("message {number}"))
            .collect();
        assert!(place.write(&lines.join("\n")));
        place.end_input();
        place.check_code(place.wait_for_end(child));
        let stream = place.latest_lines("stream.ndjson");
        assert_eq!(states(&stream, "rejected"), 0, "{version}");
        assert_eq!(states(&stream, "done"), 3000, "{version}");
        assert_eq!(logged(&place.log()), lines, "{version}");
    }
}

#[test]
fn a_message_of_ten_megabytes_arrives_whole() {
    for version in VERSIONS {
        let place = Place::new(version, &["--keep-open"]);
        let mut child = place.start();
        place.wait_for_start(&mut child);
        let long = "y".repeat(10 << 20);
        assert!(place.write(&long));
        let mut command = place.outside("cr-send");
        command
            .args([&place.latest(), "--wait"])
            .write_stdin(format!("z{long}"));
        let sent = command.output().expect("cr-send");
        assert!(sent.status.success(), "{version} {:?}", sent.status);
        let stop = place
            .outside("cr-send")
            .args([&place.latest(), "--stop"])
            .output();
        assert!(stop.expect("cr-send").status.success());
        place.wait_for_end(child);
        let texts = logged(&place.log());
        let lengths: Vec<usize> = texts.iter().map(String::len).collect();
        assert!(lengths.contains(&long.len()), "{version} {lengths:?}");
        assert!(lengths.contains(&(long.len() + 1)), "{version} {lengths:?}");
    }
}

#[test]
fn of_two_runs_that_resume_a_session_at_the_same_time_one_is_refused() {
    for version in VERSIONS {
        let place = Place::new(version, &[]);
        let child = place.start();
        place.write("tool:2s one");
        until("the turn is in the log", || !place.log().is_empty());
        place.kill("cr-mock agent");
        place.wait_for_end(child);
        let first = place.latest();
        let names = ["20261118T100000Z-0000000a", "20261118T100000Z-0000000b"];
        let mut both = names.map(|id| {
            let mut command = place.runner(id, &["--resume-run", &first]);
            let mut child = command.spawn().expect("started");
            // It takes a while: the second one is to find the first one at work.
            let mut input = child.stdin.take().expect("piped");
            let _ = input.write_all(b"tool:1s two\n");
            child
        });
        let codes = both
            .each_mut()
            .map(|child| child.wait().expect("ended").code());
        place.world.wait_until_nobody_is_left();
        // 125: the other one began while this one was starting.
        let is_refused = |code: &&Option<i32>| matches!(code, Some(75 | 125));
        let refused = codes.iter().filter(is_refused).count();
        let errors = names.map(|id| place.errors(id));
        assert_eq!(refused, 1, "{version} {codes:?} {errors:?}");
        assert!(codes.contains(&Some(0)), "{version} {codes:?} {errors:?}");
        let is_said = |it: &String| it.contains("resuming its session") || it.contains("going on");
        assert!(errors.iter().any(is_said), "{errors:?}");
        let texts = logged(&place.log());
        let count = texts
            .iter()
            .filter(|it| it.as_str() == "tool:1s two")
            .count();
        assert_eq!(count, 1, "{version} {texts:?}");
    }
}

#[test]
fn a_session_is_resumed_again_and_again_by_the_name_of_its_first_run() {
    for version in VERSIONS {
        let place = Place::new(version, &[]);
        let mut child = place.start();
        let first = place.latest();
        for round in 0..4 {
            place.write(&format!("answered {round}"));
            until("the message is answered", || {
                states(&place.latest_lines("stream.ndjson"), "done") > 0
            });
            // The older release writes its log a moment later.
            let answered = format!("answered {round}");
            until("it is in the log", || {
                logged(&place.log()).contains(&answered)
            });
            place.write("tool:1s");
            place.write(&json!({"text": format!("left {round}"), "when": "idle"}).to_string());
            until("a message waits", || {
                let left = format!("left {round}");
                let queue = place.latest_lines("queue");
                queue
                    .iter()
                    .any(|it| it["message"]["content"] == left.as_str())
            });
            place.kill("cr-spawn --control-fd");
            place.wait_for_end(child);
            child = place.resume(&first);
        }
        place.end_input();
        place.check_code(place.wait_for_end(child));
        let texts = logged(&place.log());
        for round in 0..4 {
            for text in [format!("answered {round}"), format!("left {round}")] {
                let count = texts.iter().filter(|it| **it == text).count();
                assert_eq!(count, 1, "{version}: {text} in {texts:?}");
            }
        }
    }
}

#[test]
fn a_full_disk_refuses_a_message_with_the_reason_and_loses_none() {
    if !cr_test::has_namespaces("a session on a full disk") {
        return;
    }
    for version in VERSIONS {
        let world = World::new();
        fs::create_dir(world.path("small")).expect("made");
        let script = r#"mount -t tmpfs -o size=200k small "$1" && exec "$2" --input stream --run-dir "$1/run""#;
        let mut child = world
            .command("unshare")
            .args([
                "--user",
                "--map-root-user",
                "--mount",
                "/bin/sh",
                "-c",
                script,
                "sh",
            ])
            .arg(world.path("small"))
            .arg(bin("cr-spawn"))
            .env("CR_CLAUDE", world.stand_in(version))
            .current_dir(world.dir())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("started");
        let mut input = child.stdin.take().expect("piped");
        let long = "x".repeat(60_000);
        for number in 0..10 {
            let line = json!({"text": format!("{number} {long}")});
            input
                .write_all(format!("{line}\n").as_bytes())
                .expect("written");
        }
        drop(input);
        let output = child.wait_with_output().expect("ended");
        let lines: Vec<Value> = String::from_utf8(output.stdout)
            .expect("UTF-8")
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        let rejected: Vec<&Value> = lines
            .iter()
            .filter(|it| it["state"] == "rejected")
            .collect();
        assert!(
            !rejected.is_empty(),
            "{version}: there is room for three at most"
        );
        for line in &rejected {
            let why = line["reason"].as_str().unwrap_or_default();
            assert!(
                why.contains("cannot be recorded: No space left"),
                "{version} {why}"
            );
        }
        let done = states(&lines, "done");
        assert!(done > 0, "{version}");
        assert_eq!(done + rejected.len(), 10, "{version}");
        assert_eq!(output.status.code(), Some(0), "{version}");
    }
}
