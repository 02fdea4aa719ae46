//! What the ledger says of runs of the real CLI is what the API charged.

use serde_json::{Value, json};

use crate::cli::each;
use crate::place::Place;
use crate::runner::runner;

/// The session of the runs.
const SESSION: &str = "5a0d7a52-3b8b-4a0e-9c7f-2f6c0e1d8b11";

/// A model whose prices both versions know.
const MODEL: &str = "claude-sonnet-4-5-20250929";

/// Dollars for a million tokens of the model of these runs: input, output, a read
/// from the cache. A write costs 1.25 or 2 times the input.
const PRICES: (f64, f64, f64) = (3.0, 15.0, 0.3);

/// What one answer of the scenario costs.
fn answer_usd() -> f64 {
    let (input, output, read) = PRICES;
    let cost = 1000.0 * input
        + 4000.0 * output
        + 70_000.0 * read
        + 20_000.0 * input * 1.25
        + 30_000.0 * input * 2.0;
    cost / 1e6
}

/// The first row of a query on the ledger of this place.
fn row(place: &Place, args: &[&str]) -> Vec<Value> {
    let mut command = place.world.tool("cr-ledger");
    command.arg("--ledger");
    command.arg(place.path("home/.local/state/claude-runner/ledger.db"));
    let output = command.args(args).output().expect("run cr-ledger");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

#[test]
fn three_runs_of_one_session_cost_what_the_api_charged_by_summary_and_by_log() {
    each(|cli| {
        let place = Place::new();
        let mut answers = 0;
        for (number, session) in ["--session-id", "--resume", "--resume"]
            .into_iter()
            .enumerate()
        {
            let log = place.path(&format!("requests-{number}"));
            let log = log.to_str().expect("a path");
            let run = runner(&place, cli, "cache")
                .options(&["--env", "IS_SANDBOX=1", "--log", log])
                .args(&["--model", MODEL, session, SESSION]);
            let (code, text, err) = run.text();
            assert_eq!(code, Some(0), "{cli} {text} {err}");
            let requests = std::fs::read_to_string(log).expect("requests");
            answers += requests
                .lines()
                .filter(|line| line.contains("\"step\""))
                .count();
        }
        assert!(answers >= 3, "{cli}");
        let expected = answer_usd() * f64::from(u32::try_from(answers).expect("a few"));
        let sums = "SELECT sum(cost_usd) AS usd, sum(cache_creation_1h_tokens) AS hour,
            sum(cache_creation_5m_tokens) AS minutes, sum(cache_read_tokens) AS read FROM usage";
        let count = "SELECT count(*) AS runs FROM runs";
        assert_eq!(row(&place, &["sql", count]), [json!({"runs": 3})], "{cli}");
        // By the summaries; then by the log too, and again.
        for _ in 0..3 {
            let sum = row(&place, &["sql", sums]).remove(0);
            let usd = sum["usd"].as_f64().expect("a sum");
            assert!(
                (usd - expected).abs() < 0.005,
                "{cli}: {sum}, charged {expected}"
            );
            assert_eq!(sum["hour"], json!(30_000 * answers), "{cli}: {sum}");
            assert_eq!(sum["minutes"], json!(20_000 * answers), "{cli}: {sum}");
            assert_eq!(sum["read"], json!(70_000 * answers), "{cli}: {sum}");
            let projects = place.path("home/.claude/projects");
            row(
                &place,
                &["import", "--json", projects.to_str().expect("a path")],
            );
        }
    });
}
