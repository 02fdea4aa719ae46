//! Opening repositories and making worktrees.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::thread;

use cr_worktree::{NewWorktree, Repository};

use crate::case::{isolated, write};

#[test]
fn a_repository_says_what_it_is_based_on_and_what_is_dirty() {
    isolated(|case| {
        case.write("a", "dirty\n");
        let repository = Repository::open(&case.top().join(".")).expect("opened");
        assert_eq!(repository.base(), case.git("rev-parse HEAD"));
        assert_eq!(repository.branch(), Some("main".as_ref()));
        assert_eq!(repository.dirty(), ["a"].map(std::path::PathBuf::from));
        let file = repository.file(repository.base(), "a".as_ref());
        assert_eq!(file.expect("read").as_deref(), Some(&b"one\n"[..]));
        let file = repository.file(repository.base(), "none".as_ref());
        assert_eq!(file.expect("read"), None);
    });
}

#[test]
fn what_has_no_work_tree_or_no_commit_is_refused_in_words() {
    isolated(|case| {
        case.shell_in(
            &case.dir,
            "git init -q --bare bare; git init -q unborn; mkdir none",
        );
        for (name, reason) in [
            ("bare", "a bare repository has no work tree"),
            ("unborn", "the repository has no commit yet"),
            ("none", "not a git repository"),
        ] {
            let err = Repository::open(&case.dir.join(name)).expect_err("refused");
            assert!(format!("{err:#}").contains(reason), "{name}: {err:#}");
        }
    });
}

#[test]
fn a_worktree_is_on_a_branch_of_its_own_and_is_reused() {
    isolated(|case| {
        let created = case.create("a");
        let worktree = &created.worktree;
        assert!(!created.reused);
        assert_eq!(worktree.branch, "cr-task/r1/a.1");
        assert_eq!(
            case.git_in(&worktree.dir, "branch --show-current"),
            worktree.branch
        );
        write(&worktree.dir.join("new"), "work\n");
        let head = case.commit_in(&worktree.dir, "work");
        let again = case.create("a");
        assert!(again.reused);
        assert_eq!(again.worktree, *worktree);
        assert_eq!(case.git_in(&worktree.dir, "rev-parse HEAD"), head);
    });
}

#[test]
fn an_incomplete_worktree_is_made_anew() {
    isolated(|case| {
        let dir = case.create("a").worktree.dir;
        let admin = case.git_in(&dir, "rev-parse --absolute-git-dir");
        fs::remove_file(format!("{admin}/cr-owner.json")).expect("removed");
        fs::remove_file(dir.join("a")).expect("removed");
        assert!(!case.create("a").reused);
        assert!(dir.join("a").exists());
        // Deleted without git: its administration is stale.
        fs::remove_dir_all(&dir).expect("removed");
        assert!(!case.create("a").reused);
        // git was killed at once: there is a locked administration and no more.
        let stale = case.top().join(".git/worktrees/b.1");
        write(&stale.join("locked"), "initializing\n");
        case.create("b");
        assert!(case.place("b").join("a").exists());
        assert!(!stale.join("locked").exists());
        case.git("worktree prune");
        assert_eq!(case.git("worktree list").lines().count(), 3);
    });
}

#[test]
fn what_is_not_ours_is_neither_removed_nor_overwritten() {
    isolated(|case| {
        let dir = case.place("a");
        write(&dir.join("precious"), "mine\n");
        let repository = case.open();
        let new = NewWorktree {
            run: "r1",
            task: "a",
            attempt: 1,
            base: repository.base(),
            dir: &dir,
        };
        let err = repository.create(&new).expect_err("refused");
        assert!(
            format!("{err:#}").contains("no worktree of ours"),
            "{err:#}"
        );
        assert!(dir.join("precious").exists());
        // Commits without a worktree are not deleted either.
        fs::remove_dir_all(&dir).expect("removed");
        let head = case.task("a", "x", "work\n");
        case.git(&format!("worktree remove {}", dir.display()));
        let err = repository.create(&new).expect_err("refused");
        assert!(format!("{err:#}").contains("git branch -D"), "{err:#}");
        assert_eq!(case.git("rev-parse cr-task/r1/a.1"), head);
    });
}

#[test]
fn included_files_are_copied_and_links_are_not_followed() {
    isolated(|case| {
        case.write(".gitignore", ".env\nnode_modules/\nlink\nsecret\n");
        case.write(
            ".worktreeinclude",
            ".env\nnode_modules/\nlink\na\nnot-ignored\n",
        );
        case.git("add -A");
        case.git("commit -qm ignore");
        write(&case.dir.join("outside/x"), "outside\n");
        case.write(".env", "KEY=1\n");
        case.write("secret", "not named\n");
        case.write("not-ignored", "new\n");
        case.write("node_modules/p/i\nj.js", "js\n");
        let script = case.top().join("node_modules/p/run");
        write(&script, "#!/bin/sh\n");
        case.shell_in(
            &case.top(),
            "chmod 755 node_modules/p/run; ln -s ../outside link",
        );
        case.shell_in(&case.top(), "ln -s p/run node_modules/.bin; echo dirty > a");
        let created = case.create("a");
        let dir = created.worktree.dir;
        assert_eq!(created.copied, 5, "{:?}", created.notes);
        assert_eq!(fs::read(dir.join(".env")).expect("there"), b"KEY=1\n");
        assert!(dir.join("node_modules/p/i\nj.js").exists());
        assert_eq!(case.shell_in(&dir, "stat -c %a node_modules/p/run"), "755");
        let link = fs::read_link(dir.join("link")).expect("a link");
        assert_eq!(link.as_os_str().as_bytes(), b"../outside");
        assert!(!dir.join("secret").exists() && !dir.join("not-ignored").exists());
        assert_eq!(fs::read(dir.join("a")).expect("there"), b"one\n");
        assert_eq!(case.git_in(&dir, "status --porcelain"), "");
    });
}

#[test]
fn a_tracked_link_is_no_way_out_for_included_files() {
    isolated(|case| {
        case.write(".gitignore", "d/x\n");
        case.write(".worktreeinclude", "d/x\n");
        write(&case.dir.join("outside/keep"), "");
        let outside = case.dir.join("outside");
        case.shell_in(&case.top(), &format!("ln -s {} d", outside.display()));
        let base = case.commit_in(&case.top(), "a link");
        case.git("rm -q --cached d");
        case.shell_in(&case.top(), "rm d; mkdir d; echo x > d/x");
        let created = case.create_at("a", &base);
        assert_eq!(created.copied, 0);
        assert_eq!(created.notes.len(), 1, "{:?}", created.notes);
        assert!(!outside.join("x").exists());
    });
}

#[test]
fn the_sparse_checkout_of_the_user_is_kept() {
    isolated(|case| {
        case.write("in/x", "x\n");
        case.write("out/y", "y\n");
        case.commit_in(&case.top(), "directories");
        case.git("sparse-checkout set in");
        let head = case.task("a", "in/new", "work\n");
        let dir = case.place("a");
        assert!(dir.join("in/x").exists() && !dir.join("out").exists());
        crate::case::merged(case.merge("a", &head));
        assert!(!case.merge_dir().join("out").exists());
        assert_eq!(case.git("show cr/r1:out/y"), "y");
    });
}

#[test]
fn submodules_are_named_and_left_empty() {
    isolated(|case| {
        case.shell_in(&case.dir, "git clone -q repo sub");
        case.git("-c protocol.file.allow=always submodule --quiet add ../sub sub");
        case.commit_in(&case.top(), "a submodule");
        let created = case.create("a");
        assert_eq!(created.notes, ["submodules are not initialised: sub"]);
        assert!(!created.worktree.dir.join("sub/a").exists());
    });
}

#[test]
fn a_worktree_may_be_inside_a_worktree() {
    isolated(|case| {
        case.write(".gitignore", ".state/\n");
        case.commit_in(&case.top(), "ignore");
        case.git("worktree add -q ../linked -b linked");
        let linked = case.dir.join("linked");
        let repository = Repository::open(&linked).expect("opened");
        assert_eq!(repository.common_dir(), case.top().join(".git"));
        let dir = linked.join(".state/a.1");
        let new = NewWorktree {
            run: "r1",
            task: "a",
            attempt: 1,
            base: repository.base(),
            dir: &dir,
        };
        repository.create(&new).expect("created");
        write(&dir.join("new"), "work\n");
        let head = case.commit_in(&dir, "work");
        assert_eq!(case.git_in(&linked, "status --porcelain"), "");
        let inner = Repository::open(&dir).expect("opened");
        assert_eq!(inner.base(), head);
    });
}

#[test]
fn twenty_worktrees_are_made_by_four_threads() {
    isolated(|case| {
        thread::scope(|scope| {
            for thread in 0..4 {
                scope.spawn(move || {
                    for number in 0..5 {
                        case.create(&format!("t{thread}-{number}"));
                    }
                });
            }
        });
        assert_eq!(case.git("worktree list").lines().count(), 21);
        assert_eq!(case.git("branch --list 'cr-task/r1/*'").lines().count(), 20);
        case.git("fsck --strict");
    });
}
