//! `claude-runner`, from its command line to its summary, with the real CLI.

use std::ffi::OsString;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::cli::{Cli, each};
use crate::place::Place;
use crate::run::Run;
use cr_test::{bin, root};

/// The script with its agent, on the scenario called `scenario`.
pub(crate) fn runner<'a>(place: &'a Place, cli: &'a Cli, scenario: &str) -> Run<'a> {
    place.run(cli, scenario).command(command(place, cli))
}

/// The script beside the tools, as it is installed, with its agent.
pub(crate) fn command(place: &Place, cli: &Cli) -> Vec<OsString> {
    let dir = place.path("bin");
    if std::fs::create_dir(&dir).is_ok() {
        symlink(
            root().join("scripts/claude-runner"),
            dir.join("claude-runner"),
        )
        .expect("a link");
        let readers = ["cr-filter", "cr-summarize", "cr-extract"];
        let others = [
            "cr-spawn",
            "cr-git",
            "cr-runs",
            "cr-orchestrate",
            "cr-ledger",
        ];
        for tool in readers.into_iter().chain(others) {
            symlink(bin(tool), dir.join(tool)).expect("a link");
        }
    }
    let script = dir.join("claude-runner").into_os_string();
    let claude = cli.path.clone().into_os_string();
    vec![script, "--claude".into(), claude]
}

/// The progress without its times, and the summary.
fn parts(text: &str) -> (Vec<&str>, Value) {
    let (progress, json) = text
        .split_once("---CLAUDE-RUNNER-RESULT---\n")
        .unwrap_or_else(|| panic!("no delimiter: {text}"));
    let lines = progress
        .lines()
        .map(|line| line.split_once("] ").map_or(line, |(_, rest)| rest));
    (
        lines.collect(),
        serde_json::from_str(json).expect("one summary"),
    )
}

#[test]
fn a_run_that_reads_edits_writes_and_commits_twice_is_told_as_it_was() {
    each(|cli| {
        let place = Place::new();
        let run = runner(&place, cli, "runner").options(&["--env", "IS_SANDBOX=1"]);
        let (code, text, _) = run.text();
        let (lines, summary) = parts(&text);
        let cwd = place.repository().display().to_string();
        assert!(
            lines[0].starts_with("Session started: model: sonnet | max-turns: 100 | "),
            "{text}"
        );
        assert!(lines[0].contains("permissions: skipped"), "{text}");
        assert!(lines[1].starts_with("Session: "), "{text}");
        let wanted = [
            format!("Read: {cwd}/a.txt"),
            format!("Edit: {cwd}/a.txt"),
            format!("Write: {cwd}/new.txt"),
            "Bash: git add a.txt new.txt && git commit -m 'feat: a new file'".to_owned(),
            "Commit: feat: a new file".to_owned(),
            "Bash: echo three >> new.txt && git commit -am \"fix: don't forget three\"".to_owned(),
            "Commit: fix: don't forget three".to_owned(),
            "Bash: cat new.txt".to_owned(),
            "Text: Both files are done and committed.".to_owned(),
        ];
        let work: Vec<String> = lines[2..].iter().map(|line| (*line).to_owned()).collect();
        assert_eq!(work[..wanted.len()], wanted, "{text}");
        assert!(
            work[wanted.len()].starts_with("Done: success | 7 turns | "),
            "{text}"
        );
        let rest: Vec<&str> = lines[3 + wanted.len()..].to_vec();
        assert_eq!(
            rest[0], "Git: 2 commits, 2 files changed, +4 -1, 0 uncommitted",
            "{text}"
        );
        assert!(rest[1].starts_with("Exited with code 0 after "), "{text}");

        assert_eq!(code, Some(0));
        assert_eq!(summary["outcome"], "success");
        assert_eq!(summary["result"], "Both files are done and committed.");
        assert_eq!(summary["num_turns"], 7);
        assert_eq!(summary["tool_calls"], 6);
        assert_eq!(
            summary["tools"],
            json!({"Bash": 3, "Edit": 1, "Read": 1, "Write": 1})
        );
        assert_eq!(summary["tokens"]["input"], 700);
        assert_eq!(summary["tokens"]["output"], 70);
        let git = &summary["git"];
        assert_eq!(
            git["end_sha"],
            place.git(&["rev-parse", "--short=7", "HEAD"]).trim()
        );
        let log = place.git(&["log", "-2", "--abbrev=7", "--format=%h %s"]);
        let commits: Vec<&str> = log.lines().collect();
        assert_eq!(git["commits"], json!(commits));
        assert_eq!(git["insertions"], 4);
        assert_eq!(git["deletions"], 1);
        assert_eq!(git["uncommitted_changes"], 0);
        assert!(text.len() < 4096, "{}", text.len());
    });
}

#[test]
fn skipping_permissions_as_root_is_refused_before_anything_starts() {
    each(|cli| {
        if std::fs::metadata("/proc/self")
            .is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) != 0)
        {
            return;
        }
        let place = Place::new();
        let (code, text, said) = runner(&place, cli, "hello")
            .options(&["--env", "IS_SANDBOX="])
            .text();
        assert_eq!((code, text.as_str()), (Some(78), ""), "{said}");
        assert!(
            said.contains("IS_SANDBOX=1") && said.contains("another user"),
            "{said}"
        );
    });
}

#[test]
fn a_run_with_retries_goes_on_until_it_is_done() {
    each(|cli| {
        let cases = [
            ("TURNS please", "--max-turns=1", "limit_turns"),
            ("BUDGET please", "--max-budget=0.01", "limit_budget"),
            ("KILLED please", "--max-turns=9", "killed"),
        ];
        for (prompt, limit, first) in cases {
            let place = Place::new();
            let run = runner(&place, cli, "sprint").options(&["--env", "IS_SANDBOX=1"]);
            let run = run.args(&["--retry", "2", limit]).prompt(prompt);
            let (code, text, said) = run.text();
            let (_, summary) = parts(&text);
            let what = format!("{prompt}: {text} {said}");
            assert_eq!(code, Some(0), "{what}");
            assert_eq!(summary["outcome"], "success", "{what}");
            let attempts = summary["attempts"].as_array().expect("a list");
            assert!((2..=3).contains(&attempts.len()), "{what}");
            assert_eq!(attempts[0]["outcome"], first, "{what}");
            // Who was killed leaves no word on what it cost.
            let costs = attempts
                .iter()
                .filter_map(|attempt| attempt["cost_usd"].as_f64());
            let sum: f64 = costs.sum();
            let total = summary["cost_usd"].as_f64().expect("a cost");
            assert!((sum - total).abs() < 1e-6, "{sum} {what}");
        }
    });
}

#[test]
fn a_plain_run_is_resumed_in_its_session() {
    each(|cli| {
        let place = Place::new();
        let env = ["--env", "IS_SANDBOX=1"];
        let first = runner(&place, cli, "hello")
            .args(&["--name", "first"])
            .options(&env);
        let (code, text, _) = first.prompt("remember 4711").text();
        assert_eq!(code, Some(0), "{text}");
        let (_, before) = parts(&text);
        let second = runner(&place, cli, "hello")
            .args(&["--resume-run", "first"])
            .options(&env);
        let (code, text, _) = second.text();
        assert_eq!(code, Some(0), "{text}");
        let (_, after) = parts(&text);
        assert_eq!(after["session_id"], before["session_id"]);
        assert_ne!(after["run_id"], before["run_id"]);
        let requests = place.requests();
        let said = requests.last().expect("a request")["messages"].to_string();
        assert!(said.contains("remember 4711"), "{said}");
    });
}

#[test]
fn the_printed_command_resumes_with_the_permissions_of_the_run() {
    each(|cli| {
        for record in [&[][..], &["--no-record"]] {
            let place = Place::new();
            let env = ["--env", "IS_SANDBOX=1"];
            let first = runner(&place, cli, "commit").options(&env);
            let args = ["--permission-mode", "default"];
            let (_, text, said) = first.args(&args).args(record).text();
            let (_, before) = parts(&text);
            let denials = before["permission_denials"].as_array().map(Vec::len);
            assert_eq!(denials, Some(1), "{text} {said}");
            let printed = before["resume_argv"].as_array().expect("a command");
            let printed: Vec<&str> = printed.iter().filter_map(Value::as_str).collect();
            // The command alone, with nothing beside it.
            let script = place.path("bin/claude-runner").into_os_string();
            let rest = printed[1..].iter().map(std::ffi::OsString::from);
            let command = std::iter::once(script).chain(rest).collect();
            let again = place.run(cli, "commit").options(&env).command(command);
            let (_, text, said) = again.text();
            let (lines, after) = parts(&text);
            assert_eq!(after["session_id"], before["session_id"], "{text} {said}");
            assert!(lines[0].contains("permissions: default"), "{text}");
            let log = place.git(&["log", "--format=%s"]);
            assert!(!log.contains("add b"), "{log} {text}");
        }
    });
}
