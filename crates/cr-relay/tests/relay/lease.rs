//! A far end without a near end ends its agent, whatever was killed.

use std::process::Stdio;
use std::time::{Duration, Instant};

use cr_test::{Found, Signal, kill, repeats, until};

use crate::case::{Case, ENDLESS, End};

/// The lease, the agent's grace, and what ending takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(2 + 1 + 8);

fn agents(case: &Case) -> Vec<Found> {
    let mut all = case.world.processes();
    all.retain(|found| found.line().contains("sleep 1000"));
    all
}

#[test]
fn a_far_end_whose_near_end_is_stopped_ends_its_agent() {
    let case = Case::new();
    let mut near = case.near("sh -c 'cat | \"$@\" | cat' sh", ENDLESS);
    near.args(["--lease", "2s"]);
    let mut child = near
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("run");
    drop(
        child
            .stdin
            .take()
            .map(|mut stdin| std::io::Write::write_all(&mut stdin, ENDLESS.as_bytes())),
    );
    until("the agent runs", || !agents(&case).is_empty());
    child.signal(Signal::STOP);
    let since = Instant::now();
    until("the agent is gone", || agents(&case).is_empty());
    assert!(since.elapsed() < LIMIT, "{:?}", since.elapsed());
    child.signal(Signal::CONT);
    child.wait().expect("it ends");
    case.world.wait_until_nobody_is_left();
}

#[test]
fn a_far_end_that_died_before_it_answered_is_noticed() {
    let case = Case::new();
    // The shell keeps the output open, and the first cat waits for input.
    let mut near = case.near("sh -c 'cat | sh -c \"exit 1\"' sh", "result");
    let end = End::of(&near.args(["--lease", "2s"]).output().expect("run"));
    assert_eq!(end.exit()["reason"], "relay_lost", "{end:?}");
}

#[test]
fn what_is_killed_at_any_moment_leaves_nobody_and_is_no_success() {
    for number in 0..repeats(12, 50) {
        let case = Case::new();
        let mut near = case.near("sh -c 'cat | \"$@\" | cat' sh", ENDLESS);
        near.args(["--lease", "2s"]);
        let mut child = near
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("run");
        drop(
            child
                .stdin
                .take()
                .map(|mut stdin| std::io::Write::write_all(&mut stdin, ENDLESS.as_bytes())),
        );
        let moment = Duration::from_millis((number as u64 * 37) % 400);
        std::thread::sleep(moment);
        let near_id = child.id();
        let mut all = case.world.processes();
        all.retain(|found| {
            let line = found.line();
            let is_relay =
                line.contains("cr-relay far") || line == "cat" || line.starts_with("sh -c");
            is_relay || (number % 4 == 3 && found.pid == near_id)
        });
        let Some(victim) = all.get(number % all.len().max(1)) else {
            continue;
        };
        kill(victim.pid, Signal::KILL);
        let since = Instant::now();
        let output = child.wait_with_output().expect("it ends");
        until("nobody is left", || case.world.processes().is_empty());
        assert!(since.elapsed() < LIMIT, "{number}: {:?}", since.elapsed());
        let end = End::of(&output);
        assert_ne!(end.code, Some(0), "{number}: {end:?}");
        assert_ne!(
            case.verdict(&end.stream),
            Some(0),
            "{number}: {victim:?} {end:?}"
        );
    }
}
