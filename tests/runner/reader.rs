//! Readers that leave and disks that are full: the code is still the verdict, and
//! the record is complete.

use std::fs::{self, OpenOptions};

use cr_test::until;
use serde_json::Value;

use crate::case::{Case, HANG, INIT, RESULT, SHELLS};

const OUTPUTS: [&str; 4] = ["report", "summary", "answer", "stream"];

/// How a run is recorded.
const RECORDS: [&[&str]; 3] = [&[], &["--no-record"], &["--retry", "0"]];

/// The outcome in the one run directory, if there is one.
fn recorded(case: &Case) -> Option<String> {
    let runs = case.runs();
    let run = runs.first()?;
    let exit = fs::read_to_string(run.join("exit.json")).expect("exit.json");
    assert!(exit.contains(r#""subtype":"exit""#), "{exit}");
    let stream = fs::read_to_string(run.join("stream.ndjson")).expect("a stream");
    assert!(stream.ends_with(&exit), "{stream}");
    let summary = fs::read(run.join("summary.json")).expect("summary.json");
    let summary: Value = serde_json::from_slice(&summary).expect("JSON");
    Some(summary["outcome"].as_str().expect("an outcome").to_owned())
}

/// Runs an agent that hangs, and stops reading when it is up.
fn leave(shell: &'static str, output: &str, record: &[&str]) {
    let agent = [INIT, ": >\"$HOME/up\"\n", HANG].concat();
    let case = Case::new(&agent).shell(shell);
    let args = [&["go", "--grace", "2", "--output", output], record].concat();
    let mut run = case.start(&args);
    until("the agent is up", || case.path("home/up").exists());
    drop(run.out);
    let status = run.child.wait().expect("ended");
    let what = format!("{shell} {output} {record:?}");
    assert_eq!(status.code(), Some(141), "{what}");
    case.wait_for_nobody();
    let outcome = recorded(&case);
    let is_recorded = !record.contains(&"--no-record");
    assert_eq!(
        outcome.as_deref(),
        is_recorded.then_some("interrupted"),
        "{what}"
    );
}

#[test]
fn a_run_whose_reader_leaves_is_interrupted_and_ends_with_141() {
    for shell in SHELLS {
        for output in OUTPUTS {
            leave(shell, output, &[]);
        }
    }
    for output in OUTPUTS {
        for record in &RECORDS[1..] {
            leave("dash", output, record);
        }
    }
}

#[test]
fn a_reader_that_leaves_after_the_result_changes_nothing() {
    for record in RECORDS {
        let case = Case::new(&[INIT, "exit 3\n"].concat());
        let line =
            "{ read -r line; } <\"$HOME/pipe\" & \"$@\" >\"$HOME/pipe\"; code=$?; wait; exit $code";
        let mut shell = case.command("/bin/sh");
        let made = case.command("mkfifo").arg(case.path("home/pipe")).status();
        assert!(made.expect("run").success());
        shell.args(["-c", line, "sh"]).arg(cr_test::runner_script());
        shell.args(["go", "--output", "summary"]).args(record);
        let done = case.finish(&mut shell);
        assert_eq!(done.code(), Some(1), "{record:?} {done:?}");
    }
}

#[test]
fn a_full_disk_is_74_and_the_record_is_complete() {
    for output in OUTPUTS {
        for record in RECORDS {
            let case = Case::new(&[INIT, RESULT].concat());
            let full = OpenOptions::new().write(true).open("/dev/full");
            let args = [&["go", "--output", output], record].concat();
            let mut command = case.runner(&args);
            command
                .stdout(full.expect("a full disk"))
                .stderr(std::process::Stdio::null());
            let mut child = command.spawn().expect("started");
            let status = child.wait().expect("ended");
            let what = format!("{output} {record:?}");
            assert_eq!(status.code(), Some(74), "{what}");
            case.wait_for_nobody();
            let is_recorded = !record.contains(&"--no-record");
            let wanted = is_recorded.then_some("success");
            assert_eq!(recorded(&case).as_deref(), wanted, "{what}");
        }
    }
}

#[test]
fn without_room_for_its_record_a_run_goes_on_unless_it_needs_it() {
    if !cr_test::has_namespaces("a full state directory") {
        return;
    }
    let fill = r#"mkdir -m 700 "$CR_STATE_DIR" && mount -t tmpfs -o size=64k,mode=700 none "$CR_STATE_DIR" &&
        { dd if=/dev/zero of="$CR_STATE_DIR/fill" bs=1k 2>/dev/null; exec "$@"; }"#;
    let cases: [(&[&str], i32); 3] = [(&[], 0), (&["--retry", "1"], 74), (&["--detach"], 74)];
    for (options, code) in cases {
        let case = Case::new(&[": >\"$HOME/up\"\n", INIT, RESULT].concat());
        let args = [&["go", "--json", "--permission-mode", "default"], options].concat();
        let namespace = [
            "--user",
            "--map-root-user",
            "--mount",
            "sh",
            "-c",
            fill,
            "sh",
        ];
        let mut command = case.runner(&args).behind("unshare", &namespace);
        let done = case.finish(&mut command);
        assert_eq!(done.code(), Some(code), "{options:?} {done:?}");
        assert!(done.err.contains("No space left"), "{options:?} {done:?}");
        assert_eq!(case.path("home/up").exists(), code == 0, "{options:?}");
        assert_eq!(
            done.out.contains(r#""recorded":false"#),
            code == 0,
            "{done:?}"
        );
    }
}
