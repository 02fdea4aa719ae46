//! The README, as a person reads it who has never heard of the tools.

use std::fs;

use cr_test::{Command, bin_dir, left_out, root};

fn readme() -> String {
    fs::read_to_string(root().join("README.md")).expect("the README")
}

/// What comes before the list of tools.
fn first_screen(text: &str) -> &str {
    let end = text.find("\nOn a recording, or in a pipe of your own:\n");
    &text[..end.expect("the end of the first screen")]
}

#[test]
fn the_first_screen_has_a_sentence_a_picture_three_commands_and_the_exit_codes() {
    let text = readme();
    let screen = first_screen(&text);
    assert!(screen.lines().count() <= 40, "{screen}");
    for part in [
        "Runs Claude Code unattended (`claude -p`)",
        "prefers-color-scheme: dark",
        "**It needs**",
        "**It writes**",
        "**It never**",
    ] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    for word in [
        "stream-json",
        "NDJSON",
        "stdin",
        "verdict",
        "cr-",
        "worktree",
    ] {
        assert!(!screen.contains(word), "{word} needs the manual: {screen}");
    }
    let commands = screen.split("```").nth(1).expect("commands");
    assert_eq!(commands.lines().skip(1).count(), 3, "{commands}");
    for command in commands.lines().skip(1) {
        let program = command.split_whitespace().next().expect("a word");
        let path = program.strip_prefix("scripts/").unwrap_or(program);
        assert!(root().join("scripts").join(path).is_file(), "{command}");
    }
}

#[test]
fn every_exit_code_of_the_readme_is_in_the_help() {
    let text = readme();
    let help = Command::new(root().join("scripts/claude-runner"))
        .arg("--help")
        .env("PATH", format!("{}:/usr/bin:/bin", bin_dir().display()))
        .output()
        .expect("run claude-runner");
    let help = String::from_utf8(help.stdout).expect("text");
    let codes: Vec<&str> = first_screen(&text)
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(' ').next())
        .filter(|code| code.parse::<u8>().is_ok())
        .collect();
    assert_eq!(codes.len(), 9, "{codes:?}");
    for code in codes {
        let has = help
            .lines()
            .any(|line| line.trim_start().starts_with(&format!("{code} ")));
        assert!(has, "{code}: {help}");
    }
}

#[test]
fn every_file_that_the_readme_names_is_there() {
    let text = readme();
    let words = text.split(|c: char| c.is_whitespace() || "`\"()<>;,|".contains(c));
    let places = ["scripts/", "docs/", "tests/", "skills/"];
    let named = words.filter(|word| places.iter().any(|place| word.starts_with(place)));
    let mut count = 0;
    for path in named {
        assert!(
            root().join(path.trim_end_matches(['.', ':'])).exists(),
            "{path}"
        );
        count += 1;
    }
    assert!(count > 10, "{count}");
}

#[test]
fn the_picture_shows_a_run_of_today() {
    let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
    if !has("jq") || !has("script") {
        return left_out("the picture of the README: no jq or script");
    }
    let output = Command::new(root().join("scripts/picture"))
        .arg("--check")
        .env("CR_BIN_DIR", bin_dir())
        .env("CR_REPLAY_SPEED", "4")
        .output()
        .expect("run the script");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}");
}
