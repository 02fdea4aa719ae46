//! A prompt run from a program: every option of `ClaudeRunOptions`, every field
//! of `ClaudeResult`, under the names that claude-runner(1) maps them to.

use std::fs;

use cr_test::{Fifo, root};
use serde_json::{Value, json};

use crate::case::{Case, Done, INIT, RESULT, SESSION};

/// The only thing on standard output.
fn summary(done: &Done) -> Value {
    serde_json::from_str(&done.out).unwrap_or_else(|err| panic!("{err}: {done:?}"))
}

/// The lines of a file.
fn lines(case: &Case, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(case.path(name)).expect("a file");
    assert!(text.ends_with('\n'), "{text}");
    let lines = text.lines().map(serde_json::from_str);
    lines.map(|line| line.expect("a line of JSON")).collect()
}

/// The agent's own lines among them, as they stood in the recording.
fn recorded(capture: &str) -> Vec<Value> {
    let path = format!("tests/fixtures/captures/{capture}.ndjson");
    let text = fs::read_to_string(root().join(path)).expect("a recording");
    let lines = text.lines().map(serde_json::from_str);
    let lines = lines.map(|line: Result<Value, _>| line.expect("JSON"));
    lines.filter(|line| line["type"] != "cr").collect()
}

fn agents(lines: &[Value]) -> Vec<Value> {
    let lines = lines.iter().filter(|line| line["type"] != "cr");
    lines.cloned().collect()
}

#[test]
fn every_option_of_a_program_reaches_the_agent() {
    let case = Case::playing("01-simple");
    fs::create_dir(case.path("repo/sub")).expect("made");
    let done = case.run(&[
        "--json",
        "--prompt=fix it",
        "--output-file=out.ndjson",
        "--max-turns=7",
        "--model=claude-opus-4",
        "--allowed-tools=Read",
        "--allowed-tools=Bash(git log:*)",
        &format!("--resume={SESSION}"),
        "--cwd=sub",
        "--timeout=90.5",
    ]);
    assert_eq!(done.code(), Some(0), "{done:?}");
    let start = &lines(&case, "repo/out.ndjson")[0];
    assert_eq!(start["subtype"], "start");
    let argv = start["argv"].as_array().expect("arguments");
    for word in [
        "--max-turns=7",
        "--model=claude-opus-4",
        "--allowedTools=Read",
        "--allowedTools=Bash(git log:*)",
        &format!("--resume={SESSION}"),
    ] {
        assert!(argv.contains(&json!(word)), "{word}: {argv:?}");
    }
    assert_eq!(
        start["cwd"],
        case.path("repo/sub").to_str().expect("a path")
    );
    assert_eq!(start["limits"]["timeout_ms"], 90_500);
    let run = &case.runs()[0];
    let prompt = fs::read_to_string(run.join("prompt")).expect("a prompt");
    assert_eq!(prompt, "fix it");
}

#[test]
fn a_session_after_continue_is_no_prompt() {
    let case = Case::playing("01-simple");
    for flag in ["--continue", "-c"] {
        let done = case.run(&["--json", flag, SESSION]);
        assert_eq!((done.code(), done.out.as_str()), (Some(2), ""), "{done:?}");
        assert!(done.err.contains("--continue takes no session"), "{done:?}");
    }
    let done = case.run(&["--json", "--continue", "go on"]);
    assert_eq!(done.code(), Some(0), "{done:?}");
}

#[test]
fn every_field_of_a_result_is_in_the_summary_of_a_good_run() {
    let text = "Done.\\n```json\\n{\\\"status\\\":\\\"completed\\\"}\\n```";
    let result = RESULT.replace("\"result\":\"done\"", &format!("\"result\":\"{text}\""));
    let agent = result
        .replace("echo '", "cat <<'END'\n")
        .replace("}'\n", "}\nEND\n");
    let case = Case::new(&[INIT, &agent].concat());
    let done = case.run(&["--json", "go"]);
    let summary = summary(&done);
    // success, exitCode, jsonResult, error, category.
    assert_eq!(summary["ok"], true, "{summary:#}");
    assert_eq!((done.code(), &summary["exit_code"]), (Some(0), &json!(0)));
    assert_eq!(summary["json"], json!({"status": "completed"}));
    assert_eq!(summary["errors"], json!([]));
    assert_eq!(summary["category"], Value::Null);
    // output: all that the agent wrote.
    let transcript = summary["transcript"].as_str().expect("a path");
    let stream = fs::read_to_string(transcript).expect("a transcript");
    assert!(stream.contains(r#""result":"Done.\n```json"#), "{stream}");
}

#[test]
fn every_field_of_a_result_is_in_the_summary_of_a_bad_run() {
    for (agent, exit_code, category, error) in [
        (
            "echo 'Error: cannot find it' >&2; exit 3\n",
            3,
            "logic",
            "cannot find it",
        ),
        (
            "echo 'fetch failed: ECONNREFUSED' >&2; exit 1\n",
            1,
            "network",
            "ECONNREFUSED",
        ),
        (
            "echo 'Error: 429 Too Many Requests' >&2; exit 1\n",
            1,
            "rate-limit",
            "429",
        ),
        ("sleep 600\n", -1, "timeout", "time limit"),
    ] {
        let case = Case::new(&[INIT, agent].concat());
        let done = case.run(&["--json", "go", "--timeout=1", "--grace=1"]);
        let summary = summary(&done);
        assert_eq!(summary["ok"], false, "{summary:#}");
        assert_eq!(summary["exit_code"], exit_code, "{summary:#}");
        assert_eq!(summary["category"], category, "{summary:#}");
        let said = format!("{} {}", summary["errors"], summary["why"]);
        assert!(said.contains(error), "{summary:#}");
        assert_ne!(done.code(), Some(0));
    }
}

#[test]
fn the_output_file_has_every_line_of_the_agent_and_the_end() {
    for capture in ["02-tools", "04-maxturns2", "01-simple"] {
        let case = Case::playing(capture);
        fs::write(case.path("repo/out"), "what was there before\n").expect("written");
        let done = case.run(&["--json", "go", "--output-file", "out"]);
        let lines = lines(&case, "repo/out");
        assert_eq!(agents(&lines), recorded(capture), "{capture}");
        assert_eq!(lines[0]["subtype"], "start");
        assert_eq!(lines.last().expect("one")["subtype"], "exit");
        let file = case.path("repo/out");
        assert_eq!(
            summary(&done)["output_file"],
            json!({"path": file.to_str().expect("a path")})
        );
        // Other tools read it.
        let code = case.tool("cr-summarize", &["out"]).output().expect("run");
        assert_eq!(code.status.code(), done.code(), "{capture}");
    }
}

#[test]
fn with_attempts_the_output_file_has_them_all() {
    let agent = r#"[ -e "$HOME/tried" ] || { touch "$HOME/tried"; echo no >&2; exit 5; }
"#;
    let case = Case::new(&[INIT, agent, RESULT].concat());
    let done = case.run(&["--json", "go", "--retry=1", "--output-file=out"]);
    assert_eq!(done.code(), Some(0), "{done:?}");
    let written = lines(&case, "repo/out");
    assert_eq!(agents(&written).len(), 3, "{written:#?}");
    let exits = written.iter().filter(|line| line["subtype"] == "exit");
    assert_eq!(exits.count(), 1);
    let file = case.path("repo/out");
    let file = file.to_str().expect("a path");
    assert_eq!(summary(&done)["output_file"], json!({"path": file}));
    let _ = fs::remove_file(case.path("home/tried"));
    let done = case.run(&["--json", "go", "--retry=1", "--output-file=/dev/full"]);
    assert_eq!(done.code(), Some(0), "{done:?}");
    assert!(done.err.contains("/dev/full: No space left"), "{done:?}");
    assert!(summary(&done)["output_file"]["error"].is_string());
}

#[test]
fn the_output_file_of_a_run_that_fails_has_what_there_was() {
    let case = Case::new(&[INIT, "echo out of words >&2; exit 5\n"].concat());
    let done = case.run(&["--json", "go", "--output-file=out", "--no-record"]);
    assert_eq!(done.code(), Some(1), "{done:?}");
    let kinds: Vec<Value> = lines(&case, "repo/out")
        .into_iter()
        .map(|line| line["subtype"].clone())
        .collect();
    assert_eq!(kinds, ["start", "init", "stderr", "exit"]);
    // Not even started.
    let done = case.run(&["--json", "go", "--output-file=out", "--claude=/no/such"]);
    assert_eq!(done.code(), Some(127), "{done:?}");
    let kinds = lines(&case, "repo/out");
    assert_eq!((kinds.len(), &kinds[1]["spawn_code"]), (2, &json!(127)));
}

#[test]
fn a_full_disk_is_told_and_does_not_lose_the_run() {
    let case = Case::playing("02-tools");
    let done = case.run(&["--json", "go", "--output-file=/dev/full"]);
    let summary = summary(&done);
    assert_eq!(
        (done.code(), &summary["outcome"]),
        (Some(0), &json!("success"))
    );
    let said = "--output-file: /dev/full: No space left on device";
    assert!(done.err.contains(said), "{done:?}");
    let error = summary["output_file"]["error"].as_str().expect("an error");
    assert!(error.starts_with("No space left"), "{error}");
    // The run's own record is another file.
    assert_eq!(summary["recorded"], true);
    let stream = fs::read_to_string(case.runs()[0].join("stream.ndjson")).expect("a stream");
    assert!(stream.contains(r#""subtype":"exit""#));
}

#[test]
fn an_output_file_that_cannot_be_is_found_before_anything_starts() {
    let case = Case::new(&[INIT, RESULT].concat());
    Fifo::new(case.path("repo/pipe"));
    for (path, code, said) in [
        ("none/out", 74, "none/out: No such file or directory"),
        (".", 74, ".: Is a directory"),
        ("pipe", 74, "pipe: No such device or address"),
        ("/dev/stdout", 2, "/dev/stdout: not a file"),
    ] {
        let done = case.run(&["--json", "go", "--output-file", path]);
        assert_eq!(
            (done.code(), done.out.as_str()),
            (Some(code), ""),
            "{done:?}"
        );
        let said = format!("claude-runner: --output-file: {said}");
        assert!(done.err.starts_with(&said), "{done:?}");
        assert_eq!(done.err.lines().count(), 1, "{done:?}");
    }
    assert!(!case.path("home/got").exists(), "an agent was started");
}
