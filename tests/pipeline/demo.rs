//! `scripts/demo`, as a newcomer runs it.

use std::process::Command;

use crate::bins;

#[test]
fn the_demo_shows_both_tools_on_one_screen() {
    let output = Command::new(bins::root().join("scripts/demo"))
        .env("CR_BIN_DIR", bins::dir())
        .output()
        .expect("run the demo");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{text}");
    assert!(text.lines().count() <= 30, "{text}");
    for part in [
        "] Commit: feat: first",
        "\"outcome\": \"success\"",
        "code, 0 here",
    ] {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
}
