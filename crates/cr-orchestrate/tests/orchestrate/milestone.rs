//! `--milestone`: tasks in one session, as the ledger says.

use std::io::Read;

use cr_test::{Fifo, appears, bin};
use serde_json::{Value, json};

use crate::case::{Case, Ended};

/// In place of a fixed session: that of the options, with a log as the real CLI
/// keeps it.
const SESSION: &str = r#"session=none
for word; do
    case $word in --session-id=* | --resume=*) session=${word#*=} ;; esac
done
mkdir -p "$HOME/.claude/projects/p"
printf '%s\n' '{"type":"assistant","sessionId":"'$session'","message":{"id":"'$TASK$n'","role":"assistant","content":[{"type":"text","text":"'$TASK' is done."}]}}' >>"$HOME/.claude/projects/p/$session.jsonl""#;

/// A case with an active milestone; returns its id.
fn case(tasks: &[(&str, &str)]) -> (Case, String) {
    let case = Case::new();
    let agent = include_str!("agent.sh");
    let fixed = "session=80f8ae6e-b027-4253-8e9c-1ffd717366a1";
    assert!(agent.contains(fixed));
    case.world.script("agent", &agent.replace(fixed, SESSION));
    case.plan(tasks);
    case.write("PLAN.md", "1. routes");
    let started = ledger(
        &case,
        &["milestone", "start", "api", "--plan", "../PLAN.md"],
    );
    assert_eq!(started.code, Some(0), "{started:?}");
    (case, started.out.trim().to_owned())
}

fn ledger(case: &Case, args: &[&str]) -> Ended {
    let mut command = case.world.command(bin("cr-ledger"));
    case.surround(&mut command);
    command.args(args).output().expect("run").into()
}

fn shown(case: &Case) -> Value {
    let shown = ledger(case, &["milestone", "show", "api", "--json"]);
    serde_json::from_str(&shown.out).expect("JSON")
}

/// The session of the options.
fn session(case: &Case, task: &str, n: u32, option: &str) -> String {
    let args = case.seen(task, n, "args");
    let word = args
        .split(' ')
        .find_map(|word| word.trim().strip_prefix(option));
    word.unwrap_or_else(|| panic!("{option}: {args}"))
        .to_owned()
}

/// What an agent does to record that its context has `used` of 1000 tokens.
fn records(case: &Case, milestone: &str, used: u64) -> String {
    let tool = bin("cr-ledger");
    let ledger = case.path("state/ledger.db");
    format!(
        r#"printf '%s\n' '{{"schema":1,"run_id":"'$TASK'-hand","session_id":"'$session'","outcome":"success","code":0,"cost_source":"none","ended_at":"'$(date -u +%Y-%m-%dT%H:%M:%S.999Z)'","tokens":{{"context_used":{used},"context_window":1000}}}}' |
{} --ledger {} record --milestone {milestone} --task $TASK >/dev/null
"#,
        tool.display(),
        ledger.display()
    )
}

#[test]
fn tasks_run_one_after_the_other_in_the_session_of_the_milestone() {
    let (case, id) = case(&[("a", ""), ("b", ""), ("c", "")]);
    case.script("b", 1, &records(&case, &id, 850));
    let ended = case.go(&["--milestone", "api"]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert_eq!(case.done(), ["a", "b", "c"]);
    let first = session(&case, "a", 1, "--session-id=");
    let prompt = case.seen("a", 1, "prompt");
    assert!(prompt.contains("# Work plan\n\n1. routes\n"), "{prompt}");
    assert!(prompt.ends_with("# The task\n\ndo a"), "{prompt}");
    assert_eq!(session(&case, "b", 1, "--resume="), first);
    assert_eq!(case.seen("b", 1, "prompt"), "do b");
    let second = session(&case, "c", 1, "--session-id=");
    assert_ne!(second, first);
    let prompt = case.seen("c", 1, "prompt");
    assert!(prompt.contains("> b is done."), "{prompt}");
    assert!(
        prompt.contains("1. routes") && prompt.ends_with("do c"),
        "{prompt}"
    );
    let why = "goes on in a new session: the context of session";
    assert!(case.of_run("session.log").contains(why), "{}", ended.err);
    assert!(ended.err.contains("is full to 85 %"), "{}", ended.err);
    let spec = case.of_run("attempts/c/1/attempt.json");
    let spec: Value = serde_json::from_str(&spec).expect("JSON");
    assert_eq!(spec["milestone"], id);
    assert_eq!(spec["session_id"], second);
    let sessions = &shown(&case)["sessions"];
    assert_eq!(sessions[0]["status"], "refreshed", "{sessions}");
    assert_eq!(sessions[1]["status"], "active", "{sessions}");
}

#[test]
fn a_retry_that_continues_stays_in_its_session_and_others_ask_anew() {
    let (case, _) = case(&[("a", ""), ("b", "")]);
    case.script("a", 1, "kill -9 $$");
    case.script("b", 1, "error 'it broke'");
    let ended = case.go(&["--milestone", "api"]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let first = session(&case, "a", 1, "--session-id=");
    assert_eq!(session(&case, "a", 2, "--resume="), first);
    assert!(case.seen("a", 2, "prompt").starts_with("Continue"));
    assert_eq!(session(&case, "b", 2, "--resume="), first);
    let prompt = case.seen("b", 2, "prompt");
    assert!(
        prompt.starts_with("do b") && prompt.contains("it broke"),
        "{prompt}"
    );
}

#[test]
fn an_engine_that_is_killed_does_not_ask_again_for_an_attempt_that_was_started() {
    let (case, _) = case(&[("a", ""), ("b", "")]);
    let gate = Fifo::new(case.path("gate"));
    case.script("a", 1, "touch \"$CASE/here\"; cat \"$CASE/gate\"");
    let mut first = case
        .command(&["../plan.yaml", "--milestone", "api"])
        .spawn()
        .expect("run");
    appears(&case.path("here"));
    first.kill().expect("killed");
    first.wait().expect("ended");
    let id = case.run_id();
    let mut second = case
        .command(&["--resume-run", &id, "--json"])
        .spawn()
        .expect("run");
    drop(gate.writer());
    let mut out = second.stdout.take().expect("piped");
    out.read_to_end(&mut Vec::new()).expect("its lines");
    let ended = Ended::from(second.wait_with_output().expect("ended"));
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert_eq!((case.starts("a"), case.starts("b")), (1, 1));
    let only = session(&case, "a", 1, "--session-id=");
    assert_eq!(session(&case, "b", 1, "--resume="), only);
    assert_eq!(shown(&case)["sessions"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_milestone_that_is_not_active_starts_nothing() {
    let (case, _) = case(&[("a", "")]);
    let ended = case.go(&["--milestone", "docs"]);
    assert_eq!(ended.code, Some(66), "{}", ended.err);
    assert!(
        ended.err.contains("cr-ledger milestone start docs"),
        "{}",
        ended.err
    );
    assert_eq!(case.starts("a"), 0);
    assert_eq!(shown(&case)["runs"], json!(0));
}
