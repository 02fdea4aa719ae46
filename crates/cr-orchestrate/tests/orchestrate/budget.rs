//! The budget of a whole run.

use cr_test::{Fifo, Terminal, appears};

use crate::case::Case;

/// What an agent does that costs `usd` and ends with `subtype`.
fn costs(usd: &str, subtype: &str) -> String {
    format!(
        r#"printf '%s\n' '{{"type":"result","subtype":"{subtype}","is_error":false,"num_turns":3,"duration_ms":5,"session_id":"'$session'","total_cost_usd":{usd},"usage":{{}},"result":"ok"}}'
end 0"#
    )
}

/// Five tasks with a budget of $0.20 each, whose every attempt costs $0.21.
fn dear(subtype: &str) -> Case {
    let case = Case::new();
    let ids = ["a", "b", "c", "d", "e"];
    case.plan(&ids.map(|id| (id, "budget_usd: 0.2")));
    for id in ids {
        for n in 1..=4 {
            case.script(id, n, &costs("0.21", subtype));
        }
    }
    case
}

fn starts(case: &Case) -> usize {
    ["a", "b", "c", "d", "e"]
        .iter()
        .map(|id| case.starts(id))
        .sum()
}

#[test]
fn no_more_attempts_start_than_fit_into_the_budget() {
    for subtype in ["success", "error_max_budget_usd"] {
        for slots in ["1", "2", "5"] {
            let case = dear(subtype);
            let ended = case.go(&["--budget", "0.50", "--isolation", "shared", "-j", slots]);
            assert_eq!(ended.code, Some(3), "{subtype} {slots} {}", ended.err);
            assert_eq!(starts(&case), 2, "{subtype} {slots} {}", ended.err);
            let said = "the budget of the run is $0.50; $0.42 are used";
            assert!(ended.err.contains(said), "{}", ended.err);
            let ended = case.resume(&["-j", slots]);
            assert_eq!((ended.code, starts(&case)), (Some(3), 2), "{}", ended.err);
        }
    }
}

#[test]
fn what_a_running_attempt_may_still_use_is_set_aside_after_sigkill_too() {
    let case = dear("success");
    let gates = ["a", "b"].map(|id| Fifo::new(case.path(&format!("gate.{id}"))));
    for id in ["a", "b"] {
        let text = format!(
            "touch \"$CASE/here.{id}\"; cat \"$CASE/gate.{id}\"\n{}",
            costs("0.21", "success")
        );
        case.script(id, 1, &text);
    }
    let args = [
        "../plan.yaml",
        "--budget",
        "0.50",
        "--isolation",
        "shared",
        "-j",
        "4",
    ];
    let mut first = case.command(&args).spawn().expect("run");
    appears(&case.path("here.a"));
    appears(&case.path("here.b"));
    first.kill().expect("killed");
    first.wait().expect("ended");
    let id = case.run_id();
    let second = case.command(&["--resume-run", &id, "-j", "4"]).spawn();
    // Read by the agents that the first engine started.
    drop(gates.map(|gate| gate.writer()));
    let ended = second.expect("run").wait_with_output().expect("ended");
    assert_eq!(ended.status.code(), Some(3), "{ended:?}");
    assert_eq!(starts(&case), 2);
}

#[test]
fn a_run_has_one_and_a_half_times_the_sum_of_the_budgets() {
    let case = Case::new();
    case.plan(&[("a", "budget_usd: 0.2"), ("b", "budget_usd: 0.2")]);
    for n in 1..=3 {
        case.script("a", n, &costs("0.2", "error_during_execution"));
    }
    let ended = case.go(&["--retries", "5"]);
    assert_eq!(ended.code, Some(3), "{}", ended.err);
    // 0.6 in all: three attempts of $0.20.
    assert_eq!((case.starts("a"), case.starts("b")), (3, 0));
    let next = format!("--resume-run {} --budget 0.9", case.run_id());
    assert!(ended.err.contains(&next), "{}", ended.err);
    let ended = case.resume(&["--budget", "0.9", "--retries", "5"]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert_eq!(case.done(), ["a", "b"]);
    // It is recorded.
    assert!(case.of_run("run.json").contains(r#""budget":{"usd":0.9}"#));
}

#[test]
fn a_retry_gets_what_is_left_if_that_is_not_less_than_before() {
    let case = Case::new();
    case.plan(&[("a", "budget_usd: 0.2")]);
    case.script("a", 1, &costs("0.2", "error_max_budget_usd"));
    let ended = case.go(&["--budget", "0.45"]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let args = case.seen("a", 2, "args");
    assert!(args.contains("--max-budget-usd=0.25 "), "{args}");
}

#[test]
fn attempts_without_a_budget_share_what_is_left() {
    let case = Case::new();
    case.plan(&[("a", ""), ("b", ""), ("c", "")]);
    let ended = case.go(&["--budget", "3", "--isolation", "shared", "-j", "2"]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    for id in ["a", "b"] {
        let args = case.seen(id, 1, "args");
        assert!(args.contains("--max-budget-usd=1.5 "), "{args}");
    }
}

#[test]
fn a_cost_that_is_not_known_counts_as_all_that_was_allowed() {
    let case = Case::new();
    case.plan(&[("a", "budget_usd: 0.3"), ("b", "budget_usd: 0.3")]);
    case.script("a", 1, "rmdir \"$CASE/busy\"; kill -9 $$");
    let ended = case.go(&["--budget", "0.5"]);
    assert_eq!(ended.code, Some(3), "{}", ended.err);
    assert_eq!((case.starts("a"), case.starts("b")), (1, 0));
}

#[test]
fn a_budget_may_be_tokens_or_per_cent_of_the_window() {
    let tokens = r#"printf '%s\n' '{"type":"result","subtype":"success","is_error":false,"num_turns":3,"duration_ms":5,"session_id":"'$session'","total_cost_usd":0.1,"usage":{"input_tokens":400,"output_tokens":100,"cache_read_input_tokens":500},"result":"ok"}'
end 0"#;
    let window = r#"echo '{"type":"rate_limit_event","rate_limit_info":{"status":"allowed_warning","rateLimitType":"five_hour","utilization":0.85,"resetsAt":4000000000,"unifiedWindows":{"five_hour":{"utilization":0.85,"resetsAt":4000000000}}}}'"#;
    // (what an agent does, budget, how many attempts start)
    for (script, budget, count) in [
        (tokens, "1500tokens", 2),
        (tokens, "1ktokens", 1),
        (tokens, "1Mtokens", 3),
        (window, "80%", 1),
        (window, "90%", 3),
    ] {
        let case = Case::new();
        case.plan(&[("a", ""), ("b", ""), ("c", "")]);
        for id in ["a", "b", "c"] {
            case.script(id, 1, script);
        }
        let ended = case.go(&["--budget", budget]);
        let code = if count == 3 { 0 } else { 3 };
        assert_eq!(ended.code, Some(code), "{budget} {}", ended.err);
        assert_eq!(starts(&case), count, "{budget} {}", ended.err);
    }
    let case = Case::new();
    case.plan(&[("a", "")]);
    assert_eq!(case.go(&["--budget", "many"]).code, Some(2));
}

#[test]
fn at_a_terminal_a_person_may_raise_the_budget() {
    for (key, code, count) in [("y\n", 0, 3), ("\n", 3, 1)] {
        let case = Case::new();
        case.plan(&["a", "b", "c"].map(|id| (id, "budget_usd: 0.2")));
        for id in ["a", "b", "c"] {
            case.script(id, 1, &costs("0.2", "success"));
        }
        let command = case.command(&["../plan.yaml", "--budget", "0.3"]);
        let (mut terminal, mut child) = Terminal::start(&command);
        let question = "Continue with --budget 0.45? [y/N]";
        terminal.wait_for(question);
        terminal.type_keys(key.as_bytes());
        if code == 0 {
            terminal.wait_for("Continue with --budget 0.675? [y/N]");
            terminal.type_keys(b"yes\n");
        }
        let shown = terminal.finish();
        let ended = child.wait().expect("ended");
        assert_eq!(ended.code(), Some(code), "{shown}");
        assert_eq!(starts(&case), count, "{shown}");
    }
}
