//! The summary as a file.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use serde_json::Value;

use crate::tool::{fixture, good, summary, tool};

fn run(dir: &Path) -> (i32, Value, String) {
    let output = tool()
        .arg("--run-dir")
        .arg(dir)
        .write_stdin(good())
        .output()
        .expect("run");
    let (code, value) = summary(&output);
    (
        code,
        value,
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

#[test]
fn the_summary_is_left_in_the_directory_for_its_owner_alone() {
    let dir = tempfile::tempdir().expect("a directory");
    for _ in 0..2 {
        let (code, summary, notes) = run(dir.path());
        assert_eq!(
            (code, &summary["recorded"], notes.as_str()),
            (0, &true.into(), "")
        );
        let file = dir.path().join("summary.json");
        let text = fs::read(&file).expect("written");
        assert_eq!(
            serde_json::from_slice::<Value>(&text).expect("an object"),
            summary
        );
        assert_eq!(fs::metadata(&file).expect("there").mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(dir.path()).expect("list").count(), 1);
    }
}

#[test]
fn t8_a_trap_is_refused_and_the_verdict_stands() {
    let dir = tempfile::tempdir().expect("a directory");
    let victim = dir.path().join("victim");
    fs::write(&victim, "untouched").expect("written");

    let linked = dir.path().join("linked");
    fs::create_dir(&linked).expect("made");
    symlink(&victim, linked.join("summary.json")).expect("linked");

    let open = dir.path().join("open");
    fs::create_dir(&open).expect("made");
    fs::set_permissions(&open, Permissions::from_mode(0o777)).expect("set");

    let link = dir.path().join("link");
    symlink(dir.path(), &link).expect("linked");

    let (_, summary, _) = run(&linked);
    assert_eq!(
        summary["recorded"], true,
        "the link is replaced, not followed"
    );
    assert_eq!(fs::read(&victim).expect("read"), b"untouched");

    for trap in [&open, &link, &victim] {
        let (code, summary, notes) = run(trap);
        assert_eq!(
            (code, &summary["recorded"]),
            (0, &false.into()),
            "{}",
            trap.display()
        );
        assert!(
            notes.starts_with("cr-summarize: ") && notes.lines().count() == 1,
            "{notes}"
        );
        assert_eq!(fs::read(&victim).expect("read"), b"untouched");
        assert!(!dir.path().join("summary.json").exists());
    }
}

#[test]
fn with_tee_the_input_is_passed_on_and_the_summary_is_in_the_directory() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = fixture("captures/05-budget.ndjson");
    let bytes = std::fs::read(&path).expect("a capture");
    let mut command = tool();
    command.arg("--tee").arg("--run-dir").arg(dir.path());
    let output = command.write_stdin(bytes.clone()).output().expect("run");
    assert_eq!(output.status.code(), Some(3));
    assert!(output.stdout == bytes, "passed on as it is");
    let summary = std::fs::read_to_string(dir.path().join("summary.json"));
    assert!(summary.expect("a file").contains("limit_budget"));
    let many = tool().arg("--tee").args([&path, &path]).output();
    assert_eq!(many.expect("run").status.code(), Some(2));
}
