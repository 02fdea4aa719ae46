//! Processes that an agent leaves running, and when they are ended.

use std::time::Instant;

use crate::cli::each;
use crate::place::Place;

#[test]
fn alone_the_cli_leaves_a_server_running() {
    each(|cli| {
        let ended = Place::new().run(cli, "server").bare().end();
        assert_eq!(ended.code, Some(0));
        let survivors = ended.survivors();
        assert!(
            survivors.iter().any(|it| it.starts_with("sh -c while")),
            "{survivors:?}"
        );
    });
}

#[test]
fn a_server_that_never_ends_is_ended_and_named() {
    each(|cli| {
        let ended = Place::new().run(cli, "server").end();
        assert_eq!(ended.code, Some(0));
        assert_eq!(ended.result()["result"], "The server runs.");
        assert_eq!(ended.survivors(), [""; 0]);
        let leaked = ended.exit()["leaked"].as_array().expect("a list");
        assert!(leaked.iter().any(|it| it["comm"] == "sh"), "{leaked:?}");
    });
}

#[test]
fn a_tool_that_never_ends_is_ended_by_its_clock_and_named() {
    each(|cli| {
        let place = Place::new();
        let running = place
            .run(cli, "sleep")
            .args(&["--tool-timeout", "2"])
            .start();
        running.tool_is_up();
        let ended = running.end();
        assert_eq!(ended.code, Some(124));
        assert_eq!(ended.survivors(), [""; 0]);
        let [limit] = ended.kind("cr", "limit")[..] else {
            panic!("one cr/limit, in {:#?}", ended.lines);
        };
        assert!(limit.to_string().contains("sleep 300"), "{limit:#}");
    });
}

#[test]
fn a_background_shell_is_ended_some_time_after_the_result() {
    each(|cli| {
        let began = Instant::now();
        let clocks = [
            "--background",
            "--post-result-grace",
            "2",
            "--tool-timeout",
            "3",
        ];
        let ended = Place::new().run(cli, "background").args(&clocks).end();
        assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
        assert_eq!(
            ended.of("result")[0]["result"],
            "It runs in the background."
        );
        assert_eq!(ended.kind("cr", "limit").len(), 1, "{:#?}", ended.lines);
        assert_eq!(ended.survivors(), [""; 0]);
        // The result came before the clock, so its verdict stands.
        assert_eq!(ended.exit()["reason"], "post_result");
        assert_eq!(ended.exit()["result_is_error"], false);
        assert_eq!(ended.code, Some(0));
    });
}

#[test]
fn a_single_prompt_has_no_background() {
    each(|cli| {
        let ended = Place::new().run(cli, "background").end();
        assert_eq!(ended.code, Some(0));
        assert_eq!(ended.exit()["reason"], "exit");
        let answer = ended.of("user")[0].to_string();
        assert!(answer.contains("run_in_background"), "{answer}");
    });
}
