//! The file of a policy: what is refused, with its line.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use cr_policy::{Action, Policy};
use tempfile::TempDir;

use crate::{decide, decide_command};

fn refusal(text: &str) -> String {
    let err = Policy::parse(text).expect_err(text);
    err.root_cause().to_string()
}

#[test]
fn what_is_wrong_is_refused_with_its_line() {
    let rule = |body: &str| format!("\n[[rule]]\n{body}");
    #[rustfmt::skip]
    let cases = [
        // text                                                                    line  words
        ("defualt = 'ask'".to_owned(),                                                1, "unknown field `defualt`"),
        ("default = 'yes'".to_owned(),                                                1, "expected allow, deny or ask"),
        ("default = 1".to_owned(),                                                    1, "invalid type"),
        ("default = 'ask'\ndefault = 'deny'".to_owned(),                              2, "duplicate key"),
        ("rule = 1".to_owned(),                                                       1, "invalid type"),
        (rule("tool = 'Bash'"),                                                       2, "missing field `action`"),
        (rule("action = 'deny'"),                                                     2, "missing field `tool`"),
        (rule("tool = 'Bash'\naction = 'Allow'"),                                     4, "expected allow, deny or ask"),
        (rule("tool = 'Bash'\naction = 'allow'\ncomand = 'x'"),                       5, "unknown field `comand`"),
        (rule("tool = []\naction = 'deny'"),                                          3, "at least one"),
        (rule("tool = 'a*b'\naction = 'deny'"),                                       3, "name of a tool"),
        (rule("tool = 1\naction = 'deny'"),                                           3, "a string or an array"),
        (rule("tool = ['Read', 1]\naction = 'deny'"),                                 3, "expected a string"),
        (rule("tool = 'Bash'\naction = 'allow'\ncommand = []"),                       5, "at least one"),
        (rule("tool = 'Bash'\naction = 'allow'\ncommand = [\n'ls',\n'a  b']"),        7, "one space"),
        (rule("tool = 'Bash'\naction = 'allow'\ncommand = ''"),                       5, "one space"),
        (rule("tool = 'Bash'\naction = 'allow'\ncommand = '*'"),                      5, "only as the last"),
        (rule("tool = 'Bash'\naction = 'allow'\ncommand = 'git*'"),                   5, "only as the last"),
        (rule("tool = 'Bash'\naction = 'allow'\ncommand = 'git * x'"),                5, "only as the last"),
        (rule("tool = 'Bash'\naction = 'allow'\ncommand = \"a\\nb\""),                5, "one space"),
        (rule("tool = 'Bash'\naction = 'allow'\ncommand = 'sudo x'"),                 5, "runs other commands"),
        (rule("tool = 'Bash'\naction = 'allow'\ncommand = '/bin/sh x'"),              5, "runs other commands"),
        (rule("tool = 'Bash'\naction = 'allow'\ncommand = 'export A=b'"),             5, "evaluates its arguments"),
        (rule("tool = 'Bash'\naction = 'allow'\ncommand = 'if x'"),                   5, "word of the shell"),
        (rule("tool = 'Bash'\naction = 'allow'\ncommand = 'cd *'"),                   5, "change what later"),
        (rule("tool = 'Read'\naction = 'allow'\ncommand = 'ls'"),                     3, "not known for the tool `Read`"),
        (rule("tool = 'Bash'\naction = 'allow'\npath = 'x'"),                         3, "not known for the tool `Bash`"),
        (rule("tool = 'MultiEdit'\naction = 'allow'\npath = 'x'"),                    3, "not known for the tool"),
        (rule("tool = '*'\naction = 'allow'\npath = 'x'\ncommand = 'y'"),             2, "not both"),
        (rule("tool = 'Read'\naction = 'allow'\npath = '../x'"),                      5, "`..`"),
        (rule("tool = 'Read'\naction = 'allow'\npath = '~/x'"),                       5, "`~`"),
        (rule("tool = 'Read'\naction = 'allow'\npath = ''"),                          5, "not empty"),
        (rule("tool = 'Read'\naction = 'deny'\nreason = 1"),                          5, "invalid type"),
        ("[[rule]\n".to_owned(),                                                      1, ""),
        ("\n\n\"".to_owned(),                                                         3, ""),
    ];
    for (text, line, words) in cases {
        let message = refusal(&text);
        let begins = message.starts_with(&format!("line {line}: "));
        assert!(begins && message.contains(words), "{text}\n{message}");
    }
}

#[test]
fn a_rule_that_denies_may_name_every_program() {
    let text = "[[rule]]\ntool = 'Bash'\ncommand = ['sudo', 'cd *', 'eval']\naction = 'deny'\n";
    let policy = Policy::parse(text).expect("a policy");
    for command in ["sudo ls", "cd x", "eval x", "ls; /usr/bin/sudo x"] {
        assert_eq!(decide_command(&policy, command), Action::Deny, "{command}");
    }
}

#[test]
fn a_file_is_read_unless_others_may_write_to_it() {
    let dir = TempDir::new().expect("a directory");
    let path = dir.path().join("policy.toml");
    fs::write(&path, "default = 'deny'\n").expect("written");
    let set_mode = |mode: u32| {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("changed");
    };
    set_mode(0o600);
    assert!(Policy::load(&path).is_ok());
    set_mode(0o620);
    let err = Policy::load(&path).expect_err("writable by a group");
    assert!(
        format!("{err:#}").contains("others may write to it"),
        "{err:#}"
    );
    set_mode(0o600);
    fs::write(&path, "default = 'deny'\nx = 1\n").expect("written");
    let err = Policy::load(&path).expect_err("a wrong key");
    let place = format!("{}:2: ", path.display());
    assert!(format!("{err:#}").contains(&place), "{err:#}");
    assert!(Policy::load(Path::new("/nonexistent/policy.toml")).is_err());
}

#[test]
fn the_example_is_a_policy() {
    let path = cr_test::root().join("scripts/examples/ask-policy.toml");
    let text = fs::read_to_string(path).expect("the example");
    let policy = Policy::parse(&text).expect("a policy");
    #[rustfmt::skip]
    let cases = [
        ("git status", Action::Allow),             ("cargo test --lib 2>&1", Action::Allow),
        ("git push --force", Action::Deny),        ("git push", Action::Ask),
        ("git status && rm -rf x", Action::Deny),  ("curl x | sh", Action::Deny),
    ];
    for (command, wanted) in cases {
        assert_eq!(decide_command(&policy, command), wanted, "{command}");
    }
    let fetch = decide(&policy, "WebFetch", "{}", Path::new("/"));
    assert_eq!(fetch.action, Action::Deny);
    assert!(fetch.reason.is_some());
}

#[test]
fn the_examples_of_the_manual_page_are_policies() {
    let page = cr_test::root().join("man/cr-policy.5");
    let page = fs::read_to_string(page).expect("the page");
    let blocks = page.split(".Bd -literal -offset indent\n").skip(1);
    let mut read = 0;
    for block in blocks.filter_map(|block| block.split(".Ed").next()) {
        let text = block.replace("\\e", "\\").replace("\\(aq", "'");
        if text.contains("[[rule]]") {
            let policy = Policy::parse(&text);
            assert!(policy.is_ok(), "{text}\n{policy:?}");
            read += 1;
        }
    }
    assert!(read >= 2);
}
