//! Only old runs are removed.

use cr_test::{Signal, appears, until};

use crate::case::Case;

/// What `cr-runs prune` says that it removes.
fn prune(case: &Case, args: &[&str]) -> String {
    let mut command = case.world.tool("cr-runs");
    case.surround(&mut command);
    let output = command.arg("prune").args(args).output();
    let output = output.expect("run cr-runs");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn a_finished_run_goes_when_there_is_no_room_or_it_is_old() {
    for args in [["--keep-bytes", "1"], ["--older-than", "0"]] {
        let case = Case::new();
        case.plan(&[("a", "")]);
        assert_eq!(case.go(&[]).code, Some(0));
        let dir = case.run_dir();
        assert_eq!(prune(&case, &[]), "");
        let line = format!("{}\n", dir.display());
        assert_eq!(prune(&case, &[args[0], args[1], "--dry-run"]), line);
        assert!(dir.exists());
        std::fs::write(dir.join("keep"), "").expect("written");
        assert_eq!(prune(&case, &args), "");
        std::fs::remove_file(dir.join("keep")).expect("removed");
        assert_eq!(prune(&case, &args), line);
        assert!(!dir.exists(), "{}", dir.display());
    }
}

#[test]
fn a_run_that_can_go_on_goes_only_when_it_is_old() {
    let case = Case::new();
    case.plan(&[("a", "")]);
    case.script(
        "a",
        1,
        r#"error "You've hit your limit · resets 3pm (UTC)" ',"api_error_status":429'"#,
    );
    assert_eq!(case.go(&["--max-wait", "1s"]).code, Some(75));
    let dir = case.run_dir();
    assert_eq!(prune(&case, &["--keep-bytes", "1"]), "");
    assert_eq!(prune(&case, &["--older-than", "0"]).lines().count(), 1);
    assert!(!dir.exists(), "{}", dir.display());
}

#[test]
fn a_run_that_goes_on_stays_and_so_does_what_outlives_it() {
    let case = Case::new();
    case.plan(&[("a", "")]);
    case.script("a", 1, r#": > "$CASE/hangs"; exec sleep 600"#);
    let mut engine = case
        .command(&["../plan.yaml"])
        .spawn()
        .expect("start the engine");
    appears(&case.path("hangs"));
    let everything = ["--older-than", "0", "--keep-bytes", "0"];
    assert_eq!(prune(&case, &everything), "");
    // The attempt lives on.
    engine.kill().expect("killed");
    engine.wait().expect("ended");
    assert_eq!(prune(&case, &everything), "");
    let mut resumed = case.command(&["--resume-run", &case.run_id()]);
    let mut resumed = resumed.spawn().expect("start it again");
    let log = case.run_dir().join("session.log");
    until("the attempt is adopted", || {
        std::fs::read_to_string(&log).is_ok_and(|text| text.contains("adopted"))
    });
    resumed.signal(Signal::TERM);
    resumed.wait().expect("ended");
    assert_eq!(prune(&case, &everything).lines().count(), 1);
}
