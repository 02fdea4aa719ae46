//! The end of a run when the API works.

use crate::cli::each;
use crate::place::Place;

#[test]
fn success_is_one_init_one_result_and_0() {
    each(|cli| {
        let ended = Place::new().run(cli, "hello").end();
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert_eq!(ended.stderr, "");
        assert_eq!(ended.kind("system", "init").len(), 1);
        assert_eq!(ended.lines[0]["subtype"], "start");
        assert_eq!(ended.agent()[0]["subtype"], "init");
        let result = ended.result();
        assert_eq!(result["subtype"], "success");
        assert_eq!(result["is_error"], false);
        assert_eq!(result["result"], "Hello from the script.");
        assert_eq!(ended.requests.len(), 1);
        let exit = ended.exit();
        assert_eq!(exit["reason"], "exit");
        assert_eq!(exit["exit_code"], 0);
        assert_eq!(exit["lines"], ended.agent().len());
        assert_eq!(exit["leaked_total"], 0);
        assert!(ended.survivors().is_empty());
    });
}

#[test]
fn usage_is_final_in_the_result_and_provisional_in_the_message() {
    each(|cli| {
        let ended = Place::new().run(cli, "hello").end();
        let message = &ended.of("assistant")[0]["message"]["usage"];
        let usage = &ended.result()["usage"];
        assert_eq!(message["output_tokens"], 1);
        assert_eq!(usage["output_tokens"], 22);
        for usage in [message, usage] {
            assert_eq!(usage["input_tokens"], 11);
            assert_eq!(usage["cache_read_input_tokens"], 33);
            assert_eq!(usage["cache_creation_input_tokens"], 44);
        }
    });
}

#[test]
fn max_turns_counts_calls_and_ends_with_1() {
    each(|cli| {
        let ended = Place::new()
            .run(cli, "loop")
            .args(&["--max-turns", "2"])
            .end();
        assert_eq!(ended.code, Some(1));
        assert_eq!(ended.requests.len(), 2);
        assert_eq!(ended.result()["subtype"], "error_max_turns");
        assert_eq!(ended.result()["is_error"], true);
    });
}

#[test]
fn a_budget_spent_ends_with_1() {
    each(|cli| {
        let ended = Place::new()
            .run(cli, "loop")
            .args(&["--max-budget-usd", "0.01"])
            .end();
        assert_eq!(ended.code, Some(1));
        assert_eq!(ended.result()["subtype"], "error_max_budget_usd");
        assert_eq!(ended.result()["is_error"], true);
        let cost = ended.result()["total_cost_usd"].as_f64().expect("a number");
        assert!(cost > 0.01, "{cost}");
    });
}

#[test]
fn an_unknown_flag_is_stderr_and_1() {
    each(|cli| {
        let ended = Place::new()
            .run(cli, "hello")
            .args(&["--", "--no-such-flag"])
            .end();
        assert_eq!(ended.code, Some(1));
        assert!(ended.agent().is_empty());
        let said = "error: unknown option '--no-such-flag'";
        assert_eq!(ended.kind("cr", "stderr")[0]["text"], said);
        assert_eq!(ended.exit()["exit_code"], 1);
    });
}

#[test]
fn an_unknown_session_is_a_lone_result_and_1() {
    each(|cli| {
        let id = "99999999-2222-4333-8444-555555555555";
        let ended = Place::new().run(cli, "hello").args(&["--resume", id]).end();
        assert_eq!(ended.code, Some(1));
        assert_eq!(ended.agent().len(), 1);
        assert_eq!(ended.result()["subtype"], "error_during_execution");
        let said = format!("No conversation found with session ID: {id}");
        assert_eq!(ended.result()["errors"][0], said.as_str());
        assert_eq!(ended.kind("cr", "stderr")[0]["text"], said.as_str());
        assert_eq!(ended.requests.len(), 0);
    });
}
