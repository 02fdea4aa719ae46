//! Paths that are not UTF-8, and a directory that is gone.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use cr_test::bin;
use serde_json::Value;

use crate::case::{Case, INIT, RESULT};

#[test]
fn a2_a_path_that_is_not_utf_8_is_one_like_any_other() {
    let mut case = Case::playing(&[INIT, RESULT], "exit=3").args(&["--system-prompt=be brief"]);
    let dir = case.world.dir().join(OsStr::from_bytes(b"d\xFFir"));
    fs::create_dir(&dir).expect("a directory");
    let agent = dir.join("agent");
    fs::copy(bin("cr-replay"), &agent).expect("a program");
    let state = dir.join("state");
    case.command
        .env("CR_CLAUDE", &agent)
        .env("CR_STATE_DIR", &state)
        .current_dir(&dir);
    let done = case.run();
    assert_eq!(done.exit()["exit_code"], 3, "{}", done.stderr);
    assert_eq!(done.exit()["recorded"], true);
    assert_eq!(done.code(), Some(3));
    let runs = fs::read_dir(state.join("runs")).expect("runs");
    let run = runs.map(|run| run.expect("a run").path()).next();
    let run = run.expect("a run");
    assert!(run.join("exit.json").exists() && run.join("stream.ndjson").exists());
    let settings = fs::read(run.join("settings.json")).expect("settings.json");
    let settings: Value = serde_json::from_slice(&settings).expect("JSON");
    let bytes = settings["claude"]["Unix"].as_array().expect("bytes");
    assert_eq!(bytes.len(), agent.as_os_str().len());
}

#[test]
fn a_removed_working_directory_is_refused() {
    let mut case = Case::playing(&[INIT, RESULT], "");
    let mut shell = case.world.command("sh");
    shell
        .args([
            "-c",
            r#"mkdir gone && cd gone && rmdir ../gone && exec "$@""#,
            "sh",
        ])
        .arg(bin("cr-spawn"));
    case.instead(shell);
    let done = case.run();
    assert_eq!(done.exit()["reason"], "spawn_failed");
    assert!(done.agents().is_empty());
    assert_eq!(done.code(), Some(125));
}
