//! `cr-replay` as a process: the player and the stand-in.

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::Output;
use std::time::{Duration, Instant};

use cr_test::{Command, World};

const LINES: &str = r#"{"type":"cr","subtype":"start","at":"2026-01-01T00:00:00.000Z"}
{"type":"system","subtype":"init","claude_code_version":"2.1.326","timestamp":"2026-01-01T00:00:00.100Z"}
{"type":"assistant","timestamp":"2026-01-01T00:00:00.500Z"}
{"type":"result","is_error":false}
{"type":"cr","subtype":"exit","exit_code":7,"at":"2026-01-01T00:00:00.500Z"}
"#;

struct Recording {
    path: PathBuf,
    _world: World,
}

fn recording() -> Recording {
    let world = World::new();
    let path = world.write("run.ndjson", LINES);
    Recording {
        path,
        _world: world,
    }
}

fn replay() -> Command {
    cr_test::tool("cr-replay")
}

fn play(args: &[&str]) -> Output {
    let recording = recording();
    let out = replay().args(args).arg(&recording.path).output();
    out.expect("run cr-replay")
}

/// Runs the stand-in with a fault, as `cr-spawn` would.
fn act(fault: &str) -> Output {
    let recording = recording();
    replay()
        .env("CR_REPLAY", &recording.path)
        .env("CR_REPLAY_SPEED", "instant")
        .env("CR_REPLAY_FAULT", fault)
        .args([
            "-p",
            "--output-format=stream-json",
            "--any-flag",
            "--of",
            "claude",
        ])
        .write_stdin("a prompt")
        .output()
        .expect("run cr-replay")
}

fn text(out: &Output) -> String {
    String::from_utf8_lossy(&out.stdout).into_owned()
}

fn agents() -> String {
    let lines: Vec<&str> = LINES.lines().collect();
    format!("{}\n", lines[1..4].join("\n"))
}

#[test]
fn a_recording_is_played_as_it_is() {
    let out = play(&["--instant"]);
    assert_eq!(text(&out), LINES);
    assert_eq!(out.status.code(), Some(0));
}

#[test]
fn a_recording_is_played_with_its_timing() {
    let timed = |args: &[&str]| {
        let before = Instant::now();
        assert_eq!(text(&play(args)), LINES);
        before.elapsed()
    };
    let whole = timed(&[]);
    assert!(whole >= Duration::from_millis(500), "{whole:?}");
    let slow = timed(&["--speed", "0.25"]);
    assert!(slow >= Duration::from_secs(2), "{slow:?}");
    let fast = timed(&["--speed", "100"]);
    assert!(fast < slow, "{fast:?} {slow:?}");
}

#[test]
fn as_an_agent_it_plays_the_agents_lines_and_ends_as_the_agent_did() {
    for out in [play(&["--instant", "--agent"]), act("")] {
        assert_eq!(text(&out), agents());
        assert_eq!(out.status.code(), Some(7));
    }
}

#[test]
fn a_stand_in_knows_its_version() {
    let recording = recording();
    let out = replay()
        .env("CR_REPLAY", &recording.path)
        .arg("--version")
        .output();
    assert_eq!(text(&out.expect("run")), "2.1.326 (cr-replay)\n");
}

#[test]
fn faults_do_what_they_say() {
    let all = agents();
    let torn = &all[..all.len() - 18];
    #[rustfmt::skip]
    let cases: &[(&str, &str, Option<i32>, Option<i32>)] = &[
        ("exit=3",                &all, Some(3), None),
        ("signal=9",              &all, None,    Some(9)),
        ("signal=13",             &all, None,    Some(13)),
        ("split=1",               &all, Some(7), None),
        ("torn",                  torn, Some(7), None),
        ("close-stdout=1",        "",   Some(7), None),
        ("no-stdin,linger=10ms",  &all, Some(7), None),
    ];
    for (fault, stdout, code, signal) in cases {
        let out = act(fault);
        assert_eq!(text(&out), *stdout, "{fault}");
        assert_eq!(
            (out.status.code(), out.status.signal()),
            (*code, *signal),
            "{fault}"
        );
    }
    assert_eq!(text(&act("noise=2")).lines().count(), 4);
    assert_eq!(act("stderr=5000").stderr.len(), 5000);
    assert_eq!(act("stderr-raw=5000").stderr.len(), 5000);
    assert!(text(&act("forge")).starts_with(r#"{"type":"cr","subtype":"exit""#));
    assert_eq!(
        text(&act("long=3000")).lines().next().map(str::len),
        Some(3000)
    );
}

#[test]
fn what_is_wrong_is_said() {
    #[rustfmt::skip]
    let cases: &[(&[&str], i32, &str)] = &[
        (&["--fault", "explode"],  2,  "fault `explode`: no such fault"),
        (&["--speed", "0"],        2,  "above 0"),
        (&["/no/such/recording"],  66, "/no/such/recording"),
    ];
    for (args, code, text) in cases {
        let out = replay().args(*args).output().expect("run");
        assert_eq!(out.status.code(), Some(*code), "{args:?}");
        let stderr = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(stderr.contains(text), "{args:?}: {stderr}");
    }
}

#[test]
fn with_now_each_line_has_the_time_at_which_it_is_played() {
    let before = jiff::Timestamp::now();
    let out = play(&["--now", "--speed", "10"]);
    let after = jiff::Timestamp::now();
    let lines: Vec<serde_json::Value> = text(&out)
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let time = |line: &serde_json::Value| -> Option<jiff::Timestamp> {
        let time = line.get("timestamp").or(line.get("at"))?;
        Some(time.as_str()?.parse().expect("a time"))
    };
    let times: Vec<jiff::Timestamp> = lines.iter().filter_map(time).collect();
    assert_eq!(times.len(), 4, "no time is made up: {lines:?}");
    assert!(times.is_sorted(), "{times:?}");
    // The times have milliseconds, the clock has more.
    let before = before - Duration::from_millis(1);
    assert!(times[0] >= before && times[3] <= after, "{times:?}");
    // Half a second, ten times as fast. A first line that is late takes none of it.
    assert!(times[2] >= before + Duration::from_millis(50), "{times:?}");
    assert_eq!(lines[1]["claude_code_version"], "2.1.326");
}

#[test]
fn the_stand_in_plays_with_the_time_of_now_too() {
    let recording = recording();
    let out = replay()
        .env("CR_REPLAY", &recording.path)
        .env("CR_REPLAY_SPEED", "instant")
        .env("CR_REPLAY_NOW", "1")
        .write_stdin("a prompt")
        .output()
        .expect("run cr-replay");
    assert!(!text(&out).contains("2026-01-01T"), "{}", text(&out));
    assert!(text(&out).contains("\"timestamp\":\""), "{}", text(&out));
}
