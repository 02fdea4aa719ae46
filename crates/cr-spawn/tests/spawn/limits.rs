//! The clocks: S6.

use std::time::{Duration, Instant};

use serde_json::Value;

use cr_test::{Signal, is_alive, is_stopped, until};

use crate::case::{CALL, Case, Done, INIT, RESULT};

fn limit(done: &Done) -> Value {
    let limits = done.all("cr/limit");
    assert_eq!(limits.len(), 1, "{:#?}", done.lines);
    limits.into_iter().next().expect("one")
}

#[test]
fn s6_a_timeout_ends_an_agent_that_ignores_term_and_names_the_tool() {
    let case = Case::playing(&[INIT, CALL], "hang=end,ignore-term");
    let done = case.args(&["--timeout", "1", "--grace", "1"]).run();
    assert_eq!(done.code(), Some(124));
    let limit = limit(&done);
    assert_eq!(limit["clock"], "timeout");
    assert_eq!(limit["doing"]["tool"], "Bash");
    assert_eq!(limit["doing"]["tool_use_id"], "toolu_1");
    assert_eq!(limit["doing"]["target"], "sleep 300");
    let exit = done.exit();
    assert_eq!(exit["reason"], "timeout");
    assert_eq!(
        (&exit["signal"], &exit["killed"]),
        (&Value::from(9), &Value::from(true))
    );
    // The clock first, and then the grace.
    assert!(exit["duration_ms"].as_u64() >= Some(2000), "{exit}");
    done.assert_nobody_left("timeout");
}

#[test]
fn s6_each_clock_runs_out_in_its_own_state() {
    let answer = r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"ok"}]}}"#;
    #[rustfmt::skip]
    let cases: &[(&[&str], &str, &str, &str)] = &[
        (&[],                   "--startup-timeout",   "startup", "starting"),
        (&[INIT],               "--idle-timeout",      "idle",    "model"),
        (&[INIT, CALL, answer], "--idle-timeout",      "idle",    "model"),
        (&[INIT, CALL],         "--tool-timeout",      "tool",    "tool"),
        (&[INIT, CALL],         "--turn-timeout",      "turn",    "tool"),
    ];
    for (lines, flag, clock, what) in cases {
        let done = Case::playing(lines, "hang=end").args(&[flag, "0.4"]).run();
        assert_eq!(done.code(), Some(124), "{clock}");
        let limit = limit(&done);
        assert_eq!(limit["clock"], *clock);
        assert_eq!(limit["doing"]["what"], *what);
        assert_eq!(done.exit()["reason"], *clock);
        assert_eq!(done.exit()["result_seen"], false);
    }
}

#[test]
fn s6_a_tool_that_runs_is_not_idle() {
    let case = Case::playing(&[INIT, CALL], "hang=end");
    let clocks = ["--idle-timeout", "0.2", "--tool-timeout", "0.8"];
    let done = case.args(&clocks).run();
    assert_eq!(done.exit()["reason"], "tool");
}

#[test]
fn s6_a_result_outlives_the_clock_after_it() {
    let failed = RESULT.replace("false", "true");
    for (result, code) in [(RESULT, 0), (&*failed, 1)] {
        let case = Case::playing(&[INIT, result], "hang=result,ignore-term");
        let clocks = ["--post-result-grace", "0.3", "--grace", "0.3"];
        let done = case.args(&clocks).run();
        assert_eq!(done.code(), Some(code));
        let exit = done.exit();
        assert_eq!(exit["reason"], "post_result");
        assert_eq!(exit["result_seen"], true);
        assert_eq!(exit["killed"], true);
        assert_eq!(limit(&done)["doing"]["what"], "after_result");
    }
}

#[test]
fn s6_background_work_is_waited_for_after_the_result() {
    let open =
        r#"{"type":"system","subtype":"background_tasks_changed","tasks":[{"task_id":"b"}]}"#;
    let case = Case::playing(&[INIT, open, RESULT], "linger=0.8,exit=5");
    let done = case
        .args(&["--post-result-grace", "0.2", "--background"])
        .run();
    assert_eq!(done.code(), Some(5));
    assert_eq!(done.exit()["reason"], "exit");
}

#[test]
fn s6_what_holds_the_output_after_the_end_is_not_waited_for() {
    // The holder stays for ever, so an end at all is the proof.
    let done = Case::playing(&[INIT, RESULT], "child=holder").run();
    assert_eq!(done.exit()["leaked"].as_array().map(Vec::len), Some(1));
    assert_eq!(done.code(), Some(0));
    done.assert_nobody_left("holder");
}

#[test]
fn s6_zero_turns_a_clock_off() {
    let case = Case::playing(&[INIT, RESULT], "linger=0.5");
    let done = case
        .args(&["--post-result-grace", "0", "--timeout", "0"])
        .run();
    assert_eq!(done.code(), Some(0));
    let start = &done.all("cr/start")[0]["limits"];
    assert!(start["timeout_ms"].is_null() && start["post_result_grace_ms"].is_null());
    assert_eq!(start["idle_timeout_ms"], 900_000);
}

#[test]
fn s6_time_stopped_by_the_terminal_is_not_charged() {
    let mut run = Case::playing(&[INIT], "hang=end")
        .args(&["--timeout", "1.5"])
        .start();
    run.wait_for("system");
    let agent = run.agent();
    run.signal(Signal::TSTP);
    let supervisor = run.pid();
    until("both stop", || is_stopped(supervisor) && is_stopped(agent));
    // Longer than all of the run may take.
    std::thread::sleep(Duration::from_secs(2));
    run.signal(Signal::CONT);
    until("the agent goes on", || !is_stopped(agent));
    let done = run.finish();
    let exit = done.exit();
    assert_eq!(exit["reason"], "timeout");
    assert!(exit["stopped_ms"].as_u64() >= Some(1900), "{exit}");
    // Both times together are longer than the run was allowed to take.
    assert!(exit["duration_ms"].as_u64() >= Some(1500), "{exit}");
}

#[test]
fn s6_of_many_short_pauses_at_most_one_stays_and_one_sigcont_ends_it() {
    for _ in 0..5 {
        let mut run = Case::playing(&[INIT], "hang=end").start();
        run.wait_for("system");
        for _ in 0..50 {
            run.signal(Signal::TSTP);
            run.signal(Signal::CONT);
        }
        run.signal(Signal::TERM);
        // A SIGCONT in the instant between the last look for it and the stop is lost:
        // nothing can look and stop at once.
        let pid = run.pid();
        let mut since: Option<Instant> = None;
        until("it ends, or stays paused", || {
            since = is_stopped(pid).then(|| since.unwrap_or_else(Instant::now));
            let stays = since.is_some_and(|since| since.elapsed() > Duration::from_secs(1));
            stays || !is_alive(pid)
        });
        run.signal(Signal::CONT);
        let done = run.finish();
        assert_eq!(done.exit()["interrupted_by"], 15);
        done.assert_nobody_left("many short pauses");
    }
}

#[test]
fn a_reader_that_stands_still_is_not_the_agents_silence() {
    // More than all buffers between the two hold.
    let script = r"i=0; while [ $i -lt 60 ]; do head -c 100000 /dev/zero | tr '\0' x; echo; i=$((i+1)); done";
    let case = Case::script(script).args(&["--idle-timeout", "0.5"]);
    let mut run = case.start();
    run.wait_for("cr/start");
    // Longer than the idle timeout.
    std::thread::sleep(Duration::from_secs(2));
    let done = run.finish();
    assert_eq!(done.exit()["reason"], "exit", "{:?}", done.all("cr/limit"));
    assert_eq!(done.all("cr/noise").len(), 60);
}
