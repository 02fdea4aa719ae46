//! The command that resumes a session.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::tool::{fixture, of_bytes, of_file};

const ID: &str = "80f8ae6e-b027-4253-8e9c-1ffd717366a1";

fn summary(id: &str, cwd: &str) -> Value {
    let line = json!({"type": "system", "subtype": "init", "session_id": id, "cwd": cwd});
    of_bytes(line.to_string()).1
}

#[test]
fn t6_the_command_means_the_same_in_every_shell() {
    let dir = tempfile::tempdir().expect("a directory");
    let bin = dir.path().join("claude-runner");
    fs::write(&bin, "#!/bin/sh\nprintf '%s\\0' \"$PWD\" \"$@\"\n").expect("written");
    fs::set_permissions(&bin, fs::Permissions::from_mode(0o755)).expect("set");
    let names = [
        "plain",
        "with space",
        "it's",
        "\"quoted\"",
        "$(touch pwned)",
        "`id`",
        "a;b",
        "!!",
        "-n",
        "a\nb",
        "*",
        "\\",
        "ü",
        "'; exit 1; '",
        "~",
        "$HOME",
    ];
    for shell in ["sh", "dash", "bash"] {
        for name in names {
            let cwd = dir.path().join(name);
            fs::create_dir_all(&cwd).expect("made");
            let cwd = cwd.to_str().expect("UTF-8");
            let command = summary(ID, cwd)["resume_command"].clone();
            let path = format!("{}:/usr/bin:/bin", dir.path().display());
            let run = cr_test::Command::new(shell)
                .args(["-c", command.as_str().expect("a command")])
                .env("PATH", path)
                .output();
            let Ok(output) = run else {
                continue;
            };
            let wanted = format!("{cwd}\0--resume\0{ID}\0");
            assert_eq!(
                String::from_utf8_lossy(&output.stdout),
                wanted,
                "{shell}: {command}"
            );
        }
    }
}

#[test]
fn t6_what_is_no_id_gives_no_command() {
    for id in ["abc-123", "--help", "$(reboot)", "'; reboot #", ""] {
        let summary = summary(id, "/w");
        assert_eq!(summary["resume_command"], Value::Null, "{id}");
        assert_eq!(summary["resume_argv"], Value::Null, "{id}");
        assert_eq!(summary["session_id"], id);
    }
    assert_eq!(
        summary(ID, "/w")["resume_argv"],
        json!(["claude-runner", "--resume", ID])
    );
}

#[test]
fn a_session_that_is_not_there_is_not_resumed() {
    for name in ["07-bad-resume", "07-bad-resume-name", "07-nopersist-resume"] {
        let (_, summary) = of_file(&fixture(&format!("captures/{name}.ndjson")));
        assert_eq!(summary["resume_command"], Value::Null, "{name}");
    }
    let start =
        json!({"type": "cr", "subtype": "start", "argv": ["claude", "--no-session-persistence"]});
    let init = json!({"type": "system", "subtype": "init", "session_id": ID});
    let (_, summary) = of_bytes(format!("{start}\n{init}\n"));
    assert_eq!(summary["resume_command"], Value::Null);
}
