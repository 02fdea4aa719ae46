//! What belongs to the user stays as it is, byte by byte.

use std::fs;

use cr_worktree::{Removal, Verdict};

use crate::case::{Case, isolated, merged};

fn state(case: &Case) -> Vec<(&'static str, String)> {
    let bytes = |name: &str| {
        let text = fs::read(case.top().join(".git").join(name)).unwrap_or_default();
        format!("{text:?}")
    };
    vec![
        ("index", bytes("index")),
        ("config", bytes("config")),
        ("HEAD", bytes("HEAD")),
        ("log of HEAD", bytes("logs/HEAD")),
        ("ORIG_HEAD", bytes("ORIG_HEAD")),
        ("exclude", bytes("info/exclude")),
        ("stash", case.git("stash list")),
        (
            "status",
            case.git("--no-optional-locks status --porcelain -uall"),
        ),
        ("files", case.shell_in(&case.top(), "cat a b new")),
        (
            "refs",
            case.git("for-each-ref")
                .lines()
                .filter(|line| {
                    let ours = ["refs/heads/cr/", "refs/heads/cr-task/", "refs/notes/cr"];
                    !ours.iter().any(|prefix| line.contains(prefix))
                })
                .collect(),
        ),
    ]
}

fn entries(case: &Case) -> String {
    case.shell_in(&case.top().join(".git"), "ls -A")
}

#[test]
fn the_index_the_tree_the_branch_and_the_configuration_are_the_users() {
    isolated(|case| {
        case.write("b", "stashed\n");
        case.git("stash -q");
        case.write("a", "staged\n");
        case.git("add a");
        case.write("a", "dirty\n");
        case.write("new", "new\n");
        let (before, dir) = (state(case), entries(case));
        let one = case.task("one", "x", "x\n");
        let two = case.task("two", "a", "two\n");
        let three = case.task("three", "a", "three\n");
        merged(case.merge("one", &one));
        case.merge_if("two", &two, |_| Verdict::Red("no".to_owned()));
        merged(case.merge("two", &two));
        case.merge("three", &three);
        let worktree = case.create("one").worktree;
        let repository = case.open();
        repository
            .remove(&worktree, Removal::IfMerged)
            .expect("asked");
        let zero = std::time::Duration::ZERO;
        repository.gc(&case.dir, zero, |_| true).expect("collected");
        for (before, after) in before.into_iter().zip(state(case)) {
            assert_eq!(before, after);
        }
        let now = entries(case);
        let new: Vec<&str> = now
            .lines()
            .filter(|l| !dir.lines().any(|d| d == *l))
            .collect();
        assert_eq!(new, ["cr.lock", "worktrees"]);
    });
}
