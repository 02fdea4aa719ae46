//! Who may have written the ledger.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};

use crate::case::{Case, Done, done};
use crate::record::summary;

/// Records one more run; whatever the ledger says, the summary is passed on.
fn record(case: &Case) -> Done {
    let line = format!("{}\n", summary("r2", "s2", 0.5));
    let done = case.feed(&["record"], &line);
    assert_eq!(done.out, line, "{done:?}");
    done
}

/// A case with a ledger.
fn case() -> Case {
    let case = Case::new();
    case.record(&summary("r1", "s1", 0.25));
    case
}

#[test]
fn a_ledger_and_the_files_beside_it_are_for_the_user_alone() {
    let case = Case::new();
    // The most open umask does not matter.
    let mut command = case
        .command(&["record"])
        .behind("sh", &["-c", "umask 0; exec \"$0\" \"$@\""]);
    command.stdin(std::process::Stdio::null());
    assert!(command.output().expect("run").status.success());
    let reader = rusqlite::Connection::open(case.path("ledger.db")).expect("opened");
    let read = || reader.query_row("SELECT count(*) FROM run", [], |row| row.get::<_, i64>(0));
    read().expect("read");
    record(&case);
    for name in ["ledger.db", "ledger.db-wal", "ledger.db-shm"] {
        let mode = fs::metadata(case.path(name))
            .expect(name)
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn a_link_to_a_ledger_is_refused() {
    let case = case();
    let before = fs::read(case.path("ledger.db")).expect("read");
    fs::rename(case.path("ledger.db"), case.path("real.db")).expect("moved");
    symlink(case.path("real.db"), case.path("ledger.db")).expect("linked");
    for args in [
        &["record"][..],
        &["report"],
        &["forget", "--before", "2026-01-01"],
    ] {
        let done = case.feed(args, "");
        assert!(matches!(done.code, Some(74 | 78)), "{args:?}: {done:?}");
        assert!(done.err.contains("ledger.db"), "{done:?}");
    }
    fs::remove_file(case.path("ledger.db")).expect("removed");
    fs::hard_link(case.path("real.db"), case.path("ledger.db")).expect("linked");
    let done = record(&case);
    assert_eq!(done.code, Some(78), "{done:?}");
    assert!(done.err.contains("not a file of yours alone"), "{done:?}");
    assert_eq!(fs::read(case.path("real.db")).expect("read"), before);
}

#[test]
fn a_ledger_in_a_directory_that_is_a_link_is_no_link() {
    let case = Case::new();
    fs::create_dir(case.path("real")).expect("made");
    symlink(case.path("real"), case.path("state-link")).expect("linked");
    let on = |args: &[&str], input: &str| {
        let mut command = case.command(args);
        command
            .arg("--ledger")
            .arg(case.path("state-link/ledger.db"));
        done(command, input)
    };
    let line = format!("{}\n", summary("r1", "s1", 0.25));
    assert_eq!(on(&["record"], &line).code, Some(0));
    assert_eq!(on(&["report", "--json"], "").rows().len(), 1);
    let place = case.path("state-link/ledger.db").display().to_string();
    case.ok(&["merge", &place]);
}

#[test]
fn a_ledger_that_others_can_write_is_refused() {
    let case = case();
    let path = case.path("ledger.db");
    for mode in [0o620, 0o602, 0o666] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("set");
        let before = fs::read(&path).expect("read");
        let done = record(&case);
        assert_eq!(done.code, Some(78), "{mode:o}: {done:?}");
        assert!(done.err.contains("not a file of yours alone"), "{done:?}");
        assert_eq!(fs::read(&path).expect("read"), before);
    }
    // Only to read it is no danger.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("set");
    assert_eq!(record(&case).code, Some(0));
}

#[test]
fn a_ledger_of_another_user_is_refused() {
    let case = case();
    let path = case.path("ledger.db");
    if chown(&path, Some(12_345), None).is_err() {
        cr_test::left_out("a ledger of another user: only root can make one");
        return;
    }
    let done = record(&case);
    assert_eq!(done.code, Some(78), "{done:?}");
    assert!(done.err.contains("not a file of yours alone"), "{done:?}");
}

#[test]
fn a_ledger_that_is_a_pipe_does_not_hang() {
    let case = Case::new();
    cr_test::Fifo::new(case.path("ledger.db"));
    let done = record(&case);
    assert!(matches!(done.code, Some(74 | 78)), "{done:?}");
}
