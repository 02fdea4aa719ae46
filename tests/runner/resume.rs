//! `claude-runner --resume-run` for every kind of run.

use std::fs;

use serde_json::Value;

use crate::case::{Case, HANG, INIT, RESULT, SESSION};

/// An agent that leaves its arguments.
fn agent() -> Case {
    let argv = "printf '%s\\n' \"$@\" >\"$HOME/argv\"\n";
    Case::new(&[argv, INIT, RESULT].concat())
}

fn argv(case: &Case) -> Vec<String> {
    let text = fs::read_to_string(case.path("home/argv")).expect("arguments");
    text.lines().map(str::to_owned).collect()
}

fn has(case: &Case, option: &str) -> bool {
    argv(case).iter().any(|arg| arg.starts_with(option))
}

/// The `cr/start` lines of all runs, the latest last.
fn starts(case: &Case) -> Vec<Value> {
    let mut runs = case.runs();
    runs.sort();
    let read = |run: &std::path::PathBuf| {
        let text = fs::read(run.join("started")).expect("started");
        serde_json::from_slice(&text).expect("JSON")
    };
    runs.iter().map(read).collect()
}

#[test]
fn a_plain_run_is_resumed_with_its_settings_in_a_new_run() {
    let case = agent().env("CR_RUN_ID", "20261118T090000Z-00000001");
    let first = [
        "go",
        "--name",
        "first",
        "--permission-mode",
        "plan",
        "--model",
        "opus",
        "--max-turns",
        "7",
        "--system-prompt",
        "be brief",
        "--allowed-tools",
        "Read",
    ];
    assert_eq!(case.run(&first).code(), Some(0));
    let case = case.env("CR_RUN_ID", "20261118T090001Z-00000002");
    // The configuration and the environment of today give no permissions.
    let case = case.env("CR_PERMISSION_MODE", "bypassPermissions");
    let done = case.run(&["--resume-run", "first"]);
    assert_eq!(done.code(), Some(0), "{done:?}");
    for option in [
        &format!("--resume={SESSION}"),
        "--permission-mode=plan",
        "--model=opus",
        "--max-turns=7",
        "--allowedTools=Read",
    ] {
        assert!(has(&case, option), "{option}: {:?}", argv(&case));
    }
    let mut runs = case.runs();
    runs.sort();
    let system_prompt = fs::read_to_string(runs[1].join("system-prompt"));
    assert_eq!(system_prompt.expect("a file").trim_end(), "be brief");
    let prompt = fs::read_to_string(case.path("home/got")).expect("a prompt");
    assert!(prompt.starts_with("Continue"), "{prompt}");
    let starts = starts(&case);
    assert_eq!(starts.len(), 2, "a run of its own");
    assert_eq!(starts[1]["resumed_run"], "20261118T090000Z-00000001");
    assert_eq!(starts[1]["resume"], SESSION);
    assert_eq!(starts[0]["resumed_run"], Value::Null);
}

#[test]
fn options_beside_it_replace_its_own() {
    let case = agent();
    assert_eq!(
        case.run(&["go", "--name", "n", "--max-turns", "7"]).code(),
        Some(0)
    );
    let done = case.run(&[
        "--resume-run",
        "n",
        "--max-turns",
        "9",
        "--permission-mode",
        "plan",
        "now the docs",
    ]);
    assert_eq!(done.code(), Some(0), "{done:?}");
    assert!(has(&case, "--max-turns=9") && !has(&case, "--max-turns=7"));
    assert!(has(&case, "--permission-mode=plan"));
    assert!(!has(&case, "--dangerously-skip-permissions"));
    let prompt = fs::read_to_string(case.path("home/got")).expect("a prompt");
    assert_eq!(prompt, "now the docs");
}

#[test]
fn a_run_without_a_permission_mode_gets_none_when_it_is_resumed() {
    let case = agent();
    // As cr-spawn runs it: no permission flag unless told.
    let mut spawn = case.tool("cr-spawn", &["--name", "n", "--run-dir", "kept"]);
    assert!(spawn.write_stdin("go").status().expect("run").success());
    let case = case.env("CR_PERMISSION_MODE", "bypassPermissions");
    let done = case.run(&["--resume-run", "./kept"]);
    assert_eq!(done.code(), Some(0), "{done:?}");
    assert!(!has(&case, "--permission-mode"), "{:?}", argv(&case));
    assert!(!has(&case, "--dangerously"), "{:?}", argv(&case));
}

#[test]
fn a_run_with_retries_keeps_the_permission_mode_of_its_environment() {
    let case = agent().env("CR_PERMISSION_MODE", "plan");
    // Without any option of cr-spawn.
    let done = case.run(&["go", "--retry", "0"]);
    assert_eq!(done.code(), Some(0), "{done:?}");
    assert!(has(&case, "--permission-mode=plan"), "{:?}", argv(&case));

    let case = interrupted(case);
    let done = case.run(&["--resume-run", &case.runs()[0].to_string_lossy()]);
    assert_eq!(done.code(), Some(0), "{done:?}");
    assert!(has(&case, "--permission-mode=plan"), "{:?}", argv(&case));

    // An older version did not record a mode that the environment gave.
    let case = interrupted(case);
    let file = case.runs()[0].join("run.json");
    let text = fs::read_to_string(&file).expect("run.json");
    let mode = r#""permission_mode":"plan""#;
    assert!(text.contains(mode), "{text}");
    let without = text.replace(mode, r#""permission_mode":null"#);
    fs::write(&file, without).expect("written");
    let done = case.run(&["--resume-run", &case.runs()[0].to_string_lossy()]);
    assert_eq!(done.code(), Some(0), "{done:?}");
    assert!(!has(&case, "--permission-mode"), "{:?}", argv(&case));
    assert!(!has(&case, "--dangerously"), "{:?}", argv(&case));
}

/// The same case, as if its only run had been interrupted, in a shell in which
/// permissions are skipped.
fn interrupted(case: Case) -> Case {
    let attempts = case.runs()[0].join("attempts/run");
    for entry in fs::read_dir(attempts).expect("attempts") {
        let file = entry.expect("an attempt").path().join("end.json");
        let text = fs::read_to_string(&file).expect("end.json");
        let text = text.replace(r#""outcome":"success""#, r#""outcome":"interrupted""#);
        fs::write(&file, text).expect("written");
    }
    fs::remove_file(case.path("home/argv")).expect("removed");
    case.env("CR_PERMISSION_MODE", "bypassPermissions")
}

#[test]
fn what_would_be_another_run_is_refused() {
    let case = agent();
    assert_eq!(case.run(&["go", "--name", "n"]).code(), Some(0));
    for options in [
        &["--retry", "1"][..],
        &["--resume", SESSION],
        &["--continue"],
        &["--session-id", SESSION],
        &["--fork-session"],
    ] {
        let done = case.run(&[&["--resume-run", "n"], options].concat());
        assert_eq!(done.code(), Some(2), "{options:?} {done:?}");
        assert!(done.err.contains(options[0]), "{options:?} {done:?}");
    }
    assert_eq!(case.runs().len(), 1);
    assert_eq!(case.run(&["--resume-run", "no-such"]).code(), Some(66));
}

#[test]
fn a_run_that_is_going_on_is_not_resumed() {
    let case = Case::new(&[INIT, HANG].concat());
    let mut run = case.start(&["go", "--name", "n", "--grace", "2"]);
    run.wait_for("Session:");
    let busy = case.runner(&["--resume-run", "n"]).output().expect("run");
    let said = String::from_utf8_lossy(&busy.stderr);
    assert_eq!(busy.status.code(), Some(75), "{said}");
    run.signal("TERM");
    run.end();
}

#[test]
fn settings_of_a_newer_version_are_refused_and_left_alone() {
    let case = agent();
    assert_eq!(case.run(&["go", "--name", "n"]).code(), Some(0));
    let file = case.runs()[0].join("settings.json");
    let newer = "{\"schema\":2,\"model\":{}}\n";
    fs::write(&file, newer).expect("written");
    let done = case.run(&["--resume-run", "n"]);
    assert_eq!(done.code(), Some(78), "{done:?}");
    assert_eq!(fs::read_to_string(&file).expect("there"), newer);
    assert_eq!(case.runs().len(), 1);
}
