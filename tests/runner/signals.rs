//! Signals to the script, readers that leave, starters that die.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::case::{Case, HANG, INIT, SHELLS, kill, until};

fn hanging() -> Case {
    Case::new(&[INIT, HANG].concat())
}

/// A command that starts another with the signals that a terminal's user has.
pub(crate) fn plainly(case: &Case, command: &Command) -> Command {
    let mut plain = Command::new("env");
    case.world(&mut plain);
    plain.args(["--default-signal=INT,QUIT,TERM,HUP", "setsid"]);
    plain.arg(command.get_program()).args(command.get_args());
    plain.stdin(Stdio::null());
    plain
}

#[test]
fn a_signal_to_the_script_ends_the_run_with_its_summary() {
    let signals = [("INT", 2), ("TERM", 15), ("HUP", 1)];
    for shell in SHELLS {
        for (signal, number) in signals {
            let case = hanging().shell(shell);
            let command = plainly(&case, &case.runner(&["go", "--grace", "2"]));
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
        let command = plainly(&case, &case.runner(&["go", "--grace", "60"]));
        let mut run = case.begin(command);
        run.wait_for("Session:");
        let before = Instant::now();
        run.signal("TERM");
        // Less than half a second is the echo of one signal to a group.
        std::thread::sleep(Duration::from_millis(600));
        run.signal("TERM");
        let done = run.end();
        assert!(before.elapsed() < Duration::from_secs(20), "{shell}");
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
        let command = plainly(&case, &case.runner(&["go", "--grace", "20"]));
        let mut run = case.begin(command);
        run.wait_for("Session:");
        let group = format!("-{}", run.child.id());
        let sent = Command::new("kill")
            .args(["-s", "TERM", "--", &group])
            .status();
        assert!(sent.expect("run kill").success());
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
            let text = on_a_terminal(&case, |terminal| {
                terminal.write_all(b"\x03").expect("Ctrl-C");
            });
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
        let (mut terminal, mut child) = terminal(&case);
        read_until(&mut terminal, "Session:");
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

/// Starts a run on a terminal of its own; returns our side of it.
fn terminal(case: &Case) -> (File, std::process::Child) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC);
    let ours = ours.expect("a terminal");
    grantpt(&ours).and_then(|()| unlockpt(&ours)).expect("ours");
    let name = ptsname(&ours, Vec::new()).expect("a name");
    let name = name.to_str().expect("text");
    let theirs = || {
        let file = File::options().read(true).write(true).open(name);
        Stdio::from(file.expect("their side"))
    };
    let runner = case.runner(&["go", "--grace", "2"]);
    let mut command = Command::new("env");
    case.world(&mut command);
    command
        .args([
            "--default-signal=INT,QUIT,TERM,HUP",
            "setsid",
            "--ctty",
            "--wait",
        ])
        .arg(runner.get_program())
        .args(runner.get_args())
        .stdin(theirs())
        .stdout(theirs())
        .stderr(theirs());
    let child = command.spawn().expect("started");
    let ours = ours.as_fd().try_clone_to_owned().expect("a copy");
    (File::from(ours), child)
}

fn read_until(terminal: &mut File, wanted: &str) -> String {
    let mut text = String::new();
    let mut buffer = [0; 4096];
    while !text.contains(wanted) {
        // The last writer's end is an error on this side.
        let Ok(read @ 1..) = terminal.read(&mut buffer) else {
            break;
        };
        text.push_str(&String::from_utf8_lossy(&buffer[..read]));
    }
    text
}

/// Runs on a terminal; when the agent is up, `then` happens. What was shown.
fn on_a_terminal(case: &Case, then: impl FnOnce(&mut File)) -> String {
    let (mut terminal, mut child) = terminal(case);
    let mut text = read_until(&mut terminal, "Session:");
    then(&mut terminal);
    text.push_str(&read_until(&mut terminal, "\u{0}"));
    child.wait().expect("ended");
    text
}

#[test]
fn a_reader_that_takes_one_line_ends_the_run() {
    for shell in SHELLS {
        let case = hanging().shell(shell);
        let mut run = case.start(&["go", "--grace", "2"]);
        run.wait_for("Session:");
        let before = Instant::now();
        drop(run.out);
        run.child.wait().expect("ended");
        assert!(before.elapsed() < Duration::from_secs(20), "{shell}");
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
        let runner = case.runner(&["go"]);
        let mut command = Command::new("nohup");
        case.world(&mut command);
        command.arg(runner.get_program()).args(runner.get_args());
        let mut run = case.begin(command);
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
fn a_job_in_the_background_goes_on_without_its_shell() {
    for start in ["setsid -f sh -c '%'", "nohup %  &", "( % & )"] {
        let agent = [
            INIT,
            "until [ -e \"$HOME/go\" ]; do sleep 0.05; done\n",
            crate::case::RESULT,
        ];
        let case = Case::new(&agent.concat());
        let script = crate::bins::root().join("scripts/claude-runner");
        let line = format!(
            "exec >\"$HOME/out\" 2>&1; {}",
            start.replace('%', &format!("{} go", script.display()))
        );
        let mut shell = Command::new("/bin/sh");
        case.world(&mut shell);
        let status = shell.arg("-c").arg(&line).stdin(Stdio::null()).status();
        assert!(status.expect("run").success(), "{start}");
        let out = case.path("home/out");
        until("the agent is up", || {
            fs::read_to_string(&out).is_ok_and(|text| text.contains("Session:"))
        });
        fs::write(case.path("home/go"), "").expect("written");
        case.wait_for_nobody();
        let text = fs::read_to_string(&out).expect("output");
        assert_eq!(
            text.matches(r#""outcome":"success""#).count(),
            1,
            "{start}: {text}"
        );
    }
}
