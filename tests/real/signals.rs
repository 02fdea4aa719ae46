//! A signal during a tool call: to the CLI alone, and to a run under `cr-spawn`.

use std::path::Path;

use serde_json::Value;

use crate::cli::{Cli, each};
use crate::place::Place;
use crate::run::{Ended, Run};
use cr_test::bin;

/// The end of `run` after `signal` went to number `nth` of the processes of
/// `program`, while the tool sleeps.
fn hit(run: Run<'_>, signal: &str, program: &Path, nth: usize) -> Ended {
    let running = run.start();
    running.tool_is_up();
    running.signal(signal, program, nth);
    running.end()
}

/// A run of the CLI alone that gets `signal`.
fn alone(cli: &Cli, signal: &str) -> Ended {
    let place = Place::new();
    hit(place.run(cli, "sleep").bare(), signal, &cli.path, 0)
}

#[test]
fn alone_int_ends_with_any_code_and_at_most_an_error_as_result() {
    each(|cli| {
        let ended = alone(cli, "INT");
        // On a busy machine the CLI may be gone before it writes a result, and
        // its code is 0 or 1 by chance. So neither can be relied upon.
        assert!(matches!(ended.code, Some(0 | 1)), "{:?}", ended.code);
        for result in ended.of("result") {
            assert_eq!(result["subtype"], "error_during_execution");
            assert_eq!(result["is_error"], true);
        }
    });
}

#[test]
fn alone_term_ends_with_143_and_without_a_result() {
    each(|cli| {
        let ended = alone(cli, "TERM");
        assert_eq!(ended.report["exit_code"], 143, "{}", ended.report);
        assert!(ended.of("result").is_empty());
    });
}

#[test]
fn alone_kill_leaves_the_tool_running() {
    each(|cli| {
        let ended = alone(cli, "KILL");
        assert_eq!(ended.report["signal"], 9, "{}", ended.report);
        let survivors = ended.survivors();
        let sleeps = |it: &&str| it.starts_with("sleep 300");
        assert!(survivors.iter().any(sleeps), "{survivors:?}");
    });
}

#[test]
fn a_signal_to_the_supervisor_ends_the_tool_too() {
    each(|cli| {
        for (signal, code) in [("INT", 130), ("TERM", 143)] {
            let place = Place::new();
            let ended = hit(place.run(cli, "sleep"), signal, &bin("cr-spawn"), 0);
            assert_eq!(ended.code, Some(code), "{signal}: {:#}", ended.exit());
            assert_eq!(ended.survivors(), [""; 0], "{signal}");
            assert_eq!(ended.exit()["killed"], true, "{:#}", ended.exit());
            assert_eq!(place.exit_records().len(), 1, "{signal}");
        }
    });
}

#[test]
fn killing_the_agent_ends_the_tool_too() {
    each(|cli| {
        let place = Place::new();
        let ended = hit(place.run(cli, "sleep"), "KILL", &cli.path, 0);
        assert_eq!(ended.code, Some(128 + 9));
        assert_eq!(ended.survivors(), [""; 0]);
        let exit = ended.exit();
        assert_eq!(exit["signal"], 9, "{exit:#}");
        assert_eq!(exit["result_seen"], false);
        let leaked = exit["leaked"].to_string();
        assert!(leaked.contains("sleep"), "{exit:#}");
    });
}

/// The end of a run of which one of our two processes is killed, and the
/// record of it.
fn without(cli: &Cli, nth: usize) -> (Ended, Value) {
    let place = Place::new();
    // The other one needs a moment to end the rest.
    let run = place.run(cli, "sleep").options(&["--linger", "20"]);
    let ended = hit(run, "KILL", &bin("cr-spawn"), nth);
    assert_eq!(ended.survivors(), [""; 0]);
    let [record] = &place.exit_records()[..] else {
        panic!("one record");
    };
    (ended, record.clone())
}

#[test]
fn killing_the_supervisor_ends_everything_and_leaves_a_record() {
    each(|cli| {
        let (ended, record) = without(cli, 0);
        assert_eq!(ended.code, Some(128 + 9));
        assert_eq!(record["killed"], true, "{record:#}");
    });
}

#[test]
fn killing_the_guardian_ends_everything_and_is_told() {
    each(|cli| {
        let (ended, record) = without(cli, 1);
        assert_eq!(ended.code, Some(125), "{record:#}");
        assert_eq!(*ended.exit(), record);
        assert_eq!(record["killed"], true, "{record:#}");
    });
}
