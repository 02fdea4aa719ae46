//! Signals to us, and the death of our starter: S7, S8.

use std::fs;
use std::process::Stdio;

use cr_test::{Command, Signal, bin, is_alive, until};

use crate::case::{Case, INIT, RESULT};

#[test]
fn s7_a_signal_is_passed_on_and_ends_the_run() {
    for (signal, number) in [
        (Signal::INT, 2),
        (Signal::TERM, 15),
        (Signal::HUP, 1),
        (Signal::QUIT, 3),
    ] {
        let mut run = Case::playing(&[INIT], "hang=end").start();
        run.wait_for("system");
        run.signal(signal);
        let done = run.finish();
        let exit = done.exit();
        assert_eq!(exit["reason"], "interrupted");
        assert_eq!(exit["interrupted_by"], number);
        assert_eq!(exit["signal"], number);
        assert_eq!(done.code(), Some(128 + number));
        done.assert_nobody_left("a signal");
    }
}

#[test]
fn s7_an_agent_may_write_after_a_signal() {
    let script = format!(
        "trap 'echo \\{RESULT}; exit 0' INT; cat >/dev/null; echo '{INIT}'; while :; do sleep 0.05; done",
        RESULT = RESULT.replace('"', "\\\"")
    );
    let mut run = Case::script(&script).start();
    run.wait_for("system");
    run.signal(Signal::INT);
    let done = run.finish();
    assert_eq!(done.agents(), [INIT, RESULT]);
    assert_eq!(done.exit()["exit_code"], 0);
    assert_eq!(done.exit()["result_seen"], true);
    assert_eq!(done.code(), Some(130));
}

#[test]
fn s7_the_second_signal_kills_at_once() {
    let mut run = Case::playing(&[INIT], "hang=end,ignore-term,child=stubborn")
        .args(&["--grace", "10m"])
        .start();
    run.wait_for("system");
    // Without the second one it would last for the grace of 10 minutes.
    let ended = run.child.signal_until_it_ends(Signal::INT);
    assert_eq!(ended.expect("ended").code(), Some(130));
    let done = run.finish();
    assert_eq!(done.exit()["signal"], 9);
    assert_eq!(done.exit()["interrupted_by"], 2);
    done.assert_nobody_left("two signals");
}

#[test]
fn s7_nohup_stays_in_force_for_us_and_for_the_agent() {
    let mut case =
        Case::script("cat >/dev/null; grep SigIgn /proc/$$/status; sleep 0.4; echo '{}'");
    let mut nohup = case.world.command("nohup");
    nohup.arg(bin("cr-spawn"));
    case.instead(nohup);
    let mut run = case.start();
    let ignored = run.wait_for("cr/noise");
    run.signal(Signal::HUP);
    let done = run.finish();
    assert_eq!(done.exit()["reason"], "exit");
    let mask = ignored["text"]
        .as_str()
        .expect("text")
        .trim_start_matches("SigIgn:")
        .trim();
    assert_eq!(u64::from_str_radix(mask, 16).expect("hex") & 1, 1, "{mask}");
}

/// A run that hangs, whose starter, a shell, is gone.
fn orphaned(prefix: &str, args: &str) -> Case {
    let case = Case::playing(&[INIT], "hang=end");
    let out = case.world.path("out");
    // The shell goes when its standard input ends.
    let script = format!(
        "{prefix} {} {args} --prompt x >out 2>/dev/null & read -r line",
        bin("cr-spawn").display(),
    );
    let mut shell = case.world.shell(&script);
    shell
        .envs(case.command.variables())
        .current_dir(case.world.dir())
        .stdin(Stdio::piped());
    let mut shell = shell.spawn().expect("start a shell");
    until("the agent runs", || {
        fs::read_to_string(&out).is_ok_and(|text| text.contains("init"))
    });
    assert!(!case.world.processes().is_empty());
    drop(shell.stdin.take());
    shell.wait().expect("ended");
    case
}

#[test]
fn s7_the_death_of_the_starter_counts_as_term() {
    let case = orphaned("", "");
    case.world.wait_until_nobody_is_left();
    let out = fs::read_to_string(case.world.path("out")).expect("the stream");
    let exit: serde_json::Value =
        serde_json::from_str(out.lines().last().expect("a line")).expect("JSON");
    assert_eq!(exit["reason"], "interrupted");
    assert_eq!(exit["parent_died"], true);
    assert_eq!(exit["interrupted_by"], 15);
}

#[test]
fn s7_a_run_under_nohup_or_setsid_outlives_its_starter() {
    for prefix in ["nohup", "setsid -f"] {
        let case = orphaned(prefix, "--timeout 2");
        // The others end within a second of their starter; this one has to
        // last until its clock runs out.
        let text = || fs::read_to_string(case.world.path("out")).unwrap_or_default();
        until("the run ends", || {
            text().contains("cr\",\"subtype\":\"exit")
        });
        assert!(
            text().contains(r#""reason":"timeout""#),
            "{prefix}: {}",
            text()
        );
        case.world.wait_until_nobody_is_left();
    }
}

#[test]
fn s7_another_process_can_be_watched_instead() {
    let mut watched = Command::new("sleep");
    let mut watched = watched.arg("100").spawn().expect("start sleep");
    let pid = watched.id().to_string();
    let mut run = Case::playing(&[INIT], "hang=end")
        .args(&["--watch-pid", &pid])
        .start();
    run.wait_for("system");
    watched.kill().expect("kill");
    watched.wait().expect("wait");
    let done = run.finish();
    assert_eq!(done.exit()["reason"], "interrupted");
    assert_eq!(done.exit()["parent_died"], true);
    assert_eq!(done.code(), Some(143));
}

#[test]
fn s8_the_agent_starts_with_a_clean_slate() {
    let script = r#"
        prompt=$(cat)
        status=$(tr '\n' ';' < /proc/$$/status)
        ls /proc/$$/fd > "$HOME/open"
        open=$(tr '\n' ' ' < "$HOME/open")
        set -- $(cat /proc/$$/stat)
        printf '{"type":"e","pid":%s,"session":%s,"open":"%s","cwd":"%s","status":"%s","prompt":"%s"}\n' \
            $$ "$6" "$open" "$(pwd)" "$(echo "$status" | tr '\t' ' ')" "$prompt"
        printf '{"type":"v","c":"%s","e":"%s","b":"%s","d":"%s","k":"%s"}\n' "$CLAUDECODE" \
            "$CLAUDE_CODE_ENTRYPOINT" "$CLAUDE_CODE_DISABLE_BACKGROUND_TASKS" "$CR_DEPTH" "$CLAUDE_CODE_MAX_RETRIES"
    "#;
    let case = Case::script(script)
        .env("CLAUDECODE", "1")
        .env("CLAUDE_CODE_ENTRYPOINT", "cli")
        .env("CLAUDE_CODE_MAX_RETRIES", "1");
    let done = case.args(&["--cwd", "/"]).run();
    let agent = &done.all("e")[0];
    assert_eq!(agent["pid"], agent["session"]);
    let open = agent["open"].as_str().expect("text");
    assert!(
        open.split_whitespace()
            .all(|fd| ["0", "1", "2", "10", "11"].contains(&fd)),
        "{open}"
    );
    assert_eq!(agent["cwd"], "/");
    assert_eq!(agent["prompt"], "what to do");
    let status = agent["status"].as_str().expect("text");
    assert!(status.contains("SigBlk: 0000000000000000"), "{status}");
    let ignored = status.split("SigIgn: ").nth(1).expect("a mask");
    let ignored = u64::from_str_radix(&ignored[..16], 16).expect("hex");
    assert_eq!(ignored & 0x7fff_ffff, 0, "{ignored:x}");
    let vars = &done.all("v")[0];
    assert_eq!(vars["c"], "");
    assert_eq!(vars["e"], "");
    assert_eq!(vars["b"], "1");
    assert_eq!(vars["d"], "1");
    assert_eq!(vars["k"], "1");
    assert_eq!(done.code(), Some(0));
    assert!(!is_alive(
        u32::try_from(agent["pid"].as_i64().expect("a pid")).expect("small")
    ));
}
