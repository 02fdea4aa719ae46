//! Tasks that fail at first, each in its own way, and then succeed.

use std::fs;

use serde_json::Value;

use crate::cli::{Cli, each};
use crate::place::Place;
use crate::run::RUN_LIMIT;
use cr_test::{bin, root};

/// Runs `tasks` one after the other; returns the code and the ends of all attempts.
fn sprint(place: &Place, cli: &Cli, tasks: &str) -> (Option<i32>, Vec<Value>) {
    let (code, lines) = orchestrate(place, cli, ("sprint", tasks), &[]);
    let of_attempt = |line: &Value| line["outcome"].is_string();
    (code, lines.into_iter().filter(of_attempt).collect())
}

/// Runs a plan on a scenario, with more `options`; returns the code and the lines.
pub(crate) fn orchestrate(
    place: &Place,
    cli: &Cli,
    (scenario, plan): (&str, &str),
    options: &[&str],
) -> (Option<i32>, Vec<Value>) {
    place.world.write("plan.yaml", plan);
    let scenario = format!("tests/real/scenarios/{scenario}.json");
    let mut mock = place.world.tool("cr-mock");
    let output = mock
        .timeout(RUN_LIMIT)
        .arg("run")
        .arg("--scenario")
        .arg(root().join(scenario))
        .arg("--cwd")
        .arg(place.repository())
        .arg("--home")
        .arg(place.path("home"))
        .args([
            "--env",
            "CLAUDE_CODE_MAX_RETRIES=1",
            "--env",
            "IS_SANDBOX=1",
        ])
        .arg("--env")
        .arg(format!("CR_CLAUDE={}", cli.path.display()))
        .arg("--")
        .arg(bin("cr-orchestrate"))
        .arg(place.path("plan.yaml"))
        .args(["--json", "--backoff", "10ms", "--max-wait", "1m"])
        .args(options)
        .output()
        .expect("start cr-mock");
    println!("{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    let lines = text.lines().map(serde_json::from_str);
    let lines = lines.map(|line| line.expect("a line of JSON"));
    (output.status.code(), lines.collect())
}

/// The outcomes of the attempts at task `id`.
pub(crate) fn outcomes(lines: &[Value], id: &str) -> Vec<String> {
    let is_end = |line: &&Value| line["id"] == id && line["outcome"].is_string();
    let of_task = lines.iter().filter(is_end);
    let outcome = |line: &Value| line["outcome"].as_str().expect("a word").to_owned();
    of_task.map(outcome).collect()
}

#[test]
fn a_failed_task_succeeds_with_what_was_missing() {
    each(|cli| {
        let place = Place::new();
        let tasks = "
- {id: turns, prompt: TURNS please, max_turns: 1}
- {id: budget, prompt: BUDGET please, budget_usd: 0.01}
- {id: busy, prompt: BUSY please}
- {id: killed, prompt: KILLED please}
";
        let (code, lines) = sprint(&place, cli, tasks);
        assert_eq!(code, Some(0), "{lines:#?}");
        assert_eq!(outcomes(&lines, "turns"), ["limit_turns", "success"]);
        assert_eq!(outcomes(&lines, "budget"), ["limit_budget", "success"]);
        let busy = outcomes(&lines, "busy");
        assert_eq!(busy, ["overloaded", "overloaded", "success"]);
        // Killed before the CLI had written its session, there is nothing to
        // resume: the attempt that tries fails, and the next begins anew.
        let killed = outcomes(&lines, "killed");
        assert_eq!(killed.first().map(String::as_str), Some("killed"));
        assert_eq!(
            killed.last().map(String::as_str),
            Some("success"),
            "{lines:#?}"
        );
        assert!(killed.len() <= 3, "{lines:#?}");
        let kept = fs::read_to_string(place.repository().join("kept"));
        assert_eq!(kept.expect("the work is kept"), "kept\n");
    });
}

#[test]
fn a_limit_without_an_end_in_sight_ends_the_run() {
    each(|cli| {
        let place = Place::new();
        let tasks = "
- {id: limited, prompt: LIMITED please}
- {id: after, prompt: TURNS please}
";
        let (code, lines) = sprint(&place, cli, tasks);
        assert_eq!(code, Some(75), "{lines:#?}");
        assert_eq!(outcomes(&lines, "limited"), ["rate_limited"]);
        assert!(outcomes(&lines, "after").is_empty());
    });
}
