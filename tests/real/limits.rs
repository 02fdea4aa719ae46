//! A limit of the account that says when it resets, with the real CLI.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::cli::{Cli, each};
use crate::place::Place;
use crate::run::RUN_LIMIT;
use cr_test::{bin, root};

/// After this much more than the reset a limit of minutes is tried again.
const MARGIN: u64 = 60;

fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.expect("after 1970").as_secs()
}

/// A moment as our lines have it, to the second.
fn shown(seconds: u64) -> String {
    let output = cr_test::Command::new("date")
        .args(["-u", "+%Y-%m-%dT%H:%M:%S", "-d", &format!("@{seconds}")])
        .output()
        .expect("run date");
    String::from_utf8(output.stdout)
        .expect("text")
        .trim()
        .to_owned()
}

/// A run of one task, whose limit resets at `reset`.
struct Limited {
    code: Option<i32>,
    lines: Vec<Value>,
    said: String,
}

fn limited(place: &Place, cli: &Cli, reset: u64, args: &[&str]) -> Limited {
    let plan = place.path("plan.yaml");
    fs::write(&plan, "- {id: limited, prompt: go}\n").expect("write");
    let mut mock = place.world.tool("cr-mock");
    let output = mock
        .timeout(RUN_LIMIT)
        .arg("run")
        .arg("--scenario")
        .arg(root().join("tests/real/scenarios/limit.json"))
        .args(["--define", &format!("reset={reset}")])
        .arg("--cwd")
        .arg(place.repository())
        .arg("--home")
        .arg(place.path("home"))
        // A subscription: with a key the CLI does not say when a limit resets.
        .args(["--env", "ANTHROPIC_API_KEY="])
        .args(["--env", "CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-FAKE"])
        .args(["--env", "IS_SANDBOX=1"])
        .arg("--env")
        .arg(format!("CR_CLAUDE={}", cli.path.display()))
        .arg("--")
        .arg(bin("cr-orchestrate"))
        .arg(plan)
        .args(["--json", "--retries", "0", "--backoff", "10ms"])
        .args(args)
        .output()
        .expect("start cr-mock");
    let text = String::from_utf8(output.stdout).expect("text");
    let lines = text.lines().map(serde_json::from_str);
    let said = String::from_utf8(output.stderr).expect("text");
    println!("{said}");
    Limited {
        code: output.status.code(),
        lines: lines.map(|line| line.expect("a line of JSON")).collect(),
        said,
    }
}

impl Limited {
    /// The changes of the task in which it reached `state`.
    fn states(&self, state: &str) -> Vec<&Value> {
        let lines = self.lines.iter();
        lines
            .filter(|line| line["id"] == "limited" && line["state"] == state)
            .collect()
    }

    /// The summary of the first attempt.
    fn summary(&self) -> Value {
        let dir = self.lines[0]["reason"].as_str().expect("a directory");
        let path = format!("{dir}/attempts/limited/1/summary.json");
        serde_json::from_slice(&fs::read(path).expect("a summary")).expect("JSON")
    }
}

#[test]
fn a_limit_is_waited_for_and_is_no_attempt() {
    each(|cli| {
        let place = Place::new();
        // Soon, so that nobody waits for the whole margin.
        let reset = now() + 10;
        let run = limited(&place, cli, reset, &["--max-wait", "10m"]);
        // Without a retry to spend, it is done at the second start.
        assert_eq!(run.code, Some(0), "{}", run.said);
        let [first, second] = run.states("running")[..] else {
            panic!("two attempts: {}", run.said);
        };
        assert_eq!(
            (&first["attempt"], &second["attempt"]),
            (&1.into(), &2.into())
        );
        let began = second["at"].as_str().expect("a time");
        assert!(began >= &*shown(reset), "{began}: {}", run.said);
        assert_eq!(run.states("completed").len(), 1);
        let summary = run.summary();
        assert_eq!(summary["outcome"], "rate_limited");
        assert_eq!(summary["retry"]["at"], shown(reset) + ".000Z");
    });
}

#[test]
fn a_limit_that_resets_too_late_ends_the_run_with_the_command_to_resume_it() {
    each(|cli| {
        let place = Place::new();
        let reset = now() + 300;
        let run = limited(&place, cli, reset, &["--max-wait", "1s"]);
        assert_eq!(run.code, Some(75), "{}", run.said);
        let id = run.lines[0]["run_id"].as_str().expect("an id");
        let resume = format!("cr-orchestrate --resume-run {id}");
        assert!(run.said.contains(&resume), "{}", run.said);
        assert!(run.said.contains(&shown(reset + MARGIN)), "{}", run.said);
        let summary = run.summary();
        assert_eq!(summary["code"], 75);
        assert_eq!(summary["retry"]["at"], shown(reset) + ".000Z");
        assert_eq!(summary["retry"]["action"], "wait");
        assert_eq!(run.states("running").len(), 1);
    });
}
