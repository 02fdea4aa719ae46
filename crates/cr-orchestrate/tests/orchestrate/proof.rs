//! Many tasks at a time: kills at any moment, and nothing red on the branch of the
//! run.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use cr_test::repeats;

use crate::case::Case;
use crate::crash::random;
use crate::isolation::commit;

/// What every agent does: it takes one of the places for those that may be alive,
/// says which attempt it is, and commits a file. A third of the tasks also add a line
/// to a file that others change.
const WORK: &str = r#"
place=1
until mkdir "$CASE/place.$place" 2>/dev/null; do
    place=$((place + 1))
    test $place -le 3 || { echo "$TASK.$n" >>"$CASE/too-many"; break; }
done
echo "$CR_RUN" >>"$CASE/attempts"
test -e "$TASK" || { echo "$TASK" >"$TASK"; git add "$TASK"; }
case $TASK in *[369]) echo "$TASK" >>shared; git add shared ;; esac
git commit -qm "$TASK"
rmdir "$CASE/place.$place"
"#;

/// Runs `tasks` tasks with three agents, and kills the engine `kills` times; returns
/// how often it was alive to be killed.
fn torment(tasks: usize, kills: u32, seed: &mut u64) -> u32 {
    let case = Case::repository();
    let ids: Vec<String> = (1..=tasks).map(|number| format!("t{number}")).collect();
    let fields = |at: usize| match at % 5 {
        4 => format!("retries: 20, depends_on: [{}]", ids[at - 2]),
        _ => "retries: 20".to_owned(),
    };
    let fields: Vec<String> = (0..tasks).map(fields).collect();
    let plan: Vec<(&str, &str)> = ids
        .iter()
        .zip(&fields)
        .map(|(id, fields)| (id.as_str(), fields.as_str()))
        .collect();
    case.plan_with("verify: test -f a", &plan);
    case.write("script/any", WORK);
    let begin = ["../plan.yaml", "-j", "3", "--backoff", "10ms"];
    let mut child = case.command(&begin).spawn().expect("run");
    let mut hit = 0;
    for _ in 0..kills {
        child.ends_within(Duration::from_millis(random(seed, 1500)));
        hit += u32::from(child.try_wait().expect("a child").is_none());
        let _ = child.kill();
        child.wait().expect("ended");
        child = if case.has_run() {
            case.command(&["--resume-run", "2"]).spawn().expect("run")
        } else {
            let _ = fs::remove_dir_all(case.path("state"));
            case.command(&begin).spawn().expect("run")
        };
    }
    let output = child.wait_with_output().expect("ended");
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{err}");
    assert_sound(&case, &ids);
    hit
}

/// Every task is done and merged once, no attempt was started twice, and there were
/// never too many agents.
fn assert_sound(case: &Case, ids: &[String]) {
    let mut merges = case.merges();
    merges.sort();
    let mut wanted = ids.to_vec();
    wanted.sort();
    assert_eq!(merges, wanted);
    for id in ids {
        assert_eq!(case.of_run(&format!("task-{id}.status")), "completed\n");
        assert_eq!(case.merged(id), *id);
    }
    let shared = case.merged("shared");
    let lines: BTreeSet<&str> = shared.lines().collect();
    assert_eq!(lines.len(), shared.lines().count(), "{shared}");
    let attempts = case.read("attempts");
    let different: BTreeSet<&str> = attempts.lines().collect();
    assert_eq!(different.len(), attempts.lines().count(), "started twice");
    assert_eq!(case.read("too-many"), "");
    case.assert_untouched();
    case.world
        .assert_nobody_left("a run that was killed and resumed");
}

#[test]
fn w1_w2_killed_at_any_moment_all_work_is_merged_exactly_once() {
    let wanted = u32::try_from(repeats(3, 300)).expect("small");
    let tasks = repeats(5, 16);
    let each = if tasks > 5 { 12 } else { 3 };
    let mut seed = 0x2545_f491_4f6c_dd1d;
    let mut hit = 0;
    // On a fast machine a run may end before any of them.
    for _ in 0..3 * wanted {
        hit += torment(tasks, each, &mut seed);
        if hit >= wanted {
            return;
        }
    }
    panic!("only {hit} of the kills found an engine");
}

/// A verification that fails if both tasks of a pair have left their files.
const CHECK: &str = "#!/bin/sh
for one in *.1; do
    if [ -e \"$one\" ] && [ -e \"${one%.1}.2\" ]; then
        echo \"$one and its other half\"
        exit 1
    fi
done
test -f a
";

#[test]
fn nothing_red_is_ever_on_the_branch_and_the_culprits_are_named() {
    let case = Case::repository();
    fs::write(case.path("work/check"), CHECK).expect("written");
    case.git("add -A");
    case.git("commit -q --amend --no-edit");
    let pairs = repeats(1, 3);
    let mut plan = vec![("weakens".to_owned(), "retries: 0".to_owned())];
    // Nothing is left to do, and so there is nothing to merge.
    plan.push(("green".to_owned(), String::new()));
    for pair in 1..=pairs {
        for half in 1..=2 {
            plan.push((format!("pair{pair}.{half}"), "retries: 0".to_owned()));
        }
    }
    for number in 1..=repeats(2, 16) {
        plan.push((format!("more{number}"), String::new()));
    }
    for (id, _) in &plan {
        let text = match id.as_str() {
            "weakens" => "echo 'exit 0' >check; rm a; git add -A; git commit -qm weakens".into(),
            "green" => String::new(),
            id => commit(id, id),
        };
        case.script(id, 1, &text);
    }
    let tasks: Vec<(&str, &str)> = plan
        .iter()
        .map(|(id, fields)| (id.as_str(), fields.as_str()))
        .collect();
    case.plan_with("verify: sh ./check", &tasks);
    let ended = case.go(&["-j", "3"]);
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    let merges = case.merges();
    assert_eq!(merges.len(), plan.len() - 2 - pairs, "{merges:?}");
    for pair in 1..=pairs {
        let halves = [1, 2].map(|half| format!("pair{pair}.{half}"));
        let failed = halves.iter().find(|half| !merges.contains(half));
        let failed = failed.expect("one of them is red");
        let page = case.of_run(&format!("task-{failed}.md"));
        assert!(page.contains("and its other half"), "{page}");
    }
    let page = case.of_run("task-weakens.md");
    assert!(page.contains("with check of the base commit"), "{page}");
    // Every step of the branch, with the verification of the base commit.
    let branch = case.branch();
    let steps = case.git(&format!("rev-list --first-parent main..{branch}"));
    assert_eq!(steps.lines().count(), merges.len());
    case.git("worktree add -q --detach ../steps main");
    for step in steps.lines() {
        let line = format!("cd ../steps && git checkout -q {step} && git show main:check | sh");
        let mut command = case.world.shell(&line);
        let status = command.current_dir(case.path("work")).status();
        assert!(status.expect("run").success(), "{step}");
    }
}
