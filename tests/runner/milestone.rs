//! `claude-runner --milestone`: the tasks of a milestone in one session.

use std::fs;

use cr_test::bin;
use serde_json::{Value, json};

use crate::case::{Case, Done};

/// Keeps what it is asked, and a log of its session as the real CLI does. Its
/// context has the tokens that the file `used` says, of 1000.
const AGENT: &str = r#"case "$*" in *--version*) echo 2.1.326; exit ;; esac
n=$(($(cat "$HOME/n" 2>/dev/null) + 1))
echo "$n" >"$HOME/n"
echo "$*" >"$HOME/argv.$n"
cat >"$HOME/prompt.$n"
printf '%s' "${CR_MILESTONE-none}" >"$HOME/milestone.$n"
session=none
for word; do
    case $word in --session-id=* | --resume=*) session=${word#*=} ;; esac
done
used=$(cat "$HOME/used" 2>/dev/null || echo 100)
mkdir -p "$HOME/.claude/projects/p"
log=$HOME/.claude/projects/p/$session.jsonl
line() { printf '%s\n' "$1" | tee -a "$log"; }
line '{"type":"system","subtype":"init","session_id":"'$session'","sessionId":"'$session'","cwd":"'$PWD'","model":"m","tools":[]}'
line '{"type":"assistant","session_id":"'$session'","sessionId":"'$session'","message":{"id":"m'$n'","role":"assistant","model":"m","content":[{"type":"text","text":"Task '$n' is done."}],"usage":{"input_tokens":'$used',"output_tokens":0}}}'
line '{"type":"result","subtype":"success","is_error":false,"result":"Task '$n' is done.","session_id":"'$session'","num_turns":1,"duration_ms":5,"total_cost_usd":0.01,"usage":{"input_tokens":'$used',"output_tokens":0},"modelUsage":{"m":{"inputTokens":'$used',"outputTokens":0,"contextWindow":1000,"costUSD":0.01}}}'
"#;

struct Place {
    case: Case,
}

impl Place {
    fn new() -> Self {
        let case = Case::new(AGENT);
        case.world.write("plan.md", "1. routes\n2. tests\n");
        // A stage that shows its environment.
        let tool = bin("cr-summarize");
        let shim = format!(
            "echo \"${{CR_MILESTONE-none}}\" >>\"$HOME/seen\"\nexec {} \"$@\"",
            tool.display()
        );
        let shim = case.script("shim/cr-summarize", &shim);
        let tools = case.world.path_with_tools();
        let dir = shim.parent().expect("a directory").display().to_string();
        let path = format!("{dir}:{}", tools.to_string_lossy());
        let case = case.env("PATH", &path);
        Self { case }
    }

    fn ledger(&self, args: &[&str]) -> Done {
        self.case.finish(&mut self.case.tool("cr-ledger", args))
    }

    fn start(&self, name: &str) -> String {
        let plan = self.case.path("plan.md");
        let plan = plan.to_str().expect("a path");
        let done = self.ledger(&["milestone", "start", name, "--plan", plan]);
        assert_eq!(done.code(), Some(0), "{done:?}");
        done.out.trim().to_owned()
    }

    /// A run that fills the context to `used` of 1000, and is recorded.
    fn run(&self, milestone: &str, id: &str, used: u64, prompt: &str) -> Value {
        fs::write(self.case.path("home/used"), used.to_string()).expect("written");
        let args = ["--json", "--milestone", milestone, prompt];
        let done = self.case.run(&args);
        assert_eq!(done.code(), Some(0), "{done:?}");
        self.record(id, &done.out);
        serde_json::from_str(&done.out).expect("a summary")
    }

    fn record(&self, id: &str, summary: &str) {
        let mut record = self.case.tool("cr-ledger", &["record", "--milestone", id]);
        let done = self.case.finish(record.write_stdin(summary.as_bytes()));
        assert_eq!(done.code(), Some(0), "{done:?}");
    }

    fn asked(&self, what: &str, number: u32) -> String {
        let file = format!("home/{what}.{number}");
        fs::read_to_string(self.case.path(&file)).expect("that many runs")
    }

    fn shown(&self, milestone: &str) -> Value {
        let done = self.ledger(&["milestone", "show", milestone, "--json"]);
        serde_json::from_str(&done.out).expect("JSON")
    }
}

#[test]
fn tasks_share_a_session_until_its_context_is_full_and_nothing_is_lost() {
    let place = Place::new();
    let id = place.start("api");
    let first = place.run("api", &id, 300, "do the routes");
    let old = first["session_id"].as_str().expect("a session").to_owned();
    assert!(
        place
            .asked("argv", 1)
            .contains(&format!("--session-id={old}"))
    );
    let prompt = place.asked("prompt", 1);
    assert!(
        prompt.contains("# Work plan\n\n1. routes\n2. tests\n"),
        "{prompt}"
    );
    assert!(
        prompt.ends_with("\n# The task\n\ndo the routes"),
        "{prompt}"
    );

    let second = place.run("api", &id, 850, "do the tests");
    assert_eq!(second["session_id"], first["session_id"]);
    assert!(place.asked("argv", 2).contains(&format!("--resume={old}")));
    assert_eq!(place.asked("prompt", 2), "do the tests");

    let third = place.run("api", &id, 100, "do the docs");
    assert_ne!(third["session_id"], first["session_id"]);
    assert!(place.asked("argv", 3).contains("--session-id="));
    let prompt = place.asked("prompt", 3);
    for part in [
        "# The session before this one\n\n",
        "> Task 2 is done.",
        "# Runs of this milestone so far\n\n",
        "# Work plan\n\n1. routes",
        "# The task\n\ndo the docs",
    ] {
        assert!(prompt.contains(part), "{part}: {prompt}");
    }
    let shown = place.shown("api");
    assert_eq!(shown["runs"], 3);
    let statuses: Vec<&Value> = shown["sessions"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|session| &session["status"])
        .collect();
    assert_eq!(statuses, ["refreshed", "active"]);
    // The agent does not take itself for a part of the milestone.
    assert_eq!(place.asked("milestone", 3), "none");
}

#[test]
fn the_stages_know_the_milestone_and_a_retried_run_belongs_to_it() {
    let place = Place::new();
    let id = place.start("api");
    let done = place
        .case
        .run(&["--json", "--milestone", "api", "--retry", "1", "go"]);
    assert_eq!(done.code(), Some(0), "{done:?}");
    place.record(&id, &done.out);
    assert!(place.asked("prompt", 1).ends_with("# The task\n\ngo"));
    let seen = fs::read_to_string(place.case.path("home/seen")).expect("a stage");
    assert!(seen.lines().all(|line| line == id), "{seen}");
    let second = place.run("api", &id, 200, "more");
    assert!(place.asked("argv", 2).contains("--resume="), "{second}");
}

#[test]
fn a_session_whose_log_is_gone_is_replaced_and_the_user_learns_it() {
    let place = Place::new();
    let id = place.start("api");
    place.run("api", &id, 300, "do the routes");
    fs::remove_dir_all(place.case.path("home/.claude/projects")).expect("removed");
    let done = place.case.run(&["--milestone", "api", "do the tests"]);
    assert_eq!(done.code(), Some(0), "{done:?}");
    assert!(
        done.err.contains("is gone, so it cannot be resumed"),
        "{done:?}"
    );
    let prompt = place.asked("prompt", 2);
    // What is left of it are the run directory and the ledger.
    assert!(prompt.contains("> Task 1 is done."), "{prompt}");
    assert!(prompt.contains("## Goal\n\n> do the routes\n"), "{prompt}");
    assert!(prompt.contains("1. routes"), "{prompt}");
}

#[test]
fn a_milestone_that_is_not_active_is_named_with_its_command_and_a_plan_starts_it() {
    let place = Place::new();
    let done = place.case.run(&["--milestone", "api", "go"]);
    assert_eq!(done.code(), Some(66), "{done:?}");
    assert!(
        done.err.contains("cr-ledger milestone start api"),
        "{done:?}"
    );
    assert!(place.case.runs().is_empty(), "nothing was started");
    let plan = place.case.path("plan.md");
    let plan = plan.to_str().expect("a path");
    let done = place
        .case
        .run(&["--milestone", "api", "--plan", plan, "go"]);
    assert_eq!(done.code(), Some(0), "{done:?}");
    assert!(place.asked("prompt", 1).contains("1. routes"));
    assert_eq!(place.shown("api")["status"], json!("active"));
}

#[test]
fn a_milestone_has_its_own_session() {
    let place = Place::new();
    for other in [
        &["--resume", "x"][..],
        &["--continue"],
        &["--session-id", "80f8ae6e-b027-4253-8e9c-1ffd717366a1"],
        &["--resume-run", "x"],
    ] {
        let done = place
            .case
            .run(&[&["go", "--milestone", "api"], other].concat());
        assert_eq!(done.code(), Some(2), "{other:?}: {done:?}");
    }
    let done = place.case.run(&["--plan", "x", "go"]);
    assert_eq!(done.code(), Some(2), "{done:?}");
    let done = place.case.run(&["--milestone", "api", "--input", "stream"]);
    assert_eq!(done.code(), Some(2), "{done:?}");
}

#[test]
fn two_runs_do_not_work_in_one_session_at_the_same_time() {
    let place = Place::new();
    place.start("api");
    let answer = r#"line '{"type":"assistant""#;
    let hangs = format!("[ $n -gt 1 ] || sleep 600\n{answer}");
    place.case.script("agent", &AGENT.replace(answer, &hangs));
    let mut first = place.case.start(&["--milestone", "api", "do the routes"]);
    first.wait_for("Session: ");
    let mut second = place.case.runner(&["--milestone", "api", "do the tests"]);
    let second = Case::done_of(&mut second);
    assert_eq!(second.code(), Some(75), "{second:?}");
    assert!(
        second.err.contains("is going on in its session"),
        "{second:?}"
    );
    let mut end = place.case.tool("cr-ledger", &["milestone", "end", "api"]);
    assert_eq!(Case::done_of(&mut end).code(), Some(75));
    first.signal("TERM");
    assert_eq!(first.end().code(), Some(143));
    let done = place.case.run(&["--milestone", "api", "do the tests"]);
    assert_eq!(done.code(), Some(0), "{done:?}");
    assert!(place.asked("argv", 2).contains("--resume="));
}
