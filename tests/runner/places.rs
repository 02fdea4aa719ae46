//! Odd places: a directory that is gone, paths that are not UTF-8.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use cr_test::runner_script;
use serde_json::Value;

use crate::case::{Case, INIT, RESULT};

const KINDS: [&[&str]; 3] = [&[], &["--no-record"], &["--retry", "0"]];

#[test]
fn a_run_in_a_directory_that_is_gone_is_refused() {
    for kind in KINDS {
        let case = Case::new(&[": >\"$HOME/up\"\n", INIT, RESULT].concat());
        let line = r#"mkdir gone && cd gone && rmdir ../gone && exec "$@""#;
        let mut shell = case.line(line);
        shell.arg("sh").arg(runner_script()).args(["go", "--json"]);
        shell.args(kind);
        let done = case.finish(&mut shell);
        assert!(!matches!(done.code(), Some(0) | None), "{kind:?} {done:?}");
        assert!(!done.err.contains("panicked"), "{kind:?} {done:?}");
        assert!(!case.path("home/up").exists(), "{kind:?}: an agent ran");
    }
}

#[test]
fn paths_that_are_not_utf_8_are_paths_like_any_other() {
    // The agent's own word for its directory has to be JSON.
    let init = INIT.replace(r#""cwd":"%s","#, "").replace(r#" "$PWD""#, "");
    for kind in KINDS {
        let case = Case::new(&[&init, RESULT].concat());
        let dir = case.world.dir().join(OsStr::from_bytes(b"d\xFFir"));
        fs::create_dir(&dir).expect("made");
        fs::copy(case.path("agent"), dir.join("agent")).expect("copied");
        let mut command = case.runner(&[&["go", "--json"], kind].concat());
        command
            .env("CR_CLAUDE", dir.join("agent"))
            .env("CR_STATE_DIR", dir.join("state"))
            .current_dir(&dir);
        let done = case.finish(&mut command);
        assert_eq!(done.code(), Some(0), "{kind:?} {done:?}");
        let summary: Value = serde_json::from_str(&done.out).expect("a summary");
        assert_eq!(summary["outcome"], "success", "{kind:?}");
        let is_recorded = !kind.contains(&"--no-record");
        assert_eq!(summary["recorded"], is_recorded, "{kind:?} {done:?}");
        // The command works, or there is none and a reason.
        let Some(argv) = summary["resume_argv"].as_array() else {
            assert!(summary["resume_why_null"].is_string(), "{summary}");
            continue;
        };
        let words: Vec<&str> = argv[1..].iter().filter_map(Value::as_str).collect();
        let mut again = case.runner(&words);
        again.env("CR_STATE_DIR", dir.join("state"));
        let done = case.finish(&mut again);
        assert_eq!(done.code(), Some(0), "{kind:?} {words:?} {done:?}");
    }
}
