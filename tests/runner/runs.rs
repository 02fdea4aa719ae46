//! `cr-runs`, on the directories of runs.

use std::fs;

use cr_test::Terminal;
use serde_json::Value;

use crate::case::{Case, INIT, RESULT, SESSION};

/// What `cr-runs` says, and its code.
fn ask(case: &Case, args: &[&str]) -> (Option<i32>, String) {
    let output = case.tool("cr-runs", args).output().expect("run");
    let text = String::from_utf8([output.stdout, output.stderr].concat()).expect("text");
    (output.status.code(), text)
}

fn one_run(args: &[&str]) -> Case {
    let case = Case::new(&[INIT, RESULT].concat());
    let done = case.run(args);
    assert_eq!(done.code(), Some(0), "{done:?}");
    case
}

#[test]
fn a_run_is_found_by_id_name_session_directory_and_as_the_last() {
    let case = one_run(&["go", "--name", "docs"]);
    let dir = case.runs()[0].clone();
    let id = dir
        .file_name()
        .and_then(|name| name.to_str())
        .expect("an id");
    let dir = dir.to_str().expect("text");
    for run in [id, &id[..20], "docs", SESSION, dir, "--last"] {
        assert_eq!(
            ask(&case, &["path", run]),
            (Some(0), format!("{dir}\n")),
            "{run}"
        );
    }
    for run in ["nothing", "../..", "", "/tmp"] {
        assert_eq!(ask(&case, &["path", run]).0, Some(66), "{run}");
    }
}

#[test]
fn a_run_without_a_lock_and_without_an_end_is_lost_and_never_running() {
    let case = one_run(&["go", "--name", "gone"]);
    for file in ["exit.json", "summary.json"] {
        fs::remove_file(case.runs()[0].join(file)).expect("removed");
    }
    let (_, line) = ask(&case, &["status", "gone"]);
    assert!(line.contains(" lost"), "{line}");
    let (_, list) = ask(&case, &["ls"]);
    assert!(list.contains("lost") && !list.contains("running"), "{list}");
    // What is left is summed up.
    let (code, summary) = ask(&case, &["wait", "gone"]);
    let summary: Value = serde_json::from_str(&summary).expect("a summary");
    assert_eq!(summary["session_id"], SESSION);
    assert_eq!(summary["code"], code.expect("a code"));
}

#[test]
fn a_summary_of_a_newer_version_is_refused_and_stays_as_it_is() {
    let case = one_run(&["go", "--name", "newer"]);
    let file = case.runs()[0].join("summary.json");
    let newer = r#"{"schema":2,"code":{"number":0}}"#;
    fs::write(&file, newer).expect("written");
    for command in ["status", "wait"] {
        let (code, text) = ask(&case, &[command, "newer"]);
        assert_eq!(code, Some(78), "{command}: {text}");
        assert!(text.contains("schema 2 is newer"), "{command}: {text}");
    }
    assert_eq!(ask(&case, &["ls"]).0, Some(78));
    assert_eq!(fs::read_to_string(&file).expect("read"), newer);
}

#[test]
fn several_runs_are_waited_for_together_or_for_the_first() {
    let case = one_run(&["go", "--name", "good"]);
    case.script("agent", &[INIT, "exit 3\n"].concat());
    assert_eq!(case.run(&["go", "--name", "bad"]).code(), Some(1));
    let (code, text) = ask(&case, &["wait", "good", "bad"]);
    assert_eq!((code, text.lines().count()), (Some(1), 2), "{text}");
    let (code, text) = ask(&case, &["wait", "--any", "good", "bad"]);
    assert_eq!((code, text.lines().count()), (Some(0), 1), "{text}");
}

#[test]
fn a_cursor_goes_on_where_the_last_look_ended() {
    let case = one_run(&["go"]);
    let (_, whole) = ask(&case, &["tail", "--last"]);
    let stream = fs::read(case.runs()[0].join("stream.ndjson")).expect("a stream");
    let mut parts = String::new();
    let (mut since, mut at) = (0, 0);
    for line in stream.split_inclusive(|&byte| byte == b'\n') {
        at += line.len();
        // As if the recording had ended here: what comes after is not shown.
        fs::write(case.runs()[0].join("stream.ndjson"), &stream[..at]).expect("written");
        let (code, text) = ask(&case, &["tail", "--last", "--since", &since.to_string()]);
        assert_eq!(code, Some(0), "{text}");
        let (shown, cursor) = text.rsplit_once("Cursor: ").expect("a cursor");
        since = cursor.trim().parse().expect("a number");
        assert_eq!(since, at);
        parts.push_str(shown);
    }
    assert_eq!(format!("{parts}Cursor: {since}\n"), whole);
}

#[test]
fn old_runs_are_removed_and_those_that_are_kept_stay() {
    let case = one_run(&["go", "--name", "kept"]);
    fs::write(case.runs()[0].join("keep"), "").expect("written");
    case.run(&["go"]);
    case.run(&["go"]);
    let prune = |args: &[&str]| ask(&case, &[&["prune"], args].concat()).1;
    assert_eq!(prune(&[]), "");
    assert_eq!(
        prune(&["--keep-bytes", "1", "--dry-run"]).lines().count(),
        2
    );
    assert_eq!(case.runs().len(), 3);
    assert_eq!(prune(&["--older-than", "0"]).lines().count(), 2);
    assert_eq!(case.runs().len(), 1);
    assert_eq!(ask(&case, &["path", "kept"]).0, Some(0));
}

/// An agent whose last action is a text with a trap in it.
const TALKS: &str = r#"printf '{"type":"assistant","message":{"content":[{"type":"text","text":"All \\u001b[2Jdone.\\tReally."}]}}\n'
"#;

#[test]
fn the_list_holds_name_state_elapsed_cost_verdict_and_the_last_action() {
    let case = Case::new(&[INIT, TALKS, RESULT].concat());
    let done = case.run(&["go", "--name", "two\twords"]);
    assert_eq!(done.code(), Some(0), "{done:?}");
    // For scripts: one line per run, a tab between fields, nothing cut.
    let (_, text) = ask(&case, &["ls"]);
    let [line] = text.lines().collect::<Vec<_>>()[..] else {
        panic!("one line: {text}");
    };
    let fields: Vec<&str> = line.split('\t').collect();
    let [run, name, state, elapsed, cost, verdict, last] = fields[..] else {
        panic!("seven fields: {fields:?}");
    };
    assert!(case.runs()[0].ends_with(run), "{run}");
    assert_eq!((name, state), ("two\\twords", "ended"));
    assert!(elapsed.ends_with('s'), "{elapsed}");
    assert_eq!((cost, verdict), ("$0.01", "success 0"));
    assert!(last.starts_with("Text: All "), "{last}");
    assert!(!text.contains('\u{1b}'), "{text}");
    // On a terminal: a head, and columns one below the other.
    let (terminal, _child) = Terminal::start(&case.tool("cr-runs", &["ls"]));
    let shown = terminal.finish();
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[0].starts_with("RUN "), "{shown}");
    for head in ["NAME", "STATE", "ELAPSED", "COST", "VERDICT", "LAST"] {
        let at = lines[0]
            .find(head)
            .unwrap_or_else(|| panic!("{head}: {shown}"));
        assert_eq!(lines[1].as_bytes()[at - 1], b' ', "{head}: {shown}");
        assert_ne!(lines[1].as_bytes()[at], b' ', "{head}: {shown}");
    }
    assert!(!lines[1].contains('\u{1b}'), "{shown}");
}

#[test]
fn only_names_that_are_plain_words_are_listed_for_completions() {
    let case = Case::new(&[INIT, RESULT].concat());
    for name in ["docs", "docs", "$(touch pwned)", "-rf", "a b", "x;y"] {
        let name = format!("--name={name}");
        assert_eq!(case.run(&["go", &name]).code(), Some(0), "{name}");
    }
    let (code, text) = ask(&case, &["ls", "--quiet"]);
    assert_eq!(code, Some(0), "{text}");
    let mut words: Vec<&str> = text.lines().collect();
    assert_eq!(
        words.iter().filter(|word| **word == "docs").count(),
        1,
        "{text}"
    );
    words.retain(|word| *word != "docs");
    assert_eq!(words.len(), 6, "an id for each run: {text}");
    for word in words {
        assert!(case.runs().iter().any(|run| run.ends_with(word)), "{text}");
    }
}

#[test]
fn the_list_as_json_has_state_and_outcome() {
    let case = one_run(&["go", "--name", "docs"]);
    let (_, json) = ask(&case, &["ls", "--json"]);
    let run: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(
        (&run["state"], &run["outcome"]),
        (&"ended".into(), &"success".into())
    );
    let (_, line) = ask(&case, &["status", "--last"]);
    assert!(line.len() <= 301 && line.lines().count() == 1, "{line}");
}
