//! Several agents at a time, each in a worktree of its own, and the merging of what
//! is proven.

use std::fs;
use std::path::Path;

use cr_test::{Fifo, Signal, appears};

use crate::case::{Case, Ended};

/// What an agent does to commit `text` as the file `name`.
pub(crate) fn commit(name: &str, text: &str) -> String {
    format!("echo {text} > {name}; git add {name}; git commit -qm {name}-$TASK")
}

/// A script that waits until something is merged.
pub(crate) const AFTER_A_MERGE: &str = "run=$(git rev-parse --abbrev-ref HEAD | sed 's|cr-task/\\(.*\\)/.*|cr/\\1|'); \
    until git rev-parse -q --verify \"$run\" >&2 && test \"$(git rev-parse \"$run\")\" != \"$(git rev-parse main)\"; do sleep 0.05; done";

impl Case {
    /// A case whose working directory is a repository with a file.
    pub(crate) fn repository() -> Self {
        let case = Self::new();
        case.git("init -q -b main");
        fs::write(case.path("work/a"), "one\n").expect("written");
        case.git("add -A");
        case.git("commit -qm first");
        case
    }

    /// What git prints in the user's work tree.
    pub(crate) fn git(&self, words: &str) -> String {
        let mut command = self.world.shell(&format!("git {words}"));
        let output = command.current_dir(self.path("work")).output();
        let output = output.expect("run");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {words}: {said}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// A plan of `tasks` with the fields `common` of its own.
    pub(crate) fn plan_with(&self, common: &str, tasks: &[(&str, &str)]) {
        self.plan(tasks);
        let tasks = self.read("plan.yaml");
        self.write("plan.yaml", &format!("{common}\n{tasks}"));
    }

    /// The run's branch.
    pub(crate) fn branch(&self) -> String {
        format!("cr/{}", self.run_id())
    }

    /// A file on the run's branch.
    pub(crate) fn merged(&self, name: &str) -> String {
        self.git(&format!("show {}:{name}", self.branch()))
    }

    /// The tasks whose work is merged, in order.
    pub(crate) fn merges(&self) -> Vec<String> {
        let format = "%(trailers:key=Cr-Task,valueonly,separator=)";
        let branch = self.branch();
        let words = format!("log --first-parent --merges --reverse --format='{format}' {branch}");
        self.git(&words).lines().map(str::to_owned).collect()
    }

    /// The user's branch, index and work tree are as `Case::repository` left them,
    /// and the repository is sound.
    pub(crate) fn assert_untouched(&self) {
        assert_eq!(self.git("status --porcelain"), "");
        assert_eq!(self.git("rev-parse --abbrev-ref HEAD"), "main");
        assert_eq!(self.git("log --format=%s main"), "first");
        self.git("fsck --strict --no-dangling");
    }

    /// The names in the directory of the worktrees.
    pub(crate) fn worktrees(&self) -> Vec<String> {
        let all = fs::read_dir(self.run_dir().join("worktrees"));
        let all = all.into_iter().flatten().flatten();
        let mut names: Vec<String> = all
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

fn assert_code(ended: &Ended, code: i32) {
    assert_eq!(ended.code, Some(code), "{}\n{}", ended.err, ended.out);
}

#[test]
fn agents_work_at_the_same_time_and_their_work_is_merged_into_the_branch_of_the_run() {
    let case = Case::repository();
    fs::create_dir(case.path("work/sub")).expect("made");
    fs::write(case.path("work/sub/keep"), "").expect("written");
    case.git("add -A");
    case.git("commit -q --amend --no-edit");
    case.plan(&[("b", "cwd: sub"), ("c", ""), ("d", "depends_on: [b, c]")]);
    let _gate = Fifo::new(case.path("gate"));
    // Each waits for the other: they are at work at the same time.
    let opens = format!(
        "echo > \"$CASE/gate\"; pwd > \"$CASE/cwd\"; {}",
        commit("b", "b")
    );
    case.script("b", 1, &opens);
    case.script(
        "c",
        1,
        &format!("read _ < \"$CASE/gate\"; {}", commit("c", "c")),
    );
    case.script(
        "d",
        1,
        &format!("test -f sub/b && test -f c && {}", commit("d", "d")),
    );
    let ended = case.go(&["-j", "2"]);
    assert_code(&ended, 0);
    case.assert_untouched();
    assert_eq!(case.merged("sub/b"), "b");
    assert_eq!(case.merged("d"), "d");
    assert_eq!(case.merges().last().map(String::as_str), Some("d"));
    let cwd = case.run_dir().join("worktrees/b.1/sub");
    assert_eq!(
        Path::new(case.read("cwd").trim()),
        fs::canonicalize(case.run_dir())
            .expect("there")
            .join("worktrees/b.1/sub"),
        "{cwd:?}"
    );
    // What is merged needs no worktree.
    assert_eq!(case.worktrees(), [""; 0]);
    let report = case.of_run("report.md");
    let line = format!("    git merge {}\n", case.branch());
    assert!(report.ends_with(&line), "{report}");
    assert!(
        ended
            .out
            .contains(&format!(r#""merge":"git merge {}""#, case.branch()))
    );
    let note = case.git(&format!("notes --ref=cr show {}", case.branch()));
    assert!(
        note.contains(r#""task":"d""#) && note.contains(r#""result":"green""#),
        "{note}"
    );
}

#[test]
fn one_agent_shares_the_users_tree_unless_it_is_told_not_to() {
    let case = Case::repository();
    case.plan(&[("b", "")]);
    case.script("b", 1, &commit("b", "b"));
    assert_code(&case.go(&["--isolation", "worktree"]), 0);
    case.assert_untouched();
    assert_eq!(case.merged("b"), "b");

    let case = Case::repository();
    case.plan(&[("b", "")]);
    case.script("b", 1, &commit("b", "b"));
    assert_code(&case.go(&[]), 0);
    assert_eq!(case.git("log -1 --format=%s"), "b-b");
    assert!(!case.of_run("report.md").contains("git merge"));
}

#[test]
fn work_that_conflicts_goes_back_to_its_task_with_the_merged_work_as_the_new_base() {
    let case = Case::repository();
    case.plan(&[("b", ""), ("c", "")]);
    case.script("b", 1, &commit("a", "b"));
    let second = format!("{}; {AFTER_A_MERGE}", commit("a", "c"));
    case.script("c", 1, &second);
    case.script(
        "c",
        2,
        &format!("cat a > \"$CASE/base\"; {}", commit("a", "c")),
    );
    let ended = case.go(&["-j", "2"]);
    assert_code(&ended, 0);
    case.assert_untouched();
    assert_eq!(case.merges(), ["b", "c"]);
    assert_eq!(case.read("base"), "b\n");
    assert_eq!(case.merged("a"), "c");
    let prompt = case.seen("c", 2, "prompt");
    assert!(
        prompt.contains("conflicts with the work of task b in a"),
        "{prompt}"
    );
    assert!(
        prompt.contains(&format!("cr-task/{}/c.1", case.run_id())),
        "{prompt}"
    );
    assert!(
        ended.out.contains(r#""outcome":"conflict""#),
        "{}",
        ended.out
    );
    // The worktree of the failed attempt stays.
    assert_eq!(case.worktrees(), ["c.1"]);
}

#[test]
fn what_is_green_alone_and_red_together_is_not_merged() {
    let case = Case::repository();
    case.plan_with(
        "verify: '! { test -f b && test -f c; }'",
        &[("b", ""), ("c", "retries: 0")],
    );
    case.script("b", 1, &commit("b", "b"));
    case.script("c", 1, &format!("{}; {AFTER_A_MERGE}", commit("c", "c")));
    let ended = case.go(&["-j", "2"]);
    assert_code(&ended, 1);
    assert_eq!(case.merges(), ["b"]);
    assert!(
        ended.out.contains(r#""outcome":"verify_failed""#),
        "{}",
        ended.out
    );
    assert!(
        ended.err.contains("merged with the work of task b"),
        "{}",
        ended.err
    );
    case.assert_untouched();
}

#[test]
fn a_task_can_change_neither_a_protected_file_nor_its_own_verification() {
    let case = Case::repository();
    let check = case.path("work/check");
    fs::write(&check, "#!/bin/sh\ntest -f good\n").expect("written");
    case.git("add -A --chmod=+x");
    case.git("commit -q --amend --no-edit");
    let common = "expect: red\nverify: sh ./check\nprotect: [a]";
    case.plan_with(
        common,
        &[
            ("b", "retries: 0"),
            ("c", "retries: 0"),
            ("d", "retries: 0"),
        ],
    );
    case.script(
        "b",
        1,
        &format!("{}; {}", commit("a", "b"), commit("good", "b")),
    );
    case.script(
        "c",
        1,
        &format!("echo exit 0 > check; git add check; {}", commit("c", "c")),
    );
    // A stricter one that is right also by the old one.
    case.script(
        "d",
        1,
        &format!(
            "echo 'test -f good && test -f d' > check; git add check; {}; {}",
            commit("d", "d"),
            commit("good", "d")
        ),
    );
    let ended = case.go(&["-j", "2"]);
    assert_code(&ended, 1);
    assert_eq!(case.merges(), ["d"]);
    assert!(
        ended.err.contains("protected files were changed"),
        "{}",
        ended.err
    );
    assert!(
        ended.err.contains("with check of the base commit"),
        "{}",
        ended.err
    );
    assert_eq!(case.merged("check"), "test -f good && test -f d");
}

#[test]
fn work_outside_the_scope_or_without_a_commit_is_not_merged() {
    let case = Case::repository();
    case.plan(&[("b", "files: [b]"), ("c", "")]);
    case.script(
        "b",
        1,
        &format!("{}; {}", commit("x", "b"), commit("b", "b")),
    );
    case.script("b", 2, &commit("b", "b"));
    case.script("c", 1, "echo c > c");
    case.script("c", 2, "git add c; git commit -qm c");
    let ended = case.go(&["-j", "2"]);
    assert_code(&ended, 0);
    assert_eq!(
        case.git(&format!("ls-tree --name-only {}", case.branch())),
        "a\nb\nc"
    );
    for outcome in ["scope_violation", "no_commit"] {
        assert!(ended.out.contains(outcome), "{outcome}: {}", ended.out);
    }
    // What it took back is not in the history either.
    assert!(
        !case
            .git(&format!("log --format=%s {}", case.branch()))
            .contains("x-b")
    );
    case.assert_untouched();
}

#[test]
fn a_stop_ends_a_verification_and_the_finished_work_is_merged_later() {
    let case = Case::repository();
    // Something that is in another session and does not listen.
    let verify = "cd \"$CASE\"; test -e again && exit; touch again; \
                  setsid sh -c 'trap \"\" TERM; touch started; exec sleep 600' & wait";
    let program = case
        .world
        .script("verify", &format!("#!/bin/sh\n{verify}\n"));
    case.plan(&[("b", &format!("verify: {}", program.display()))]);
    case.script("b", 1, &commit("b", "b"));
    let child = case
        .command(&["../plan.yaml", "-j", "2"])
        .spawn()
        .expect("run");
    appears(&case.path("started"));
    child.signal(Signal::TERM);
    let ended = Ended::from(child.wait_with_output().expect("ended"));
    assert_code(&ended, 143);
    case.world.assert_nobody_left("a stopped verification");
    assert_eq!(case.of_run("task-b.status"), "stopped\n");
    let ended = case.resume(&[]);
    assert_code(&ended, 0);
    assert_eq!(case.starts("b"), 1, "{}", ended.err);
    assert_eq!(case.merges(), ["b"]);
    assert_eq!(case.merged("b"), "b");
}

#[test]
fn merged_work_gets_into_the_branch_that_was_named_and_a_command_learns_of_it() {
    let case = Case::repository();
    case.plan(&[("b", "")]);
    case.script("b", 1, &commit("b", "b"));
    let tells = format!(
        "echo \"$CR_BRANCH $CR_INTO\" >> {}",
        case.path("told").display()
    );
    let ended = case.go(&["-j", "2", "--into", "main", "--on-merged", &tells]);
    assert_code(&ended, 0);
    assert_eq!(
        fs::read_to_string(case.path("work/b")).expect("there"),
        "b\n"
    );
    assert_eq!(case.git("status --porcelain"), "");
    assert_eq!(case.read("told"), format!("{} main\n", case.branch()));
    assert_code(&case.resume(&[]), 0);
    assert_eq!(case.read("told").lines().count(), 1);

    let case = Case::repository();
    case.plan(&[("b", "")]);
    let ended = case.go(&["-j", "2", "--into", "no"]);
    assert_code(&ended, 2);
    assert_eq!(case.starts("b"), 0);
    case.script("b", 1, &commit("b", "b"));
    fs::write(case.path("work/a"), "mine\n").expect("written");
    let ended = case.go(&["-j", "2", "--into", "main"]);
    assert_code(&ended, 4);
    assert!(
        ended
            .err
            .contains("1 file not committed, which no task sees"),
        "{}",
        ended.err
    );
    let report = case.of_run("report.md");
    assert!(report.contains("not merged into main"), "{report}");
    assert!(
        report.ends_with(&format!("git merge {}\n", case.branch())),
        "{report}"
    );
    assert_eq!(
        fs::read_to_string(case.path("work/a")).expect("there"),
        "mine\n"
    );
}

#[test]
fn what_cannot_be_isolated_is_refused_before_anything_starts() {
    let case = Case::new();
    case.plan(&[("b", "")]);
    let ended = case.go(&["-j", "2"]);
    assert_code(&ended, 66);
    assert!(
        ended.err.contains("needs a git repository"),
        "{}",
        ended.err
    );
    let case = Case::repository();
    fs::create_dir(case.path("other")).expect("made");
    case.plan(&[("b", ""), ("c", "cwd: ../other")]);
    for args in [
        &["-j2"][..],
        &["-j2", "--isolation", "shared"],
        &["--into", "main"],
    ] {
        let ended = case.go(args);
        assert_code(&ended, 2);
        assert!(!case.path("state/orchestrate").exists(), "{args:?}");
    }
    case.write("plan.yaml", "verfy: x\ntasks:\n- {id: b, prompt: x}\n");
    let ended = case.go(&[]);
    assert_code(&ended, 2);
    assert!(
        ended.err.contains("no field is called `verfy`"),
        "{}",
        ended.err
    );
}

#[test]
fn a_base_that_is_red_stops_the_run_before_any_agent_unless_that_is_expected() {
    let case = Case::repository();
    fs::create_dir(case.path("tasks")).expect("made");
    case.write("tasks/b.md", "---\nenv: [TASK=b]\n---\ndo it\n");
    case.write(
        "tasks/plan.yaml",
        "setup: echo x > made\nverify: test -f b -a -f made\n",
    );
    case.script("b", 1, &commit("b", "b"));
    let ended = case.run(&["../tasks", "-j", "2"]);
    assert_code(&ended, 65);
    assert!(
        ended.err.contains("fails on the base commit"),
        "{}",
        ended.err
    );
    assert_eq!(case.starts("b"), 0);
    fs::remove_dir_all(case.path("state")).expect("removed");
    case.write(
        "tasks/plan.yaml",
        "expect: red\nsetup: echo x > made\nverify: test -f b -a -f made\n",
    );
    let ended = case.run(&["../tasks", "-j", "2"]);
    assert_code(&ended, 0);
    assert_eq!(case.merges(), ["b"]);
    // What the setup makes is no work.
    assert_eq!(
        case.git(&format!("ls-tree --name-only {}", case.branch())),
        "a\nb"
    );
    case.assert_untouched();
}

#[test]
fn every_slot_has_ports_of_its_own_and_a_setup_prepares_the_worktree() {
    let case = Case::repository();
    fs::write(case.path("work/.gitignore"), "secret\n").expect("written");
    fs::write(case.path("work/.worktreeinclude"), "secret\n").expect("written");
    case.git("add -A");
    case.git("commit -q --amend --no-edit");
    fs::write(case.path("work/secret"), "key\n").expect("written");
    let prepare = "setup: 'test -f secret; echo $CR_PORT > port', verify: 'test -f secret'";
    case.plan(&[("b", prepare), ("c", prepare)]);
    let _gate = Fifo::new(case.path("gate"));
    let port = "test \"$(cat port)\" = $CR_PORT && rm port; echo $CR_PORT >> \"$CASE/ports\"";
    case.script(
        "b",
        1,
        &format!("echo > \"$CASE/gate\"; {port}; {}", commit("b", "b")),
    );
    case.script(
        "c",
        1,
        &format!("read _ < \"$CASE/gate\"; {port}; {}", commit("c", "c")),
    );
    assert_code(&case.go(&["-j", "2"]), 0);
    let mut ports: Vec<u32> = case
        .read("ports")
        .lines()
        .map(|port| port.parse().expect("a port"))
        .collect();
    ports.sort_unstable();
    assert_eq!(ports.len(), 2, "{ports:?}");
    assert!(ports[1] - ports[0] >= 10, "{ports:?}");
    case.assert_untouched();
}

#[test]
fn an_attempt_that_was_lost_in_a_worktree_is_tried_again_in_another() {
    let case = Case::repository();
    let dies = format!(
        "setup: 'test -e {0} || {{ touch {0}; echo half > a; kill -9 $PPID; }}'",
        case.path("died").display()
    );
    case.plan(&[("b", &dies)]);
    case.script(
        "b",
        1,
        &format!("cat a > \"$CASE/found\"; {}", commit("b", "b")),
    );
    let ended = case.go(&["-j", "2"]);
    assert_code(&ended, 0);
    assert_eq!(case.read("found"), "one\n");
    assert_eq!(case.merges(), ["b"]);
    assert_eq!(case.worktrees(), ["b.1"]);
}

#[test]
fn a_run_that_is_resumed_keeps_its_isolation_and_its_slots() {
    let case = Case::repository();
    case.plan(&[("b", ""), ("c", "breakpoint: true")]);
    case.script("b", 1, &commit("b", "b"));
    case.script("c", 1, &commit("c", "c"));
    assert_code(&case.go(&["-j", "2"]), 4);
    assert_code(&case.resume(&["--isolation", "shared"]), 2);
    assert_code(&case.resume(&[]), 0);
    assert_eq!(case.merges(), ["b", "c"]);
    case.assert_untouched();
    assert!(case.of_run("run.json").contains(r#""slots":2"#));
}

#[test]
fn what_failed_runs_have_left_can_be_removed() {
    let case = Case::repository();
    case.plan(&[("b", "retries: 0"), ("c", "")]);
    case.script("b", 1, &format!("{}; error no", commit("b", "b")));
    case.script("c", 1, &commit("c", "c"));
    assert_code(&case.go(&["-j", "2"]), 1);
    assert_eq!(case.worktrees(), ["b.1"]);
    let ended = case.run(&["gc"]);
    assert_code(&ended, 0);
    assert_eq!(
        (ended.out.as_str(), case.worktrees()),
        ("", vec!["b.1".to_owned()])
    );
    let ended = case.run(&["gc", "--older-than", "0"]);
    assert_code(&ended, 0);
    let branch = format!("cr-task/{}/b.1", case.run_id());
    assert!(
        ended.out.contains("worktrees/b.1\n") && ended.out.contains(&branch),
        "{}",
        ended.out
    );
    assert_eq!(case.worktrees(), [""; 0]);
    assert_eq!(
        case.git("for-each-ref --format='%(refname)' refs/heads/cr-task"),
        ""
    );
    assert_eq!(case.git("worktree list").lines().count(), 1);
    assert_eq!(case.merged("c"), "c");
    // The task can be tried again.
    assert_code(&case.resume(&["--again", "b"]), 0);
}
