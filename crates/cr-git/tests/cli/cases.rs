//! The line of `end` for each kind of change in a repository.

use std::fs;

use serde_json::{Value, json};

use crate::place::{Place, numbers, os, paths, subjects};

fn four(files: u64, inserted: u64, deleted: u64, uncommitted: u64) -> [Option<u64>; 4] {
    [files, inserted, deleted, uncommitted].map(Some)
}

#[test]
fn g1_two_commits_and_what_is_left_uncommitted() {
    let place = Place::new();
    let before = place.head();
    let end = place.run(|p| {
        p.write("one", "1\n");
        p.commit("one");
        p.write("two", "1\n2\n");
        p.commit("two");
        p.write("u1", "");
        p.write("d/1", "");
        p.write("d/2", "");
        p.write("a.txt", "changed\n");
    });
    let after = place.head();
    assert_eq!(end["start_sha"], before[..7]);
    assert_eq!(end["start_sha_full"], before);
    assert_eq!(end["end_sha"], after[..7]);
    assert_eq!(end["end_sha_full"], after);
    assert_eq!(end["branch"], "main");
    assert_eq!(end["start"], "commit");
    assert_eq!(subjects(&end["commits"]), ["two", "one"]);
    assert_eq!(end["commits"][0], format!("{} two", &after[..7]));
    assert_eq!(numbers(&end), four(2, 3, 0, 3));
    assert_eq!(end["dirty_before"], 0);
    assert_eq!(paths(&end), ["one", "two", "a.txt", "d/", "u1"]);
    let flags = |i: usize| {
        (
            &end["files"][i]["committed"],
            &end["files"][i]["uncommitted"],
        )
    };
    assert_eq!(flags(0), (&json!(true), &json!(false)));
    assert_eq!(flags(4), (&json!(false), &json!(true)));
    assert_eq!(end["rewritten"], false);
    assert_eq!(end["rewound"], false);
    assert_eq!(end["agent_commits"].as_array().map(Vec::len), Some(2));
    assert_eq!(end["other_refs"], json!([]));
    assert_eq!(end["error"], Value::Null);
}

#[test]
fn g2_commits_after_an_unborn_head_are_compared_with_nothing() {
    let place = Place::unborn();
    let end = place.run(|p| {
        p.write("one", "1\n");
        p.commit("one");
        p.write("two", "1\n2\n");
        p.commit("two");
    });
    assert_eq!(end["start"], "unborn");
    assert_eq!(end["start_sha"], Value::Null);
    assert_eq!(subjects(&end["commits"]), ["two", "one"]);
    assert_eq!(numbers(&end), four(2, 3, 0, 0));
}

#[test]
fn g2_a_head_that_stays_unborn_has_no_commits() {
    let end = Place::unborn().run(|p| p.write("u", ""));
    assert_eq!(end["commits"], json!([]));
    assert_eq!(end["end_sha"], Value::Null);
    assert_eq!(end["branch"], "main");
    assert_eq!(numbers(&end), four(0, 0, 0, 1));
}

#[test]
fn g3_an_amended_commit_is_rewritten_history() {
    let place = Place::new();
    place.write("b", "1\n");
    place.commit("to be amended");
    let end = place.run(|p| {
        p.write("c", "1\n");
        p.git(&["add", "c"]);
        p.git(&["commit", "-q", "--amend", "-m", "amended"]);
    });
    assert_eq!(subjects(&end["commits"]), ["amended"]);
    assert_eq!(numbers(&end), four(1, 1, 0, 0));
    assert_eq!(
        (&end["rewritten"], &end["rewound"]),
        (&json!(true), &json!(false))
    );
}

#[test]
fn g4_a_head_that_went_back_is_rewound() {
    let place = Place::new();
    place.write("b", "1\n");
    place.commit("gone");
    let end = place.run(|p| drop(p.git(&["reset", "-q", "--hard", "HEAD~1"])));
    assert_eq!(end["commits"], json!([]));
    assert_eq!(numbers(&end), four(1, 0, 1, 0));
    assert_eq!(
        (&end["rewritten"], &end["rewound"]),
        (&json!(false), &json!(true))
    );
}

#[test]
fn g5_commits_left_on_another_branch_are_reported() {
    let place = Place::new();
    let end = place.run(|p| {
        p.git(&["checkout", "-q", "-b", "feat"]);
        p.write("b", "1\n");
        p.commit("on feat");
        p.git(&["checkout", "-q", "main"]);
    });
    assert_eq!(end["commits"], json!([]));
    assert_eq!(numbers(&end), four(0, 0, 0, 0));
    let other = &end["other_refs"][0];
    assert_eq!(other["ref"], "refs/heads/feat");
    assert_eq!(other["from"], Value::Null);
    assert_eq!(subjects(&other["commits"]), ["on feat"]);
    assert_eq!(end["agent_commits"], json!([other["to"]]));
    assert_eq!(
        (&end["rewritten"], &end["rewound"]),
        (&json!(false), &json!(false))
    );
}

#[test]
fn g5_a_branch_that_was_there_before_is_not_the_runs_work() {
    let place = Place::new();
    place.git(&["checkout", "-q", "-b", "old"]);
    place.write("b", "1\n");
    place.commit("on old");
    place.git(&["checkout", "-q", "main"]);
    place.write("c", "1\n");
    place.commit("on main");
    let end = place.run(|p| drop(p.git(&["checkout", "-q", "old"])));
    assert_eq!(
        (&end["start_branch"], &end["branch"]),
        (&json!("main"), &json!("old"))
    );
    assert_eq!(end["agent_commits"], json!([]));
    assert_eq!(end["other_refs"], json!([]));
    assert_eq!(end["rewritten"], false, "main is where it was");
}

#[test]
fn g6_a_merge_brings_both_sides() {
    let place = Place::new();
    let end = place.run(|p| {
        p.git(&["checkout", "-q", "-b", "feat"]);
        p.write("feat", "1\n");
        p.commit("feat");
        p.git(&["checkout", "-q", "main"]);
        p.write("onmain", "1\n");
        p.commit("onmain");
        p.git(&["merge", "-q", "--no-ff", "-m", "merged", "feat"]);
    });
    assert_eq!(subjects(&end["commits"]), ["merged", "onmain", "feat"]);
    assert_eq!(numbers(&end), four(2, 2, 0, 0));
}

#[test]
fn g7_what_was_dirty_before_and_left_alone_is_told_apart() {
    let place = Place::new();
    place.write("kept", "1\n");
    place.write("touched", "1\n");
    place.write("same size", "1\n");
    place.write("committed", "1\n");
    place.commit("files");
    for file in ["kept", "touched", "same size", "committed"] {
        place.write(file, "2\n");
    }
    place.write("new/kept", "1\n");
    place.write("newer/touched", "1\n");
    let end = place.run(|p| {
        p.write("touched", "3 and longer\n");
        let times = fs::metadata(p.path().join("same size")).expect("there");
        p.write("same size", "3\n");
        let file = fs::File::options()
            .write(true)
            .open(p.path().join("same size"));
        let modified = times.modified().expect("a time");
        file.and_then(|f| f.set_modified(modified))
            .expect("set back");
        p.git(&["add", "committed"]);
        p.git(&["commit", "-q", "-m", "the user's"]);
        p.write("newer/touched", "2\n");
        p.write("mine", "1\n");
    });
    assert_eq!(end["uncommitted_changes"], 6);
    assert_eq!(end["dirty_before"], 2, "kept and new/");
    assert_eq!(
        paths(&end),
        ["committed", "same size", "touched", "mine", "newer/"]
    );
}

#[test]
fn g8_a_rename_and_a_binary_are_a_file_each() {
    let place = Place::new();
    place.write("old name", "a line\nand another\n");
    place.commit("names");
    let end = place.run(|p| {
        p.git(&["mv", "old name", "new name"]);
        p.write("bin", b"\0\xff\0");
        p.commit("both");
    });
    assert_eq!(numbers(&end), four(2, 0, 0, 0));
    let bin = &end["files"][0];
    assert_eq!(
        (&bin["path"], &bin["insertions"]),
        (&json!("bin"), &Value::Null)
    );
    let renamed = &end["files"][1];
    assert_eq!(renamed["status"], "R");
    assert_eq!(renamed["from"], "old name");
}

#[test]
fn g9_colour_and_decoration_of_the_user_do_not_reach_the_subjects() {
    let place = Place::new();
    for (key, value) in [
        ("color.ui", "always"),
        ("log.decorate", "full"),
        ("log.showSignature", "true"),
        ("log.abbrevCommit", "false"),
        ("format.pretty", "fuller"),
        ("diff.renames", "false"),
        ("diff.noprefix", "true"),
        ("status.showUntrackedFiles", "no"),
        ("status.relativePaths", "true"),
        ("status.showStash", "true"),
        ("core.quotePath", "true"),
        ("core.abbrev", "4"),
    ] {
        place.git(&["config", "--global", key, value]);
    }
    let end = place.run(|p| {
        p.write("ä", "1\n");
        let id = p.commit("plain");
        p.write("u", "");
        assert_eq!(id.len(), 40);
    });
    let expected = format!("{} plain", &place.head()[..7]);
    assert_eq!(end["commits"], json!([expected]));
    assert_eq!(numbers(&end), four(1, 1, 0, 1));
    assert_eq!(paths(&end), ["ä", "u"]);
}

#[test]
fn g10_a_file_named_like_a_statistic_is_a_file() {
    let end = Place::new().run(|p| {
        p.write("5 files changed", "1\n");
        p.commit("5 files changed, 100 insertions(+)");
    });
    assert_eq!(numbers(&end), four(1, 1, 0, 0));
}

#[test]
fn g11_an_empty_commit_is_a_commit() {
    let end = Place::new().run(|p| drop(p.commit("empty")));
    assert_eq!(subjects(&end["commits"]), ["empty"]);
    assert_eq!(numbers(&end), four(0, 0, 0, 0));
}

#[test]
fn g12_from_a_subdirectory_the_whole_repository_counts() {
    let place = Place::new();
    place.write("sub/x", "1\n");
    place.commit("sub");
    let start = place.cr(&["start", "--cwd", "sub"]).output();
    let start = crate::place::line_of(start.expect("runs"));
    place.write("sub/in", "1\n");
    place.write("out", "1\n");
    place.commit("both");
    place.write("u", "");
    let end = place.end(&start);
    assert_eq!(numbers(&end), four(2, 2, 0, 1));
    assert_eq!(paths(&end), ["out", "sub/in", "u"]);
}

#[test]
fn the_git_variables_of_the_caller_do_not_count() {
    let place = Place::new();
    let other = Place::new();
    let hostile = [
        ("GIT_DIR", other.path().join(".git")),
        ("GIT_WORK_TREE", other.path()),
        ("GIT_INDEX_FILE", other.path().join("nothing")),
        ("GIT_OBJECT_DIRECTORY", other.path()),
        ("GIT_NAMESPACE", "x".into()),
        ("GIT_TRACE", "1".into()),
        ("GIT_CONFIG_COUNT", "x".into()),
        ("GIT_CONFIG_PARAMETERS", "x".into()),
        ("GIT_EXTERNAL_DIFF", "/nothing".into()),
        ("GIT_CEILING_DIRECTORIES", place.path()),
    ];
    let start = place.cr(&["start"]).envs(hostile.clone()).output();
    let start = crate::place::line_of(start.expect("runs"));
    place.write("f", "1\n");
    place.commit("one");
    let mut command = place.cr(&["end"]);
    command.envs(hostile);
    let output = crate::place::feed(&mut command, start.as_bytes());
    let text = crate::place::line_of(output);
    let end = crate::place::json(&text[start.len()..]);
    assert_eq!(subjects(&end["commits"]), ["one"]);
    assert_eq!(numbers(&end), four(1, 1, 0, 0));
    assert_eq!(end["dirty_before"], 0);
}

#[test]
fn names_of_any_bytes_come_back() {
    let place = Place::new();
    let names: &[&[u8]] = &[
        b"new\nline",
        b"\xff\xfe not text",
        b"tab\tand \"quotes\"",
        b"-rf",
        b"--upload-pack=x",
        b"$(touch x)",
        b":(glob)*",
        b" blank ",
        b"\x1b[31mred",
    ];
    let start = place.start();
    for name in names {
        place.write(os(name), "1\n");
    }
    let end = place.end(&start);
    let found = |key: &str| -> Vec<String> {
        let files = end["files"].as_array().expect("a list");
        files
            .iter()
            .filter_map(|f| Some(f[key].as_str()?.to_owned()))
            .collect()
    };
    let mut expected: Vec<_> = names.iter().map(|n| String::from_utf8_lossy(n)).collect();
    expected.sort();
    let mut got = found("path");
    got.sort();
    assert_eq!(got, expected);
    assert_eq!(found("path_b64"), ["//4gbm90IHRleHQ="]);
    place.commit("all");
    let end = place.end(&start);
    assert_eq!(end["changed_files"], names.len());
    assert_eq!(end["uncommitted_changes"], 0);
}

#[test]
fn after_fifty_files_there_is_a_number() {
    let place = Place::new();
    let end = place.run(|p| {
        for i in 0..60 {
            p.write(format!("f{i:02}"), "");
        }
        p.commit("many");
        for i in 0..120 {
            p.git(&["commit", "-q", "--allow-empty", "-m", &format!("c{i}")]);
        }
    });
    assert_eq!(end["files"].as_array().map(Vec::len), Some(50));
    assert_eq!(end["files_more"], 10);
    assert_eq!(end["changed_files"], 60);
    assert_eq!(end["commits"].as_array().map(Vec::len), Some(100));
    assert_eq!(end["commits_more"], 21);
}
