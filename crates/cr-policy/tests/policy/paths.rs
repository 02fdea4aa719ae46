//! Paths are matched after resolution.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use cr_policy::{Action, Policy, Question};
use tempfile::TempDir;

use crate::{decide, json, policy};

const SRC: &str = r#"
[[rule]]
tool = ["Read", "Edit", "Write", "NotebookEdit", "Grep", "Glob", "LS"]
path = "src/**"
action = "allow"
"#;

/// A directory with `src`, links that lead out of it, and a directory beside it.
fn tree() -> (TempDir, PathBuf) {
    let dir = TempDir::new().expect("a directory");
    let cwd = dir.path().join("repo");
    fs::create_dir_all(cwd.join("src/deep")).expect("made");
    fs::create_dir_all(dir.path().join("out/below")).expect("made");
    fs::write(dir.path().join("out/secret"), "").expect("written");
    fs::write(cwd.join("src/a.rs"), "").expect("written");
    let link = |to: &str, name: &str| symlink(to, cwd.join(name)).expect("linked");
    link("/etc", "src/etc");
    link("../../out", "src/out");
    link("../../out/below", "src/below");
    link("../../out/secret", "src/file");
    link("../../out/new", "src/dangling");
    link("loop", "src/loop");
    link("deep", "src/inner");
    link("src", "alias");
    (dir, cwd)
}

fn action(policy: &Policy, tool: &str, field: &str, path: &str, cwd: &Path) -> Action {
    let mut input = format!("{{\"{field}\":{}", json(path));
    if tool == "Glob" {
        input.push_str(",\"pattern\":\"**/*.rs\"");
    }
    input.push('}');
    decide(policy, tool, &input, cwd).action
}

#[test]
fn a_path_is_allowed_only_if_it_really_is_below() {
    let (_dir, cwd) = tree();
    let policy = policy(SRC);
    let absolute = cwd.join("src/a.rs").display().to_string();
    #[rustfmt::skip]
    let allowed = [
        "src/a.rs", "./src/a.rs", "src/./a.rs", "src//a.rs", "src/deep/new.rs", "src/new/dir/x.rs",
        "src/deep/../a.rs", "src/inner/x.rs", "alias/a.rs", "src/x*y", absolute.as_str(),
    ];
    for path in allowed {
        let got = action(&policy, "Write", "file_path", path, &cwd);
        assert_eq!(got, Action::Allow, "{path}");
    }
    #[rustfmt::skip]
    let asked = [
        "a.rs", "src", "src/", "src/.", "src/..", "srcs/a.rs", "src/../a.rs", "src/../../out/secret",
        "src/etc/passwd", "src/out/secret", "src/out/new", "src/file", "src/dangling", "src/loop",
        "src/loop/x", "src/a.rs/x", "src/below/../secret", "src/below/../../repo/src/a.rs",
        "src/etc/../a.rs", "src/nothing/../../x", "/etc/passwd", "/src/a.rs", "~/x", "~", "", " src/a.rs",
        "src/a.rs ", "src/a\0.rs", "src/a\n.rs", "\u{feff}src/a.rs", concat!("/proc/self/roo", "t/etc/passwd"),
        "/proc/self/cwd/src/a.rs", "src/deep/../../src/../x", "file:///etc/passwd", "SRC/a.rs",
    ];
    for path in asked {
        for tool in ["Read", "Edit", "Write"] {
            let got = action(&policy, tool, "file_path", path, &cwd);
            assert_eq!(got, Action::Ask, "{tool} {path:?}");
        }
    }
}

#[test]
fn a_base_that_becomes_a_link_is_not_followed() {
    let (dir, cwd) = tree();
    let policy = policy(SRC);
    fs::remove_dir_all(cwd.join("src")).expect("removed");
    symlink(dir.path().join("out"), cwd.join("src")).expect("linked");
    let got = action(&policy, "Write", "file_path", "src/secret", &cwd);
    assert_eq!(got, Action::Ask);
}

#[test]
fn an_absolute_glob_is_matched_with_the_real_path() {
    let (dir, cwd) = tree();
    let out = fs::canonicalize(dir.path().join("out")).expect("real");
    let rule = format!(
        "[[rule]]\ntool = 'Read'\npath = '{}/**'\naction = 'allow'\n",
        out.display()
    );
    let policy = policy(&rule);
    for path in [
        "../out/secret",
        "src/out/secret",
        "src/file",
        "src/below/../secret",
    ] {
        let got = action(&policy, "Read", "file_path", path, &cwd);
        let wanted = if path.contains("below") {
            Action::Ask
        } else {
            Action::Allow
        };
        assert_eq!(got, wanted, "{path}");
    }
    let got = action(&policy, "Read", "file_path", "src/a.rs", &cwd);
    assert_eq!(got, Action::Ask);
}

#[test]
fn a_search_is_allowed_only_with_everything_below_it() {
    let (_dir, cwd) = tree();
    let policy = policy(SRC);
    for tool in ["Grep", "Glob", "LS"] {
        #[rustfmt::skip]
        let cases = [
            ("src", Action::Allow),      ("src/", Action::Allow),   ("src/deep", Action::Allow),
            ("src/inner", Action::Allow), ("alias", Action::Allow), ("src/a.rs", Action::Allow),
            (".", Action::Ask),          ("", Action::Ask),         ("src/..", Action::Ask),
            ("src/out", Action::Ask),    ("src/etc", Action::Ask),  ("/", Action::Ask),
            ("src/file", Action::Ask),   ("src/dangling", Action::Ask),
        ];
        for (path, wanted) in cases {
            assert_eq!(
                action(&policy, tool, "path", path, &cwd),
                wanted,
                "{tool} {path}"
            );
        }
    }
    for pattern in ["../x", "/etc/*", "{..,a}/x", "~/x"] {
        let input = format!("{{\"path\":\"src\",\"pattern\":\"{pattern}\"}}");
        let got = decide(&policy, "Glob", &input, &cwd).action;
        assert_eq!(got, Action::Ask, "{pattern}");
    }
}

#[test]
fn an_input_without_one_clear_path_is_not_allowed() {
    let (_dir, cwd) = tree();
    let policy = policy(SRC);
    #[rustfmt::skip]
    let cases = [
        ("Write", r#"{"file_path":"src/a.rs","content":"x"}"#,                   Action::Allow),
        ("Write", r#"{"file\u005fpath":"src\/\u0061.rs"}"#,                      Action::Allow),
        ("NotebookEdit", r#"{"notebook_path":"src/a.ipynb","new_source":""}"#,   Action::Allow),
        ("Write", r#"{"content":"x"}"#,                                          Action::Ask),
        ("Write", r#"{"file_path":["src/a.rs"]}"#,                               Action::Ask),
        ("Write", r#"{"file_path":{"path":"src/a.rs"}}"#,                        Action::Ask),
        ("Write", r#"{"file_path":"src/a.rs","file_path":"src/a.rs"}"#,          Action::Ask),
        ("Write", r#"{"file_path":"src/a.rs","file\u005fpath":"/etc/x"}"#,       Action::Ask),
        ("Write", r#"{"file_path":"src/a.rs","path":"/etc/x"}"#,                 Action::Ask),
        ("Write", r#"{"path":"src/a.rs"}"#,                                      Action::Ask),
        ("Write", r#"{"file_path":"src/\ud800"}"#,                               Action::Ask),
        ("Write", r#"{"file_path":"src/a.rs""#,                                  Action::Ask),
        ("NotebookEdit", r#"{"file_path":"src/a.ipynb"}"#,                       Action::Ask),
        ("Grep", r#"{"pattern":"x"}"#,                                           Action::Ask),
        ("Glob", r#"{"path":"src"}"#,                                            Action::Ask),
        ("MultiEdit", r#"{"file_path":"src/a.rs"}"#,                             Action::Ask),
        ("mcp__fs__write", r#"{"path":"src/a.rs"}"#,                             Action::Ask),
    ];
    for (tool, input, wanted) in cases {
        assert_eq!(
            decide(&policy, tool, input, &cwd).action,
            wanted,
            "{tool} {input}"
        );
    }
    let any = crate::policy("[[rule]]\ntool = '*'\npath = '**'\naction = 'allow'\n");
    let got = decide(&any, "mcp__fs__write", r#"{"path":"src/a.rs"}"#, &cwd);
    assert_eq!(got.action, Action::Ask);
    let gone = action(
        &policy,
        "Write",
        "file_path",
        "src/a.rs",
        Path::new("/nonexistent"),
    );
    assert_eq!(gone, Action::Ask);
}

#[test]
fn the_path_for_which_the_agent_asks_must_be_allowed_too() {
    let (_dir, cwd) = tree();
    let policy = policy(SRC);
    let with = |blocked: &str| {
        let question = Question {
            tool: "Write",
            input: br#"{"file_path":"src/a.rs"}"#,
            cwd: &cwd,
            blocked_path: Some(blocked),
        };
        policy.decide(&question).action
    };
    assert_eq!(with("src/b.rs"), Action::Allow);
    assert_eq!(with("/etc/passwd"), Action::Ask);
    assert_eq!(with("src/etc/passwd"), Action::Ask);
}

#[test]
fn a_path_is_denied_by_every_name_that_it_has() {
    let (dir, cwd) = tree();
    fs::write(cwd.join("src/out/below/key"), "").expect("written");
    symlink("../out/below", cwd.join("keys")).expect("linked");
    let of = |glob: &str, tool: &str, path: &str| {
        let policy = policy(&format!(
            "[[rule]]\ntool = ['Read', 'Grep']\npath = '{glob}'\naction = 'deny'\n\
             [[rule]]\ntool = '*'\naction = 'allow'\n"
        ));
        let field = if tool == "Grep" { "path" } else { "file_path" };
        action(&policy, tool, field, path, &cwd)
    };
    let real = dir.path().join("out/below/key").display().to_string();
    #[rustfmt::skip]
    let cases = [
        ("keys/**",   "Read", "keys/key",         Action::Deny),
        ("keys/**",   "Read", real.as_str(),      Action::Deny),
        ("keys/**",   "Read", "src/below/key",    Action::Deny),
        ("keys/**",   "Read", "src/out/below/key", Action::Deny),
        ("keys/",     "Read", "src/below/key",    Action::Deny),
        ("keys/key",  "Read", "src/below/key",    Action::Deny),
        ("keys/**",   "Read", "src/a.rs",         Action::Allow),
        ("keys/**",   "Read", "src/dangling",     Action::Ask),
        ("keys/**",   "Read", "~/x",              Action::Ask),
        ("**/*.rs",   "Read", "src/a.rs",         Action::Deny),
        ("src/a.rs",  "Read", "alias/../src/a.rs", Action::Deny),
        ("keys/**",   "Grep", "keys",             Action::Deny),
        ("keys/**",   "Grep", "src/below",        Action::Deny),
        ("keys/**",   "Grep", ".",                Action::Ask),
        ("keys/**",   "Grep", "src/deep",         Action::Allow),
        ("src/deep/*", "Grep", "src",             Action::Ask),
        ("/etc/**",   "Read", "src/etc/passwd",   Action::Deny),
        ("/etc/**",   "Read", "src/a.rs",         Action::Allow),
    ];
    for (glob, tool, path, wanted) in cases {
        assert_eq!(of(glob, tool, path), wanted, "{glob} {tool} {path}");
    }
}
