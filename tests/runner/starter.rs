//! The ways in which a pipeline ends, in every shell: Ctrl-C and Ctrl-Z, a
//! killed starter or shell, `timeout`, readers that leave.
//!
//! The other ways are in `signals.rs` and `detach.rs`.

use std::fs;
use std::time::Duration;

use cr_test::{Terminal, is_stopped, runner_script, until};
use serde_json::Value;

use crate::case::{Case, HANG, INIT, RESULT, SHELLS, kill};

fn hanging(shell: &'static str) -> Case {
    Case::new(&[INIT, HANG].concat()).shell(shell)
}

/// What the one run of `case` recorded.
fn recorded(case: &Case) -> Value {
    let runs = case.runs();
    assert_eq!(runs.len(), 1);
    until("there is a summary", || {
        runs[0].join("summary.json").exists()
    });
    assert!(runs[0].join("exit.json").exists());
    let text = fs::read(runs[0].join("summary.json")).expect("read");
    serde_json::from_slice(&text).expect("JSON")
}

#[test]
fn a_second_ctrl_c_after_half_a_second_is_130_too() {
    for shell in SHELLS {
        let stubborn = ["trap '' TERM INT\n", INIT, HANG].concat();
        let case = Case::new(&stubborn).shell(shell);
        let runner = case.runner(&["go", "--grace", "10m"]);
        let (mut terminal, mut child) = Terminal::start(&runner);
        terminal.wait_for("Session:");
        terminal.type_keys(b"\x03");
        std::thread::sleep(Duration::from_millis(500));
        terminal.type_keys(b"\x03");
        let text = terminal.finish();
        assert_eq!(child.wait().expect("ended").code(), Some(130), "{shell}");
        assert_eq!(text.matches("\"session_id\"").count(), 1, "{shell} {text}");
        assert_eq!(recorded(&case)["code"], 130, "{shell}");
        case.wait_for_nobody();
    }
}

#[test]
fn ctrl_z_stops_all_and_fg_goes_on() {
    for shell in SHELLS {
        let case = hanging(shell);
        let mut outer = case.command(shell);
        outer
            .args(["-i", "-m"])
            .env("PS1", "ready> ")
            .env("ENV", "");
        let (mut terminal, mut child) = Terminal::start(&outer);
        let script = runner_script();
        let line = format!("{shell} {} go --grace 2\n", script.display());
        terminal.type_keys(line.as_bytes());
        terminal.wait_for("Session:");
        terminal.type_keys(b"\x1a");
        let stage = |argv: &[&str]| {
            let mut processes = case.world.processes().into_iter();
            let found = processes.find(|it| {
                let given = it.argv.iter().map(String::as_str);
                given.take(argv.len()).eq(argv.iter().copied())
            });
            found.map(|it| it.pid)
        };
        let summarize = stage(&["cr-summarize"]).expect("the last stage");
        // It stops itself, after it has stopped the agent.
        let supervisor = stage(&["cr-spawn", "--control-fd"]).expect("the supervisor");
        until("the pipeline is stopped", || {
            is_stopped(summarize) && is_stopped(supervisor)
        });
        terminal.type_keys(b"fg\n");
        until("the pipeline goes on", || !is_stopped(summarize));
        terminal.type_keys(b"\x03");
        terminal.wait_for("\"code\": 130");
        terminal.type_keys(b"echo \"code=$?\"; exit\n");
        terminal.wait_for("code=130");
        terminal.finish();
        child.wait().expect("ended");
        assert_eq!(recorded(&case)["code"], 130, "{shell}");
        case.wait_for_nobody();
    }
}

#[test]
fn a_killed_starter_or_shell_leaves_a_record_and_nobody() {
    for shell in SHELLS {
        for name in ["starter", "shell"] {
            let case = hanging(shell);
            let mut run = case.start(&["go", "--grace", "2"]);
            run.wait_for("Session:");
            if name == "starter" {
                run.signal("KILL");
            } else {
                // Without bash, the script asks for the system's shell.
                let inner = if shell == "bash" { "bash" } else { "sh" };
                kill(run.stage(inner, "--pipeline:"), "KILL");
            }
            let done = run.end();
            assert_eq!(recorded(&case)["code"], 143, "{shell} {name}");
            if name == "shell" {
                assert_eq!(done.code(), Some(143), "{shell} {done:?}");
            }
            assert_eq!(done.summaries(), 1, "{shell} {name} {done:?}");
            case.wait_for_nobody();
        }
    }
}

#[test]
fn timeout_gives_124_and_the_record_143() {
    for shell in SHELLS {
        let case = hanging(shell);
        // Long enough to start, even on a busy machine.
        let runner = case.runner(&["go", "--grace", "2"]);
        let done = case.finish(&mut runner.behind("timeout", &["5"]));
        assert_eq!(done.code(), Some(124), "{shell} {done:?}");
        assert_eq!(done.summary()["code"], 143, "{shell}");
        assert_eq!(recorded(&case)["code"], 143, "{shell}");
    }
}

#[test]
fn a_reader_of_one_line_of_the_report_ends_the_run_with_141() {
    for shell in SHELLS {
        let case = hanging(shell);
        let script = runner_script();
        let line = format!(
            "{{ {shell} {} go --grace 2; echo $? >\"$HOME/code\"; }} | head -1",
            script.display()
        );
        let done = case.finish(&mut case.line(&line));
        assert_eq!(done.out.lines().count(), 1, "{shell} {done:?}");
        let code = fs::read_to_string(case.path("home/code")).expect("a code");
        assert_eq!(code, "141\n", "{shell}");
        assert_eq!(recorded(&case)["code"], 141, "{shell}");
    }
}

#[test]
fn a_reader_of_one_line_of_the_summary_has_all_of_it() {
    for shell in SHELLS {
        let case = Case::new(&[INIT, RESULT].concat()).shell(shell);
        let script = runner_script();
        let line = format!(
            "{{ {shell} {} --json go; echo $? >\"$HOME/code\"; }} | head -1",
            script.display()
        );
        let done = case.finish(&mut case.line(&line));
        let summary: Value = serde_json::from_str(&done.out).expect("a summary");
        assert_eq!(summary["outcome"], "success", "{shell}");
        let code = fs::read_to_string(case.path("home/code")).expect("a code");
        assert_eq!(code, "0\n", "{shell}");
    }
}

#[test]
fn a_child_that_the_caller_had_is_not_waited_for() {
    let case = Case::new(&[INIT, RESULT].concat());
    let script = runner_script();
    let line = format!(
        "sleep 600 >/dev/null 2>&1 & echo $! >\"$HOME/pid\"; exec {} --json go",
        script.display()
    );
    let done = Case::done_of(&mut case.line(&line));
    assert_eq!(done.code(), Some(0), "{done:?}");
    let pid = fs::read_to_string(case.path("home/pid")).expect("a pid");
    kill(pid.trim().parse().expect("a number"), "KILL");
    case.wait_for_nobody();
}
