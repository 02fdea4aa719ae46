//! `claude-runner --retry` in an unusual situation: its working directory, its
//! prompt, its run directory.

use std::fs;

use cr_test::{appears, bin_dir, until};

use crate::case::{Case, HANG, INIT, RESULT};

#[test]
fn attempts_of_another_run_are_not_taken_for_the_answer() {
    let case = Case::new(&[INIT, RESULT].concat());
    let args = |prompt| [prompt, "--retry", "1", "--run-dir", "kept"];
    assert_eq!(case.run(&args("one")).code(), Some(0));
    fs::remove_file(case.path("home/got")).expect("the agent was asked");
    let done = case.run(&args("another"));
    assert_eq!(done.code(), Some(2), "{done:?}");
    assert!(done.err.contains("attempts of another run"), "{done:?}");
    assert!(done.out.is_empty(), "{done:?}");
    let done = case.run(&["--resume-run", "./kept"]);
    assert_eq!(done.code(), Some(0), "{done:?}");
    assert!(!case.path("home/got").exists(), "it is done already");
}

#[test]
fn a_run_that_goes_on_is_left_alone() {
    for retry in [&["--retry", "1"][..], &[]] {
        let case = Case::new(&[INIT, HANG].concat());
        let args = [&["go", "--run-dir", "kept", "--grace", "2"], retry].concat();
        let mut run = case.start(&args);
        run.wait_for("Session:");
        let mut others = vec![args.as_slice()];
        if !retry.is_empty() {
            others.push(&["--resume-run", "./kept"]);
        }
        for other in others {
            let busy = case.runner(other).output().expect("run");
            let said = String::from_utf8_lossy(&busy.stderr);
            assert_eq!(busy.status.code(), Some(75), "{other:?}: {said}");
            assert!(said.contains("a run is going on there"), "{said}");
            assert!(busy.stdout.is_empty(), "{other:?}");
        }
        let left = fs::read_dir(case.path("repo/kept")).expect("a directory");
        let mut left = left.map(|entry| entry.expect("a file").file_name());
        assert!(left.all(|name| name != "summary.json"), "nobody has ended");
        run.signal("TERM");
        assert_eq!(run.end().summary()["outcome"], "interrupted");
    }
}

#[test]
fn what_cannot_begin_is_a_failure_to_start() {
    let case = Case::new(&[INIT, RESULT].concat());
    for retry in [&["--retry", "1"][..], &[]] {
        let done = case.run(&[&["go", "--cwd", "/no/such/place"], retry].concat());
        let summary = done.summary();
        assert_eq!(done.code(), Some(125), "{done:?}");
        assert_eq!(summary["outcome"], "spawn_failed");
        let why = summary["why"].as_str().expect("a sentence");
        assert!(why.contains("/no/such/place"), "{why}");
    }
}

#[test]
fn a_prompt_that_is_no_text_is_asked_as_it_would_be_read() {
    let case = Case::new(&[INIT, RESULT].concat());
    let done = case.run_with(&["--retry", "1"], b"caf\xe9 go");
    assert_eq!(done.code(), Some(0), "{done:?}");
    let got = fs::read_to_string(case.path("home/got")).expect("a prompt");
    assert_eq!(got, "caf\u{fffd} go");
}

#[test]
fn a_program_of_the_path_is_not_one_of_the_repository() {
    let case = Case::new(&[INIT, RESULT].concat());
    case.script("repo/agent", "touch \"$HOME/trapped\"\n");
    let path = std::env::var("PATH").unwrap_or_default();
    let (tools, agent) = (bin_dir(), case.world.dir());
    let path = format!("{}:{}:{path}", tools.display(), agent.display());
    for args in [&["--retry", "0"][..], &[]] {
        let mut command = case.runner(&[&["go", "--claude", "agent"], args].concat());
        let done = case.finish(command.env("PATH", &path));
        assert_eq!(done.code(), Some(0), "{done:?}");
        assert!(!case.path("home/trapped").exists(), "{args:?}");
    }
}

#[test]
fn a_run_that_was_given_up_goes_on_when_somebody_says_so() {
    let failing = "[ -e \"$HOME/mended\" ] || exit 3\n";
    let case = Case::new(&[INIT, failing, RESULT].concat());
    let summary = case.run(&["go", "--retry", "0", "--name", "n"]).summary();
    let next = summary["next"].as_str().expect("a sentence");
    assert!(next.contains("claude-runner --resume-run"), "{next}");
    assert_eq!(case.run(&["--resume-run", "n"]).code(), Some(1));
    fs::write(case.path("home/mended"), "").expect("written");
    let done = case.run(&["--resume-run", "n"]);
    assert_eq!(done.code(), Some(0), "{done:?}");
    let attempts = &done.summary()["attempts"];
    assert_eq!(attempts.as_array().map(Vec::len), Some(3), "{attempts}");
    // What is done is done.
    assert_eq!(
        &case.run(&["--resume-run", "n"]).summary()["attempts"],
        attempts
    );
}

#[test]
fn a_signal_before_there_is_an_agent_is_an_interruption() {
    for shell in crate::case::SHELLS {
        for (signal, number) in [("TERM", 15), ("HUP", 1)] {
            let case = Case::new(&[INIT, RESULT].concat()).shell(shell);
            case.script("slow/git", "touch \"$HOME/asked\"\nsleep 1\nexit 1\n");
            let mut path = case.path("slow").into_os_string();
            path.push(":");
            path.push(case.world.path_with_tools());
            let mut command = case.runner(&["go"]);
            command.env("PATH", path);
            let run = case.begin(command);
            until("git is asked", || case.path("home/asked").exists());
            run.signal(signal);
            let done = run.end();
            assert_eq!(done.summary()["outcome"], "interrupted", "{shell} {done:?}");
            assert_eq!(done.code(), Some(128 + number), "{shell} {signal}");
            assert!(!case.path("home/got").exists(), "no agent was started");
        }
    }
}

#[test]
fn a_signal_while_the_supervisor_starts_is_an_interruption() {
    for shell in crate::case::SHELLS {
        for (signal, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
            let case = Case::new(&[INIT, RESULT].concat()).shell(shell);
            let wait = "echo $$ > \"$HOME/pid\"; mv \"$HOME/pid\" \"$HOME/starting\"; \
                        until [ -e \"$HOME/go\" ]; do sleep 0.02; done";
            let spawn = bin_dir().join("cr-spawn");
            let script = format!("{wait}; exec {} \"$@\"", spawn.display());
            case.script("slow/cr-spawn", &script);
            let mut path = case.path("slow").into_os_string();
            path.push(":");
            path.push(case.world.path_with_tools());
            let mut command = case.runner(&["go"]);
            command.env("PATH", path);
            let run = case.begin(command);
            appears(&case.path("home/starting"));
            let pid = fs::read_to_string(case.path("home/starting")).expect("its process id");
            let before = bytes_in_control_pipe(&pid);
            run.signal(signal);
            // Until then the supervisor cannot know of the signal.
            until("the starter has passed the signal on", || {
                bytes_in_control_pipe(&pid) > before
            });
            case.world.write("home/go", "");
            let done = run.end();
            assert_eq!(done.summary()["outcome"], "interrupted", "{shell} {done:?}");
            assert_eq!(done.code(), Some(128 + number), "{shell} {signal}");
            assert!(!case.path("home/got").exists(), "no agent was started");
        }
    }
}

/// How many bytes of the starter's messages process `pid` has not read yet.
fn bytes_in_control_pipe(pid: &str) -> u64 {
    let pipe = fs::File::open(format!("/proc/{}/fd/3", pid.trim())).expect("the control pipe");
    rustix::io::ioctl_fionread(&pipe).expect("its length")
}
