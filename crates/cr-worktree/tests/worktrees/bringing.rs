//! Bringing the work of a run into a branch of the user.

use cr_worktree::Brought;

use crate::case::{isolated, merged};

#[test]
fn a_branch_that_is_not_checked_out_moves_by_itself() {
    isolated(|case| {
        case.git("branch target");
        let head = case.task("one", "x", "x\n");
        let sha = merged(case.merge("one", &head));
        let repository = case.open();
        let brought = repository.bring_into("r1", "target").expect("brought");
        assert_eq!(brought, Brought::FastForward { sha: sha.clone() });
        assert_eq!(case.git("rev-parse target"), sha);
        assert_eq!(case.git("status --porcelain"), "");
        let again = repository.bring_into("r1", "target").expect("brought");
        assert_eq!(again, Brought::AlreadyThere);
        assert!(repository.bring_into("r1", "none").is_err());
        assert!(repository.bring_into("r9", "target").is_err());
    });
}

#[test]
fn a_branch_that_is_checked_out_moves_only_with_a_clean_tree() {
    isolated(|case| {
        let head = case.task("one", "x", "x\n");
        merged(case.merge("one", &head));
        case.write("b", "mine\n");
        let repository = case.open();
        let Brought::Refused { reason, command } =
            repository.bring_into("r1", "main").expect("asked")
        else {
            panic!("not refused");
        };
        assert!(
            reason.ends_with("1 file is changed and not committed"),
            "{reason}"
        );
        assert_eq!(command, "git merge cr/r1");
        case.commit_in(&case.top(), "mine");
        // A new file in the way is not overwritten.
        case.write("x", "mine\n");
        let refused = repository.bring_into("r1", "main").expect("asked");
        assert!(matches!(refused, Brought::Refused { .. }), "{refused:?}");
        assert_eq!(case.shell_in(&case.top(), "cat x"), "mine");
        case.shell_in(&case.top(), "rm x");
        let brought = repository.bring_into("r1", "main").expect("brought");
        let Brought::Merged { sha } = brought else {
            panic!("not merged: {brought:?}");
        };
        assert_eq!(case.git("rev-parse HEAD"), sha);
        assert_eq!(case.git("status --porcelain"), "");
        assert_eq!(case.shell_in(&case.top(), "cat b x"), "mine\nx");
    });
}

#[test]
fn a_conflict_changes_nothing() {
    isolated(|case| {
        let head = case.task("one", "a", "theirs\n");
        merged(case.merge("one", &head));
        case.write("a", "mine\n");
        let mine = case.commit_in(&case.top(), "mine");
        let brought = case.open().bring_into("r1", "main").expect("asked");
        assert!(matches!(brought, Brought::Conflict { .. }), "{brought:?}");
        assert_eq!(case.git("rev-parse HEAD"), mine);
        assert_eq!(case.git("status --porcelain"), "");
    });
}
