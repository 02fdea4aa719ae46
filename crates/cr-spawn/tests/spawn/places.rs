//! The run directory, and unsafe ones: T8, S9.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use cr_test::Fifo;

use crate::case::{Case, INIT, RESULT, run_dirs};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("metadata").mode() & 0o777
}

#[test]
fn what_a_run_leaves_is_for_its_user_alone() {
    let done = Case::playing(&[INIT, RESULT], "").run();
    let dir = done.run_dir();
    assert_eq!(mode(&dir), 0o700);
    assert_eq!(mode(dir.parent().expect("runs")), 0o700);
    for name in ["prompt", "stream.ndjson", "exit.json", "started", "lock"] {
        assert_eq!(mode(&dir.join(name)), 0o600, "{name}");
    }
}

#[test]
fn a_run_directory_can_be_named() {
    let case = Case::playing(&[INIT, RESULT], "");
    let dir = case.world.path("here");
    let done = case
        .args(&["--run-dir", dir.to_str().expect("a path")])
        .run();
    assert_eq!(done.code(), Some(0));
    assert!(dir.join("exit.json").exists());
    assert!(run_dirs(done.world.dir()).is_empty());
}

#[test]
fn the_name_of_a_run_can_be_given_and_a_second_run_spoils_nothing() {
    let case = Case::playing(&[INIT, RESULT], "").env("CR_RUN_ID", "my-run");
    let done = case.run();
    assert_eq!(done.exit()["run_id"], "my-run");
    let first = done.run_dir();
    assert!(first.ends_with("my-run"));
    let before = fs::read(first.join("exit.json")).expect("a record");
    let state = done.world.path("state");
    let again = Case::playing(&[INIT, RESULT], "exit=4")
        .env("CR_RUN_ID", "my-run")
        .env("CR_STATE_DIR", state.to_str().expect("a path"))
        .run();
    assert_eq!(again.code(), Some(4));
    assert_eq!(fs::read(first.join("exit.json")).expect("a record"), before);
    assert!(state.join("runs/my-run.2/exit.json").exists());
    let wrong = Case::playing(&[INIT], "").env("CR_RUN_ID", "../x").run();
    assert_eq!(wrong.code(), Some(78));
}

#[test]
fn git_of_the_agent_is_traced_unless_the_user_has_it_traced() {
    let script = r#"printf '{"type":"v","trace":"%s","brief":"%s"}\n' "$GIT_TRACE2_EVENT" "$GIT_TRACE2_EVENT_BRIEF""#;
    let seen = |case: Case| {
        let done = case.run();
        let seen = done.all("v")[0].clone();
        let runs = run_dirs(done.world.dir());
        let own = runs.first().map(|dir| dir.join("git-trace.ndjson"));
        (
            seen,
            own.map(|path| path.to_str().expect("text").to_owned()),
        )
    };
    let surrounding = || Case::script(script).env("GIT_TRACE2_EVENT", "/x/git-trace.ndjson");
    for case in [Case::script(script), surrounding()] {
        let (seen, own) = seen(case);
        assert_eq!(seen["trace"].as_str(), own.as_deref());
        assert_eq!(seen["brief"], "1");
    }
    let (none, _) = seen(surrounding().args(&["--no-record"]));
    assert_eq!((&none["trace"], &none["brief"]), (&"".into(), &"".into()));
    let (users, _) = seen(Case::script(script).env("GIT_TRACE2_EVENT", "/dev/null"));
    assert_eq!(users["trace"], "/dev/null");
    assert_eq!(users["brief"], "");
}

#[test]
fn the_mark_of_a_start_is_there_whole_or_not_at_all() {
    let case = Case::playing(&[INIT, RESULT], "");
    let dir = case.world.path("here");
    fs::create_dir(&dir).expect("made");
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o700)).expect("private");
    let mark = dir.join("started");
    fs::write(&mark, "").expect("written");
    fs::set_permissions(&mark, fs::Permissions::from_mode(0o600)).expect("private");
    // A reader of the file that was there sees nothing of the new one.
    let before = fs::metadata(&mark).expect("there").ino();
    let held = fs::File::open(&mark).expect("opened");
    let args = ["--run-dir", dir.to_str().expect("text"), "--name", "n"];
    let done = case.args(&args).run();
    assert_eq!(done.code(), Some(0), "{}", done.stderr);
    assert_ne!(fs::metadata(&mark).expect("there").ino(), before);
    assert_eq!(held.metadata().expect("held").len(), 0);
    let mark: serde_json::Value =
        serde_json::from_slice(&fs::read(&mark).expect("read")).expect("JSON");
    assert_eq!(mark["name"], "n");
}

type Trick = (&'static str, fn(&Path));

#[test]
fn t8_an_unsafe_run_directory_is_refused() {
    let tricks: &[Trick] = &[
        ("a link for the state directory", |dir| {
            fs::create_dir(dir.join("victim")).expect("mkdir");
            symlink(dir.join("victim"), dir.join("state")).expect("symlink");
        }),
        ("a link for the runs", |dir| {
            fs::create_dir_all(dir.join("victim")).expect("mkdir");
            fs::create_dir(dir.join("state")).expect("mkdir");
            symlink(dir.join("victim"), dir.join("state/runs")).expect("symlink");
        }),
        ("a directory that others may write to", |dir| {
            fs::create_dir(dir.join("state")).expect("mkdir");
            fs::set_permissions(dir.join("state"), fs::Permissions::from_mode(0o777))
                .expect("chmod");
        }),
        ("a file for the state directory", |dir| {
            fs::write(dir.join("state"), "").expect("write");
        }),
        ("a link for the run", |dir| {
            fs::create_dir_all(dir.join("victim")).expect("mkdir");
            fs::create_dir_all(dir.join("state/runs")).expect("mkdir");
            symlink(dir.join("victim"), dir.join("state/runs/r")).expect("symlink");
        }),
        ("a link for the lock", |dir| {
            fs::create_dir_all(dir.join("state/runs/r")).expect("mkdir");
            fs::create_dir_all(dir.join("victim")).expect("mkdir");
            symlink(dir.join("victim/lock"), dir.join("state/runs/r/lock")).expect("symlink");
        }),
        ("a hard link for the lock", |dir| {
            fs::create_dir_all(dir.join("state/runs/r")).expect("mkdir");
            fs::write(dir.join("other"), "mine").expect("write");
            fs::hard_link(dir.join("other"), dir.join("state/runs/r/lock")).expect("link");
        }),
        ("a pipe for the lock", |dir| {
            fs::create_dir_all(dir.join("state/runs/r")).expect("mkdir");
            Fifo::new(dir.join("state/runs/r/lock"));
        }),
    ];
    for (what, prepare) in tricks {
        let case = Case::playing(&[INIT, RESULT], "").env("CR_RUN_ID", "r");
        prepare(case.world.dir());
        let done = case.run();
        assert_eq!(done.code(), Some(78), "{what}: {}", done.stderr);
        assert!(done.lines.is_empty(), "{what}");
        let victim = fs::read_dir(done.world.path("victim"))
            .into_iter()
            .flatten();
        assert_eq!(victim.count(), 0, "{what}");
        let other = fs::read(done.world.path("other")).unwrap_or_else(|_| b"mine".to_vec());
        assert_eq!(other, b"mine", "{what}");
    }
}

#[test]
fn t8_another_users_directory_is_refused() {
    let case = Case::playing(&[INIT, RESULT], "");
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let state = case.world.path("state");
    fs::create_dir(&state).expect("mkdir");
    std::os::unix::fs::chown(&state, Some(65534), Some(65534)).expect("chown");
    let done = case.run();
    assert_eq!(done.code(), Some(78), "{}", done.stderr);
    assert!(
        done.stderr.contains("belongs to user 65534"),
        "{}",
        done.stderr
    );
}

#[test]
fn t8_a_link_in_place_of_a_file_is_not_followed() {
    let case = Case::playing(&[INIT, RESULT], "").env("CR_RUN_ID", "r");
    let (run, victim) = (case.world.path("state/runs/r"), case.world.path("victim"));
    fs::create_dir_all(&run).expect("mkdir");
    fs::write(&victim, "mine").expect("write");
    for name in ["prompt", "stream.ndjson", "exit.json"] {
        symlink(&victim, run.join(name)).expect("symlink");
    }
    let done = case.run();
    assert_eq!(done.code(), Some(0), "{}", done.stderr);
    assert_eq!(fs::read(&victim).expect("the victim"), b"mine");
}

#[test]
fn t13_a_run_directory_that_the_agent_deletes_stops_nothing() {
    let script = r#"cat >/dev/null; rm -rf "$CR_STATE_DIR"; echo '{"type":"x"}'; exit 7"#;
    let done = Case::script(script).run();
    assert_eq!(done.code(), Some(7));
    assert_eq!(done.exit()["exit_code"], 7);
}
