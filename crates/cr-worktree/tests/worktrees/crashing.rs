//! A process that is killed at any moment, and one that does its work again.

use std::process::Stdio;
use std::time::{Duration, Instant};

use cr_repository::take_lock;
use cr_test::{World, repeats};
use cr_worktree::{Outcome, Verdict};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::case::{Case, isolated};

/// What the process does that is killed.
const WORK: &str = "CR_TEST_CRASH";

/// Does all work of two tasks: one is green, one is red.
fn work(case: &Case) {
    for task in ["green", "red"] {
        let dir = case.create(task).worktree.dir;
        // An agent that was killed; its locks are its own.
        let line = "rm -f $(git rev-parse --git-dir)/*.lock; \
                    common=$(git rev-parse --git-common-dir); \
                    rm -f $common/packed-refs.lock $common/refs/heads/cr-task/r1/$0.1.lock; \
                    test -n \"$(git log -1 --format=%s --grep=$0)\" || \
                    { echo $0 > $0; git add $0; git commit -qm $0; }";
        case.shell_in(&dir, &line.replace("$0", task));
        let head = case.git_in(&dir, "rev-parse HEAD");
        let outcome = case.merge_if(task, &head, |dir| {
            if dir.join("red").exists() {
                Verdict::Red("red".to_owned())
            } else {
                Verdict::Green
            }
        });
        let is_merged = matches!(
            outcome,
            Outcome::Merged { .. } | Outcome::AlreadyMerged { .. }
        );
        assert_eq!(is_merged, task == "green", "{outcome:?}");
    }
}

fn assert_sound(case: &Case, is_over: bool) {
    // A git that must not be killed halfway ends after its caller, with the lock.
    let wait = Some(Duration::from_secs(20));
    let _lock = take_lock(&case.top().join(".git"), wait).expect("released");
    let branch = case.shell_in(&case.top(), "git rev-parse -q --verify cr/r1 || true");
    if !branch.is_empty() {
        let merges = case.git("rev-list --first-parent --merges --count cr/r1");
        assert!(merges == "1" || (merges == "0" && !is_over), "{merges}");
        assert_eq!(case.git("ls-tree -r --name-only cr/r1 -- red"), "");
    }
    case.git("fsck --strict --no-dangling");
    assert_eq!(case.git("status --porcelain"), "");
}

#[test]
fn work_that_is_killed_at_any_moment_is_merged_once() {
    isolated(|case| {
        let world = World::new();
        let program = std::env::current_exe().expect("known");
        let start = || {
            // In a session of its own, so that its agent dies with it.
            let mut command = world.command("setsid");
            command.arg(&program);
            command.args([
                "--exact",
                "crashing::the_work_that_is_killed",
                "--nocapture",
            ]);
            command.env(WORK, &case.dir);
            command.env("HOME", case.dir.join("home"));
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().expect("started")
        };
        let begin = Instant::now();
        finish(case, start());
        let mut whole = begin.elapsed();
        let mut killed = 0;
        for round in 0..repeats(16, 50) {
            let mut child = start();
            // Spread over the whole work.
            let part = u32::try_from(round * 7 % 16).expect("small");
            let is_over = child.ends_within(whole * part / 16);
            if is_over {
                // The machine has become faster.
                whole = whole * 3 / 4;
            } else {
                let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
                // At once, it may have no group of its own yet.
                if kill_process_group(group.expect("a group"), Signal::KILL).is_err() {
                    child.kill().expect("killed");
                }
                killed += 1;
            }
            child.wait().expect("ended");
            assert_sound(case, false);
            if is_over || round % 4 == 3 {
                finish(case, start());
            }
        }
        assert!(killed > 4, "{killed}");
    });
}

/// Lets the work come to its end, and then forgets it.
fn finish(case: &Case, child: cr_test::Child) {
    let output = child.wait_with_output().expect("ended");
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (said(&output.stdout), said(&output.stderr));
    assert!(output.status.success(), "{out}{err}");
    assert_sound(case, true);
    assert_eq!(case.open().receipts("r1").expect("read").len(), 1);
    let all = "git worktree list --porcelain | sed -n 's/^worktree //p' | tail -n +2 \
               | xargs -n1 git worktree remove --force; git for-each-ref \
               --format='delete %(refname)' refs/heads/cr refs/heads/cr-task refs/notes \
               | git update-ref --stdin";
    case.shell_in(&case.top(), all);
}

#[test]
fn the_work_that_is_killed() {
    if let Some(dir) = std::env::var_os(WORK) {
        work(&Case::existing(dir.as_ref()));
    }
}
