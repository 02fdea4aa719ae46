//! Repositories in an unusual state, or none: the output is defined.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::place::{Place, feed, line_of, numbers, subjects};

#[test]
fn g3_no_repository_is_an_answer_and_git_stays_silent() {
    let place = Place::bare();
    let start = place.start();
    let seen: Value = serde_json::from_str(&start).expect("JSON");
    assert_eq!(seen["repository"], false);
    assert_eq!(seen["start_sha"], Value::Null);
    assert_eq!(seen["error"], Value::Null);
    let end = place.end(&start);
    assert_eq!(end["repository"], false);
    assert_eq!(end["commits"], Value::Null);
    assert_eq!(end["uncommitted_changes"], Value::Null);
    assert_eq!(end["error"], Value::Null);
}

#[test]
fn g3_a_detached_head_has_no_branch() {
    let place = Place::new();
    place.git(&["checkout", "-q", "--detach"]);
    let end = place.run(|p| drop(p.commit("detached")));
    assert_eq!(end["branch"], Value::Null);
    assert_eq!(subjects(&end["commits"]), ["detached"]);
    assert_eq!(end["rewritten"], false);
}

#[test]
fn g3_a_rebase_under_way_is_named() {
    let place = Place::new();
    place.git(&["checkout", "-q", "-b", "feat"]);
    place.write("a.txt", "feat\n");
    place.commit("feat");
    place.git(&["checkout", "-q", "main"]);
    place.write("a.txt", "main\n");
    place.commit("main");
    let end = place.run(|p| {
        let rebase = p.command("git").args(["rebase", "-q", "feat"]).output();
        assert!(!rebase.expect("runs").status.success());
    });
    assert_eq!(end["in_progress"], "rebase");
    assert_eq!(end["branch"], Value::Null);
    assert_eq!(end["uncommitted_changes"], 1);
    assert_eq!(end["files"][0]["path"], "a.txt");
    assert_eq!(end["files"][0]["uncommitted"], true);
    assert_eq!(end["error"], Value::Null);
}

#[test]
fn g3_a_rebased_branch_is_rewritten() {
    let place = Place::new();
    let base = place.head();
    place.write("b", "1\n");
    place.commit("mine");
    place.git(&["checkout", "-q", "-b", "other", &base]);
    place.write("c", "1\n");
    place.commit("theirs");
    place.git(&["checkout", "-q", "main"]);
    let end = place.run(|p| drop(p.git(&["rebase", "-q", "other"])));
    assert_eq!(end["rewritten"], true);
    assert_eq!(subjects(&end["commits"]), ["mine", "theirs"]);
    assert_eq!(end["agent_commits"].as_array().map(Vec::len), Some(1));
}

#[test]
fn g3_a_shallow_clone_says_so() {
    let place = Place::new();
    place.commit("second");
    let clone = place.beside("clone");
    let from = format!("file://{}", place.path().display());
    let to = clone.to_str().expect("text");
    place.git(&["clone", "-q", "--depth=1", &from, to]);
    let start = line_of(place.cr(&["start", "--cwd", to]).output().expect("runs"));
    fs::write(clone.join("x"), "1\n").expect("written");
    place.git(&["-C", to, "add", "x"]);
    place.git(&["-C", to, "commit", "-q", "-m", "third"]);
    let end = place.end(&start);
    assert_eq!(end["shallow"], true);
    assert_eq!(subjects(&end["commits"]), ["third"]);
    assert_eq!(numbers(&end), [Some(1), Some(1), Some(0), Some(0)]);
}

#[test]
fn g3_a_linked_work_tree_is_its_own_head_in_the_same_repository() {
    let place = Place::new();
    let tree = place.beside("tree");
    let dir = tree.to_str().expect("text");
    place.git(&["worktree", "add", "-q", "-b", "side", dir]);
    let start = line_of(place.cr(&["start", "--cwd", dir]).output().expect("runs"));
    let seen: Value = serde_json::from_str(&start).expect("JSON");
    assert_eq!(seen["linked_worktree"], true);
    let shared = fs::canonicalize(place.path().join(".git")).expect("there");
    assert_eq!(seen["common_dir"], shared.to_str().expect("text"));
    place.write("main", "1\n");
    place.commit("in the main tree");
    fs::write(tree.join("x"), "1\n").expect("written");
    place.git(&["-C", dir, "add", "x"]);
    place.git(&["-C", dir, "commit", "-q", "-m", "in the side tree"]);
    let end = place.end(&start);
    assert_eq!(end["branch"], "side");
    assert_eq!(subjects(&end["commits"]), ["in the side tree"]);
    assert_eq!(end["other_refs"][0]["ref"], "refs/heads/main");
}

#[test]
fn g3_a_repository_of_sha256_is_read_alike() {
    let place = Place::bare();
    place.git(&["init", "-q", "-b", "main", "--object-format=sha256"]);
    let start = place.start();
    place.write("x", "1\n");
    let id = place.commit("first");
    assert_eq!(id.len(), 64);
    let end = place.end(&start);
    assert_eq!(end["end_sha_full"], id);
    assert_eq!(end["end_sha"], id[..7]);
    assert_eq!(numbers(&end), [Some(1), Some(1), Some(0), Some(0)]);
}

#[test]
fn g3_a_submodule_counts_with_its_commit_and_with_its_work_tree() {
    let place = Place::new();
    let inner = place.beside("inner");
    let dir = inner.to_str().expect("text");
    place.git(&["init", "-q", "-b", "main", dir]);
    place.git(&["-C", dir, "commit", "-q", "--allow-empty", "-m", "inner"]);
    place.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "-q",
        "add",
        dir,
        "sub",
    ]);
    place.commit("with a submodule");
    let start = place.start();
    assert_eq!(place.end(&start)["uncommitted_changes"], 0);

    place.write("sub/x", "1\n");
    let end = place.end(&start);
    assert_eq!(end["uncommitted_changes"], 1);
    assert_eq!(end["files"][0]["path"], "sub");

    let dirty = place.start();
    assert_eq!(place.end(&dirty)["dirty_before"], 1);
    place.git(&["-C", "sub", "add", "x"]);
    place.git(&["-C", "sub", "commit", "-q", "-m", "more"]);
    let end = place.end(&dirty);
    assert_eq!(end["dirty_before"], 0);
    assert_eq!(end["uncommitted_changes"], 1);

    place.commit("moved");
    let end = place.end(&start);
    assert_eq!(numbers(&end), [Some(1), Some(1), Some(1), Some(0)]);
}

#[test]
fn another_repository_at_the_end_is_not_compared() {
    let place = Place::new();
    let end = place.run(|p| {
        fs::rename(p.path().join(".git"), p.beside("stolen")).expect("moved");
        let other = p.beside("other");
        p.git(&["init", "-q", other.to_str().expect("text")]);
        p.write(".git", format!("gitdir: {}/.git\n", other.display()));
    });
    assert_eq!(end["error"], "another repository than at the start");
    assert_eq!(end["commits"], Value::Null);
}

#[test]
fn a_repository_that_vanished_leaves_the_stream_alone() {
    let place = Place::new();
    let end = place.run(|p| fs::remove_dir_all(p.path().join(".git")).expect("gone"));
    assert_eq!(end["repository"], false);
    let gone = Place::new();
    let start = gone.start();
    fs::remove_dir_all(gone.path()).expect("gone");
    let output = feed(gone.cr(&["end"]).current_dir("/"), start.as_bytes());
    let text = line_of(output);
    let end: Value = serde_json::from_str(&text[start.len()..]).expect("JSON");
    let error = end["error"].as_str().expect("text");
    assert!(error.ends_with("no such directory"), "{error}");
}

#[test]
fn a_start_that_was_collected_as_garbage_is_an_error_and_not_all_of_history() {
    let place = Place::new();
    place.commit("second");
    let end = place.run(|p| {
        p.git(&["commit", "-q", "--amend", "--allow-empty", "-m", "other"]);
        p.git(&["reflog", "expire", "--expire=now", "--all"]);
        p.git(&["gc", "-q", "--prune=now"]);
    });
    assert_eq!(end["commits"], Value::Null);
    let error = end["error"].as_str().expect("text");
    assert!(error.ends_with("no such commit"), "{error}");
}

#[test]
fn no_git_at_all_is_an_error_in_the_line() {
    let place = Place::new();
    let output = place.cr(&["start"]).env("PATH", "/nowhere").output();
    let start: Value = serde_json::from_str(&line_of(output.expect("runs"))).expect("JSON");
    assert_eq!(start["error"], "git: not found");
}

#[test]
fn a_git_that_hangs_is_given_up() {
    let place = Place::new();
    let bin = place.beside("bin");
    place.world.script("bin/git", "exec sleep 1000");
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let mut command = place.cr(&["start", "--git-timeout", "100ms"]);
    let output = command.env("PATH", path).output().expect("runs");
    let start: Value = serde_json::from_str(&line_of(output)).expect("JSON");
    assert_eq!(start["error"], "git: no answer within 0.1 s");
}

#[test]
fn g5_a_stale_lock_on_the_index_is_reported_and_stays() {
    let place = Place::new();
    let lock = place.path().join(".git/index.lock");
    fs::write(&lock, "").expect("written");
    let seen: Value = serde_json::from_str(&place.start()).expect("JSON");
    assert_eq!(seen["index_lock"]["holder"], Value::Null);
    assert!(seen["index_lock"]["age_seconds"].is_u64());
    assert_eq!(seen["error"], Value::Null);
    assert!(lock.exists());
}

#[test]
fn g5_a_lock_that_is_open_has_a_holder() {
    let place = Place::new();
    let lock = place.path().join(".git/index.lock");
    // In a process of its own: what this one has open, its children of other
    // tests have too for a moment.
    let line = format!("exec 9>'{}' && echo ready && read -r _", lock.display());
    let mut holder = place
        .world
        .shell(&line)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    let mut ready = String::new();
    let mut out = BufReader::new(holder.stdout.take().expect("piped"));
    out.read_line(&mut ready).expect("read");
    assert_eq!(ready, "ready\n");
    let seen: Value = serde_json::from_str(&place.start()).expect("JSON");
    assert_eq!(seen["index_lock"]["holder"], holder.id());
    drop(holder.stdin.take());
    holder.wait().expect("ended");
}

#[test]
fn g1_the_repository_is_not_written_to() {
    let place = Place::new();
    place.write("sub/b", "1\n");
    place.commit("sub");
    // Stale times in the index: `git status` would refresh it.
    place.write("a.txt", "a\n");
    place.write("u", "");
    let before = listing(&place);
    let start = place.start();
    place.end(&start);
    let scope = feed(&mut place.cr(&["scope", "--allow", "**"]), start.as_bytes());
    line_of(scope);
    assert_eq!(listing(&place), before);
}

/// Every file below the place with its times and size.
fn listing(place: &Place) -> Vec<String> {
    let args = ["-c", "find . -type f -printf '%p %s %T@ %C@ %i\\n' | sort"];
    let output = place.command("sh").args(args).output().expect("runs");
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_start_line_names_the_run() {
    let place = Place::new();
    let made: Value = serde_json::from_str(&place.start()).expect("JSON");
    let id = made["run_id"].as_str().expect("text");
    assert_eq!(id.len(), 25, "{id}");
    let given = place.cr(&["start"]).env("CR_RUN_ID", "my-run").output();
    let given: Value = serde_json::from_str(&line_of(given.expect("runs"))).expect("JSON");
    assert_eq!(given["run_id"], "my-run");
    assert_eq!(given["type"], "cr");
    assert_eq!(given["subtype"], "git");
    assert_eq!(given["phase"], "start");
    assert_eq!(given["dirty"], json!([]));
    let refused = place.cr(&["start"]).env("CR_RUN_ID", "../x").output();
    assert_eq!(refused.expect("runs").status.code(), Some(78));
}

#[test]
fn a_thousand_dirty_files_and_more_are_told_apart() {
    let place = Place::new();
    for i in 0..1200 {
        place.write(format!("f{i:04}"), "");
    }
    let start = place.start();
    assert_eq!(place.end(&start)["dirty_before"], 1200);
    place.write("f1199", "x");
    let end = place.end(&start);
    assert_eq!(end["dirty_before"], 1199);
    assert_eq!(end["files"][0]["path"], "f1199");
}

#[test]
fn a_secret_in_a_subject_or_a_name_is_masked() {
    let place = Place::new();
    let key = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    let start = place.start();
    place.write(format!("{key}.txt"), "1\n");
    place.commit(&format!("use {key}"));
    place.write(crate::place::os(&[key.as_bytes(), b"\xff"].concat()), "1\n");
    let end = place.end(&start).to_string();
    assert!(end.contains("[REDACTED:github-token]"), "{end}");
    assert!(!end.contains("abcdefghijkl"), "{end}");
    assert!(!end.contains("path_b64"), "{end}");
}

#[test]
fn t3_a_bare_repository_planted_in_the_tree_is_not_taken_for_one() {
    let place = Place::new();
    place.git(&["init", "-q", "--bare", "planted"]);
    place.git(&["-C", "planted", "config", "core.bare", "false"]);
    place.git(&["-C", "planted", "config", "core.worktree", ".."]);
    let output = place.cr(&["start", "--cwd", "planted"]).output();
    let seen: Value = serde_json::from_str(&line_of(output.expect("runs"))).expect("JSON");
    assert_eq!(seen["repository"], false);
    let error = seen["error"].as_str().expect("text");
    assert!(error.contains("cannot use bare repository"), "{error}");
}
