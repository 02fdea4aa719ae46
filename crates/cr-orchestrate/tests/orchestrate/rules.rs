//! The next action after each kind of end, from the agent's line to the next
//! attempt.

use crate::case::Case;

const SESSION: &str = "--resume=80f8ae6e-b027-4253-8e9c-1ffd717366a1";

/// Runs one task whose first attempt does what `script` says; it must be done in
/// the end, after two starts.
fn second(script: &str, fields: &str, args: &[&str]) -> Case {
    let case = Case::new();
    case.plan(&[("a", fields)]);
    case.script("a", 1, script);
    let ended = case.go(args);
    assert_eq!(ended.code, Some(0), "{script}\n{}", ended.err);
    assert_eq!(case.starts("a"), 2, "{script}\n{}", ended.err);
    assert_eq!(case.done(), ["a"]);
    case
}

/// An agent that reaches its limit of turns.
const OUT_OF_TURNS: &str = r#"result '"subtype":"error_max_turns","is_error":true' 1"#;

#[test]
fn a_limit_of_turns_is_doubled() {
    // (the limit, the next)
    for (limit, next) in [(10, 20), (20, 30), (100, 200)] {
        let case = second(OUT_OF_TURNS, &format!("max_turns: {limit}"), &[]);
        for (number, turns) in [(1, limit), (2, next)] {
            let args = case.seen("a", number, "args");
            assert!(args.contains(&format!("--max-turns={turns} ")), "{args}");
        }
        assert!(case.seen("a", 2, "args").contains(SESSION));
    }
}

#[test]
fn a_limit_of_turns_is_doubled_once() {
    let case = Case::new();
    case.plan(&[("a", "max_turns: 10")]);
    for number in 1..=3 {
        case.script("a", number, OUT_OF_TURNS);
    }
    let ended = case.go(&["--retries", "5"]);
    assert_eq!(case.starts("a"), 2, "{}", ended.err);
    assert_ne!(ended.code, Some(0));
    assert!(ended.out.contains("limit_turns"), "{}", ended.out);
}

#[test]
fn a_limit_of_turns_is_not_raised_for_another_failure_or_without_retries() {
    let case = Case::new();
    case.plan(&[("a", "max_turns: 10, retries: 0")]);
    case.script("a", 1, OUT_OF_TURNS);
    assert_ne!(case.go(&[]).code, Some(0));
    assert_eq!(case.starts("a"), 1);
    let failure = r#"result '"subtype":"error_during_execution","is_error":true' 1"#;
    let case = second(failure, "max_turns: 10", &[]);
    assert!(case.seen("a", 2, "args").contains("--max-turns=10 "));
}

#[test]
fn the_configuration_sets_the_highest_limit_of_turns_and_the_time_of_a_task() {
    let case = Case::new();
    std::fs::create_dir_all(case.path("config/claude-runner")).expect("made");
    let text = "turns_max = 15\ntask_timeout = \"90m\"\n";
    case.write("config/claude-runner/config.toml", text);
    case.plan(&[("a", "max_turns: 10")]);
    case.script("a", 1, OUT_OF_TURNS);
    assert_eq!(case.go(&[]).code, Some(0));
    assert!(case.seen("a", 2, "args").contains("--max-turns=15 "));
    let spec = case.of_run("attempts/a/1/attempt.json");
    assert!(spec.contains(r#""timeout":5400.0"#), "{spec}");
}

#[test]
fn a_budget_is_raised_by_half() {
    let script = r#"result '"subtype":"error_max_budget_usd","is_error":false,"result":""' 0"#;
    let case = second(script, "budget_usd: 2", &["--budget", "10"]);
    assert!(case.seen("a", 1, "args").contains("--max-budget-usd=2"));
    assert!(case.seen("a", 2, "args").contains("--max-budget-usd=3"));
}

#[test]
fn an_attempt_that_took_too_long_gets_twice_the_time() {
    let case = second("rmdir \"$CASE/busy\"; exec sleep 600", "timeout: 3", &[]);
    let spec = case.of_run("attempts/a/2/attempt.json");
    assert!(spec.contains(r#""timeout":6.0"#), "{spec}");
}

#[test]
fn an_estimate_doubled_is_the_time_that_a_task_gets() {
    let case = Case::new();
    // (fields, seconds)
    let tasks = [
        ("a", "estimated_duration: 20m", 2400.0),
        ("b", "estimated_duration: 20m, timeout: 60", 60.0),
        ("c", "", 7200.0),
    ];
    case.plan(&tasks.map(|(id, fields, _)| (id, fields)));
    assert_eq!(case.go(&[]).code, Some(0));
    for (id, _, seconds) in tasks {
        let spec = case.of_run(&format!("attempts/{id}/1/attempt.json"));
        let spec: serde_json::Value = serde_json::from_str(&spec).expect("JSON");
        assert_eq!(spec["limits"]["timeout"], seconds, "{id}");
    }
}

#[test]
fn the_clock_that_ran_out_is_lengthened_and_no_other() {
    let hang = r#"rmdir "$CASE/busy"; exec sleep 600"#;
    let call = r#"{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"x"}}]}}"#;
    let tool = format!("echo '{call}'; {hang}");
    let silent = "#!/bin/sh\ncase $* in *--version*) echo '2.1.326 (Claude Code)'; exit;; esac\nexec sleep 600\n";
    for (clock, script) in [
        ("idle", hang),
        ("turn", hang),
        ("tool", &tool),
        ("startup", ""),
    ] {
        let case = Case::new();
        std::fs::create_dir_all(case.path("config/claude-runner")).expect("made");
        let text = format!("{clock}_timeout = \"500ms\"\ngrace = \"1s\"\n");
        case.write("config/claude-runner/config.toml", &text);
        case.plan(&[("a", "timeout: 300, retries: 1")]);
        for n in [1, 2] {
            case.script("a", n, script);
        }
        if clock == "startup" {
            case.write("agent", silent);
        }
        let ended = case.go(&[]);
        assert_eq!(ended.code, Some(1), "{clock}: {}", ended.err);
        let said = format!("--{clock}-timeout goes from 0.5s to 1s");
        assert!(ended.err.contains(&said), "{clock}: {}", ended.err);
        let [first, second] = [1, 2].map(|n| {
            let stream = case.of_run(&format!("attempts/a/{n}/stream.ndjson"));
            let start: serde_json::Value =
                serde_json::from_str(stream.lines().next().expect("a line")).expect("JSON");
            start["limits"].clone()
        });
        let mut expected = first;
        expected[format!("{clock}_timeout_ms")] = 1000.into();
        assert_eq!(second, expected, "{clock}");
    }
}

#[test]
fn what_was_cut_off_is_resumed_once() {
    for script in ["rmdir \"$CASE/busy\"; kill -9 $$", "end 0"] {
        let case = second(script, "", &[]);
        let args = case.seen("a", 2, "args");
        assert!(args.contains(SESSION), "{args}");
        let prompt = case.seen("a", 2, "prompt");
        assert!(prompt.starts_with("Continue from where you left off."));
    }
    let case = Case::new();
    case.plan(&[("a", "")]);
    case.script("a", 1, "end 0");
    case.script("a", 2, "end 0");
    assert_eq!(case.go(&[]).code, Some(0));
    assert!(case.seen("a", 2, "args").contains(SESSION));
    assert!(!case.seen("a", 3, "args").contains(SESSION));
    assert!(case.seen("a", 3, "prompt").starts_with("do a\n"));
}

#[test]
fn an_error_is_context_for_the_next_attempt() {
    let script = r#"result '"subtype":"error_during_execution","is_error":true,"errors":["the mill is broken"]' 1"#;
    let case = second(script, "", &[]);
    let prompt = case.seen("a", 2, "prompt");
    assert!(prompt.starts_with("do a\n"), "{prompt}");
    assert!(prompt.contains("the mill is broken"), "{prompt}");
}

#[test]
fn a_gate_that_fails_feeds_its_output_back() {
    let gate = "verify: 'test -e ../gate || { touch ../gate; echo red light; exit 3; }'";
    let case = Case::new();
    case.plan(&[("a", gate)]);
    assert_eq!(case.go(&[]).code, Some(0));
    let prompt = case.seen("a", 2, "prompt");
    assert!(prompt.contains("ended with 3"), "{prompt}");
    assert!(prompt.contains("red light"), "{prompt}");
}

/// As [`second`], for an attempt whose work was done and is not good enough.
fn found_wanting(fields: &str, word: &str) {
    let case = Case::new();
    case.plan(&[("a", fields)]);
    let ended = case.go(&["--retries", "1"]);
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    assert_eq!(case.starts("a"), 2);
    let outcome = format!(r#""outcome":"{word}""#);
    assert!(ended.out.contains(&outcome), "{}", ended.out);
    assert_eq!(case.of_run("task-a.status"), "failed\n");
}

#[test]
fn failed_work_is_never_marked_done() {
    found_wanting("commit: required", "no_commit");
    found_wanting("verify: 'false'", "verify_failed");
    found_wanting("verify: ['true', 'exit 7']", "verify_failed");
}

#[test]
fn waiting_for_the_service_is_not_an_attempt() {
    let limited = r#"echo '{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1700000000}}'
error "limit reached" ',"api_error_status":429'"#;
    let overloaded = r#"error "API Error: 529 Overloaded" ',"api_error_status":529'"#;
    let network = r#"error "API Error (Connection error.)""#;
    for script in [limited, overloaded, network] {
        let case = second(script, "", &["--retries", "0"]);
        assert!(case.seen("a", 2, "args").contains(SESSION), "{script}");
    }
}

#[test]
fn a_limit_that_resets_too_late_ends_the_run_with_75() {
    let case = Case::new();
    case.plan(&[("a", ""), ("b", "")]);
    let limited = r#"echo '{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":4000000000}}'
error "limit reached" ',"api_error_status":429'"#;
    case.script("a", 1, limited);
    let ended = case.go(&["--max-wait", "1h"]);
    assert_eq!(ended.code, Some(75), "{}", ended.err);
    let resume = format!("cr-orchestrate --resume-run {}", case.run_id());
    assert!(ended.err.contains(&resume), "{}", ended.err);
    assert_eq!(case.starts("b"), 0, "one hold for everything");
    assert_eq!(case.resume(&[]).code, Some(75));
    assert_eq!(case.starts("a"), 1);
}

#[test]
fn without_a_login_or_credit_nothing_else_is_started() {
    let auth = r#"error "Invalid API key · Please run /login" ',"api_error_status":401'"#;
    let billing = r#"error "Credit balance is too low" ',"api_error_status":400'"#;
    let unsaid = "echo 'Invalid API key · Please run /login' >&2; end 1";
    for script in [auth, billing, unsaid] {
        let case = Case::new();
        case.plan(&[("a", ""), ("b", "")]);
        case.script("a", 1, script);
        assert_eq!(case.go(&[]).code, Some(77), "{script}");
        assert_eq!((case.starts("a"), case.starts("b")), (1, 0));
        let ended = case.resume(&[]);
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        assert_eq!(case.done(), ["a", "b"]);
    }
}

#[test]
fn a_command_that_is_refused_is_not_given_again() {
    let case = Case::new();
    case.plan(&[("a", "")]);
    case.script("a", 1, "echo \"error: unknown option '--x'\" >&2; end 1");
    let ended = case.go(&[]);
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    assert_eq!(case.starts("a"), 1, "{}", ended.err);
}

#[test]
fn a_full_context_is_handed_to_a_new_session() {
    let script = r#"error "prompt is too long: 210000 tokens > 200000 maximum" ',"terminal_reason":"prompt_too_long","api_error_status":400'"#;
    let case = second(script, "", &[]);
    assert!(!case.seen("a", 2, "args").contains("--resume"));
    let prompt = case.seen("a", 2, "prompt");
    assert!(prompt.contains("until its context was full"), "{prompt}");
}

#[test]
fn an_agent_that_says_failed_has_failed() {
    let script = r#"result '"subtype":"success","is_error":false,"result":"```json\n{\"status\":\"failed\",\"summary\":\"no key\"}\n```"' 0"#;
    let case = second(script, "", &["--sprint"]);
    assert!(case.seen("a", 1, "prompt").contains("needs-human"));
    assert!(case.seen("a", 2, "prompt").contains("failed: no key"));
    // (an answer, whether the task is done)
    let cases = [
        (
            r#"```json\n{\"status\":\"completed\",\"summary\":\"yes\"}\n```"#,
            true,
        ),
        (
            r#"```json\n{\"name\":\"x\"}\n```\n```json\n{\"status\":\"failed\"}\n```"#,
            false,
        ),
        (
            r#"```json\n{\"status\":\"failed\"}\n```\n```json\n{\"status\":\"completed\"}\n```"#,
            true,
        ),
        (r#"I could not. {\"status\":\"failed\"}"#, false),
        (r#"{\"status\":\"blocked\"}"#, false),
        (r#"{\"status\":200}"#, true),
        ("done", true),
    ];
    for (answer, is_done) in cases {
        let case = Case::new();
        case.plan(&[("a", "retries: 0")]);
        let result =
            format!(r#"result '"subtype":"success","is_error":false,"result":"{answer}"' 0"#);
        case.script("a", 1, &result);
        let ended = case.go(&["--sprint"]);
        assert_eq!(
            ended.code,
            Some(i32::from(!is_done)),
            "{answer}: {}",
            ended.err
        );
    }
    // Who was not asked for a status is not held to one.
    let case = Case::new();
    case.plan(&[("a", "")]);
    case.script("a", 1, script);
    assert_eq!(case.go(&[]).code, Some(0));
}

#[test]
fn a_question_is_queued_and_its_answer_goes_to_the_session() {
    let case = Case::new();
    case.plan(&[("a", ""), ("b", ""), ("c", "depends_on: a")]);
    let script = r#"result '"subtype":"success","is_error":false,"result":"```json\n{\"status\":\"needs-human\",\"summary\":\"stuck\",\"humanNeeded\":{\"reason\":\"which port?\"}}\n```"' 0"#;
    case.script("a", 1, script);
    let ended = case.go(&["--sprint"]);
    assert_eq!(ended.code, Some(4), "{}", ended.err);
    assert_eq!(case.done(), ["b"]);
    let report = case.of_run("report.md");
    assert!(report.contains("it asks: which port?"), "{report}");
    assert_eq!(case.resume(&[]).code, Some(4));
    assert_eq!(case.starts("a"), 1);

    let ended = case.resume(&["--again", "a=port 8080"]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(case.seen("a", 2, "args").contains(SESSION));
    assert!(
        case.seen("a", 2, "prompt")
            .contains("A person says: port 8080")
    );
    assert_eq!(case.done(), ["b", "a", "c"]);
}

#[test]
fn w5_every_attempt_keeps_its_own_directory_and_the_costs_add_up() {
    let case = second(r#"error "no""#, "", &[]);
    assert!(case.of_run("attempts/a/1/stream.ndjson").contains("\"no\""));
    let summary = case.of_run("task-a.json");
    assert!(summary.contains(r#""cost_usd":0.02"#), "{summary}");
    assert!(case.of_run("task-a.md").contains("## Attempt 2: success"));
    assert!(case.of_run("task-a.ndjson").contains("\"ok\""));
}

#[test]
fn a_failed_task_holds_up_those_that_need_it_and_no_others() {
    let case = Case::new();
    case.plan(&[("a", ""), ("b", "depends_on: a"), ("c", "")]);
    case.script("a", 1, r#"error "no""#);
    let ended = case.go(&["--retries", "0"]);
    assert_eq!(ended.code, Some(1));
    assert_eq!(case.done(), ["c"]);
    let ended = case.resume(&["--again", "a"]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert_eq!(case.done(), ["c", "a", "b"]);
}

#[test]
fn what_cannot_be_started_is_not_tried_again() {
    let case = Case::new();
    case.plan(&[("a", "claude_args: [--output-format, text]"), ("b", "")]);
    let ended = case.go(&[]);
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    assert!(ended.out.contains(r#""outcome":"spawn_failed""#));
    assert!(ended.err.contains("--output-format"), "{}", ended.err);
    assert_eq!(case.done(), ["b"]);

    let mut command = case.command(&["../plan.yaml"]);
    command.env("CR_CLAUDE", case.path("nowhere"));
    let ended: crate::case::Ended = command.output().expect("run").into();
    assert_eq!(ended.code, Some(127), "{}", ended.err);
    assert!(
        ended.err.contains("nowhere` was not found"),
        "{}",
        ended.err
    );
    assert!(!ended.err.contains("attempt 1"), "{}", ended.err);
}

/// Makes the agents' directory a repository of one commit.
fn repository(case: &Case) {
    let commands = "git init -q -b main && git config user.name T && \
                    git config user.email t@example.invalid && \
                    echo 1 > a.txt && git add . && git commit -q -m begin";
    let mut shell = case.world.shell(commands);
    let done = shell.current_dir(case.path("work")).status();
    assert!(done.expect("run git").success());
}

#[test]
fn many_turns_without_a_commit_are_a_loop() {
    // (turns, how it ended)
    for (turns, outcome) in [(50, "no_commit"), (51, "looping")] {
        let case = Case::new();
        repository(&case);
        case.plan(&[("a", "commit: required, retries: 0")]);
        case.script("a", 1, &format!("turns={turns}"));
        let ended = case.go(&[]);
        assert_eq!(ended.code, Some(1), "{}", ended.err);
        let word = format!(r#""outcome":"{outcome}""#);
        assert!(ended.out.contains(&word), "{}", ended.out);
    }
}

#[test]
fn work_is_judged_by_what_git_says() {
    let case = Case::new();
    repository(&case);
    case.plan(&[("a", "files: [src/], commit: required")]);
    let work = "mkdir -p src; echo x > src/x; git add .; git commit -q -m work >&2";
    case.script("a", 1, "");
    case.script("a", 2, "echo 2 > a.txt; git commit -q -a -m stray >&2");
    case.script("a", 3, &format!("git reset -q --hard HEAD^ >&2; {work}"));
    let ended = case.go(&[]);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    let prompts = [2, 3].map(|n| case.seen("a", n, "prompt"));
    assert!(prompts[0].contains("no commit was made"), "{}", prompts[0]);
    assert!(prompts[1].contains("a.txt"), "{}", prompts[1]);
    let report = case.of_run("report.md");
    assert!(report.contains(" work"), "{report}");
    let lock = std::fs::read_link(case.run_dir().join("git.lock"));
    assert!(lock.expect("a link").ends_with(".git/cr.lock"));
}
