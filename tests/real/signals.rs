//! What a signal does to the CLI in the middle of a tool, and to the tool.

use crate::cli::{Cli, each};
use crate::place::{Ended, Place};

/// A run that gets `signal` while its tool sleeps.
fn hit(cli: &Cli, signal: &str) -> Ended {
    let place = Place::new();
    let running = place.run(cli, "sleep").start();
    running.tool();
    running.signal(signal);
    running.end()
}

#[test]
fn int_ends_with_a_result_that_is_an_error() {
    each(|cli| {
        let ended = hit(cli, "INT");
        assert_eq!(ended.result()["subtype"], "error_during_execution");
        assert_eq!(ended.result()["is_error"], true);
        // Which of them depends on the version, so neither says anything.
        assert!(matches!(ended.code, Some(0 | 1)), "{:?}", ended.code);
    });
}

#[test]
fn term_ends_with_143_and_without_a_result() {
    each(|cli| {
        let ended = hit(cli, "TERM");
        assert_eq!(ended.code, Some(143));
        assert_eq!(ended.report["exit_code"], 143, "{}", ended.report);
        assert!(ended.of("result").is_empty());
    });
}

#[test]
fn kill_leaves_the_tool_running() {
    each(|cli| {
        let ended = hit(cli, "KILL");
        assert_eq!(ended.report["signal"], 9, "{}", ended.report);
        let survivors = ended.survivors();
        assert!(
            survivors.iter().any(|it| it.starts_with("sleep 300")),
            "{survivors:?}"
        );
    });
}
