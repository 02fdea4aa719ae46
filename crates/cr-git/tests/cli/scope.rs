//! `cr-git scope`: all commits of the run and the work tree.

use std::fs;

use crate::place::{Place, feed, line_of, os};

/// The code and the names outside `globs` after `start`.
fn outside(place: &Place, start: &str, globs: &[&str]) -> (Option<i32>, Vec<String>) {
    let mut args = vec!["scope"];
    args.extend(globs.iter().flat_map(|glob| ["--allow", glob]));
    let output = feed(&mut place.cr(&args), start.as_bytes());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let text = String::from_utf8(output.stdout).expect("text");
    (
        output.status.code(),
        text.lines().map(str::to_owned).collect(),
    )
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn g6_every_commit_counts_and_so_does_the_work_tree() {
    let place = Place::new();
    let start = place.start();
    place.write("src/in", "1\n");
    place.write("early", "1\n");
    place.commit("first");
    place.git(&["rm", "-q", "early"]);
    place.commit("taken back");
    place.write("src/in", "2\n");
    place.commit("last");
    place.write("a.txt", "changed\n");
    place.write("d/new", "1\n");
    assert_eq!(
        outside(&place, &start, &["src/"]),
        (Some(5), names(&["a.txt", "d/new", "early"]))
    );
    assert_eq!(
        outside(&place, &start, &["src/", "*", "d/*"]),
        (Some(0), Vec::new())
    );
}

#[test]
fn nothing_changed_is_inside() {
    let place = Place::new();
    assert_eq!(
        outside(&place, &place.start(), &["x"]),
        (Some(0), Vec::new())
    );
}

#[test]
fn what_was_dirty_before_and_left_alone_is_not_the_runs() {
    let place = Place::new();
    place.write("b", "1\n");
    place.commit("b");
    place.write("a.txt", "dirty\n");
    place.write("d/old", "1\n");
    place.write("d/touched", "1\n");
    place.git(&["mv", "b", "c"]);
    let start = place.start();
    assert_eq!(outside(&place, &start, &["x"]), (Some(0), Vec::new()));
    place.write("d/new", "1\n");
    place.write("d/touched", "2\n");
    assert_eq!(
        outside(&place, &start, &["x"]),
        (Some(5), names(&["d/new", "d/touched"]))
    );
}

#[test]
fn both_names_of_a_rename_count() {
    let place = Place::new();
    let start = place.start();
    place.git(&["mv", "a.txt", "b.txt"]);
    let both = (Some(5), names(&["a.txt", "b.txt"]));
    assert_eq!(outside(&place, &start, &["x"]), both);
    place.commit("renamed");
    assert_eq!(outside(&place, &start, &["x"]), both);
}

#[test]
fn a_commit_left_on_another_branch_counts() {
    let place = Place::new();
    let start = place.start();
    place.git(&["checkout", "-q", "-b", "feat"]);
    place.write("out", "1\n");
    place.commit("out");
    place.git(&["checkout", "-q", "main"]);
    assert_eq!(outside(&place, &start, &["x"]), (Some(5), names(&["out"])));
}

#[test]
fn work_of_others_that_is_merged_does_not_count_but_what_the_merge_adds_does() {
    let place = Place::new();
    let base = place.head();
    place.write("theirs", "1\n");
    place.write("both", "theirs\n");
    place.commit("theirs");
    place.git(&["checkout", "-q", "-b", "mine", &base]);
    let start = place.start();
    place.write("src/mine", "1\n");
    place.write("both", "mine\n");
    place.commit("mine");
    let merge = place.command("git").args(["merge", "-q", "main"]).output();
    assert!(!merge.expect("runs").status.success());
    place.write("both", "resolved\n");
    place.commit("merged");
    assert_eq!(
        outside(&place, &start, &["src/"]),
        (Some(5), names(&["both"]))
    );
}

#[test]
fn an_amended_commit_counts_with_what_the_run_added_to_it() {
    let place = Place::new();
    place.write("already there", "1\n");
    place.commit("the user's");
    let start = place.start();
    place.write("src/x", "1\n");
    place.git(&["add", "src/x"]);
    place.git(&["commit", "-q", "--amend", "-m", "amended"]);
    assert_eq!(outside(&place, &start, &["src/"]), (Some(0), Vec::new()));
}

#[test]
fn going_back_counts_with_what_it_takes_away() {
    let place = Place::new();
    place.write("lost", "1\n");
    place.commit("lost");
    let start = place.start();
    place.git(&["reset", "-q", "--hard", "HEAD~1"]);
    assert_eq!(
        outside(&place, &start, &["src/"]),
        (Some(5), names(&["lost"]))
    );
}

#[test]
fn from_an_unborn_head_the_first_commit_counts() {
    let place = Place::unborn();
    let start = place.start();
    place.write("out", "1\n");
    place.write("src/in", "1\n");
    place.commit("first");
    assert_eq!(
        outside(&place, &start, &["src/"]),
        (Some(5), names(&["out"]))
    );
}

#[test]
fn a_commit_can_be_named_instead_of_a_stream() {
    let place = Place::new();
    place.write("out", "1\n");
    place.commit("one");
    place.commit("two");
    let args = ["scope", "--allow", "src/", "--base", "HEAD~2"];
    let output = place.cr(&args).output().expect("runs");
    assert_eq!(output.status.code(), Some(5));
    assert_eq!(output.stdout, b"out\n");
    let wrong = ["scope", "--allow", "src/", "--base", "nothing"];
    let output = place.cr(&wrong).output().expect("runs");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(output.stderr, b"cr-git: nothing: no such commit\n");
}

#[test]
fn a_name_is_one_line_whatever_it_holds() {
    let place = Place::new();
    let start = place.start();
    for name in [&b"a\nb"[..], b"\xff", b"\x1b[2J", b"back\\slash"] {
        place.write(os(name), "");
    }
    let expected = names(&[r"\x1b[2J", r"a\nb", r"back\\slash", r"\xff"]);
    assert_eq!(outside(&place, &start, &["src/"]), (Some(5), expected));
}

#[test]
fn what_cannot_be_checked_is_not_inside() {
    let place = Place::new();
    let code = |input: &[u8]| {
        let output = feed(&mut place.cr(&["scope", "--allow", "**"]), input);
        assert_eq!(output.stdout, b"");
        assert_ne!(output.stderr, b"");
        output.status.code()
    };
    assert_eq!(code(b""), Some(65), "no start line");
    let nowhere = Place::bare();
    assert_eq!(code(nowhere.start().as_bytes()), Some(65), "no repository");
    let start = place.start();
    fs::remove_dir_all(place.path().join(".git")).expect("gone");
    assert_eq!(code(start.as_bytes()), Some(66), "the repository is gone");
    let other = Place::new();
    place.write(".git", format!("gitdir: {}/.git\n", other.path().display()));
    assert_eq!(code(start.as_bytes()), Some(125), "another repository");
    let output = place.cr(&["scope"]).output().expect("runs");
    assert_eq!(output.status.code(), Some(2), "no glob");
}

#[test]
fn the_stream_may_be_a_file_and_long() {
    let place = Place::new();
    let file = place.beside("stream.ndjson");
    let noise = format!("{{\"type\":\"user\",\"x\":\"{}\"}}\n", "x".repeat(300_000));
    fs::write(&file, [noise.clone(), place.start(), noise].concat()).expect("written");
    place.write("out", "");
    let name = file.to_str().expect("text");
    let output = place
        .cr(&["scope", "--allow", "out", "--stream", name])
        .output();
    assert_eq!(line_of(output.expect("runs")), "");
}
