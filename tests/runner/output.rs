//! The output that a caller reads.

use std::fmt::Write;
use std::fs;

use serde_json::{Value, json};

use crate::case::{Case, INIT, RESULT, SESSION};

#[test]
fn a_run_with_many_tools_costs_its_caller_less_than_four_kilobytes() {
    let done = Case::playing("02-tools").run(&["go"]);
    assert_eq!(done.code(), Some(0), "{done:?}");
    let bytes = done.out.len() + done.err.len();
    assert!(bytes < 4096, "{bytes}");
    assert!(done.out.contains("] Commit: feat: first 'quoted' commit"));
    done.summary();
}

/// A run of `events` events, as a recording.
fn long(case: &Case, events: usize) -> std::path::PathBuf {
    let init = format!(
        r#"{{"type":"system","subtype":"init","session_id":"{SESSION}","cwd":"/w","model":"m","tools":[]}}"#
    );
    let mut text = init + "\n";
    for number in 0..events / 2 {
        let _ = writeln!(
            text,
            r#"{{"type":"assistant","message":{{"id":"m{number}","model":"m","content":[{{"type":"tool_use","id":"t{number}","name":"Bash","input":{{"command":"cargo test --package number-{number} -- --nocapture"}}}}]}},"session_id":"{SESSION}"}}"#
        );
        let _ = writeln!(
            text,
            r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"t{number}","content":"ok"}}]}},"session_id":"{SESSION}"}}"#
        );
    }
    text.push_str(&RESULT[6..RESULT.len() - 2]);
    let path = case.path("long.ndjson");
    fs::write(&path, text + "\n").expect("written");
    path
}

#[test]
fn five_thousand_events_cost_their_caller_a_few_kilobytes() {
    let place = Case::new("");
    let recording = long(&place, 5000);
    let case = Case::replaying(&recording);
    let done = case.run(&["go"]);
    assert_eq!(done.code(), Some(0), "{done:?}");
    assert_eq!(done.summary()["tool_calls"], 2500);
    let bytes = done.out.len() + done.err.len();
    assert!((15_000..25_000).contains(&bytes), "{bytes}");
    let done = case.run(&["go", "--json"]);
    let summary: Value = serde_json::from_str(&done.out).expect("only the summary");
    assert_eq!(summary["outcome"], "success");
    assert!(done.out.len() < 4096, "{}", done.out.len());
}

#[test]
fn each_form_of_output_is_alone_on_standard_output_and_ends_with_the_verdict() {
    let agents = [
        ([INIT, RESULT].concat(), 0),
        ([INIT, "exit 3\n"].concat(), 1),
    ];
    for (agent, code) in agents {
        let case = Case::new(&agent);
        let answer = case.run(&["go", "--output", "answer"]);
        assert_eq!(answer.out, if code == 0 { "done\n" } else { "" });
        let stream = case.run(&["go", "--output", "stream"]);
        let lines: Vec<Value> = stream
            .out
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        assert_eq!(lines[0]["subtype"], "git");
        assert_eq!(lines.last().expect("one")["subtype"], "exit");
        let summary = case.run(&["go", "--output", "summary"]);
        assert_eq!(summary.summaries(), 1);
        for done in [&answer, &stream, &summary] {
            assert_eq!(done.code(), Some(code), "{done:?}");
            assert!(
                done.err.contains("] Session started: model: sonnet"),
                "{done:?}"
            );
        }
    }
}

#[test]
fn what_standard_output_held_before_is_still_there() {
    let case = Case::new(&[INIT, RESULT].concat());
    for output in ["report", "summary", "answer", "stream"] {
        let path = case.path(output);
        fs::write(&path, "before\n").expect("written");
        let file = fs::File::options().append(true).open(&path).expect("open");
        let mut command = case.runner(&["go", "--output", output]);
        let status = command
            .stdout(file)
            .stderr(std::process::Stdio::null())
            .status();
        assert!(status.expect("run").success());
        let text = fs::read_to_string(&path).expect("text");
        assert!(
            text.starts_with("before\n") && text.len() > 10,
            "{output}: {text}"
        );
    }
}

#[test]
fn the_banner_names_every_setting() {
    let case = Case::new(&[INIT, RESULT].concat());
    let done = case.run(&[
        "go",
        "--timeout",
        "2h",
        "--max-budget",
        "2.5",
        "--model",
        "opus",
    ]);
    let banner = done.out.lines().next().expect("a line");
    for part in [
        "Session started",
        "model: opus",
        "max-turns: 100",
        "max-budget: $2.5",
        "timeout: 2h",
        "permissions: skipped",
        "state/runs/",
    ] {
        assert!(banner.contains(part), "{part}: {banner}");
    }
    assert!(
        done.out.contains(&format!("Session: {SESSION}")),
        "{}",
        done.out
    );
}

#[test]
fn commits_and_changes_of_the_agent_are_in_the_summary() {
    let work = "echo 1 >a; git add a; git commit -qm 'feat: one'; echo 2 >b; git add b; git commit -qm 'feat: two'; echo 3 >c\n";
    let case = Case::new(&[INIT, work, RESULT].concat());
    let done = case.run(&["go"]);
    let git = &done.summary()["git"];
    let commits = git["commits"].as_array().expect("commits");
    let subjects: Vec<&str> = commits
        .iter()
        .filter_map(|commit| commit.as_str()?.split_once(' '))
        .map(|(_, subject)| subject)
        .collect();
    assert_eq!(subjects, ["feat: two", "feat: one"]);
    assert_eq!(
        (&git["changed_files"], &git["uncommitted_changes"]),
        (&2.into(), &1.into())
    );
    let run = &done.summary()["run_id"];
    assert_eq!(git["commits_by"], json!([run, run]));
    assert_eq!(git["agent_commits"].as_array().map(Vec::len), Some(2));
}
