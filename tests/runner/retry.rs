//! `claude-runner --retry`: several attempts that the caller sees as one run.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use cr_test::until;

use crate::case::{Case, DELIMITER, HANG, INIT, RESULT, SHELLS};

/// Counts the attempts, and keeps what each is asked.
const COUNT: &str = r#"case "$*" in *--version*) echo 2.1.326; exit ;; esac
n=$(($(cat "$HOME/n" 2>/dev/null) + 1))
echo "$n" >"$HOME/n"
echo "$*" >"$HOME/argv.$n"
cat >"$HOME/prompt.$n"
session=00000000-0000-4000-8000-00000000000$n
total=0.01
[ -z "${*##*--resume=*}" ] && session=${*##*--resume=} && session=${session%% *}
printf '{"type":"system","subtype":"init","session_id":"%s","cwd":"%s","model":"m","tools":[]}\n' "$session" "$PWD"
end() {
    printf '{"type":"result","subtype":"%s","is_error":%s,"result":"%s","session_id":"%s","num_turns":1,"duration_ms":5,"total_cost_usd":%s,"usage":{"input_tokens":1,"output_tokens":1}%s}\n' "$1" "$2" "$3" "$session" "$total" "$4"
}
limited() {
    printf '{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":%s},"session_id":"%s"}\n' "$1" "$session"
    end success true "limit reached" ',"api_error_status":429'
    exit 1
}
"#;

fn counting(body: &str) -> Case {
    Case::new(&[COUNT, body].concat())
}

fn asked(case: &Case, what: &str, number: u32) -> String {
    fs::read_to_string(case.path(&format!("home/{what}.{number}"))).expect("that many attempts")
}

fn outcomes(summary: &Value) -> Vec<&str> {
    let attempts = summary["attempts"].as_array().expect("a list");
    let outcomes = attempts.iter().map(|attempt| attempt["outcome"].as_str());
    outcomes.map(|outcome| outcome.expect("a word")).collect()
}

/// A limit of turns, a limit of money, then done; a commit every time.
const THIRD_TIME: &str = r#"git commit -q --allow-empty -m "part $n"
[ "$n" -gt 1 ] || { end error_max_turns true ""; exit 1; }
[ "$n" -gt 2 ] || { end error_max_budget_usd true ""; exit 1; }
end success false "the answer"
"#;

#[test]
fn a_run_is_retried_with_higher_limits_until_it_succeeds() {
    let case = counting(THIRD_TIME);
    let limits = ["--max-turns", "5", "--max-budget", "2"];
    let done = case.run(&[&["go", "--retry", "2", "--name", "n"], &limits[..]].concat());
    let summary = done.summary();
    assert_eq!(done.code(), Some(0), "{done:?}");
    assert_eq!(
        outcomes(&summary),
        ["limit_turns", "limit_budget", "success"]
    );
    let sessions = summary["attempts"].as_array().expect("a list").iter();
    let sessions: Vec<_> = sessions.map(|attempt| &attempt["session_id"]).collect();
    assert_eq!(sessions, [&summary["session_id"]; 3], "it is resumed");
    assert_eq!(summary["cost_usd"], 0.03, "the cost of all");
    assert_eq!(summary["tokens"]["input"], 3);
    let commits = summary["git"]["commits"].as_array().expect("a list");
    assert_eq!(commits.len(), 3, "the commits of all: {commits:?}");
    let run = &summary["run_id"];
    assert_eq!(summary["git"]["commits_by"], json!([run, run, run]));
    assert_eq!(summary["result"], "the answer");
    assert_eq!(summary["outcome"], "success");
    for (number, turns) in [(1, "--max-turns=5 "), (2, "=10 "), (3, "=10 ")] {
        let argv = asked(&case, "argv", number);
        assert!(argv.contains(turns), "{number}: {argv}");
    }
    assert_eq!(asked(&case, "prompt", 1), "go");
    for number in [2, 3] {
        let argv = asked(&case, "argv", number);
        let session = "--resume=00000000-0000-4000-8000-000000000001";
        assert!(argv.contains(session), "{number}: {argv}");
        assert!(asked(&case, "prompt", number).starts_with("Continue from where you left off"));
    }
    let [run] = case.runs().try_into().expect("one run");
    assert_eq!(summary["run_dir"], run.to_str().expect("a path"));
    for (number, attempt) in (1..).zip(summary["attempts"].as_array().expect("a list")) {
        let dir = run.join(format!("attempts/run/{number}"));
        assert_eq!(attempt["run_dir"], dir.to_str().expect("a path"));
        assert!(dir.join("stream.ndjson").is_file());
    }
}

#[test]
fn the_stream_of_all_attempts_is_the_stream_of_one_run() {
    let case = counting(THIRD_TIME);
    let done = case.run(&[
        "go",
        "--retry",
        "2",
        "--max-budget",
        "2",
        "--output",
        "stream",
    ]);
    assert_eq!(done.code(), Some(0), "{done:?}");
    let lines: Vec<Value> = done
        .out
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let ours = |word: &str| {
        let ours = lines.iter().filter(|line| line["type"] == "cr");
        ours.filter(|line| line["subtype"] == word).count()
    };
    assert_eq!((ours("start"), ours("exit"), ours("git")), (3, 1, 2));
    assert_eq!(ours("task"), 6, "a beginning and an end each");
    assert_eq!(lines.last().expect("a line")["subtype"], "exit");
    let ids: Vec<&Value> = lines.iter().filter_map(|line| line.get("run_id")).collect();
    assert!(ids.windows(2).all(|pair| pair[0] == pair[1]), "{ids:?}");
    // What is recorded is the same, but for the lines of cr-git's end.
    let recorded = fs::read_to_string(case.runs()[0].join("stream.ndjson")).expect("a record");
    let is_end = |line: &&str| !line.contains(r#""phase":"end""#);
    let shown: Vec<&str> = done.out.lines().filter(is_end).collect();
    assert_eq!(recorded.lines().collect::<Vec<_>>(), shown);
}

#[test]
fn every_output_is_as_without_retries() {
    let case = counting(THIRD_TIME);
    let done = case.run(&[
        "go",
        "--retry",
        "2",
        "--max-budget",
        "2",
        "--output",
        "answer",
    ]);
    assert_eq!((done.code(), done.out.as_str()), (Some(0), "the answer\n"));
    fs::remove_file(case.path("home/n")).expect("removed");
    let done = case.run(&["go", "--retry", "2", "--max-budget", "2", "--json"]);
    assert!(done.out.len() <= 4096 && !done.out.contains(DELIMITER));
    let summary: Value = serde_json::from_str(&done.out).expect("JSON");
    assert_eq!(outcomes(&summary).len(), 3);
    assert!(done.err.contains("attempt 2: running"), "{}", done.err);
}

#[test]
fn when_nothing_helps_the_last_attempt_is_the_verdict() {
    let case = counting("end error_max_turns true ''; exit 1\n");
    let done = case.run(&["go", "--retry", "1", "--max-turns", "5"]);
    let summary = done.summary();
    assert_eq!(done.code(), Some(3), "{done:?}");
    assert_eq!(outcomes(&summary), ["limit_turns", "limit_turns"]);
    assert_eq!(summary["outcome"], "limit_turns");
}

#[test]
fn more_turns_are_given_once() {
    let case = counting("end error_max_turns true ''; exit 1\n");
    let done = case.run(&["go", "--retry", "5", "--max-turns", "20"]);
    let summary = done.summary();
    assert_eq!(done.code(), Some(3), "{done:?}");
    assert_eq!(outcomes(&summary), ["limit_turns", "limit_turns"]);
    assert!(asked(&case, "argv", 2).contains("--max-turns=30 "));
    assert!(done.err.contains("it is raised once") || done.out.contains("it is raised once"));
}

#[test]
fn an_attempt_without_a_result_is_not_judged_by_the_one_before() {
    let case = counting("[ $n -gt 1 ] && kill -9 $$\nend error_max_turns true ''; exit 1\n");
    let summary = case
        .run(&["go", "--retry", "1", "--max-turns", "5"])
        .summary();
    assert_eq!(outcomes(&summary), ["limit_turns", "killed"]);
    assert_eq!(summary["outcome"], "killed");
    assert_eq!(summary["subtype"], Value::Null);
}

#[test]
fn a_killed_agent_goes_on_in_its_session() {
    let case = counting("[ $n -gt 1 ] || kill -9 $$\nend success false done\n");
    let done = case.run(&[
        "go",
        "--retry",
        "1",
        "--session-id",
        "11111111-1111-4111-8111-111111111111",
    ]);
    let summary = done.summary();
    assert_eq!(outcomes(&summary), ["killed", "success"]);
    assert!(asked(&case, "argv", 1).contains("--session-id=1111"));
    let second = asked(&case, "argv", 2);
    assert!(
        second.contains("--resume=00000000-0000-4000-8000-000000000001"),
        "{second}"
    );
    assert!(!second.contains("--session-id"), "{second}");
}

#[test]
fn a_session_that_does_not_exist_yet_costs_no_attempt() {
    let case = counting(
        r#"[ $n -gt 1 ] || kill -9 $$
[ $n -gt 2 ] || {
    printf '{"type":"result","subtype":"error_during_execution","is_error":true,"num_turns":0,"session_id":"%s","total_cost_usd":0,"duration_ms":0,"errors":["No conversation found with session ID: %s"]}\n' "$session" "$session"
    exit 1
}
end success false done
"#,
    );
    let done = case.run(&["go", "--retry", "1"]);
    let summary = done.summary();
    assert_eq!(done.code(), Some(0), "{done:?}");
    assert_eq!(outcomes(&summary), ["killed", "failed", "success"]);
    assert!(asked(&case, "argv", 2).contains("--resume="));
    assert!(!asked(&case, "argv", 3).contains("--resume="));
    assert!(asked(&case, "prompt", 3).starts_with("go"));
}

#[test]
fn waiting_for_a_limit_to_reset_is_no_attempt() {
    let case = counting("[ $n -gt 2 ] || limited 1000000000\nend success false done\n");
    let done = case.run(&["go", "--retry", "0"]);
    let summary = done.summary();
    assert_eq!(done.code(), Some(0), "{done:?}");
    assert_eq!(
        outcomes(&summary),
        ["rate_limited", "rate_limited", "success"]
    );
}

#[test]
fn a_limit_that_resets_too_late_ends_the_run_and_the_run_can_go_on() {
    let case = counting("[ $n -gt 1 ] || limited 4000000000\nend success false done\n");
    let done = case.run(&["go", "--retry", "2", "--max-wait", "1h", "--max-turns", "7"]);
    let summary = done.summary();
    assert_eq!(done.code(), Some(75), "{done:?}");
    assert_eq!(summary["retry"]["at"], "2096-10-02T07:06:40.000Z");
    let next = summary["next"].as_str().expect("a sentence");
    let id = summary["run_id"].as_str().expect("an id");
    assert!(
        next.ends_with(&format!("claude-runner --resume-run {id}")),
        "{next}"
    );
    assert!(
        done.out
            .contains(&format!("to continue: claude-runner --resume-run {id}"))
    );

    let status = case.finish(&mut case.tool("cr-orchestrate", &["status", id]));
    assert!(status.out.contains("waiting"), "{status:?}");
    let refused = case.finish(&mut case.tool("cr-orchestrate", &["--resume-run", id]));
    assert_eq!(refused.code(), Some(2), "{refused:?}");
    assert!(
        refused.err.contains("claude-runner --resume-run"),
        "{refused:?}"
    );

    // As if that day had come.
    let end = case.runs()[0].join("attempts/run/1/end.json");
    let text = fs::read_to_string(&end).expect("an end");
    fs::write(&end, text.replace("2096-10-02", "2001-10-02")).expect("written");
    let done = case.run(&["--resume-run", id]);
    let summary = done.summary();
    assert_eq!(done.code(), Some(0), "{done:?}");
    assert_eq!(outcomes(&summary), ["rate_limited", "success"]);
    assert_eq!(
        (summary["run_id"].as_str(), &summary["cost_usd"]),
        (Some(id), &Value::from(0.02))
    );
    assert!(
        asked(&case, "argv", 2).contains("--max-turns=7"),
        "its options are kept"
    );
    let status = case.finish(&mut case.tool("cr-runs", &["status", id]));
    assert!(status.out.contains("success"), "{status:?}");
}

#[test]
fn what_needs_a_person_is_not_tried_again() {
    let cases = [
        (
            "end success true 'Invalid API key' ',\"api_error_status\":401'; exit 1\n",
            77,
        ),
        ("exit 126\n", 1),
    ];
    for (agent, code) in &cases[..1] {
        let case = counting(agent);
        let done = case.run(&["go", "--retry", "3"]);
        assert_eq!(done.code(), Some(*code), "{done:?}");
        assert_eq!(outcomes(&done.summary()).len(), 1);
    }
    let case = Case::new("").env("CR_CLAUDE", "/no/such/agent");
    let done = case.run(&["go", "--retry", "3"]);
    assert_eq!(done.code(), Some(127), "{done:?}");
    assert_eq!(outcomes(&done.summary()), ["spawn_failed"]);
}

#[test]
fn a_signal_ends_an_attempt_or_a_wait() {
    let hanging = [COUNT, "[ $n -gt 1 ] || limited 1000000000\n", HANG].concat();
    let waiting = [COUNT, "limited 4000000000\n"].concat();
    for shell in SHELLS {
        for (signal, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
            for (agent, sign) in [
                (&hanging, "attempt 2: running"),
                (&waiting, "nothing starts before"),
            ] {
                let case = Case::new(agent).shell(shell);
                let command = case.runner(&["go", "--retry", "1", "--grace", "2"]);
                let mut run = case.begin(command.behind("setsid", &[]));
                run.wait_for(sign);
                if sign.starts_with("attempt") {
                    run.wait_for("Session");
                }
                run.signal(signal);
                let done = run.end();
                let what = format!("{shell} {signal} {sign} {done:?}");
                assert_eq!(done.summary()["outcome"], "interrupted", "{what}");
                assert_eq!(done.code(), Some(128 + number), "{what}");
                case.nobody_left();
            }
        }
    }
}

#[test]
fn whichever_process_is_killed_there_is_one_summary_and_nobody_left() {
    let stages = [
        ("cr-orchestrate", "retry"),
        ("cr-orchestrate", "attempt"),
        ("cr-spawn", ""),
        ("cr-git", "end"),
        ("cr-filter", "--tee"),
        ("cr-summarize", "--delimiter"),
    ];
    for shell in SHELLS {
        for (name, argument) in stages {
            let case = Case::new(&[INIT, HANG].concat()).shell(shell);
            let mut run = case.start(&["go", "--retry", "0", "--grace", "2"]);
            run.wait_for("Session:");
            crate::case::kill(run.stage(name, argument), "KILL");
            let done = run.end();
            let what = format!("{shell} {name} {argument}: {done:?}");
            assert_eq!(done.summaries(), 1, "{what}");
            assert_eq!(done.summary()["ok"], false, "{what}");
            assert_ne!(done.code(), Some(0), "{what}");
            case.wait_for_nobody();
        }
    }
}

#[test]
fn a_reader_that_leaves_ends_the_attempts() {
    let case = Case::new(&[INIT, HANG].concat());
    let mut command = case.runner(&["go", "--retry", "3", "--grace", "2"]);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("started");
    drop(child.stdout.take());
    child.wait().expect("ended");
    case.wait_for_nobody();
    let case = Case::new(&[INIT, HANG].concat());
    let mut run = case.start(&["go", "--retry", "3", "--grace", "2", "--output", "stream"]);
    run.wait_for("init");
    drop(run.out);
    run.child.wait().expect("ended");
    case.wait_for_nobody();
}

#[test]
fn a_run_with_retries_can_be_left_to_itself_waited_for_and_stopped() {
    let case = counting(THIRD_TIME);
    let left = case
        .runner(&[
            "go",
            "--retry",
            "2",
            "--max-budget",
            "2",
            "--detach",
            "--name",
            "n",
        ])
        .output();
    assert!(left.expect("run").status.success());
    let waited = Case::done_of(&mut case.tool("cr-runs", &["wait", "n"]));
    // The summary is there a moment before the starter of the pipeline ends.
    case.wait_for_nobody();
    let summary: Value = serde_json::from_str(&waited.out).expect("a summary");
    assert_eq!(outcomes(&summary).len(), 3);
    assert_eq!(waited.code(), Some(0));

    let case = Case::new(&[INIT, HANG].concat());
    let left = case
        .runner(&["go", "--retry", "2", "--detach", "--name", "n"])
        .output();
    assert!(left.expect("run").status.success());
    let stopped = case.tool("cr-runs", &["stop", "n"]).output().expect("run");
    assert!(stopped.status.success(), "{stopped:?}");
    until("it has a summary", || {
        case.runs()[0].join("summary.json").exists()
    });
    case.wait_for_nobody();
}

#[test]
fn what_does_not_go_with_retries_is_refused_by_name() {
    let case = Case::new(&[INIT, RESULT].concat());
    let cases: [(&[&str], &str); 4] = [
        (&["go", "--max-wait", "1h"], "--max-wait: only with --retry"),
        (&["go", "--retry", "1", "--no-record"], "--no-record"),
        (&["go", "--retry", "x"], "--retry"),
        (&["--resume-run", "no-such-run"], "no-such-run: no such run"),
    ];
    for (args, words) in cases {
        let done = case.run(args);
        assert!(matches!(done.code(), Some(2 | 66)), "{args:?} {done:?}");
        assert!(done.err.contains(words), "{args:?} {done:?}");
    }
    let first = ["go", "--retry", "1", "--name", "tried"];
    assert_eq!(case.run(&first).code(), Some(0));
    let done = case.run(&["--resume-run", "tried", "--model", "opus"]);
    assert_eq!(done.code(), Some(2), "{done:?}");
    assert!(done.err.contains("--model"), "{done:?}");
}
