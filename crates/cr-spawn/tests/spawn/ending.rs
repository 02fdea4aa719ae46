//! Standard output that goes away, is full or was never there.

use std::fs::File;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::bins;
use crate::case::{Case, INIT, RESULT, tagged, until};

/// Runs a shell line in which `$SPAWN` is `cr-spawn`.
fn shell(case: &Case, line: &str) -> std::process::Output {
    let mut shell = Command::new("sh");
    shell
        .arg("-c")
        .arg(line)
        .current_dir(case.dir.path())
        .env_clear();
    for (name, value) in case.command.get_envs() {
        shell.env(name, value.unwrap_or_default());
    }
    shell
        .env("SPAWN", bins::spawn())
        .output()
        .expect("run a shell")
}

#[test]
fn a_reader_behind_a_reader_that_leaves_ends_a_silent_agent() {
    let case = Case::playing(&[INIT], "hang=1,ignore-term");
    let before = Instant::now();
    let out = shell(&case, "echo x | $SPAWN --grace 1 | cat | head -1");
    assert!(
        before.elapsed() < Duration::from_secs(4),
        "{:?}",
        before.elapsed()
    );
    assert!(out.stdout.starts_with(br#"{"type":"cr","subtype":"start""#));
    until("everybody is gone", || tagged(&case.tag).is_empty());
    assert!(
        before.elapsed() < Duration::from_secs(4),
        "{:?}",
        before.elapsed()
    );
}

#[test]
fn a_reader_that_leaves_ends_a_silent_agent_at_once() {
    let mut run = Case::playing(&[INIT], "hang=end").start();
    run.wait_for("system");
    let before = Instant::now();
    run.leave();
    let done = run.wait();
    assert!(
        before.elapsed() < Duration::from_secs(1),
        "{:?}",
        before.elapsed()
    );
    assert_eq!(done.code(), Some(141));
    assert_eq!(done.record()["reason"], "stdout_closed");
    done.assert_nobody_left("a reader that left");
}

#[test]
fn a3_a_full_disk_is_74_after_everybody_is_gone() {
    let case = Case::playing(&[INIT, RESULT], "hang=end,child=stubborn");
    let out = shell(&case, "echo x | $SPAWN --grace 0.2 > /dev/full");
    assert_eq!(out.status.code(), Some(74));
    let stderr = String::from_utf8_lossy(&out.stderr);
    assert_eq!(stderr.matches("standard output").count(), 1, "{stderr}");
    assert!(tagged(&case.tag).is_empty());
}

#[test]
fn streams_that_are_closed_at_the_start_are_dev_null() {
    for closed in [
        "",
        "<&-",
        ">&-",
        "2>&-",
        "<&- >&-",
        "<&- 2>&-",
        ">&- 2>&-",
        "<&- >&- 2>&-",
    ] {
        let case = Case::playing(&[INIT, RESULT], "exit=3,child=daemon,stderr=1000");
        let out = shell(&case, &format!("$SPAWN --prompt x {closed}"));
        assert_eq!(out.status.code(), Some(3), "{closed}");
        assert!(tagged(&case.tag).is_empty(), "{closed}");
        if !closed.contains(">&-") || closed.starts_with('2') {
            assert!(
                String::from_utf8_lossy(&out.stdout).contains(RESULT),
                "{closed}"
            );
        }
    }
}

#[test]
fn s2_a_run_that_cannot_be_recorded_goes_on() {
    let case = Case::playing(&[INIT, RESULT], "");
    let done = case.env("CR_STATE_DIR", "/proc/no/such/place").run();
    assert_eq!(done.code(), Some(0));
    assert_eq!(done.exit()["recorded"], false);
    assert!(
        done.stderr.starts_with("cr-spawn: not recorded: "),
        "{}",
        done.stderr
    );
}

#[test]
fn nothing_is_written_when_nothing_shall_be_recorded() {
    let done = Case::playing(&[INIT, RESULT], "")
        .args(&["--no-record"])
        .run();
    assert_eq!(done.code(), Some(0));
    assert!(!done.dir.path().join("state").exists());
    assert_eq!(done.exit()["recorded"], false);
}

#[test]
fn a_full_disk_under_the_record_stops_nothing() {
    // A limit on the size of files hits the record and not the pipe.
    let case = Case::playing(&[INIT, RESULT], "stderr=3000000");
    let line = "trap '' XFSZ; ulimit -f 1000; echo x | $SPAWN";
    let out = shell(&case, line);
    assert_eq!(
        out.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(text.contains(RESULT));
    let last = text.lines().last().expect("a line");
    assert!(
        last.contains(r#""subtype":"exit""#) && last.contains(r#""recorded":false"#),
        "{last}"
    );
}

#[test]
fn a5_memory_is_flat_while_the_reader_stands_still() {
    let script =
        r#"cat > /dev/null; yes '{"type":"x","text":"0123456789012345678901234567890123456789"}'"#;
    let case = Case::script(script);
    let out = case.dir.path().join("fifo");
    assert!(
        Command::new("mkfifo")
            .arg(&out)
            .status()
            .expect("mkfifo")
            .success()
    );
    let mut run = {
        let mut case = case;
        let path = out.clone();
        // Opening waits for the other side.
        let opener =
            std::thread::spawn(move || File::options().write(true).open(path).expect("open"));
        let reader = File::open(&out).expect("open");
        case.command
            .stdout(Stdio::from(opener.join().expect("join")));
        let run = case.args(&["--no-record"]).start();
        (run, reader)
    };
    let memory = |pid: i32| -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:"))
            .unwrap_or("0 kB");
        line.trim().trim_end_matches(" kB").parse().unwrap_or(0)
    };
    let pid = run.0.pid();
    // The agent writes until nobody takes anything any more.
    let wchan = || {
        let writer = tagged(&run.0.tag)
            .into_iter()
            .find(|(_, command)| command.starts_with("yes "));
        let pid = writer.map_or(0, |(pid, _)| pid);
        std::fs::read_to_string(format!("/proc/{pid}/wchan")).unwrap_or_default()
    };
    until("the agent is held up", || wchan().contains("pipe_write"));
    let peak = memory(pid);
    assert!(peak < 16 << 10, "{peak} kB");
    drop(run.1);
    run.0.leave();
    let done = run.0.wait();
    done.assert_nobody_left("a reader that stood still");
}
