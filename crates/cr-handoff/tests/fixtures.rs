//! The handoff of recorded sessions.

#![allow(missing_docs, reason = "an integration test is a crate of its own")]

use std::fs;
use std::path::{Path, PathBuf};

use cr_handoff::{DEFAULT_LIMIT, Handoff, OpenKind, Outcome};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures")
}

fn read(path: &Path) -> Handoff {
    let bytes = fs::read(path).expect("a recording");
    cr_handoff::read(&bytes[..], None).expect("memory can be read")
}

fn handoff(name: &str) -> Handoff {
    read(&fixtures().join(name))
}

/// Every recording below `dir`.
fn recordings(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).expect("a directory") {
        let path = entry.expect("an entry").path();
        let kind = path.extension().unwrap_or_default();
        if path.is_dir() {
            recordings(&path, found);
        } else if kind == "ndjson" || kind == "jsonl" || kind == "txt" {
            found.push(path);
        }
    }
}

fn outcome(handoff: &Handoff, command: &str) -> Outcome {
    let found = handoff.commands().iter().find(|it| it.command == command);
    found.expect("the command").outcome.clone()
}

#[test]
fn the_stream_and_the_log_of_a_run_give_the_same_facts() {
    let names = [
        "01-simple",
        "02-tools",
        "06-err400",
        "10-interrupt-tool",
        "12-sigkill",
        "12-sigterm",
    ];
    for name in names {
        let stream = handoff(&format!("captures/{name}.ndjson"));
        let log = handoff(&format!("session-logs/{name}.jsonl"));
        assert_eq!(stream.files(), log.files(), "{name}");
        assert_eq!(stream.commands(), log.commands(), "{name}");
        assert_eq!(stream.commits(), log.commits(), "{name}");
        assert_eq!(stream.last_words(), log.last_words(), "{name}");
        assert_eq!(stream.goal(), None, "{name}");
        assert!(log.goal().is_some(), "{name}");
    }
}

#[test]
fn a_run_with_tools_leaves_its_files_commands_and_errors() {
    let log = handoff("session-logs/02-tools.jsonl");
    assert_eq!(log.goal(), Some("do the work"));
    assert_eq!(log.last_words(), Some("All done.\nSecond line."));
    let files: Vec<_> = log.files().iter().map(|file| &*file.path).collect();
    let expected = ["a.txt", "new.txt", "src/main.rs"].map(|it| format!("/home/dev/repo/{it}"));
    assert_eq!(files, expected);
    assert_eq!(outcome(&log, "cat a.txt"), Outcome::Ok);
    let failed = Outcome::Failed {
        code: Some(3),
        error: String::new(),
    };
    assert_eq!(outcome(&log, "exit 3"), failed);
    let open: Vec<_> = log.open().iter().map(|item| &*item.what).collect();
    let expected = [
        "Bash: exit 3",
        "Read: /home/dev/repo/does-not-exist.txt",
        "Grep: alpha",
        "Glob: **/*.rs",
        "TodoWrite: 0 of 1 done, next: a",
    ];
    assert_eq!(open, expected);
    // The call failed, so there is no list.
    assert_eq!(log.todos(), []);
}

#[test]
fn subagents_work_and_the_main_thread_has_the_last_words() {
    let run = handoff("captures/03-agent.ndjson");
    let commands: Vec<_> = run.commands().iter().map(|it| &*it.command).collect();
    assert_eq!(commands, ["echo subA", "sleep 1; echo subB"]);
    assert_eq!(run.last_words(), Some("Both done."));
}

#[test]
fn the_goal_that_is_given_is_used_in_place_of_the_prompt() {
    let bytes = fs::read(fixtures().join("session-logs/02-tools.jsonl")).expect("a log");
    let handoff = cr_handoff::read(&bytes[..], Some("the real goal")).expect("a handoff");
    assert_eq!(handoff.goal(), Some("the real goal"));
}

#[test]
fn a_commit_has_the_id_that_git_found() {
    let run = handoff("made/commit.ndjson");
    let [commit] = run.commits() else {
        panic!("{:?}", run.commits());
    };
    let shown = (&*commit.sha, &*commit.subject);
    assert_eq!(shown, ("bfbffa7", "second: a change"));
}

#[test]
fn denied_calls_are_open() {
    let run = handoff("captures/15-perm-default.ndjson");
    let open: Vec<_> = run
        .open()
        .iter()
        .map(|item| (item.kind, &*item.what))
        .collect();
    let denied = OpenKind::Denied;
    let expected = [
        (denied, "Write: /home/dev/perm/out.txt"),
        (denied, "Bash: touch /home/dev/perm/b.txt"),
        (denied, "WebFetch: http://127.0.0.1:1/x"),
    ];
    assert_eq!(open, expected);
}

#[test]
fn questions_without_an_answer_are_open() {
    let run = handoff("made/session.ndjson");
    let question = run.open().iter().find(|it| it.kind == OpenKind::Question);
    let question = question.expect("a question");
    assert_eq!(question.what, "Bash: touch x.txt");
}

#[test]
fn the_facts_from_before_a_compaction_stay() {
    let log = handoff("session-logs/20-compact.jsonl");
    assert_eq!(log.goal(), Some("one"));
    assert_eq!(log.latest_request(), Some("after"));
    assert_eq!(log.last_words(), Some("answer after compact"));
}

#[test]
fn every_recording_has_a_bounded_text_that_is_always_the_same() {
    let mut all = Vec::new();
    recordings(&fixtures(), &mut all);
    assert!(all.len() > 200, "{}", all.len());
    let mut told = 0;
    for path in all {
        let handoff = read(&path);
        for limit in [0, 100, 512, 2048, DEFAULT_LIMIT] {
            let text = handoff.text(limit);
            assert!(text.len() <= limit, "{}: {limit}", path.display());
            assert_eq!(text, read(&path).text(limit), "{}", path.display());
        }
        told += usize::from(!handoff.text(DEFAULT_LIMIT).is_empty());
    }
    assert!(told > 150, "{told}");
}
