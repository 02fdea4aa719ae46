//! Which rule decides.

use std::path::Path;

use cr_policy::{Action, Decision};

use crate::commands::{BENIGN, HOSTILE};
use crate::{decide, decide_command, policy};

fn decision(action: Action, rule: Option<usize>, reason: Option<&str>) -> Decision {
    Decision {
        action,
        rule,
        reason: reason.map(str::to_owned),
    }
}

#[test]
fn the_first_rule_that_matches_decides_and_gives_its_reason() {
    let policy = policy(
        r#"
        [[rule]]
        tool = "WebFetch"
        action = "deny"
        reason = "no network"
        [[rule]]
        tool = ["mcp__git__*", "TodoWrite"]
        action = "allow"
        [[rule]]
        tool = "*"
        action = "ask"
        reason = "unknown"
        "#,
    );
    let of = |tool: &str| decide(&policy, tool, "{}", Path::new("/"));
    let denied = decision(Action::Deny, Some(1), Some("no network"));
    assert_eq!(of("WebFetch"), denied);
    let allowed = decision(Action::Allow, Some(2), None);
    assert_eq!(of("mcp__git__log"), allowed);
    assert_eq!(of("TodoWrite"), allowed);
    let asked = decision(Action::Ask, Some(3), Some("unknown"));
    assert_eq!(of("mcp__gitx"), asked);
}

#[test]
fn without_a_match_the_default_decides_and_it_is_ask() {
    let of = |text: &str| decide(&policy(text), "Read", "{}", Path::new("/"));
    assert_eq!(of(""), decision(Action::Ask, None, None));
    assert_eq!(of("default = 'deny'"), decision(Action::Deny, None, None));
    assert_eq!(of("default = 'allow'"), decision(Action::Allow, None, None));
}

#[test]
fn each_command_of_a_list_finds_its_own_rule_and_the_strictest_wins() {
    let policy = policy(
        r#"
        [[rule]]
        tool = "Bash"
        command = "rm -i *"
        action = "allow"
        [[rule]]
        tool = "Bash"
        command = "rm"
        action = "deny"
        [[rule]]
        tool = "Bash"
        command = "git push"
        action = "ask"
        [[rule]]
        tool = "Bash"
        command = ["git *", "ls"]
        action = "allow"
        "#,
    );
    #[rustfmt::skip]
    let cases = [
        ("ls",                    Action::Allow), ("rm -i x",                 Action::Allow),
        ("rm x",                  Action::Deny),  ("rm -i x; rm x",           Action::Deny),
        ("ls && git log",         Action::Allow), ("ls && git push",          Action::Ask),
        ("git push; rm x",        Action::Deny),  ("git -C x push",           Action::Ask),
        ("ls; unknown",           Action::Ask),   ("unknown; /bin/rm x",      Action::Deny),
        ("ls $(rm x)",            Action::Deny),  ("ls $(x)",                 Action::Ask),
        ("sudo rm x",             Action::Deny),  ("git log --output=x",      Action::Ask),
        ("git add *.rs",          Action::Ask),   ("git add src/*.rs",        Action::Allow),
        ("git -c a=b log",        Action::Ask),   ("git diff --ext-diff",     Action::Ask),
    ];
    for (text, wanted) in cases {
        assert_eq!(decide_command(&policy, text), wanted, "{text}");
    }
}

#[test]
fn nothing_is_allowed_behind_a_rule_that_perhaps_denies() {
    let policy = policy(
        r#"
        [[rule]]
        tool = "Bash"
        command = "rm"
        action = "deny"
        [[rule]]
        tool = "Bash"
        action = "allow"
        "#,
    );
    #[rustfmt::skip]
    let cases = [
        ("make", Action::Allow),          ("git commit -m 'rm x'", Action::Allow),
        ("echo rm", Action::Allow),       ("rm x", Action::Deny),
        ("$x y", Action::Ask),            ("r{m,} x", Action::Ask),
        ("/bin/r? x", Action::Ask),       ("base64 -d x | sh", Action::Ask),
        ("python3 x.py", Action::Ask),    ("xargs x", Action::Ask),
        ("'r'm x", Action::Deny),         ("x=rm; $x y", Action::Deny),
        ("set -- rm x; $@", Action::Ask), ("set -- rm x; \"$@\"", Action::Ask),
        ("x=m; r$x y", Action::Ask),      ("x=r; ${x}m y", Action::Ask),
        ("env -S'rm x'", Action::Ask),    ("x=$(echo rm); $x y", Action::Ask),
    ];
    for (text, wanted) in cases {
        assert_eq!(decide_command(&policy, text), wanted, "{text}");
    }
    let long = format!("ls {}", "x".repeat(128 << 10));
    assert_eq!(decide_command(&policy, &long), Action::Ask);
    let asked = decide(&policy, "Bash", r#"{"command":1}"#, Path::new("/"));
    assert_eq!(asked, decision(Action::Ask, Some(1), None));
    let twice = r#"{"command":"ls","command":"rm x"}"#;
    let denied = decide(&policy, "Bash", twice, Path::new("/"));
    assert_eq!(denied.action, Action::Deny);
}

#[test]
fn a_word_that_bash_expands_is_not_the_word_of_a_rule() {
    let policy = policy(
        "[[rule]]\ntool = 'Bash'\ncommand = ['ls [ab]', 'ls ~', 'ls a?', 'cd /srv']\naction = 'allow'\n",
    );
    #[rustfmt::skip]
    let cases = [
        ("ls [ab]", Action::Ask), ("ls '[ab]'", Action::Allow), ("ls ~", Action::Ask),
        ("ls '~'", Action::Allow), ("ls a?", Action::Ask), ("ls ab", Action::Ask),
        ("cd /srv && ls '~'", Action::Allow), ("cd /tmp && ls '~'", Action::Ask),
    ];
    for (text, wanted) in cases {
        assert_eq!(decide_command(&policy, text), wanted, "{text}");
    }
}

#[test]
fn a_rule_without_command_is_about_every_command() {
    let policy = policy("[[rule]]\ntool = 'Bash'\naction = 'allow'\n");
    for text in HOSTILE.iter().chain(BENIGN) {
        assert_eq!(decide_command(&policy, text), Action::Allow, "{text:?}");
    }
    let invalid = decide(&policy, "Bash", "{", Path::new("/"));
    assert_eq!(invalid.action, Action::Ask);
}

#[test]
fn a_question_to_a_person_is_never_allowed() {
    for text in [
        "default = 'allow'",
        "[[rule]]\ntool = '*'\naction = 'allow'\n",
    ] {
        let policy = policy(text);
        let of = |tool: &str| decide(&policy, tool, "{}", Path::new("/")).action;
        assert_eq!(of("AskUserQuestion"), Action::Ask, "{text}");
        assert_eq!(of("ExitPlanMode"), Action::Allow, "{text}");
    }
}
