//! The end of a run when the API fails.

use crate::cli::{Cli, each};
use crate::place::Place;
use crate::run::Ended;

/// A run whose every call fails with `status`.
fn failing(cli: &Cli, status: u16) -> Ended {
    let status = format!("status={status}");
    Place::new()
        .run(cli, "error")
        .options(&["--define", &status])
        .impatient()
        .end()
}

/// Checks that `ended` failed the way of the API: a result that says
/// `success` and is an error.
fn failed(ended: &Ended) {
    let result = ended.result();
    assert_eq!(ended.code, Some(1), "{result:#}");
    assert_eq!(result["subtype"], "success", "{result:#}");
    assert_eq!(result["is_error"], true, "{result:#}");
    let messages = ended.of("assistant");
    let last = messages.last().expect("a message");
    assert_eq!(last["message"]["model"], "<synthetic>");
    assert_eq!(ended.exit()["stderr"]["bytes"], 0);
    assert_eq!(ended.stderr, "");
}

#[test]
fn a_status_that_may_pass_is_tried_again() {
    each(|cli| {
        for (status, error) in [
            (401, "authentication_failed"),
            (429, "rate_limit"),
            (500, "server_error"),
            (529, "overloaded"),
        ] {
            let ended = failing(cli, status);
            failed(&ended);
            assert_eq!(ended.requests.len(), 2, "{status}");
            assert_eq!(ended.result()["api_error_status"], status);
            let [retry] = ended.kind("system", "api_retry")[..] else {
                panic!("one retry after {status}");
            };
            assert_eq!(retry["error_status"], status);
            assert_eq!(retry["error"], error);
            // The answer asks for a second.
            assert!(retry["retry_delay_ms"].as_f64() >= Some(1000.0), "{retry}");
        }
    });
}

#[test]
fn a_status_that_stays_is_not_tried_again() {
    each(|cli| {
        let ended = failing(cli, 403);
        failed(&ended);
        assert_eq!(ended.requests.len(), 1);
        assert!(ended.kind("system", "api_retry").is_empty());
    });
}

#[test]
fn a_refused_connection_is_an_error_without_a_status() {
    each(|cli| {
        let ended = Place::new()
            .run(cli, "hello")
            .options(&["--no-api"])
            .impatient()
            .end();
        failed(&ended);
        let [retry] = ended.kind("system", "api_retry")[..] else {
            panic!("one retry");
        };
        assert!(retry["error_status"].is_null(), "{retry}");
    });
}

#[test]
fn a_dropped_answer_is_asked_for_again_and_leaves_no_part_behind() {
    each(|cli| {
        let ended = Place::new().run(cli, "drop").impatient().end();
        assert_eq!(ended.code, Some(0));
        assert_eq!(ended.result()["result"], "The whole answer.");
        assert_eq!(ended.of("assistant").len(), 1);
        assert_eq!(ended.requests.len(), 2);
    });
}
