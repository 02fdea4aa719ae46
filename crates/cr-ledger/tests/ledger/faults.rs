//! A full disk, a read-only place, a damaged file, another version.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use cr_test::{Command, has_namespaces, repeats};
use serde_json::json;

use crate::case::{Case, Done, done};
use crate::logs::{Answer, START, import};
use crate::random::{Random, seed};
use crate::record::summary;

/// Runs `script` in a namespace in which `small` is a file system of 400 kB.
/// `$CR_LEDGER` is a ledger on it, `$1` the program.
fn on_small_disk(case: &Case, script: &str, input: &str) -> Done {
    let small = case.path("small");
    fs::create_dir_all(&small).expect("made");
    let script = format!(
        "mount -t tmpfs -o size=400k,mode=700 small {} || exit 99\n{script}",
        small.display()
    );
    let mut command = case.world.command("unshare");
    command.args([
        "--user",
        "--map-root-user",
        "--mount",
        "/bin/sh",
        "-c",
        &script,
        "sh",
    ]);
    command.arg(cr_test::bin("cr-ledger"));
    command.env("CR_LEDGER", small.join("ledger.db"));
    done(command, input)
}

fn summaries(count: usize) -> String {
    let line = |number| {
        format!(
            "{}\n",
            summary(&format!("r{number}"), &format!("s{number}"), 0.5)
        )
    };
    (0..count).map(line).collect()
}

#[test]
fn l4_a_full_disk_is_said_and_what_was_there_stays() {
    if !has_namespaces("a full disk for cr-ledger") {
        return;
    }
    let case = Case::new();
    let input = summaries(3000);
    // The exit code, then what is there; then the same with room.
    let script = "cat > ../input
        head -n 50 ../input | $1 record > ../first || exit 98
        $1 record < ../input > ../passed; echo $? > ../code
        $1 sql 'PRAGMA integrity_check' || exit 97
        $1 sql 'SELECT count(*) AS runs FROM run' || exit 96
        mount -o remount,size=20m small || exit 95
        $1 record < ../input > ../again || exit 94
        $1 sql 'SELECT count(*) AS runs FROM run'
        $1 sql 'PRAGMA integrity_check'";
    let script = format!("cd {}\n{script}", case.path("small").display());
    let done = on_small_disk(&case, &script, &input);
    assert_eq!(done.code, Some(0), "{done:?}");
    let read = |name: &str| fs::read_to_string(case.path(name)).expect(name);
    assert_eq!(read("code"), "74\n", "{done:?}");
    assert!(done.err.contains("the disk is full"), "{done:?}");
    assert_eq!(done.err.lines().count(), 1, "{done:?}");
    assert!(read("passed") == input, "all of it is passed on");
    assert!(read("again") == input, "all of it is passed on");
    let rows = done.rows();
    assert_eq!(rows[0], json!({"integrity_check": "ok"}));
    let there = rows[1]["runs"].as_u64().expect("a number");
    assert!((50..3000).contains(&there), "{there}");
    assert_eq!(rows[2], json!({"runs": 3000}));
    assert_eq!(rows[3], json!({"integrity_check": "ok"}));
}

/// `command` without root's right to write everything.
fn without_rights(command: &Command) -> Command {
    if rustix::process::geteuid().is_root() {
        command.behind("unshare", &["--user"])
    } else {
        command.behind("env", &[])
    }
}

#[test]
fn l4_what_is_read_only_is_said_and_not_changed() {
    if !has_namespaces("a read-only ledger") {
        return;
    }
    let case = Case::new();
    let dir = case.path("dir");
    fs::create_dir(&dir).expect("made");
    let path = dir.join("ledger.db");
    let run = |args: &[&str], input: &str| {
        let mut command = case.command(args);
        command.env("CR_LEDGER", &path);
        done(without_rights(&command), input)
    };
    let line = summaries(1);
    let mode = |path: &Path, mode: u32| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("set");
    };
    // The directory, without a ledger in it.
    mode(&dir, 0o500);
    let done = run(&["record"], &line);
    assert_eq!(
        (done.code, done.out.as_str()),
        (Some(74), line.as_str()),
        "{done:?}"
    );
    assert!(done.err.contains("ledger.db"), "{done:?}");
    mode(&dir, 0o700);
    assert_eq!(run(&["record"], &line).code, Some(0));
    let before = fs::read(&path).expect("read");
    // The file; the directory; both.
    for (of_file, of_dir) in [(0o400, 0o700), (0o600, 0o500), (0o400, 0o500)] {
        mode(&path, of_file);
        mode(&dir, of_dir);
        let done = run(&["record"], &summaries(2));
        assert_eq!(done.code, Some(74), "{of_file:o} {of_dir:o}: {done:?}");
        assert_eq!(done.out, summaries(2), "{done:?}");
        assert!(done.err.contains("ledger.db"), "{done:?}");
        // To read it is possible.
        let done = run(&["report", "--json"], "");
        assert_eq!(done.code, Some(0), "{of_file:o} {of_dir:o}: {done:?}");
        assert_eq!(done.rows().len(), 1, "{done:?}");
    }
    mode(&path, 0o000);
    for args in [&["record"][..], &["report"]] {
        let done = run(args, "");
        assert_eq!(done.code, Some(74), "{args:?}: {done:?}");
        assert!(done.err.contains("ledger.db"), "{done:?}");
    }
    mode(&dir, 0o700);
    mode(&path, 0o600);
    assert_eq!(fs::read(&path).expect("read"), before);
}

/// A ledger with some hundred rows in its tables.
fn large(case: &Case) -> Vec<u8> {
    let done = case.feed(&["record"], &summaries(300));
    assert_eq!(done.code, Some(0), "{done:?}");
    let answers: Vec<Answer> = (0..400_i64)
        .map(|number| Answer {
            id: Box::leak(format!("msg-{number}").into_boxed_str()),
            at: START + number * 60_000,
            ..Answer::default()
        })
        .collect();
    import(&case.path("ledger.db"), "here", &answers);
    assert!(!case.path("ledger.db-wal").exists(), "not closed");
    fs::read(case.path("ledger.db")).expect("read")
}

/// Changes bits in a few places near each other, or cuts the end off.
fn damage(bytes: &mut Vec<u8>, random: &mut Random) -> String {
    let at = random.index(bytes.len());
    if random.below(4) == 0 {
        bytes.truncate(at);
        return format!("cut at {at}");
    }
    let at = if random.below(4) == 0 { at % 4096 } else { at };
    let count = 1 + random.index(16);
    for near in 0..count {
        let place = (at + near * random.index(9)).min(bytes.len() - 1);
        bytes[place] ^= 1 << random.below(8);
    }
    format!("{count} bits at {at}")
}

#[test]
fn l4_a_damaged_ledger_is_an_error_or_works_and_is_never_made_worse() {
    let case = Case::new();
    let good = large(&case);
    let seed = seed();
    let mut random = Random::new(seed);
    let path = case.path("ledger.db");
    let line = format!("{}\n", summary("new", "s-new", 0.5));
    let mut refused = 0;
    for round in 0..repeats(25, 200) {
        let mut bytes = good.clone();
        let place = damage(&mut bytes, &mut random);
        let place = format!("seed {seed}, round {round}, {place}");
        let reset = || {
            for name in ["ledger.db-wal", "ledger.db-shm"] {
                let _ = fs::remove_file(case.path(name));
            }
            fs::write(&path, &bytes).expect("written");
        };
        for args in [
            &["report", "--json"][..],
            &["export", "messages"],
            &["export", "runs"],
            &["forget", "--before", "2026-11-18", "--dry-run"],
        ] {
            reset();
            let done = case.run(args);
            let is_known = matches!(done.code, Some(0 | 66 | 74 | 78));
            assert!(
                is_known && !done.err.contains("panicked"),
                "{place}: {args:?}: {done:?}"
            );
            assert_eq!(
                done.code == Some(0),
                done.err.is_empty(),
                "{place}: {args:?}: {done:?}"
            );
            assert!(
                fs::read(&path).expect("read") == bytes,
                "{place}: {args:?} changed it"
            );
        }
        reset();
        let done = case.feed(&["record"], &line);
        assert_eq!(done.out, line, "{place}: {done:?}");
        if done.code == Some(0) {
            let db = rusqlite::Connection::open(&path).expect("opened");
            let sql = "SELECT count(*) FROM run WHERE run_key = 'new'";
            let there: i64 = db.query_row(sql, [], |row| row.get(0)).expect(&place);
            assert_eq!(there, 1, "{place}: {done:?}");
        } else {
            refused += 1;
            assert!(matches!(done.code, Some(74 | 78)), "{place}: {done:?}");
            assert!(done.err.contains("ledger.db"), "{place}: {done:?}");
            assert!(!done.err.contains("panicked"), "{place}: {done:?}");
            assert!(
                fs::read(&path).expect("read") == bytes,
                "{place}: record changed it"
            );
        }
    }
    assert!(refused > 0, "seed {seed}: no damage was found");
}

#[test]
fn l4_a_newer_version_is_refused_by_every_command_and_not_touched() {
    let case = Case::new();
    case.record(&summary("r1", "s1", 0.25));
    let path = case.path("ledger.db");
    let db = rusqlite::Connection::open(&path).expect("opened");
    db.pragma_update(None, "user_version", 99).expect("set");
    db.pragma_update(None, "journal_mode", "DELETE")
        .expect("set");
    drop(db);
    let before = fs::read(&path).expect("read");
    let other = Case::new();
    other.record(&summary("r2", "s2", 0.5));
    let other = other.path("ledger.db").display().to_string();
    for args in [
        &["record"][..],
        &["report"],
        &["sql", "SELECT 1"],
        &["export", "runs"],
        &["forget", "--before", "2027-01-01"],
        &["merge", &other],
    ] {
        let line = format!("{}\n", summary("r3", "s3", 0.5));
        let done = case.feed(args, &line);
        assert_eq!(done.code, Some(78), "{args:?}: {done:?}");
        assert!(
            done.err.contains("version 99") && done.err.contains("newer"),
            "{done:?}"
        );
        assert_eq!(fs::read(&path).expect("read"), before, "{args:?}");
    }
    // Nor is it merged.
    let here = Case::new();
    let done = here.run(&["merge", &path.display().to_string()]);
    assert_eq!(done.code, Some(78), "{done:?}");
    assert_eq!(fs::read(&path).expect("read"), before);
}
