//! No process survives: S4, S5, S9.
//!
//! `CR_CAMPAIGN=full` repeats the matrix 20 times and kills at 500 moments.

use std::time::Duration;

use cr_test::{Signal, World, is_alive, kill, repeats, state, until};

use crate::case::{Case, Done, INIT, RESULT, Running};

const KINDS: [&str; 8] = [
    "plain",
    "group",
    "session",
    "daemon",
    "stubborn",
    "stopped",
    "storm4",
    "stop-adopter",
];

/// The ways a run can end.
#[derive(Clone, Copy, Debug)]
enum Way {
    Itself,
    Clock,
    Term,
    KillFront,
    KillGuardian,
    ReaderLeaves,
}

const WAYS: [Way; 6] = [
    Way::Itself,
    Way::Clock,
    Way::Term,
    Way::KillFront,
    Way::KillGuardian,
    Way::ReaderLeaves,
];

/// Whether one of the children that want to get away is alive.
fn has_child(world: &World) -> bool {
    let processes = world.processes();
    processes.iter().any(|it| it.line().contains("--child:"))
}

fn ending(way: Way, kind: &str) -> Running {
    let stays = if matches!(way, Way::Itself) {
        ""
    } else {
        ",hang=end,ignore-term"
    };
    let mut case = Case::playing(&[INIT, RESULT], &format!("child={kind}{stays}"));
    case = case.args(&["--grace", "0.2"]);
    if matches!(way, Way::Clock) {
        case = case.args(&["--timeout", "0.3"]);
    }
    case.start()
}

fn end(way: Way, kind: &str) -> Done {
    let mut run = ending(way, kind);
    let what = format!("{way:?} {kind}");
    run.wait_for("result");
    if !matches!(way, Way::Itself) {
        until(&format!("a child: {what}"), || has_child(&run.world));
    }
    match way {
        Way::Itself | Way::Clock => {}
        Way::Term => run.signal(Signal::TERM),
        Way::KillFront => run.signal(Signal::KILL),
        Way::KillGuardian => {
            let guardian = run.guardian();
            kill(guardian, Signal::KILL);
        }
        Way::ReaderLeaves => run.leave(),
    }
    run.finish()
}

fn check(way: Way, kind: &str) {
    let done = end(way, kind);
    let what = format!("{way:?} {kind}");
    // End of file, or our own end: nobody may be there any more at this moment.
    done.assert_nobody_left(&what);
    let record = done.record();
    let reason = match way {
        Way::Itself => "exit",
        Way::Clock => "timeout",
        Way::Term => "interrupted",
        Way::KillFront => "internal",
        Way::KillGuardian => "guardian_died",
        Way::ReaderLeaves => "stdout_closed",
    };
    assert_eq!(record["reason"], reason, "{what}: {record}");
    let listed = record["leaked_total"].as_u64();
    // A plain one goes with the agent's group, and one that forks itself away may
    // be between two lives when it is looked for.
    let may_be_missed = matches!(kind, "plain" | "storm4" | "storm" | "storm16");
    assert!(listed >= Some(1) || may_be_missed, "{what}: {record}");
    if matches!(way, Way::KillFront) {
        assert!(done.all("cr/exit").is_empty(), "{what}");
    } else if !matches!(way, Way::ReaderLeaves) {
        assert_eq!(done.exit(), record, "{what}");
    }
}

fn matrix(ways: &[Way]) {
    for _ in 0..repeats(2, 20) {
        for way in ways {
            for kind in KINDS {
                check(*way, kind);
            }
        }
    }
}

#[test]
fn s4_nobody_survives_an_agent_that_ends_by_itself_or_by_a_clock() {
    matrix(&WAYS[..2]);
}

#[test]
fn s4_nobody_survives_a_signal_or_a_reader_that_leaves() {
    matrix(&[WAYS[2], WAYS[5]]);
}

#[test]
fn s4_nobody_survives_the_death_of_either_of_us() {
    matrix(&WAYS[3..5]);
}

#[test]
fn s4_a_storm_of_forks_is_outrun() {
    for kind in ["storm", "storm16"] {
        check(Way::Itself, kind);
        let mut run = ending(Way::Term, kind);
        run.wait_for("result");
        until("a storm", || has_child(&run.world));
        run.signal(Signal::TERM);
        run.finish().assert_nobody_left(kind);
    }
}

#[test]
fn s4_an_orphan_that_kills_its_adopter_is_outlived() {
    let run = ending(Way::Term, "kill-adopter");
    let done = run.finish();
    assert_eq!(done.exit()["reason"], "guardian_died");
    assert_eq!(done.code(), Some(125));
    done.assert_nobody_left("kill-adopter");
    assert_eq!(done.record(), done.exit());
}

#[test]
fn s4_an_orphan_that_stops_its_adopter_over_and_over_is_outlived() {
    let mut run = ending(Way::Term, "stop-adopter-again");
    run.wait_for("result");
    let guardian = run.guardian();
    until("the guardian stops", || state(guardian) == Some('T'));
    run.signal(Signal::TERM);
    let done = run.finish();
    assert_eq!(done.exit()["killed"], true);
    done.assert_nobody_left("stop-adopter-again");
}

#[test]
fn s4_a_guardian_that_somebody_stops_goes_on() {
    let mut run = Case::playing(&[INIT, RESULT], "hang=end").start();
    run.wait_for("result");
    let guardian = run.guardian();
    kill(guardian, Signal::STOP);
    until("the guardian stops", || state(guardian) == Some('T'));
    until("the guardian goes on", || state(guardian) != Some('T'));
    run.signal(Signal::TERM);
    let done = run.finish();
    assert_eq!(done.exit()["reason"], "interrupted");
    done.assert_nobody_left("a stopped guardian");
}

#[test]
fn s4_a_stopped_supervisor_stops_the_agent_and_both_continue() {
    let mut run = Case::playing(&[INIT], "hang=end")
        .args(&["--timeout", "4"])
        .start();
    run.wait_for("system");
    let agent = run.agent();
    run.signal(Signal::STOP);
    until("the agent stops", || state(agent) == Some('T'));
    // Longer than all of the run may take.
    std::thread::sleep(Duration::from_secs(4));
    run.signal(Signal::CONT);
    until("the agent goes on", || state(agent) != Some('T'));
    assert!(is_alive(agent));
    run.signal(Signal::TERM);
    let done = run.finish();
    assert_eq!(done.exit()["reason"], "interrupted");
    assert!(
        done.exit()["stopped_ms"].as_u64() > Some(3000),
        "{}",
        done.exit()
    );
    done.assert_nobody_left("a stopped supervisor");
}

#[test]
fn s4_a_stopped_supervisor_that_is_killed_leaves_no_process() {
    let mut run = Case::playing(&[INIT], "hang=end,child=daemon,ignore-term").start();
    run.wait_for("system");
    run.signal(Signal::STOP);
    until("the supervisor stops", || state(run.pid()) == Some('T'));
    run.signal(Signal::KILL);
    let done = run.finish();
    done.assert_nobody_left("a stopped and killed supervisor");
    assert_eq!(done.record()["reason"], "internal");
}

#[test]
fn s4_with_a_namespace_the_death_of_both_leaves_nobody() {
    if !cr_test::has_namespaces("a supervisor with --isolate") {
        return;
    }
    for _ in 0..repeats(5, 50) {
        let fault = "hang=end,child=daemon,child=stubborn,ignore-term";
        let mut run = Case::playing(&[INIT], fault).args(&["--isolate"]).start();
        run.wait_for("system");
        assert!(has_child(&run.world));
        let guardian = run.guardian();
        run.signal(Signal::STOP);
        kill(guardian, Signal::KILL);
        run.signal(Signal::KILL);
        // The kernel does it, in its own time.
        run.finish().world.wait_until_nobody_is_left();
    }
}

#[test]
fn s5_children_may_be_kept_on_request() {
    let case = Case::playing(&[INIT, RESULT], "child=daemon").args(&["--keep-children"]);
    let done = case.run();
    let exit = done.exit();
    assert_eq!(exit["children_kept"], true);
    assert_eq!(exit["leaked_total"], 1);
    let left = done.world.processes();
    assert_eq!(left.len(), 1, "{left:?}");
    kill(left[0].pid, Signal::KILL);
    done.world.wait_until_nobody_is_left();
}

#[test]
fn s9_the_lock_is_held_as_long_as_the_run_lasts() {
    let mut run = Case::playing(&[INIT], "hang=end").start();
    let start = run.wait_for("cr/start");
    let lock = format!("{}/lock", start["run_dir"].as_str().expect("a path"));
    let is_free = || {
        std::fs::File::open(&lock)
            .expect("the lock")
            .try_lock()
            .is_ok()
    };
    assert!(!is_free());
    run.signal(Signal::KILL);
    let done = run.finish();
    assert!(is_free());
    assert_eq!(done.record()["reason"], "internal");
}

/// Kills one of the processes at a random moment.
#[test]
fn s4_s9_a_kill_at_any_moment_leaves_nobody_and_a_record() {
    let seed: u64 = std::env::var("CR_SEED")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or_else(|| {
            let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            u64::try_from(time.expect("a clock").as_micros()).unwrap_or(1)
        });
    let mut random = seed | 1;
    let mut next = |below: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % below
    };
    for trial in 0..repeats(50, 500) {
        let kinds = [
            "daemon",
            "stubborn",
            "session",
            "storm",
            "stopped",
            "stop-adopter",
        ];
        let kind = kinds[usize::try_from(next(6)).expect("small")];
        let fault = format!("child={kind},ignore-term,hang=end");
        let run = Case::playing(&[INIT, RESULT], &fault)
            .args(&["--grace", "0.2"])
            .start();
        std::thread::sleep(Duration::from_micros(next(60_000)));
        let processes = run.world.processes().into_iter();
        let ours: Vec<u32> = processes
            .filter(|it| it.line().starts_with("cr-spawn --guardian:"))
            .map(|it| it.pid)
            .collect();
        // Not promised: one of us killed while an orphan stops the other, who has
        // just become its parent.
        let may_kill_guardian = kind != "stop-adopter" && next(2) == 0;
        let guardian = ours.first().copied().filter(|_| may_kill_guardian);
        kill(guardian.unwrap_or_else(|| run.pid()), Signal::KILL);
        let what = format!("CR_SEED={seed} trial {trial} {kind} guardian {guardian:?}");
        let done = run.finish();
        if done.lines.is_empty() {
            // Killed before there was a guardian: only the question for the
            // version may have been open.
            done.world.wait_until_nobody_is_left();
        }
        done.assert_nobody_left(&what);
        assert!(done.all("cr/exit").len() <= 1, "{what}");
        for dir in crate::case::run_dirs(done.world.dir()) {
            let (started, ended) = (dir.join("started").exists(), dir.join("exit.json").exists());
            assert!(!started || ended, "{what}: no record in {}", dir.display());
        }
    }
}

#[test]
fn s4_all_leftover_processes_are_counted_and_fifty_are_listed() {
    let script = format!(
        "cat >/dev/null; echo '{INIT}'; n=0; while [ $n -lt 73 ]; do setsid sleep 600 & n=$((n + 1)); done; echo '{RESULT}'"
    );
    let done = Case::script(&script).run();
    done.assert_nobody_left("many leftovers");
    let exit = done.exit();
    assert_eq!(exit["leaked_total"], 73, "{exit}");
    assert_eq!(exit["leaked"].as_array().map(Vec::len), Some(50));
}
