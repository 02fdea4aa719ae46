//! Merging: what is green, what is red, what is protected.

use std::fs;
use std::path::PathBuf;

use cr_worktree::{Outcome, ProtectedChange, Verdict, VerifyResult};

use crate::case::{isolated, merged, write};

#[test]
fn each_task_is_one_commit_of_the_first_parents_with_a_receipt() {
    isolated(|case| {
        let base = case.git("rev-parse HEAD");
        let one = case.task("one", "x", "x\n");
        let two = case.task("two", "y", "y\n");
        let first = merged(case.merge("one", &one));
        let second = merged(case.merge("two", &two));
        let log = case.git("log --first-parent --format=%H cr/r1");
        assert_eq!(log.lines().collect::<Vec<_>>(), [&*second, &*first, &*base]);
        let task = case.git("log -1 --format='%an %cn %s|%(trailers:key=Cr-Task)' cr/r1");
        assert_eq!(task, "A C Add it|Cr-Task: two");
        let receipts = case.open().receipts("r1").expect("read");
        let found: Vec<_> = receipts.iter().map(|(sha, r)| (&**sha, &*r.task)).collect();
        assert_eq!(found, [(&*first, "one"), (&*second, "two")]);
        let receipt = &receipts[1].1;
        assert_eq!((receipt.attempt, &*receipt.head), (1, &*two));
        assert_eq!(receipt.result, VerifyResult::Green);
        assert_eq!(receipt.cost_usd, Some(0.25));
        case.assert_clean();
        let again = case.merge("one", &one);
        assert_eq!(again, Outcome::AlreadyMerged { sha: first });
        assert_eq!(case.tip(), second);
        assert_eq!(case.merge("none", &base), Outcome::Nothing);
    });
}

#[test]
fn two_tasks_that_are_green_alone_and_red_together_are_not_both_merged() {
    isolated(|case| {
        let one = case.task("one", "x", "x\n");
        let two = case.task("two", "y", "y\n");
        let verify = |dir: &std::path::Path| {
            let both = dir.join("x").exists() && dir.join("y").exists();
            write(&dir.join("left-by-verify"), "");
            if both {
                Verdict::Red("x and y do not go together".to_owned())
            } else {
                Verdict::Green
            }
        };
        let first = merged(case.merge_if("one", &one, verify));
        case.assert_clean();
        let output = "x and y do not go together".to_owned();
        assert_eq!(case.merge_if("two", &two, verify), Outcome::Red { output });
        assert_eq!(case.tip(), first);
        case.assert_clean();
    });
}

#[test]
fn a_conflict_names_the_files_and_leaves_the_branch() {
    isolated(|case| {
        let one = case.task("one", "a", "from one\n");
        let two = case.task("two", "a", "from two\n");
        let first = merged(case.merge("one", &one));
        let Outcome::Conflict { files, text } = case.merge("two", &two) else {
            panic!("no conflict");
        };
        assert_eq!(files, [PathBuf::from("a")]);
        assert!(text.starts_with("CONFLICT (content)"), "{text}");
        assert_eq!(case.tip(), first);
        case.assert_clean();
    });
}

#[test]
fn a_task_that_changes_its_own_gate_is_refused() {
    isolated(|case| {
        case.write("tests/check", "strict\n");
        case.commit_in(&case.top(), "a gate");
        // The base of the run is the first commit; the gate is on its branch.
        let gate = case.task("gate", "other", "x\n");
        merged(case.merge("gate", &gate));
        let weak = case.task("weak", "tests/check", "weak\n");
        let before = case.tip();
        let mut seen = String::new();
        let mut look = |dir: &std::path::Path| {
            seen = fs::read_to_string(dir.join("tests/check")).expect("there");
            seen += &format!("new: {}", dir.join("tests/new").exists());
            Verdict::Green
        };
        let refuse = (&["tests/**"][..], ProtectedChange::Refuse);
        let files = vec![PathBuf::from("tests/check")];
        let outcome = case.merge_protected("weak", &weak, refuse, &mut look);
        assert_eq!(outcome, Outcome::Protected { files });
        assert_eq!(case.tip(), before);
        // Allowed, but proven with the old files.
        write(&case.place("weak").join("tests/new"), "");
        let weak = case.commit_in(&case.place("weak"), "one more");
        let old = (&["tests/**"][..], ProtectedChange::VerifyWithOld);
        merged(case.merge_protected("weak", &weak, old, &mut look));
        assert_eq!(seen, "strict\nnew: false");
        assert_eq!(case.git("show cr/r1:tests/check"), "weak");
        case.assert_clean();
    });
}

#[test]
fn a_task_that_may_change_the_gate_is_proven_with_the_new_one() {
    isolated(|case| {
        let head = case.task("gate", "a", "new\n");
        let mut seen = Vec::new();
        let mut look = |dir: &std::path::Path| {
            seen = fs::read(dir.join("a")).expect("there");
            Verdict::Green
        };
        let new = (&["a"][..], ProtectedChange::VerifyWithNew);
        merged(case.merge_protected("gate", &head, new, &mut look));
        assert_eq!(seen, b"new\n");
    });
}

#[test]
fn leftovers_in_the_merge_worktree_do_not_matter() {
    isolated(|case| {
        let one = case.task("one", "x", "x\n");
        let two = case.task("two", "y", "y\n");
        merged(case.merge("one", &one));
        let dir = case.merge_dir();
        let admin = case.git_in(&dir, "rev-parse --absolute-git-dir");
        case.git_in(&dir, &format!("merge -q --no-commit --no-ff {two}"));
        write(&PathBuf::from(&admin).join("index.lock"), "");
        write(&dir.join("a"), "half\n");
        write(&dir.join("nested/.git/HEAD"), "ref: refs/heads/x\n");
        merged(case.merge("two", &two));
        case.assert_clean();
        assert_eq!(case.git("show cr/r1:a"), "one");
        // One whose administration is broken is made anew.
        fs::write(PathBuf::from(&admin).join("HEAD"), "broken").expect("written");
        let three = case.task("three", "z", "z\n");
        merged(case.merge("three", &three));
        case.assert_clean();
    });
}

#[test]
fn a_verification_that_moves_the_branch_is_repeated() {
    isolated(|case| {
        let one = case.task("one", "x", "x\n");
        let mut runs = 0;
        let sha = merged(case.merge_if("one", &one, |_| {
            runs += 1;
            if runs == 1 {
                let tree = case.git("rev-parse HEAD^{tree}");
                let other = case.git(&format!("commit-tree {tree} -p HEAD -m other"));
                case.git(&format!("update-ref refs/heads/cr/r1 {other}"));
            }
            Verdict::Green
        }));
        assert_eq!((runs, case.tip()), (2, sha));
        assert_eq!(case.git("log --format=%s -1 cr/r1^1"), "other");
    });
}

#[test]
fn names_of_files_are_any_bytes() {
    isolated(|case| {
        let names = "-rf '$(touch canary)' 'a\nb' ':(top)x' '*' 'ä' \"$(printf 'x\\377')\"";
        let dir = case.create("one").worktree.dir;
        case.shell_in(
            &dir,
            &format!("for f in {names}; do echo 1 > ./\"$f\"; done"),
        );
        let one = case.commit_in(&dir, "names");
        let dir = case.create("two").worktree.dir;
        case.shell_in(
            &dir,
            &format!("for f in {names}; do echo 2 > ./\"$f\"; done"),
        );
        let two = case.commit_in(&dir, "names");
        let commits = case.open().commits("HEAD", &one).expect("listed");
        assert_eq!((commits.len(), commits[0].files.len()), (1, 7));
        assert_eq!((&*commits[0].sha, &*commits[0].subject), (&*one, "names"));
        merged(case.merge("one", &one));
        let Outcome::Conflict { mut files, .. } = case.merge("two", &two) else {
            panic!("no conflict");
        };
        files.sort();
        let mut expected = commits[0].files.clone();
        expected.sort();
        assert_eq!(files, expected);
        let mut verify = |_: &std::path::Path| Verdict::Green;
        write(&dir.join("p\nq"), "");
        case.git_in(&dir, "reset -q --hard HEAD~");
        write(&dir.join("p\nq"), "");
        let three = case.commit_in(&dir, "protected");
        for change in [ProtectedChange::Refuse, ProtectedChange::VerifyWithOld] {
            case.merge_protected("two", &three, (&["p*"], change), &mut verify);
        }
        assert_eq!(case.git("rev-parse cr/r1^2"), three);
    });
}

#[test]
fn hooks_never_run_and_filters_do() {
    isolated(|case| {
        let canary = case.dir.join("canary");
        for name in [
            "post-checkout",
            "pre-commit",
            "commit-msg",
            "pre-merge-commit",
            "post-merge",
            "prepare-commit-msg",
            "reference-transaction",
            "post-index-change",
            "pre-auto-gc",
        ] {
            let hook = case.top().join(".git/hooks").join(name);
            let body = format!("#!/bin/sh\necho {name} >> {}\nexit 1\n", canary.display());
            write(&hook, &body);
            case.shell_in(&case.top(), &format!("chmod 755 .git/hooks/{name}"));
        }
        let quiet = "-c core.hooksPath=/dev/null";
        case.git("config filter.upper.smudge 'tr a-z A-Z'");
        case.git("config filter.upper.clean 'tr A-Z a-z'");
        case.write(".gitattributes", "*.up filter=upper\n");
        case.write("f.up", "text\n");
        case.git(&format!("{quiet} add -A"));
        case.git(&format!("{quiet} commit -qm filter"));
        let dir = case.create("one").worktree.dir;
        assert_eq!(fs::read(dir.join("f.up")).expect("there"), b"TEXT\n");
        write(&dir.join("x"), "x\n");
        case.git_in(&dir, &format!("{quiet} add -A"));
        case.git_in(&dir, &format!("{quiet} commit -qm x"));
        let head = case.git_in(&dir, "rev-parse HEAD");
        fs::remove_file(&canary).ok();
        merged(case.merge("one", &head));
        let brought = case.open().bring_into("r1", "main").expect("brought");
        assert!(
            matches!(brought, cr_worktree::Brought::FastForward { .. }),
            "{brought:?}"
        );
        let created = case.create("one");
        let removal = cr_worktree::Removal::IfMerged;
        case.open()
            .remove(&created.worktree, removal)
            .expect("removed");
        let said = fs::read_to_string(&canary).unwrap_or_default();
        assert_eq!(said, "");
    });
}
