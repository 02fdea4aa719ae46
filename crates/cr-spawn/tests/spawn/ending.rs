//! Standard output that goes away, is full or was never there.

use cr_test::{Fifo, bin, until};

use crate::case::{Case, INIT, RESULT};

/// Runs a shell line in which `$SPAWN` is `cr-spawn`.
fn shell(case: &Case, line: &str) -> std::process::Output {
    let mut shell = case.world.shell(line);
    shell
        .envs(case.command.variables())
        .env("SPAWN", bin("cr-spawn"))
        .current_dir(case.world.dir());
    shell.output().expect("run a shell")
}

#[test]
fn a_reader_behind_a_reader_that_leaves_ends_a_silent_agent() {
    let case = Case::playing(&[INIT], "hang=1,ignore-term");
    let out = shell(&case, "echo x | $SPAWN --grace 1 | cat | head -1");
    assert!(out.stdout.starts_with(br#"{"type":"cr","subtype":"start""#));
    case.world.wait_until_nobody_is_left();
}

#[test]
fn a_reader_that_leaves_ends_a_silent_agent_at_once() {
    let mut run = Case::playing(&[INIT], "hang=end").start();
    run.wait_for("system");
    // The agent says nothing more, so nothing else can end the run.
    run.leave();
    let done = run.wait();
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
    assert!(case.world.processes().is_empty());
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
        assert!(case.world.processes().is_empty(), "{closed}");
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
    assert!(!done.world.path("state").exists());
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
    let mut case = Case::script(script);
    let pipe = Fifo::new(case.world.path("fifo"));
    let reader = pipe.reader();
    case.command.stdout(pipe.writer());
    let mut run = case.args(&["--no-record"]).start();
    let memory = |pid: u32| -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:"))
            .unwrap_or("0 kB");
        line.trim().trim_end_matches(" kB").parse().unwrap_or(0)
    };
    let pid = run.pid();
    // The agent writes until nobody takes anything any more.
    let wchan = || {
        let writer = run.world.processes();
        let writer = writer.iter().find(|it| it.argv[0] == "yes");
        let pid = writer.map_or(0, |it| it.pid);
        std::fs::read_to_string(format!("/proc/{pid}/wchan")).unwrap_or_default()
    };
    until("the agent is held up", || wchan().contains("pipe_write"));
    let peak = memory(pid);
    assert!(peak < 16 << 10, "{peak} kB");
    drop(reader);
    run.leave();
    let done = run.wait();
    done.assert_nobody_left("a reader that stood still");
}
