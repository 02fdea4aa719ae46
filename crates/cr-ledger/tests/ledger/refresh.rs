//! `refresh`: the handoff of a session, from its log or from its runs.

use std::fs;

use cr_test::fixture;
use serde_json::{Value, json};

use crate::case::{Case, Done};
use crate::record::summary;

pub(crate) const SESSION: &str = "80f8ae6e-b027-4253-8e9c-1ffd717366a1";

impl Case {
    /// Writes the log of a session, in which one task is done.
    pub(crate) fn log(&self, session: &str, prompt: &str, answer: &str) {
        let user = json!({"type": "user", "sessionId": session,
            "message": {"role": "user", "content": prompt}});
        let assistant = json!({"type": "assistant", "sessionId": session,
            "message": {"id": "m1", "role": "assistant", "model": "claude-sonnet-5-5",
                "content": [{"type": "text", "text": answer}]}});
        let dir = self.path("home/.claude/projects/p");
        fs::create_dir_all(&dir).expect("made");
        let file = dir.join(format!("{session}.jsonl"));
        fs::write(file, format!("{user}\n{assistant}\n")).expect("written");
    }

    fn refresh(&self, args: &[&str]) -> Done {
        self.run(&[&["refresh", "--session", SESSION], args].concat())
    }
}

#[test]
fn the_handoff_of_a_log_has_its_goal_and_last_words_and_is_always_the_same() {
    let case = Case::new();
    case.log(SESSION, "fix the parser", "The parser is fixed.");
    let first = case.refresh(&[]);
    assert_eq!(first.code, Some(0), "{first:?}");
    for text in [
        "## Goal",
        "> fix the parser",
        "## Last words",
        "> The parser is fixed.",
    ] {
        assert!(first.out.contains(text), "{text}: {first:?}");
    }
    assert_eq!(case.refresh(&[]).out, first.out);
    let object = &case.refresh(&["--json"]).rows()[0];
    assert_eq!(object["session_id"], SESSION);
    assert_eq!(object["source"], "record");
    assert_eq!(
        object["text"].as_str().map(str::trim),
        Some(first.out.trim())
    );
}

#[test]
fn the_log_is_found_in_the_directory_that_the_agent_uses() {
    let case = Case::new();
    case.log(SESSION, "fix the parser", "Done.");
    fs::rename(case.path("home/.claude"), case.path("elsewhere")).expect("moved");
    assert_eq!(case.refresh(&[]).code, Some(66));
    let mut command = case.command(&["refresh", "--session", SESSION]);
    command.env("CLAUDE_CONFIG_DIR", case.path("elsewhere"));
    let done = crate::case::done(command, "");
    assert!(done.out.contains("> fix the parser"), "{done:?}");
}

#[test]
fn a_session_without_a_log_is_read_from_its_runs_with_their_prompts() {
    let case = Case::new();
    for (run, prompt) in [("r1", "first task"), ("r2", "second task")] {
        let dir = case.path(run);
        fs::create_dir(&dir).expect("made");
        fs::copy(
            fixture("captures/02-tools.ndjson"),
            dir.join("stream.ndjson"),
        )
        .expect("copied");
        fs::write(dir.join("prompt"), prompt).expect("written");
        let mut summary = summary(run, SESSION, 0.1);
        summary["run_dir"] = json!(dir);
        summary["started_at"] = json!(format!("2026-11-18T03:1{}:00Z", &run[1..]));
        case.record(&summary);
    }
    let done = case.refresh(&[]);
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(done.out.contains("## Goal\n\n> first task\n"), "{done:?}");
    assert!(
        done.out.contains("## Latest request\n\n> second task\n"),
        "{done:?}"
    );
    assert!(
        done.out.contains("## Commands and their results"),
        "{done:?}"
    );
}

#[test]
fn a_session_of_which_nothing_is_there_is_said() {
    let case = Case::new();
    let done = case.refresh(&[]);
    assert_eq!(done.code, Some(66), "{done:?}");
    assert!(
        done.err.contains("no log of it") && done.err.contains("--transcript"),
        "{done:?}"
    );
    assert!(!case.path("ledger.db").exists());
    let wrong = case.run(&["refresh", "--session", "../x"]);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    let none = case.refresh(&["--transcript", "nowhere"]);
    assert_eq!(none.code, Some(66), "{none:?}");
    let empty = case.refresh(&["--transcript", "/dev/null"]);
    assert_eq!(empty.code, Some(65), "{empty:?}");
}

#[test]
fn a_summarizer_gets_the_handoff_and_makes_the_text() {
    let case = Case::new();
    case.log(SESSION, "fix the parser", "Done.");
    let by_flag = case.refresh(&["--json", "--summarizer", "grep -c parser; echo short"]);
    let object: &Value = &by_flag.rows()[0];
    assert_eq!(object["source"], "summarizer", "{by_flag:?}");
    assert_eq!(object["text"], "1\nshort");
    case.world.write(
        "home/.config/claude-runner/config.toml",
        "summarizer = \"echo set\"\n",
    );
    assert_eq!(case.refresh(&[]).out, "set\n");
    let long = case.refresh(&["--summarizer", "yes é | head -c 9000000", "--limit", "1001"]);
    assert_eq!(
        (long.code, long.out.len() <= 1002),
        (Some(0), true),
        "{}",
        long.err
    );
}

#[test]
fn a_summarizer_that_fails_is_replaced_and_that_is_said() {
    let case = Case::new();
    case.log(SESSION, "fix the parser", "Done.");
    let plain = case.refresh(&[]).out;
    let cases = [
        ("exit 3", "exit status: 3"),
        ("cat >/dev/null", "it wrote nothing"),
        ("echo x; sleep 600 & sleep 600", "it took longer than 1s"),
    ];
    for (command, why) in cases {
        let args = ["--summarizer", command, "--summarizer-timeout", "1"];
        let done = case.refresh(&args);
        assert_eq!(
            (done.code, &done.out),
            (Some(0), &plain),
            "{command}: {done:?}"
        );
        assert!(
            done.err.contains("the summarizer failed") && done.err.contains(why),
            "{done:?}"
        );
    }
    case.world.assert_nobody_left("a summarizer");
}

#[test]
fn a_handoff_is_never_larger_than_its_limit() {
    let case = Case::new();
    case.log(
        SESSION,
        &"a long goal ".repeat(4000),
        &"many words ".repeat(4000),
    );
    for (args, limit) in [(&[][..], 8192), (&["--limit", "700"], 700)] {
        let done = case.refresh(args);
        assert!(
            done.out.len() <= limit + 1 && done.out.len() > limit / 2,
            "{}",
            done.out.len()
        );
    }
}
