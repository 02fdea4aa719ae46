//! The configuration: its values, their precedence, and what is refused.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::case::{Case, INIT, RESULT};

const SAY: &str = "printf '%s\\n' \"$@\" >\"$HOME/args\"\n";

fn configured(text: &str) -> Case {
    let case = Case::new(&[SAY, INIT, RESULT].concat());
    let dir = case.path("home/.config/claude-runner");
    fs::create_dir_all(&dir).expect("made");
    fs::write(dir.join("config.toml"), text).expect("written");
    case
}

fn arguments(case: &Case, args: &[&str]) -> String {
    let done = case.run(args);
    assert_eq!(done.code(), Some(0), "{done:?}");
    fs::read_to_string(case.path("home/args")).expect("arguments")
}

#[test]
fn flags_count_more_than_the_environment_and_that_more_than_the_file() {
    let text = "model = \"opus\"\nmax_turns = 7\npermission_mode = \"plan\"\nallowed_tools = [\"Read\", \"Edit\"]\n";
    let case = configured(text);
    let args = arguments(&case, &["go"]);
    for word in [
        "--model=opus",
        "--max-turns=7",
        "--permission-mode=plan",
        "--allowedTools=Read,Edit",
    ] {
        assert!(args.lines().any(|line| line == word), "{word}: {args}");
    }
    let args = arguments(&case, &["go", "--model", "haiku"]);
    assert!(
        args.contains("--model=haiku") && !args.contains("opus"),
        "{args}"
    );
    let case = case.env("CR_PERMISSION_MODE", "acceptEdits");
    let args = arguments(&case, &["go"]);
    assert!(args.contains("--permission-mode=acceptEdits\n"), "{args}");
    let args = arguments(&case, &["go", "--permission-mode", "default"]);
    assert!(args.contains("--permission-mode=default\n"), "{args}");
}

#[test]
fn permissions_are_skipped_unless_somebody_says_otherwise() {
    let case = configured("");
    let skips = |args: &str| args.contains("--permission-mode=bypassPermissions");
    assert!(skips(&arguments(&case, &["go"])));
    assert!(!skips(&arguments(
        &case,
        &["go", "--permission-mode", "plan"]
    )));
    assert!(!skips(&arguments(
        &case,
        &["go", "--", "--permission-mode", "plan"]
    )));
}

#[test]
fn every_value_is_printed_with_its_source_and_what_is_printed_is_a_configuration() {
    let case = configured("# mine\nmodel = \"opus\"\n\ntimeout = \"2h\"\n")
        .env("CR_PERMISSION_MODE", "plan");
    let done = case.run(&["config"]);
    assert_eq!(done.code(), Some(0), "{done:?}");
    let file = case.path("home/.config/claude-runner/config.toml");
    for line in [
        format!("model = \"opus\"  # {}:2", file.display()),
        format!("timeout = \"2h\"  # {}:4", file.display()),
        "permission_mode = \"plan\"  # CR_PERMISSION_MODE".to_owned(),
        "max_turns = 100  # default".to_owned(),
    ] {
        assert!(
            done.out.lines().any(|said| said == line),
            "{line}: {}",
            done.out
        );
    }
    fs::write(&file, &done.out).expect("written");
    assert_eq!(case.run(&["config"]).code(), Some(0));
}

#[test]
fn a_wrong_key_or_value_is_refused_with_its_line() {
    let cases = [
        ("model = \"opus\"\nmodle = \"x\"\n", ":2: modle"),
        ("\n\nmax_turns = \"many\"\n", ":3: max_turns"),
        ("max_turns = -1\n", ":1: max_turns"),
        ("timeout = \"soon\"\n", ":1: timeout"),
        ("output = \"poem\"\n", ":1: output"),
        (
            "system_prompt_file = \"prompt.md\"\n",
            ":1: system_prompt_file",
        ),
        ("claude = \"./claude\"\n", ":1: claude"),
        ("model = \"a\"\nmodel = \"b\"\n", ":2: "),
        ("model = \n", ":1: "),
        ("[section]\nmodel = \"a\"\n", "section"),
        ("model = \"a\\nb\"\n", ":1: model"),
    ];
    for (text, place) in cases {
        let case = configured(text);
        for args in [&["config"][..], &["go"]] {
            let done = case.run(args);
            assert_eq!(done.code(), Some(78), "{text}: {done:?}");
            assert!(done.err.contains(place), "{text}: {}", done.err);
            assert_eq!(done.out, "");
        }
        assert!(!case.path("home/args").exists());
    }
}

#[test]
fn a_file_that_others_may_write_or_that_is_not_there_is_refused() {
    let case = configured("model = \"opus\"\n");
    let file = case.path("home/.config/claude-runner/config.toml");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).expect("chmod");
    assert_eq!(case.run(&["go"]).code(), Some(78));
    let case = case.env("CR_CONFIG", "/no/such/file");
    assert_eq!(case.run(&["go"]).code(), Some(78));
}

#[test]
fn nothing_is_read_from_the_repository() {
    let case = configured("");
    for place in [
        "config.toml",
        ".claude-runner.toml",
        "claude-runner/config.toml",
    ] {
        let path = case.path("repo").join(place);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, "model = \"mine\"\n").expect("written");
    }
    assert!(arguments(&case, &["go"]).contains("--model=sonnet\n"));
}
