//! `cr-git lock`: one holder at a time, and the command's own end.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{MetadataExt, symlink};
use std::process::Stdio;
use std::thread;

use cr_test::{Child, Command, Pipe, Signal, bin, kill, repeats};

use crate::place::{Place, line_of};

/// A holder of the lock; it does not outlive its test, not even a failed one.
struct Holder {
    child: Child,
    out: BufReader<Pipe>,
}

impl Holder {
    /// `cr-git lock -- sh -c SCRIPT`, once it has written its first line.
    fn new(place: &Place, script: &str) -> Self {
        let mut child = place
            .cr(&["lock", "--", "sh", "-c", script])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("starts");
        let mut out = BufReader::new(child.stdout.take().expect("piped"));
        let mut line = String::new();
        out.read_line(&mut line).expect("read");
        assert_eq!(line, "ready\n");
        Self { child, out }
    }

    /// Sends the signal; returns the code that follows.
    fn end_by(&mut self, signal: Signal) -> Option<i32> {
        self.child.signal(signal);
        self.child.wait().expect("ends").code()
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            self.end_by(Signal::TERM);
        }
    }
}

/// A command that ends with a code of its own for each of [`SIGNALS`].
const TRAPS: &str = "trap 'exit 41' TERM; trap 'exit 42' INT; trap 'exit 43' HUP; \
                     trap 'exit 44' QUIT; echo ready; while :; do sleep 0.01; done";

const SIGNALS: [(Signal, i32); 4] = [
    (Signal::TERM, 41),
    (Signal::INT, 42),
    (Signal::HUP, 43),
    (Signal::QUIT, 44),
];

fn lock_file(place: &Place) -> std::path::PathBuf {
    place.path().join(".git/cr.lock")
}

#[test]
fn g4_the_commits_of_eight_committers_all_arrive() {
    let place = Place::new();
    let each = repeats(3, 25);
    let commit = "echo \"$1\" >\"f$1\" && git add \"f$1\" && git commit -q -m \"c$1\"";
    let commands: Vec<Vec<_>> = (0..8)
        .map(|who| {
            let number = |i: usize| (who * each + i).to_string();
            let args = |n: &String| place_command(&place, commit, n);
            (0..each).map(number).map(|n| args(&n)).collect()
        })
        .collect();
    thread::scope(|scope| {
        for mine in commands {
            scope.spawn(move || {
                for mut command in mine {
                    let output = command.output().expect("runs");
                    let complaint = String::from_utf8_lossy(&output.stderr);
                    assert!(output.status.success(), "{complaint}");
                }
            });
        }
    });
    assert_eq!(
        place.git(&["rev-list", "--count", "HEAD"]),
        (8 * each + 1).to_string()
    );
    assert_eq!(place.git(&["status", "--porcelain"]), "");
    place.git(&["fsck", "--strict", "--no-dangling"]);
    assert!(lock_file(&place).exists(), "never removed");
}

fn place_command(place: &Place, script: &str, argument: &str) -> Command {
    place.cr(&["lock", "--", "sh", "-c", script, "sh", argument])
}

#[test]
fn g4_the_command_s_status_is_returned() {
    let place = Place::new();
    for (script, code) in [
        ("exit 0", 0),
        ("exit 1", 1),
        ("exit 200", 200),
        ("kill -TERM $$", 143),
        ("kill -KILL $$", 137),
    ] {
        let output = place.cr(&["lock", "--", "sh", "-c", script]).output();
        assert_eq!(output.expect("runs").status.code(), Some(code), "{script}");
    }
    let missing = place
        .cr(&["lock", "--", "/nonexistent"])
        .output()
        .expect("runs");
    assert_eq!(missing.status.code(), Some(127));
    let complaint = String::from_utf8_lossy(&missing.stderr);
    assert!(
        complaint.starts_with("cr-git: /nonexistent: "),
        "{complaint}"
    );
    let mode = place.cr(&["lock", "--", "./a.txt"]).output().expect("runs");
    assert_eq!(mode.status.code(), Some(126));
}

#[test]
fn g4_a_second_holder_waits_or_gives_up_with_75() {
    let place = Place::new();
    let mut first = Holder::new(&place, "echo ready; exec sleep 1000");
    let output = place.cr(&["lock", "--wait", "50ms", "--", "true"]).output();
    let output = output.expect("runs");
    assert_eq!(output.status.code(), Some(75));
    let complaint = String::from_utf8_lossy(&output.stderr);
    let expected = format!("cr.lock: held by process {}\n", first.child.id());
    assert!(complaint.ends_with(&expected), "{complaint}");
    assert_eq!(first.end_by(Signal::TERM), Some(143));
    line_of(place.cr(&["lock", "--", "true"]).output().expect("runs"));
}

#[test]
fn g4_what_the_command_leaves_behind_does_not_keep_the_lock() {
    let place = Place::new();
    let mut first = Holder::new(&place, "sleep 1000 & echo ready; echo $!");
    assert!(first.child.wait().expect("ends").success());
    let mut left = String::new();
    first.out.read_line(&mut left).expect("read");
    let second = place.cr(&["lock", "--wait", "5", "--", "true"]).output();
    kill(left.trim().parse().expect("a pid"), Signal::KILL);
    line_of(second.expect("runs"));
    // End of file: it is gone, and it was there until now.
    first.out.read_to_string(&mut left).expect("read");
}

#[test]
fn g4_signals_reach_the_command() {
    let place = Place::new();
    for (signal, code) in SIGNALS {
        let mut holder = Holder::new(&place, TRAPS);
        assert_eq!(holder.end_by(signal), Some(code), "{signal:?}");
    }
}

/// `cr-git lock -- sh -c SCRIPT` in the foreground of a terminal of its own,
/// once it has written its first line. `script` ends with the command's code.
fn at_a_terminal(place: &Place, script: &str) -> (Child, BufReader<Pipe>) {
    place.world.script("command", script);
    let line = format!("exec {} lock -- ../command", bin("cr-git").display());
    let mut terminal = place.command("script");
    terminal.args(["-qec", &line, "/dev/null"]);
    terminal.env("SHELL", "/bin/sh");
    terminal.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = terminal.spawn().expect("starts");
    let mut out = BufReader::new(child.stdout.take().expect("piped"));
    let mut line = String::new();
    out.read_line(&mut line).expect("read");
    assert_eq!(line.trim_end(), "ready");
    (child, out)
}

#[test]
fn g4_signals_reach_the_command_at_a_terminal_too() {
    let place = Place::new();
    for (signal, code) in SIGNALS {
        let (mut child, _out) = at_a_terminal(&place, TRAPS);
        let processes = place.world.processes();
        let is_lock = |argv: &[String]| {
            let [program, verb, ..] = argv else {
                return false;
            };
            program.ends_with("/cr-git") && verb == "lock"
        };
        let lock = processes.iter().find(|it| is_lock(&it.argv));
        kill(lock.expect("the holder").pid, signal);
        assert_eq!(child.wait().expect("ends").code(), Some(code), "{signal:?}");
    }
}

#[test]
fn g4_a_key_of_the_terminal_reaches_the_command_once() {
    let place = Place::new();
    let script = "n=0; trap 'n=$((n + 1))' INT; echo ready; \
                  read -r line || read -r line; echo \"$n interrupts\"";
    let (mut child, mut out) = at_a_terminal(&place, script);
    let stdin = child.stdin.as_mut().expect("piped");
    // Ctrl-C, and a line after it.
    stdin.write_all(b"\x03").expect("written");
    let mut shown = Vec::new();
    out.read_until(b'C', &mut shown).expect("an echo");
    stdin.write_all(b"x\n").expect("written");
    assert!(child.wait().expect("ends").success());
    let mut text = String::new();
    out.read_to_string(&mut text).expect("text");
    assert!(text.contains("1 interrupts"), "{text}");
}

#[test]
fn g4_all_work_trees_share_the_lock() {
    let place = Place::new();
    let tree = place.beside("tree");
    let dir = tree.to_str().expect("text");
    place.git(&["worktree", "add", "-q", "-b", "side", dir]);
    let _first = Holder::new(&place, "echo ready; exec sleep 1000");
    let args = ["lock", "--wait", "50ms", "--cwd", dir, "--", "true"];
    let output = place.cr(&args).output().expect("runs");
    assert_eq!(output.status.code(), Some(75));
}

#[test]
fn a_lock_inside_a_lock_does_not_wait_for_itself() {
    let place = Place::new();
    let ours = bin("cr-git");
    let ours = ours.to_str().expect("text");
    let args = [
        "lock", "--", ours, "lock", "--wait", "5", "--", "echo", "inside",
    ];
    let output = place.cr(&args).output().expect("runs");
    assert_eq!(line_of(output), "inside\n");
}

#[test]
fn g4_a_link_in_place_of_the_lock_is_refused() {
    let place = Place::new();
    let victim = place.beside("victim");
    fs::write(&victim, "untouched").expect("written");
    let lock = lock_file(&place);
    symlink(&victim, &lock).expect("linked");
    let refused = || {
        let output = place.cr(&["lock", "--", "true"]).output().expect("runs");
        assert_eq!(output.status.code(), Some(78));
        fs::remove_file(&lock).expect("removed");
    };
    refused();
    fs::hard_link(&victim, &lock).expect("linked");
    refused();
    cr_test::Fifo::new(&lock);
    refused();
    assert_eq!(fs::read(&victim).expect("there"), b"untouched");
}

#[test]
fn the_lock_is_the_one_file_we_leave_and_ours_alone() {
    let place = Place::new();
    let before = fs::read_dir(place.path().join(".git"))
        .expect("list")
        .count();
    line_of(place.cr(&["lock", "--", "true"]).output().expect("runs"));
    let after = fs::read_dir(place.path().join(".git"))
        .expect("list")
        .count();
    assert_eq!(after, before + 1);
    let meta = fs::metadata(lock_file(&place)).expect("there");
    assert_eq!((meta.mode() & 0o777, meta.size()), (0o600, 0));
}

#[test]
fn no_repository_is_66_and_nothing_is_run() {
    let place = Place::bare();
    let output = place
        .cr(&["lock", "--", "echo", "run"])
        .output()
        .expect("runs");
    assert_eq!(output.status.code(), Some(66));
    assert_eq!(output.stdout, b"");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(
        complaint.ends_with(": not a git repository\n"),
        "{complaint}"
    );
}

#[test]
fn g5_a_stale_index_lock_goes_only_when_asked_and_unheld() {
    let place = Place::new();
    let lock = place.path().join(".git/index.lock");
    fs::write(&lock, "").expect("written");
    let run = |args: &[&str]| {
        let output = place.cr(args).output().expect("runs");
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    let (code, note) = run(&["lock", "--", "true"]);
    assert_eq!(code, Some(0));
    assert!(
        note.contains("index.lock: ") && note.ends_with("holder: none\n"),
        "{note}"
    );
    assert!(lock.exists());

    let held = File::open(&lock).expect("opened");
    let (_, note) = run(&["lock", "--break-stale-lock", "--", "true"]);
    let holder = format!("holder: process {}\n", std::process::id());
    assert!(note.ends_with(&holder), "{note}");
    assert!(lock.exists());

    drop(held);
    let commit = ["git", "commit", "-q", "--allow-empty", "-m", "freed"];
    let args = [&["lock", "--break-stale-lock", "--"][..], &commit].concat();
    let (code, note) = run(&args);
    assert_eq!(code, Some(0));
    assert!(note.ends_with("holder: none; removed\n"), "{note}");
    assert!(!lock.exists());
}
