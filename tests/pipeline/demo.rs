//! `scripts/demo`.

use cr_test::{Command, bin_dir, root};

#[test]
fn the_demo_runs_the_whole_runner_on_one_screen() {
    let output = Command::new(root().join("scripts/demo"))
        .env("CR_BIN_DIR", bin_dir())
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
