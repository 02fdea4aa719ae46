//! Too few processes: no tool panics, and none reports a success that was not.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use cr_test::{Command, bin, left_out, runner_script};
use serde_json::Value;

use crate::case::{Case, Done, INIT, RESULT};

/// A user who has no other process.
const USER: &str = "54321";

/// The case with its own tools, in a place that the other user can use.
fn open_to_all() -> Option<Case> {
    let own = fs::metadata("/proc/self").expect("a process").uid();
    let has = |program: &str| Command::new(program).arg("--version").status().is_ok();
    if own != 0 || !has("setpriv") || !has("prlimit") {
        left_out("too few processes: not root, or no setpriv or prlimit");
        return None;
    }
    let case = Case::new(&[INIT, RESULT].concat());
    for dir in ["", "home", "repo", "bin", "work"] {
        let path = case.path(dir);
        let _ = fs::create_dir(&path);
        fs::set_permissions(&path, Permissions::from_mode(0o777)).expect("open");
    }
    for tool in [
        "cr-runs",
        "cr-git",
        "cr-spawn",
        "cr-filter",
        "cr-summarize",
        "cr-orchestrate",
    ] {
        fs::copy(bin(tool), case.path("bin").join(tool)).expect("a tool");
    }
    fs::copy(runner_script(), case.path("bin/claude-runner")).expect("the script");
    Some(case)
}

/// Runs the program with at most `most` processes and threads.
fn limited(case: &Case, most: u32, args: &[&str]) -> Done {
    let ids = [format!("--reuid={USER}"), format!("--regid={USER}")];
    let mut command = case.command("setpriv");
    command
        .args(ids)
        .args(["--clear-groups", "prlimit", &format!("--nproc={most}")])
        .arg(case.path("bin").join(args[0]))
        .args(&args[1..])
        .env("CR_STATE_DIR", case.path(&format!("work/state-{most}")))
        .current_dir(case.path("work"))
        .write_stdin("go");
    let done = Case::done_of(&mut command);
    case.wait_for_nobody();
    done
}

#[test]
fn a_run_with_too_few_processes_says_so_and_does_not_panic() {
    let Some(case) = open_to_all() else {
        return;
    };
    let mut codes = Vec::new();
    for most in 1..=6 {
        let done = limited(&case, most, &["cr-spawn"]);
        assert!(!done.err.contains("panicked"), "{most}: {done:?}");
        let last = done.out.lines().last().unwrap_or_default();
        assert!(last.contains(r#""subtype":"exit""#), "{most}: {done:?}");
        codes.push(done.code());
    }
    assert!(codes.contains(&Some(125)), "{codes:?}");
    for kind in [&[][..], &["--retry", "0"]] {
        let mut has_success = false;
        for most in (2..=20).chain([24, 32, 48, 64]) {
            let mode = ["--permission-mode", "default", "--json"];
            let done = limited(&case, most, &[&["claude-runner"], &mode[..], kind].concat());
            assert!(!done.err.contains("panicked"), "{most}: {done:?}");
            let summary = serde_json::from_str::<Value>(&done.out).unwrap_or_default();
            let is_success = summary["outcome"] == "success";
            assert_eq!(done.code() == Some(0), is_success, "{most}: {done:?}");
            has_success |= is_success;
        }
        assert!(has_success, "{kind:?}");
    }
}
