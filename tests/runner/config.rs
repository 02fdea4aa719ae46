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
    let text = "# mine\nmodel = \"opus\"\n\ntimeout = \"2h\"\ncontext_warn = 0.5\n\
                turns_min = 4\ntask_timeout = \"90m\"\nprices = \"/p.json\"\n\
                [turns_by_type]\nDebugging = 25\n\"my type\" = 9\n";
    let case = configured(text).env("CR_PERMISSION_MODE", "plan");
    let done = case.run(&["config"]);
    assert_eq!(done.code(), Some(0), "{done:?}");
    let file = case.path("home/.config/claude-runner/config.toml");
    for line in [
        format!("model = \"opus\"  # {}:2", file.display()),
        format!("timeout = \"2h\"  # {}:4", file.display()),
        "permission_mode = \"plan\"  # CR_PERMISSION_MODE".to_owned(),
        "max_turns = 100  # default".to_owned(),
        format!("context_warn = 0.5  # {}:5", file.display()),
        "context_refresh = 0.80  # default".to_owned(),
        "context_emergency = 0.95  # default".to_owned(),
        format!("turns_min = 4  # {}:6", file.display()),
        "turns_max = 30  # default".to_owned(),
        format!("task_timeout = \"90m\"  # {}:7", file.display()),
        format!("prices = \"/p.json\"  # {}:8", file.display()),
        format!("turns_by_type.debugging = 25  # {}:10", file.display()),
        format!("turns_by_type.\"my type\" = 9  # {}:11", file.display()),
        "turns_by_type.testing = 8  # default".to_owned(),
        "turns_by_type.documentation = 4  # default".to_owned(),
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
fn a_value_outside_its_range_is_refused_with_the_range() {
    #[rustfmt::skip]
    let cases = [
        ("turns_min = 2", "1: turns_min: expected a whole number from 3 to 1000"),
        ("turns_min = 1001", "1: turns_min: expected a whole number from 3 to 1000"),
        ("turns_min = 4.5", "1: turns_min: expected a whole number from 3 to 1000"),
        ("turns_max = \"30\"", "1: turns_max: expected a whole number from 3 to 1000"),
        ("turns_min = 31", "1: turns_min: expected a whole number of at most 30 (turns_max)"),
        ("turns_min = 9\nturns_max = 8", "2: turns_max: expected a whole number of at least 9 (turns_min)"),
        ("turns_by_type = 5", "1: turns_by_type: expected a table such as { debugging = 20 }"),
        ("\n[turns_by_type]\nx = 5\ny = \"6\"", "4: turns_by_type.y: expected a whole number from 1 to 1000"),
        ("turns_by_type.story = 50", "1: turns_by_type.story: expected a whole number from 3 (turns_min) to 30 (turns_max)"),
        ("turns_by_type = { x = 5, X = 6 }", "1: turns_by_type.x: the same type twice; upper and lower case do not matter"),
        ("turns_by_type = { \"\" = 5 }", "1: turns_by_type.: expected a name of one line, not empty"),
        ("context_warn = 1.5", "1: context_warn: expected a number from 0 to 1"),
        ("context_warn = -0.1", "1: context_warn: expected a number from 0 to 1"),
        ("context_warn = nan", "1: context_warn: expected a number from 0 to 1"),
        ("context_emergency = \"95%\"", "1: context_emergency: expected a number from 0 to 1"),
        ("context_warn = 0.8", "1: context_warn: expected a number below 0.80 (context_refresh)"),
        ("context_refresh = 0.6", "1: context_refresh: expected a number above 0.70 (context_warn)"),
        ("context_emergency = 0.5\ncontext_refresh = 0.75", "1: context_emergency: expected a number above 0.75 (context_refresh)"),
        ("task_timeout = 30", "1: task_timeout: expected a time of at least 60 seconds"),
        ("task_timeout = 0", "1: task_timeout: expected a time of at least 60 seconds"),
        ("task_timeout = \"59s\"", "1: task_timeout: expected a time of at least 60 seconds"),
        ("task_timeout = \"soon\"", "1: task_timeout: `soon` is neither seconds nor a duration such as 2h30m"),
        ("prices = \"prices.json\"", "1: prices: expected a path that begins with / or ~/"),
    ];
    let case = configured("");
    let file = case.path("home/.config/claude-runner/config.toml");
    for (text, cause) in cases {
        fs::write(&file, text).expect("written");
        let done = case.run(&["config"]);
        let expected = format!("claude-runner: {}:{cause}\n", file.display());
        assert_eq!(
            (done.code(), done.err.as_str()),
            (Some(78), expected.as_str()),
            "{text}"
        );
    }
}

#[test]
fn a_value_at_the_end_of_its_range_is_accepted() {
    for text in [
        "turns_min = 3\nturns_max = 3",
        "turns_max = 1000\nturns_by_type = { epic = 1000 }",
        "context_warn = 0\ncontext_emergency = 1",
        "task_timeout = 60",
        "task_timeout = \"2h\"",
        // No limit, and a short one for tests of one's own.
        "timeout = 0",
        "timeout = 1",
    ] {
        let done = configured(text).run(&["config"]);
        assert_eq!(done.code(), Some(0), "{text}: {done:?}");
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
