//! `scripts/demo`, as a newcomer runs it.

use std::process::Command;

use crate::bins;

#[test]
fn the_demo_runs_the_whole_runner_on_one_screen() {
    // The tools of the demo are looked up before it starts.
    bins::bin("cr-spawn");
    let output = Command::new(bins::root().join("scripts/demo"))
        .env("CR_BIN_DIR", bins::dir())
        .env_remove("CR_CLAUDE")
        .output()
        .expect("run the demo");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{text}");
    assert!(text.lines().count() <= 45, "{text}");
    for part in [
        "$ claude-runner \"write beta",
        "] Session started: model: sonnet",
        "] Commit: feat: first",
        "] Git: 1 commit, 1 file changed, +1 -1, 1 uncommitted",
        "---CLAUDE-RUNNER-RESULT---",
        "\"outcome\": \"success\"",
        "code, 0 here",
        " feat: first 'quoted' commit",
        "ended",
        "scripts/demo --real",
    ] {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
}
