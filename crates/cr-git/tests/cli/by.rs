//! Whose commits they are.

use std::fs;

use serde_json::{Value, json};

use crate::place::{Place, feed, line_of, subjects};

/// The subjects of the commits that are the run's.
fn own(end: &Value) -> Vec<String> {
    let by = end["commits_by"].as_array().expect("a list");
    let all = subjects(&end["commits"]);
    assert_eq!(by.len(), all.len());
    for run in by.iter().filter(|run| !run.is_null()) {
        assert_eq!(*run, end["run_id"]);
    }
    let own = all.into_iter().zip(by).filter(|(_, run)| !run.is_null());
    own.map(|(subject, _)| subject.to_owned()).collect()
}

#[test]
fn a_commit_without_evidence_is_nobodys() {
    let place = Place::new();
    let start = place.start();
    place.commit("a person's");
    place.as_agent(|| place.commit("the agent's"));
    place.commit("a person's again");
    let end = place.end(&start);
    assert_eq!(end["commits"].as_array().map(Vec::len), Some(3));
    assert_eq!(own(&end), ["the agent's"]);
    assert_eq!(end["agent_commits"].as_array().map(Vec::len), Some(1));
}

#[test]
fn the_commits_of_a_stash_are_not_the_agents() {
    let place = Place::new();
    let end = place.run(|p| {
        p.write("a.txt", "changed\n");
        p.write("new", "1\n");
        p.git(&["stash", "-q", "--include-untracked"]);
    });
    assert_eq!(end["other_refs"][0]["ref"], "refs/stash");
    assert_eq!(end["agent_commits"], json!([]));
}

#[test]
fn every_command_that_makes_commits_is_evidence() {
    let place = Place::new();
    place.git(&["checkout", "-q", "-b", "side"]);
    place.write("side", "1\n");
    place.commit("on side");
    place.git(&["checkout", "-q", "-b", "more"]);
    place.write("more", "1\n");
    place.commit("picked");
    place.git(&["checkout", "-q", "main"]);
    let end = place.run(|p| {
        p.commit("to be amended");
        p.git(&["commit", "-q", "--amend", "--allow-empty", "-m", "amended"]);
        p.git(&["merge", "-q", "-m", "merged", "side"]);
        p.git(&["cherry-pick", "more"]);
        p.git(&["revert", "--no-edit", "HEAD"]);
    });
    let expected = ["Revert \"picked\"", "picked", "merged", "amended"];
    assert_eq!(own(&end), expected, "{end}");
    assert_eq!(end["agent_commits"].as_array().map(Vec::len), Some(4));
}

#[test]
fn a_rebase_makes_commits_and_a_fast_forward_does_not() {
    let place = Place::new();
    place.git(&["checkout", "-q", "-b", "other"]);
    let start = place.start();
    place.as_agent(|| {
        place.write("b", "1\n");
        place.commit("one");
        place.write("c", "1\n");
        place.commit("two");
    });
    place.git(&["checkout", "-q", "main"]);
    place.write("d", "1\n");
    place.commit("a person's");
    place.as_agent(|| {
        place.git(&["checkout", "-q", "other"]);
        place.git(&["rebase", "-q", "main"]);
        place.git(&["checkout", "-q", "main"]);
        place.git(&["merge", "-q", "--ff-only", "other"]);
    });
    let end = place.end(&start);
    assert_eq!(subjects(&end["commits"]), ["two", "one", "a person's"]);
    assert_eq!(own(&end), ["two", "one"]);
}

#[test]
fn it_holds_in_a_linked_work_tree_with_a_detached_head() {
    let place = Place::new();
    let tree = place.beside("tree");
    let path = tree.to_str().expect("text");
    place.git(&["worktree", "add", "-q", "--detach", path]);
    let start = place.cr(&["start", "--cwd", path]).output().expect("runs");
    let start = line_of(start);
    place.as_agent(|| {
        place.git(&["-C", path, "commit", "-q", "--allow-empty", "-m", "own"]);
        place.commit("in another work tree");
    });
    let theirs = ["-C", path, "commit", "-q", "--allow-empty", "-m", "theirs"];
    place.git(&theirs);
    let end = place.end(&start);
    assert_eq!(end["branch"], Value::Null);
    assert_eq!(subjects(&end["commits"]), ["theirs", "own"]);
    assert_eq!(own(&end), ["own"]);
}

#[test]
fn without_a_reflog_only_a_tool_result_is_evidence() {
    let place = Place::new();
    place.git(&["config", "core.logAllRefUpdates", "false"]);
    fs::remove_dir_all(place.path().join(".git/logs")).expect("removed");
    let start = place.start();
    let shown = place.as_agent(|| {
        place.commit("quiet");
        place.commit("shown")
    });
    let result = format!(
        r#"{{"type":"user","tool_use_result":{{"gitOperation":{{"commit":{{"sha":"{}"}}}}}}}}"#,
        &shown[..7]
    );
    let input = format!("{start}{result}\n");
    let mut command = place.cr(&["end", "--run-dir"]);
    let output = line_of(feed(
        command.arg(place.beside("agent-run")),
        input.as_bytes(),
    ));
    let end: Value = serde_json::from_str(output.lines().last().expect("a line")).expect("JSON");
    assert_eq!(own(&end), ["shown"]);
    assert_eq!(end["error"], Value::Null);
}

#[test]
fn packed_commits_are_found_by_the_time_in_the_reflog() {
    let place = Place::new();
    let start = place.start();
    place.as_agent(|| {
        let mut git = place.command("git");
        git.env_remove("GIT_COMMITTER_DATE");
        let done = git.args(["commit", "-q", "--allow-empty", "-m", "own"]);
        assert!(done.status().expect("runs").success());
    });
    place.commit("at a time of the past");
    place.git(&["gc", "-q"]);
    assert_eq!(own(&place.end(&start)), ["own"]);
}

#[test]
fn only_the_part_about_commits_of_a_trace_stays() {
    let place = Place::new();
    let start = place.start();
    place.as_agent(|| {
        place.git(&["status"]);
        place.commit("own");
    });
    let before = fs::metadata(place.trace()).expect("traced").len();
    assert_eq!(own(&place.end(&start)), ["own"]);
    let kept = fs::read_to_string(place.trace()).expect("kept");
    assert!((kept.len() as u64) < before / 3, "{kept}");
    assert!(!kept.contains(r#""status""#));
    assert_eq!(own(&place.end(&start)), ["own"], "the rest says the same");
}

#[test]
fn a_trace_that_is_no_trace_is_no_evidence() {
    let place = Place::new();
    let start = place.start();
    place.commit("a person's");
    for junk in [&b"\xff\0{}\n"[..], b"{\"event\":\"atexit\",\"sid\":\"\"}\n"] {
        fs::write(place.trace(), junk).expect("written");
        assert!(own(&place.end(&start)).is_empty());
    }
    fs::remove_file(place.trace()).expect("removed");
    let fifo = place.command("mkfifo").arg(place.trace()).status();
    assert!(fifo.expect("runs").success());
    assert!(own(&place.end(&start)).is_empty());
}
