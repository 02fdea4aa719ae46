//! The command to resume that the summary prints: it works when it is pasted,
//! and the resumed run has the settings of the first, and no more permissions.

use std::fs;
use std::os::unix::fs::symlink;

use cr_test::{Command, left_out, runner_script};
use serde_json::{Value, json};

use crate::case::{Case, Done, INIT, RESULT, SESSION};

/// Leaves its arguments, and commits if nobody has to be asked; else the call is
/// denied.
const AGENT: &str = r#"printf '%s\n' "$@" >"$HOME/argv"
"#;
const WORK: &str = r#"
case "$*" in
*bypassPermissions*) git commit -q --allow-empty -m 'without permission' ;;
*)
    echo '{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"git commit"}}]},"parent_tool_use_id":null,"session_id":"80f8ae6e-b027-4253-8e9c-1ffd717366a1"}'
    echo '{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"This command requires approval"}]},"parent_tool_use_id":null,"session_id":"80f8ae6e-b027-4253-8e9c-1ffd717366a1"}'
    echo '{"type":"result","subtype":"success","is_error":false,"result":"It was denied.","session_id":"80f8ae6e-b027-4253-8e9c-1ffd717366a1","num_turns":2,"duration_ms":5,"total_cost_usd":0.01,"usage":{"input_tokens":1,"output_tokens":1},"permission_denials":[{"tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"git commit"}}]}'
    exit
    ;;
esac
"#;

/// Every setting that a command line can give.
const SETTINGS: [&str; 24] = [
    "--permission-mode",
    "default",
    "--model",
    "opus",
    "--fallback-model",
    "haiku",
    "--max-turns",
    "7",
    "--max-budget",
    "1.5",
    "--system-prompt",
    "be brief, don't \"guess\"",
    "--allowed-tools",
    "Read",
    "--disallowed-tools",
    "WebFetch",
    "--json-schema",
    r#"{"type":"object"}"#,
    "--timeout",
    "1h",
    "--",
    "--add-dir",
    "/tmp",
    "--strict-mcp-config",
];

fn case() -> Case {
    Case::new(&[AGENT, INIT, WORK, RESULT].concat())
}

/// The arguments of the agent that ran last.
fn argv(case: &Case) -> Vec<String> {
    let text = fs::read_to_string(case.path("home/argv")).expect("arguments");
    text.lines().map(str::to_owned).collect()
}

/// The same, without the session, and without the file of the system prompt, which
/// is in the run directory.
fn settings(case: &Case) -> Vec<String> {
    let other = ["--resume=", "--append-system-prompt-file="];
    let mut argv = argv(case);
    argv.retain(|arg| !other.iter().any(|other| arg.starts_with(other)));
    argv.sort();
    argv
}

fn commits(case: &Case) -> String {
    let log = case.command("git").args(["log", "--format=%s"]).output();
    String::from_utf8(log.expect("git").stdout).expect("UTF-8")
}

/// Runs the printed command in `shell`, where permissions are skipped now.
fn paste(case: &Case, shell: &str, summary: &Value) -> Done {
    let text = summary["resume_command"].as_str();
    let text = text.unwrap_or_else(|| panic!("no command: {}", summary["resume_why_null"]));
    let bin = case.path("bin");
    if fs::create_dir(&bin).is_ok() {
        symlink(runner_script(), bin.join("claude-runner")).expect("linked");
        let dir = case.path("home/.config/claude-runner");
        fs::create_dir_all(&dir).expect("made");
        let text = "permission_mode = \"bypassPermissions\"\nallowed_tools = \"Bash\"\n";
        fs::write(dir.join("config.toml"), text).expect("written");
    }
    let mut path = bin.into_os_string();
    path.push(":");
    path.push(case.world.path_with_tools());
    let mut words = shell.split(' ');
    let mut command = case.command(words.next().expect("a shell"));
    command
        .args(words)
        .args(["-c", text])
        .env("PATH", &path)
        .env_remove("CR_CLAUDE")
        .env("CR_PERMISSION_MODE", "bypassPermissions");
    case.finish(&mut command)
}

/// Runs the agent with `options`, then the printed command; both runs were denied
/// the commit, and have the same settings.
fn check(options: &[&str]) -> Value {
    let case = case();
    let done = case.run(&[&["go", "--json"], options].concat());
    let first: Value = serde_json::from_str(&done.out).expect("a summary");
    let denied = first["permission_denials"].as_array().map(Vec::len);
    assert_eq!(denied, Some(1), "{options:?} {done:?}");
    let wanted = settings(&case);
    fs::remove_file(case.path("home/argv")).expect("removed");
    let pasted = paste(&case, "/bin/sh", &first);
    assert_eq!(pasted.code(), done.code(), "{options:?} {pasted:?}");
    assert_eq!(settings(&case), wanted, "{options:?}");
    let resumes = argv(&case).contains(&format!("--resume={SESSION}"));
    assert!(resumes, "{:?}", argv(&case));
    assert_eq!(commits(&case), "first\n", "{options:?}");
    first
}

#[test]
fn a_recorded_run_is_resumed_by_its_record_and_the_denied_commit_is_not_made() {
    let summary = check(&SETTINGS);
    let wanted = json!(["claude-runner", "--resume-run", summary["run_id"]]);
    assert_eq!(summary["resume_argv"], wanted);
    assert_eq!(summary["resume_why_null"], Value::Null);
    check(&["--permission-mode", "default"]);
}

#[test]
fn a_run_in_another_place_is_resumed_by_its_directory() {
    let summary = check(&[&["--run-dir", "it's kept here"], &SETTINGS[..]].concat());
    let argv = &summary["resume_argv"];
    assert_eq!(argv[1], "--resume-run");
    assert_eq!(argv[2], summary["run_dir"]);
}

#[test]
fn without_a_record_the_command_lists_the_settings() {
    let summary = check(&[&["--no-record"], &SETTINGS[..]].concat());
    let argv = summary["resume_argv"].as_array().expect("arguments");
    for word in ["--no-record", "--permission-mode=default", "--model=opus"] {
        assert!(argv.contains(&json!(word)), "{word}: {argv:?}");
    }
    check(&["--no-record", "--permission-mode", "default"]);
}

#[test]
fn the_last_attempt_of_several_is_resumed_with_its_settings() {
    let summary = check(&["--retry", "0", "--permission-mode", "plan"]);
    assert_eq!(summary["resume_argv"][1], "--resume-run");
}

#[test]
fn a_run_without_a_permission_mode_is_resumed_without_one() {
    for record in [&["--run-dir", "kept"][..], &["--no-record"]] {
        let case = case();
        // As cr-spawn runs it: no permission flag unless told.
        let stream = case.tool("cr-spawn", record).write_stdin("go").output();
        let stream = stream.expect("run").stdout;
        let summary = case.tool("cr-summarize", &[]).write_stdin(stream).output();
        let summary: Value = serde_json::from_slice(&summary.expect("run").stdout).expect("JSON");
        let wanted = settings(&case);
        let pasted = paste(&case, "/bin/sh", &summary);
        assert_eq!(pasted.code(), Some(4), "{record:?} {pasted:?}");
        assert_eq!(settings(&case), wanted, "{record:?}");
        assert_eq!(commits(&case), "first\n", "{record:?}");
    }
}

#[test]
fn settings_that_cannot_be_printed_give_no_command_and_the_reason() {
    let case = case();
    let secret = "the key is sk-ant-api03-0123456789abcdefghijklmnopqrstuvwxyz";
    let options = ["go", "--json", "--no-record", "--system-prompt", secret];
    let done = case.run(&options);
    let summary: Value = serde_json::from_str(&done.out).expect("a summary");
    assert_eq!(summary["resume_command"], Value::Null, "{summary}");
    assert_eq!(summary["resume_argv"], Value::Null, "{summary}");
    let why = summary["resume_why_null"].as_str().expect("a reason");
    assert!(why.contains("not recorded"), "{why}");
    assert_eq!(summary["resumable"], true);
    assert!(!done.out.contains(secret), "{done:?}");
}

/// The shells that a command may be pasted into.
fn shells() -> Vec<&'static str> {
    let mut shells = vec!["dash", "bash"];
    let mut busybox = Command::new("busybox");
    if busybox.arg("true").status().is_ok_and(|it| it.success()) {
        shells.push("busybox sh");
    } else {
        left_out("a command pasted into the shell of busybox: no busybox");
    }
    shells
}

#[test]
fn t6_the_command_means_the_same_in_every_shell() {
    for name in ["plain", "it's a \"place\" $(x) `y`"] {
        for record in [&[][..], &["--no-record"]] {
            // The CLI's own word for its directory has to be JSON.
            let init = INIT.replace(r#""cwd":"%s","#, "").replace(r#" "$PWD""#, "");
            let case = Case::new(&[AGENT, &init, "pwd >\"$HOME/cwd\"\n", RESULT].concat());
            let cwd = case.path(name);
            fs::create_dir(&cwd).expect("made");
            let cwd = cwd.to_str().expect("text");
            let options = ["go", "--cwd", cwd, "--system-prompt", name];
            let first = case.run(&[&options, record].concat()).summary();
            for shell in shells() {
                fs::remove_file(case.path("home/cwd")).expect("removed");
                let done = paste(&case, shell, &first);
                assert_eq!(done.code(), Some(0), "{shell}: {first}: {done:?}");
                let args = argv(&case);
                assert!(args.contains(&format!("--resume={SESSION}")), "{args:?}");
                let got = fs::read_to_string(case.path("home/got")).expect("got");
                assert_eq!(got, "Continue from where you left off");
                let there = fs::read_to_string(case.path("home/cwd")).expect("cwd");
                assert_eq!(there.trim_end(), cwd, "{shell}");
            }
        }
    }
}
