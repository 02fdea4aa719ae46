//! Our options, and the arguments of the agent.

use crate::case::{Case, INIT};

/// Always there.
const BASE: [&str; 3] = ["-p", "--output-format=stream-json", "--verbose"];
const TURNS: &str = "--max-turns=100";
const MODEL: &str = "--model=sonnet";
const SCHEMA: &str = r#"{"type":"object","properties":{"a":{"const":"é\"\n"}}}"#;

#[test]
fn options_are_translated_one_by_one() {
    let schema = format!("--json-schema={SCHEMA}");
    #[rustfmt::skip]
    let cases: &[(&[&str], &[&str])] = &[
        (&[], &[MODEL, TURNS]),
        (&["--max-turns", "5"], &[MODEL, "--max-turns=5"]),
        (&["--max-turns", "0"], &[MODEL]),
        (&["--model", "claude-3-sonnet"], &["--model=claude-3-sonnet", TURNS]),
        (&["--max-budget", "2.5"], &[MODEL, TURNS, "--max-budget-usd=2.5"]),
        (&["--max-budget-usd", "2.5"], &[MODEL, TURNS, "--max-budget-usd=2.5"]),
        (&["--resume", "session-abc-123"], &["--resume=session-abc-123", TURNS]),
        (&["-c"], &[TURNS, "--continue"]),
        (&["--json-schema", SCHEMA], &[MODEL, TURNS, &schema]),
        (
            &["--allowed-tools", "Read", "--allowedTools", "Write", "--allowed-tools=Bash(git log:*)"],
            &[MODEL, TURNS, "--allowedTools=Read", "--allowedTools=Write", "--allowedTools=Bash(git log:*)"],
        ),
        (&["--dangerously-skip-permissions"], &[MODEL, TURNS, "--permission-mode=bypassPermissions"]),
        (
            &["--max-turns", "5", "--model", "m", "--resume=s", "--allowed-tools=Read", "--json-schema={}"],
            &["--model=m", "--resume=s", "--max-turns=5", "--json-schema={}", "--allowedTools=Read"],
        ),
        (&["--", "--mcp-config", "x.json"], &[MODEL, TURNS, "--mcp-config", "x.json"]),
    ];
    for (args, expected) in cases {
        let done = Case::playing(&[INIT], "")
            .env("IS_SANDBOX", "1")
            .args(args)
            .run();
        let argv = done.all("cr/start")[0]["argv"].clone();
        let argv: Vec<String> = serde_json::from_value(argv).expect("words");
        let wanted: Vec<&str> = BASE.iter().chain(*expected).copied().collect();
        assert_eq!(argv, wanted, "{args:?}");
    }
}

#[test]
fn a_value_that_is_empty_is_refused() {
    for flag in ["--model", "--fallback-model", "--resume", "--session-id"] {
        let done = Case::playing(&[INIT], "").args(&[flag, ""]).run();
        assert_eq!(done.code(), Some(2), "{flag}");
        assert!(done.stderr.contains(flag), "{}", done.stderr);
        assert!(done.lines.is_empty(), "{flag}");
    }
}
