//! The command that resumes a session.

use serde_json::{Value, json};

use crate::tool::{fixture, of_bytes, of_file};

const ID: &str = "80f8ae6e-b027-4253-8e9c-1ffd717366a1";

/// The summary of a supervised run whose session is `id`.
fn summary(id: &str, start: &Value) -> Value {
    let mut start = start.clone();
    start["type"] = "cr".into();
    start["subtype"] = "start".into();
    let init = json!({"type": "system", "subtype": "init", "session_id": id, "cwd": "/w"});
    of_bytes(format!("{start}\n{init}\n")).1
}

fn why(summary: &Value) -> &str {
    assert_eq!(summary["resume_command"], Value::Null, "{summary}");
    assert_eq!(summary["resume_argv"], Value::Null, "{summary}");
    summary["resume_why_null"].as_str().expect("a reason")
}

#[test]
fn t6_what_is_no_id_gives_no_command() {
    for id in ["abc-123", "--help", "$(reboot)", "'; reboot #", ""] {
        let summary = summary(id, &json!({"run_dir": "/r"}));
        assert!(why(&summary).contains("UUID"), "{summary}");
        assert_eq!(summary["session_id"], id);
        assert_eq!(summary["resumable"], false);
    }
}

#[test]
fn the_settings_are_in_the_record_or_in_the_command() {
    let recorded = summary(ID, &json!({"run_dir": "/it's"}));
    let argv = json!(["claude-runner", "--resume-run", "/it's"]);
    assert_eq!(recorded["resume_argv"], argv);
    let command = r"claude-runner --resume-run '/it'\''s'";
    assert_eq!(recorded["resume_command"], command);
    let options = json!(["--permission-mode=plan", "--", "--x y"]);
    let listed = summary(ID, &json!({"options": options, "run_dir": "/r"}));
    let command = format!("claude-runner --resume {ID} '--permission-mode=plan' -- '--x y'");
    assert_eq!(listed["resume_command"], command.as_str());
    for summary in [recorded, listed] {
        assert_eq!(summary["resume_why_null"], Value::Null);
        assert_eq!(summary["resumable"], true);
    }
}

#[test]
fn without_the_settings_there_is_no_command() {
    let unrecorded = summary(ID, &json!({"permission_mode": "plan"}));
    assert!(why(&unrecorded).contains("not recorded"), "{unrecorded}");
    let init = json!({"type": "system", "subtype": "init", "session_id": ID, "cwd": "/w"});
    let (_, alone) = of_bytes(format!("{init}\n"));
    assert!(why(&alone).contains(&format!("claude --resume {ID}")));
    for summary in [unrecorded, alone] {
        assert_eq!(summary["resumable"], true);
    }
}

#[test]
fn a_path_that_is_not_whole_gives_no_command() {
    for (dir, what) in [
        ("/a\u{fffd}b", "UTF-8"),
        (
            "/sk-ant-api03-0123456789abcdefghijklmnopqrstuvwxyz",
            "secret",
        ),
    ] {
        let summary = summary(ID, &json!({"run_dir": dir}));
        assert!(why(&summary).contains(what), "{summary}");
    }
}

#[test]
fn a_session_that_is_not_there_is_not_resumed() {
    for name in ["07-bad-resume", "07-bad-resume-name", "07-nopersist-resume"] {
        let (_, summary) = of_file(&fixture(&format!("captures/{name}.ndjson")));
        assert!(why(&summary).contains("not found"), "{name}: {summary}");
        assert_eq!(summary["resumable"], false);
    }
    let start = json!({"argv": ["claude", "--no-session-persistence"], "run_dir": "/r"});
    assert!(why(&summary(ID, &start)).contains("not saved"));
}
