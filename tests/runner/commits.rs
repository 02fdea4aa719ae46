//! Whose commits they are, with two runs and a person in one repository.

use std::fs;

use cr_test::until;
use serde_json::Value;

use crate::case::{Case, Done, RESULT};

/// Two agents that commit in turn; the prompt says which one this is.
const IN_TURN: &str = r#"who=$(cat)
echo '{"type":"system","subtype":"init","session_id":"80f8ae6e-b027-4253-8e9c-1ffd717366a1","model":"m","tools":[]}'
step() { : >"$HOME/$1"; }
commit() { git commit -q --allow-empty -m "$1" && step "$1"; }
wait_for() { until [ -e "$HOME/$1" ]; do sleep 0.02; done; sleep 0.1; }
case $who in
a) wait_for b0; commit a1; wait_for person; commit a2; wait_for b2 ;;
b) step b0; wait_for a1; commit b1; wait_for a2; commit b2 ;;
esac
"#;

/// The subjects of the commits that the run claims, newest first.
fn claimed(done: &Done) -> Vec<String> {
    let summary = done.summary();
    let git = &summary["git"];
    let list = |name: &str| git[name].as_array().cloned().expect("a list");
    let subject = |commit: &Value| commit.as_str().expect("text")[8..].to_owned();
    let (commits, by) = (list("commits"), list("commits_by"));
    assert_eq!((commits.len(), by.len()), (5, 5), "{git}");
    let own = commits.iter().zip(&by);
    let own = own.filter(|(_, run)| **run == summary["run_id"]);
    let others = by.iter().filter(|run| run.is_null()).count();
    assert_eq!((own.clone().count(), others), (2, 3), "{git}");
    assert_eq!(list("agent_commits").len(), 2, "{git}");
    own.map(|(commit, _)| subject(commit)).collect()
}

#[test]
fn two_runs_in_one_repository_claim_their_own_commits_only() {
    let case = Case::new(&[IN_TURN, RESULT].concat());
    let a = case.start(&["a"]);
    let b = case.start(&["b"]);
    until("the second run has committed", || {
        case.path("home/b1").exists()
    });
    case.git(&["commit", "-q", "--allow-empty", "-m", "by a person"]);
    fs::write(case.path("home/person"), "").expect("written");
    let (a, b) = (a.end(), b.end());
    assert_eq!(claimed(&a), ["a2", "a1"]);
    assert_eq!(claimed(&b), ["b2", "b1"]);
    case.wait_for_nobody();
}
