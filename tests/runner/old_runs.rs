//! Other versions: run directories of version 0.1, which every later version
//! reads, and tools that are replaced while a run is going on.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use cr_test::{bin, fixture, runner_script, until};
use serde_json::Value;

use crate::case::{Case, INIT, RESULT};

const PLAIN: &str = "20261118T090000Z-00000001";
const RETRIED: &str = "20261118T090100Z-00000002";

/// A case whose state directory has the runs of version 0.1.
fn case() -> Case {
    let case = Case::new(&[INIT, RESULT].concat());
    copy(&fixture("rundirs/0.1"), &case.path("state"));
    case
}

/// Copies with the modes that the tools give, which a checkout does not keep.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    fs::set_permissions(to, fs::Permissions::from_mode(0o700)).expect("set");
    for entry in fs::read_dir(from).expect("there") {
        let entry = entry.expect("an entry");
        let to = to.join(entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), &to).expect("copied");
            fs::set_permissions(&to, fs::Permissions::from_mode(0o600)).expect("set");
        }
    }
}

fn cr_runs(case: &Case, args: &[&str]) -> (Option<i32>, String) {
    let output = case.tool("cr-runs", args).output().expect("run");
    let text = String::from_utf8(output.stdout).expect("text");
    (output.status.code(), text)
}

#[test]
fn cr_runs_reads_old_runs() {
    let case = case();
    let (code, list) = cr_runs(&case, &["ls"]);
    assert_eq!(code, Some(0));
    for (id, name) in [(PLAIN, "plain"), (RETRIED, "retried")] {
        let line = list.lines().find(|line| line.contains(id));
        let line = line.unwrap_or_else(|| panic!("{id} in {list}"));
        assert!(line.contains("ended") && line.contains("success"), "{line}");
        let (code, status) = cr_runs(&case, &["status", name]);
        assert_eq!(code, Some(0), "{status}");
        assert!(status.contains(id), "{status}");
        let (code, summary) = cr_runs(&case, &["wait", name]);
        let summary: Value = serde_json::from_str(&summary).expect("a summary");
        assert_eq!((code, &summary["run_id"]), (Some(0), &id.into()));
        let (code, tail) = cr_runs(&case, &["tail", name]);
        assert_eq!(code, Some(0), "{tail}");
        assert!(tail.contains("Done: success"), "{tail}");
    }
}

#[test]
fn a_summary_is_made_from_an_old_record() {
    let case = case();
    for id in [PLAIN, RETRIED] {
        let dir = case.path("state/runs").join(id);
        let old = fs::read(dir.join("summary.json")).expect("a summary");
        let old: Value = serde_json::from_slice(&old).expect("JSON");
        fs::remove_file(dir.join("summary.json")).expect("removed");
        let (code, new) = cr_runs(&case, &["wait", id]);
        let new: Value = serde_json::from_str(&new).expect("a summary");
        assert_eq!(code, Some(0));
        for field in ["outcome", "session_id", "run_id", "cost_usd", "num_turns"] {
            assert_eq!(new[field], old[field], "{id} {field}");
        }
    }
}

#[test]
fn an_old_run_is_resumed_or_the_message_names_the_session() {
    let case = case();
    let done = case.run(&["--resume-run", "plain"]);
    assert_eq!(done.code(), Some(2), "{done:?}");
    assert!(done.err.contains("use --resume 80f8ae6e-"), "{done:?}");
    let done = case.run(&["--resume-run", "retried"]);
    assert_eq!(done.code(), Some(0), "{done:?}");
    assert_eq!(done.summary()["outcome"], "success");
    assert!(!case.path("home/got").exists(), "it is done already");
}

#[test]
fn an_old_orchestrated_run_is_resumed() {
    let case = case();
    let entries = fs::read_dir(case.path("state/orchestrate")).expect("there");
    let mut names = entries.map(|entry| entry.expect("an entry").file_name());
    let id = names.next().expect("a run").into_string().expect("text");
    let done = case.run(&["--resume-run", &id, "--json"]);
    assert_eq!(done.code(), Some(0), "{done:?}");
    assert!(done.out.contains(r#""state":"ended""#), "{done:?}");
    assert!(!case.path("home/got").exists(), "it is done already");
    let done = case.run(&["--resume-run", &id, "--model", "opus"]);
    assert_eq!(done.code(), Some(2), "{done:?}");
}

#[test]
fn a_run_of_a_later_version_is_refused_and_left_alone() {
    let case = case();
    let file = case.path("state/runs").join(PLAIN).join("started");
    let newer = "{\"type\":\"cr\",\"subtype\":\"start\",\"schema\":2}\n";
    fs::write(&file, newer).expect("written");
    for command in ["status", "wait", "tail", "stop", "path"] {
        let (code, text) = cr_runs(&case, &[command, PLAIN]);
        assert_eq!(code, Some(78), "{command}: {text}");
    }
    assert_eq!(case.run(&["--resume-run", PLAIN]).code(), Some(78));
    assert_eq!(fs::read_to_string(&file).expect("there"), newer);
    // The others are listed all the same.
    let (code, list) = cr_runs(&case, &["ls"]);
    assert_eq!(code, Some(0));
    assert!(list.contains(RETRIED), "{list}");
}

#[test]
fn tools_that_are_replaced_do_not_disturb_a_run() {
    let wait = "until [ -e \"$HOME/go\" ]; do sleep 0.05; done\n";
    for options in [&["--json"][..], &["--json", "--retry", "1"]] {
        let case = Case::new(&[INIT, wait, RESULT].concat());
        let tools = case.path("tools");
        fs::create_dir(&tools).expect("made");
        let names = [
            "cr-runs",
            "cr-spawn",
            "cr-git",
            "cr-filter",
            "cr-summarize",
            "cr-orchestrate",
        ];
        for name in names {
            fs::copy(bin(name), tools.join(name)).expect("copied");
        }
        let script = tools.join("claude-runner");
        fs::copy(runner_script(), &script).expect("copied");
        let mut command = case.command(&script);
        command.args(options).arg("go");
        let run = case.begin(command);
        until("the agent is up", || case.path("home/got").exists());
        // As an installation does it; a new version has other tools.
        for name in names.iter().chain(&["claude-runner"]) {
            let new = case.script("new-tool", "exit 99\n");
            fs::rename(new, tools.join(name)).expect("renamed");
        }
        fs::write(case.path("home/go"), "").expect("written");
        let done = run.end();
        assert_eq!(done.code(), Some(0), "{options:?} {done:?}");
        let summary: Value = serde_json::from_str(&done.out).expect("a summary");
        assert_eq!(summary["outcome"], "success", "{options:?}");
        case.wait_for_nobody();
    }
}
