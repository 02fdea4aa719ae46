//! Removing worktrees.

use std::time::Duration;

use cr_worktree::{Removal, Removed};

use crate::case::{isolated, merged, write};

#[test]
fn only_merged_work_is_removed_unless_it_is_forced() {
    isolated(|case| {
        let head = case.task("one", "x", "x\n");
        let worktree = case.create("one").worktree;
        let repository = case.open();
        let kept = repository
            .remove(&worktree, Removal::IfMerged)
            .expect("asked");
        assert!(matches!(kept, Removed::Kept { .. }));
        assert!(worktree.dir.join("x").exists());
        merged(case.merge("one", &head));
        write(&worktree.dir.join("not-committed"), "");
        let kept = repository
            .remove(&worktree, Removal::IfMerged)
            .expect("asked");
        assert!(matches!(kept, Removed::Kept { .. }));
        std::fs::remove_file(worktree.dir.join("not-committed")).expect("removed");
        // Some tools leave directories that nobody may write to.
        case.shell_in(
            &worktree.dir,
            "echo target >> ../../../repo/.git/info/exclude",
        );
        case.shell_in(
            &worktree.dir,
            "mkdir -p target/d; touch target/d/f; chmod 555 target/d",
        );
        for _ in 0..2 {
            let gone = repository.remove(&worktree, Removal::IfMerged);
            assert_eq!(gone.expect("asked"), Removed::Gone);
        }
        assert!(!worktree.dir.exists());
        assert_eq!(case.git("branch --list 'cr-task/*'"), "");
        case.task("two", "y", "y\n");
        let worktree = case.create("two").worktree;
        let gone = repository.remove(&worktree, Removal::Force).expect("asked");
        assert_eq!(gone, Removed::Gone);
        assert_eq!(case.git("worktree list").lines().count(), 2);
    });
}

#[test]
fn old_worktrees_of_finished_runs_are_collected_and_nothing_else() {
    isolated(|case| {
        let head = case.task("one", "x", "x\n");
        merged(case.merge("one", &head));
        let repository = case.open();
        case.git("branch cr-task/r2/a.1");
        case.git("branch cr-tasks");
        case.git("branch mine");
        case.git("worktree add -q ../state/mine mine");
        let state = case.dir.join("state");
        let hour = Duration::from_hours(1);
        let gc = |age, finished: &str| {
            let collected = repository.gc(&state, age, |run| run == finished);
            collected.expect("collected")
        };
        assert_eq!(gc(hour, "r1"), cr_worktree::Collected::default());
        assert_eq!(
            gc(Duration::ZERO, "none"),
            cr_worktree::Collected::default()
        );
        let collected = gc(Duration::ZERO, "r1");
        assert_eq!(collected.branches, ["cr-task/r1/one.1"]);
        assert_eq!(collected.worktrees.len(), 2);
        let left = case.git("for-each-ref --format='%(refname:short)' refs/heads");
        let expected = ["cr-task/r2/a.1", "cr-tasks", "cr/r1", "main", "mine"];
        assert_eq!(left.lines().collect::<Vec<_>>(), expected);
        assert!(state.join("mine").exists());
    });
}
