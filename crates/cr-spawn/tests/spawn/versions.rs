//! Old versions of the CLI: options that they do not have.

use crate::case::{Case, Done};

/// The CLI of `version`: a script of node, as the old ones are. It plays a good
/// run.
fn cli(version: &str) -> Case {
    let case = Case::playing(&[], "");
    let text = format!(
        "case $2 in --version) echo '{version} (Claude Code)'; exit;; esac\n\
         cat > input\n\
         echo '{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"ok\"}}'"
    );
    let node = case.write_script("node", &text);
    let agent = case
        .world
        .write("claude", format!("#!{}\n", node.display()));
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&agent, mode).expect("executable");
    case.env("CR_CLAUDE", agent.to_str().expect("text"))
}

fn run(version: &str, args: &[&str]) -> Done {
    cli(version).args(args).run()
}

fn argv(done: &Done) -> Vec<String> {
    let argv = done.all("cr/start")[0]["argv"].clone();
    serde_json::from_value(argv).expect("words")
}

/// Options, the last version that does not have them, and the first that has.
const OPTIONS: [(&[&str], &str, &str); 9] = [
    (&["--max-budget=1"], "2.0.29", "2.0.30"),
    (&["--permission-mode=dontAsk"], "2.0.42", "2.0.44"),
    (&["--json-schema={}"], "2.0.44", "2.0.45"),
    (&["--no-session-persistence"], "2.0.62", "2.0.64"),
    (&["--", "--max-budget-usd", "1"], "2.0.29", "2.0.30"),
    (&["--", "--append-system-prompt-file=x"], "2.0.32", "2.0.33"),
    (&["--", "--permission-mode", "dontAsk"], "2.0.42", "2.0.44"),
    (&["--", "--json-schema={}"], "2.0.44", "2.0.45"),
    (
        &["--", "--system-prompt-snapshot=off"],
        "2.1.252",
        "2.1.257",
    ),
];

#[test]
fn an_option_that_the_cli_does_not_have_is_refused_with_the_version_that_has_it() {
    for (args, old, new) in OPTIONS {
        let done = run(old, args);
        assert_eq!(done.code(), Some(2), "{args:?} {old}: {}", done.stderr);
        let said = format!("needs claude {new}, this is {old}");
        assert!(done.stderr.contains(&said), "{args:?}: {}", done.stderr);
        assert!(done.lines.is_empty(), "{args:?}: something was started");
        let done = run(new, args);
        assert_eq!(done.code(), Some(0), "{args:?} {new}: {}", done.stderr);
    }
}

#[test]
fn the_error_names_the_option_as_the_user_gave_it() {
    let done = run("2.0.0", &["--max-budget=1"]);
    let said = "cr-spawn: --max-budget needs claude 2.0.30, this is 2.0.0";
    assert!(done.stderr.contains(said), "{}", done.stderr);
}

#[test]
fn a_cli_that_takes_no_file_gets_the_system_prompt_as_an_argument() {
    for version in ["2.0.0", "2.0.32"] {
        let done = run(version, &["--system-prompt=Be brief."]);
        assert_eq!(done.code(), Some(0), "{}", done.stderr);
        let wanted = "--append-system-prompt=Be brief.".to_owned();
        assert!(argv(&done).contains(&wanted), "{:?}", argv(&done));
    }
    let case = cli("2.0.0");
    case.world.write("prompt.md", "Be brief.\n");
    let done = case.args(&["--system-prompt-file=prompt.md"]).run();
    let wanted = "--append-system-prompt=Be brief.\n".to_owned();
    assert!(argv(&done).contains(&wanted), "{:?}", argv(&done));
    let done = run("2.0.33", &["--system-prompt=Be brief."]);
    let is_file = |arg: &String| arg.starts_with("--append-system-prompt-file=");
    assert!(argv(&done).iter().any(is_file), "{:?}", argv(&done));
}

#[test]
fn a_system_prompt_file_that_cannot_be_read_is_an_error_for_an_old_cli() {
    let done = run("2.0.0", &["--system-prompt-file=missing.md"]);
    assert_eq!(done.code(), Some(66), "{}", done.stderr);
    assert!(done.stderr.contains("missing.md"), "{}", done.stderr);
}
