//! Prompts and secrets stay private: T7, T9.

use std::fs;

use cr_test::Signal;

use crate::case::{CALL, Case, INIT, RESULT};

#[test]
fn t7_the_prompt_is_in_no_command_line() {
    let mut run = Case::playing(&[INIT], "hang=end,child=daemon")
        .args(&["--system-prompt", "a canary in the system"])
        .start_with(b"a canary in the prompt");
    run.wait_for("system");
    // The supervisor was given the system prompt by its own user.
    let supervisor = run.pid();
    let all = run.world.processes();
    assert!(all.len() >= 4, "{all:?}");
    for process in all.iter().filter(|it| it.pid != supervisor) {
        assert!(!process.line().contains("canary"), "{process:?}");
    }
    let has_prompt = |command: &str| command.contains("canary in the prompt");
    assert!(!all.iter().any(|it| has_prompt(&it.line())));
    let everyone = fs::read_dir("/proc").expect("/proc").flatten();
    for entry in everyone {
        let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        assert!(
            !has_prompt(&String::from_utf8_lossy(&command)),
            "{:?}",
            entry.path()
        );
    }
    run.signal(Signal::TERM);
    let done = run.finish();
    let argv = done.all("cr/start")[0]["argv"].to_string();
    assert!(
        argv.contains("--append-system-prompt-file=") && !argv.contains("canary"),
        "{argv}"
    );
    let text = fs::read_to_string(done.run_dir().join("system-prompt")).expect("the file");
    assert_eq!(text, "a canary in the system");
}

#[test]
fn t9_no_secret_is_in_anything_we_compose() {
    const KEY: &str = "sk-ant-api03-canary0123456789";
    const PASSWORD: &str = "correct horse \"battery\"";
    let call = CALL.replace("sleep 300", &format!("curl -H x-api-key:{KEY}"));
    let script = format!(
        "cat >/dev/null; echo '{INIT}'; echo '{call}'; echo \"noise $ANTHROPIC_API_KEY $DB_PASSWORD\"; \
         echo \"err $ANTHROPIC_API_KEY $DB_PASSWORD\" >&2; sleep 300"
    );
    let mut run = Case::script(&script)
        .env("ANTHROPIC_API_KEY", KEY)
        .env("DB_PASSWORD", PASSWORD)
        .args(&[
            "--timeout",
            "1.5",
            "--name",
            "x",
            "--",
            "--mcp-config",
            &format!("{{\"k\":\"{KEY}\"}}"),
        ])
        .start();
    run.wait_for("cr/state");
    let done = run.finish();
    assert_eq!(done.code(), Some(124));
    let ours = done
        .lines
        .iter()
        .filter(|line| line.starts_with(r#"{"type":"cr""#));
    for line in ours {
        assert!(!line.contains("canary0123456789"), "{line}");
        assert!(!line.contains("battery"), "{line}");
    }
    let noise = &done.all("cr/noise")[0];
    assert_eq!(
        noise["text"],
        "noise [REDACTED:ANTHROPIC_API_KEY] [REDACTED:DB_PASSWORD]"
    );
    let limit = &done.all("cr/limit")[0];
    assert!(
        limit["doing"]["target"]
            .as_str()
            .is_some_and(|text| text.contains("[REDACTED:"))
    );
    assert!(
        done.exit()["stderr"]["head"]
            .as_str()
            .is_some_and(|text| text.contains("[REDACTED:"))
    );
    // The agent's own bytes are the agent's.
    assert!(done.agents().iter().any(|line| line.contains(KEY)));
    for name in ["exit.json", "started"] {
        let text = fs::read_to_string(done.run_dir().join(name)).expect("a file");
        assert!(!text.contains("canary0123456789"), "{name}");
    }
}

#[test]
fn a_private_key_on_standard_error_is_masked_line_by_line() {
    let script = "cat >/dev/null; printf '%s\\n' before '-----BEGIN RSA PRIVATE KEY-----' MIIcanary \
                  '-----END RSA PRIVATE KEY-----' after >&2";
    let done = Case::script(script).run();
    let head = done.exit()["stderr"]["head"]
        .as_str()
        .expect("text")
        .to_owned();
    assert!(
        !head.contains("canary") && head.starts_with("before\n") && head.ends_with("after\n"),
        "{head}"
    );
}

#[test]
fn a_stand_in_is_asked_for_its_version_and_a_script_is_not() {
    let init = r#"{"type":"system","subtype":"init","claude_code_version":"2.1.326"}"#;
    let done = Case::playing(&[init, RESULT], "").run();
    assert_eq!(done.all("cr/start")[0]["claude"]["version"], "2.1.326");
    let done = Case::script("echo run >> runs; echo '{}'").run();
    assert!(done.all("cr/start")[0]["claude"]["version"].is_null());
    assert_eq!(
        fs::read_to_string(done.world.path("runs")).expect("runs"),
        "run\n"
    );
}
