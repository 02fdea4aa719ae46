//! Signals to the script, readers that leave, starters that die.

use std::fs;
use std::time::Duration;

use cr_test::{Terminal, runner_script, until};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::case::{Case, HANG, INIT, SHELLS, kill};

fn hanging() -> Case {
    Case::new(&[INIT, HANG].concat())
}

#[test]
fn a_signal_to_the_script_ends_the_run_with_its_summary() {
    let signals = [("INT", 2), ("TERM", 15), ("HUP", 1)];
    for shell in SHELLS {
        for (signal, number) in signals {
            let case = hanging().shell(shell);
            let command = case.runner(&["go", "--grace", "2"]).behind("setsid", &[]);
            let mut run = case.begin(command);
            run.wait_for("Session:");
            run.signal(signal);
            let done = run.end();
            let what = format!("{shell} {signal} {done:?}");
            let summary = done.summary();
            assert_eq!(summary["outcome"], "interrupted", "{what}");
            assert_eq!(summary["code"], 128 + number, "{what}");
            assert_eq!(done.code(), Some(128 + number), "{what}");
            case.nobody_left();
        }
    }
}

#[test]
fn a_second_signal_kills_at_once() {
    for shell in SHELLS {
        let stubborn = ["trap '' TERM INT\n", INIT, HANG].concat();
        let case = Case::new(&stubborn).shell(shell);
        let command = case.runner(&["go", "--grace", "10m"]).behind("setsid", &[]);
        let mut run = case.begin(command);
        run.wait_for("Session:");
        // Less than half a second is the echo of one signal to a group. On a
        // busy machine the second one may be, and the third is not.
        for _ in 0..20 {
            run.signal("TERM");
            if run.child.ends_within(Duration::from_millis(600)) {
                break;
            }
        }
        let done = run.end();
        assert_eq!(done.summary()["outcome"], "interrupted", "{shell}");
        case.nobody_left();
    }
}

#[test]
fn a_signal_to_the_whole_group_is_one_signal() {
    for shell in SHELLS {
        // The agent says goodbye, which takes it a moment.
        let goodbye = "trap 'sleep 1; echo \"{}\"; exit 7' TERM\n";
        let agent = [goodbye, INIT, "sleep 600 & wait\n"].concat();
        let case = Case::new(&agent).shell(shell);
        let command = case.runner(&["go", "--grace", "20"]).behind("setsid", &[]);
        let mut run = case.begin(command);
        run.wait_for("Session:");
        let group = i32::try_from(run.child.id()).ok().and_then(Pid::from_raw);
        kill_process_group(group.expect("a group"), Signal::TERM).expect("sent");
        let done = run.end();
        let summary = done.summary();
        assert_eq!(summary["code"], 143, "{shell} {summary}");
        let exit = fs::read_to_string(case.runs()[0].join("exit.json")).expect("exit.json");
        assert!(exit.contains("\"exit_code\":7"), "{shell} {exit}");
        case.nobody_left();
    }
}

#[test]
fn ctrl_c_on_a_terminal_ends_the_run_with_its_summary() {
    for shell in SHELLS {
        for _ in 0..3 {
            let case = hanging().shell(shell);
            let (mut terminal, mut child) = Terminal::start(&case.runner(&["go", "--grace", "2"]));
            terminal.wait_for("Session:");
            terminal.type_keys(b"\x03");
            let text = terminal.finish();
            child.wait().expect("ended");
            let summaries = text.matches("\"session_id\"").count();
            assert_eq!(summaries, 1, "{shell} {text}");
            assert!(text.contains("\"code\": 130"), "{shell} {text}");
            case.wait_for_nobody();
        }
    }
}

#[test]
fn a_terminal_that_goes_away_leaves_nobody() {
    for shell in SHELLS {
        let case = hanging().shell(shell);
        // Closing the terminal's other side is the hang-up.
        let (mut terminal, mut child) = Terminal::start(&case.runner(&["go", "--grace", "2"]));
        terminal.wait_for("Session:");
        drop(terminal);
        child.wait().expect("ended");
        case.wait_for_nobody();
        let exit = fs::read_to_string(case.runs()[0].join("exit.json")).expect("exit.json");
        // The hang-up and the end of the output come together.
        let reasons = ["interrupted", "stdout_closed"];
        assert!(
            reasons.iter().any(|reason| exit.contains(reason)),
            "{shell} {exit}"
        );
    }
}

#[test]
fn a_reader_that_takes_one_line_ends_the_run() {
    for shell in SHELLS {
        let case = hanging().shell(shell);
        let mut run = case.start(&["go", "--grace", "2"]);
        run.wait_for("Session:");
        drop(run.out);
        run.child.wait().expect("ended");
        case.nobody_left();
    }
}

#[test]
fn a_script_that_is_killed_leaves_a_summary_and_nobody() {
    for shell in SHELLS {
        let case = hanging().shell(shell);
        let mut run = case.start(&["go", "--grace", "2"]);
        run.wait_for("Session:");
        run.signal("KILL");
        let done = run.end();
        assert_eq!(done.summary()["outcome"], "interrupted", "{shell}");
        case.wait_for_nobody();
    }
}

#[test]
fn nohup_outlives_a_hang_up() {
    for shell in SHELLS {
        let agent = [
            INIT,
            "until [ -e \"$HOME/go\" ]; do sleep 0.05; done\n",
            crate::case::RESULT,
        ];
        let case = Case::new(&agent.concat()).shell(shell);
        let mut run = case.begin(case.runner(&["go"]).behind("nohup", &[]));
        run.wait_for("Session:");
        run.signal("HUP");
        kill(run.stage("cr-spawn", ""), "HUP");
        fs::write(case.path("home/go"), "").expect("written");
        let done = run.end();
        assert_eq!(done.summary()["outcome"], "success", "{shell}");
        assert_eq!(done.code(), Some(0), "{shell}");
        case.nobody_left();
    }
}

#[test]
fn the_agent_ignores_a_hang_up_exactly_under_nohup() {
    let say = "sed -n 's/SigIgn:.*\\(.\\)$/\\1/p' /proc/$$/status >\"$HOME/ignored\"\n";
    for retry in [&[][..], &["--retry", "0"]] {
        for (is_nohup, mask) in [(true, "1\n"), (false, "0\n")] {
            let case = Case::new(&[say, INIT, crate::case::RESULT].concat());
            let runner = case.runner(&[&["go"], retry].concat());
            let mut command = if is_nohup {
                runner.behind("nohup", &[])
            } else {
                runner
            };
            let done = case.finish(&mut command);
            assert_eq!(done.code(), Some(0), "{retry:?} {done:?}");
            let ignored = fs::read_to_string(case.path("home/ignored"));
            assert_eq!(ignored.expect("a mask"), mask, "{retry:?} {is_nohup}");
        }
    }
}

#[test]
fn a_job_in_the_background_goes_on_without_its_shell() {
    for start in ["setsid -f sh -c '%'", "nohup %  &", "( % & )"] {
        let agent = [
            INIT,
            "until [ -e \"$HOME/go\" ]; do sleep 0.05; done\n",
            crate::case::RESULT,
        ];
        let case = Case::new(&agent.concat());
        let script = runner_script();
        let line = format!(
            "exec >\"$HOME/out\" 2>&1; {}",
            start.replace('%', &format!("{} go", script.display()))
        );
        let status = case.line(&line).status();
        assert!(status.expect("run").success(), "{start}");
        let out = case.path("home/out");
        until("the agent is up", || {
            fs::read_to_string(&out).is_ok_and(|text| text.contains("Session:"))
        });
        fs::write(case.path("home/go"), "").expect("written");
        case.wait_for_nobody();
        let text = fs::read_to_string(&out).expect("output");
        assert_eq!(
            text.matches(r#""ok":true,"outcome":"success""#).count(),
            1,
            "{start}: {text}"
        );
    }
}
