//! The control channel of a pipeline's starter: S7, S8.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::thread::sleep;
use std::time::Duration;

use cr_test::{Fifo, Signal, bin};

use crate::case::{Case, INIT, Running};

/// As a starter has it: the signals that it passes on are ignored, and the
/// channel is descriptor 3.
const STARTED: &str = r#"trap '' HUP INT QUIT TERM; exec 3<"$1"; shift; exec "$@""#;

/// Starts the case with a channel in which `first` already stands.
fn start(mut case: Case, args: &[&str], first: &[u8]) -> (Running, File) {
    let fifo = Fifo::new(case.world.dir().join("control"));
    let mut options = OpenOptions::new();
    let channel = options.read(true).write(true).open(fifo.path());
    let mut channel = channel.expect("a fifo");
    channel.write_all(first).expect("written");
    let mut shell = case.world.command("sh");
    shell
        .args(["-c", STARTED, "sh"])
        .arg(fifo.path())
        .arg(bin("cr-spawn"))
        .arg("--control-fd=3")
        .args(args);
    case.instead(shell);
    (case.start(), channel)
}

fn hanging() -> Case {
    Case::playing(&[INIT], "hang=end")
}

#[test]
fn s7_a_signal_through_the_channel_is_passed_on() {
    for number in [1u8, 2, 3, 15] {
        let (mut run, mut channel) = start(hanging(), &[], &[]);
        run.wait_for("system");
        channel.write_all(&[number]).expect("written");
        let done = run.finish();
        assert_eq!(done.exit()["reason"], "interrupted", "{number}");
        assert_eq!(done.exit()["interrupted_by"], number);
        assert_eq!(done.exit()["signal"], number);
        assert_eq!(done.code(), Some(128 + i32::from(number)));
        done.assert_nobody_left("a signal through the channel");
    }
}

#[test]
fn s7_a_signal_before_there_is_an_agent_is_not_lost() {
    let (run, _channel) = start(hanging(), &[], &[2]);
    let done = run.finish();
    assert_eq!(done.exit()["interrupted_by"], 2);
    assert_eq!(done.code(), Some(130));
}

#[test]
fn s7_the_second_signal_through_the_channel_kills_at_once() {
    let case = Case::playing(&[INIT], "hang=end,ignore-term,child=stubborn");
    let (mut run, mut channel) = start(case, &["--grace=10m"], &[]);
    run.wait_for("system");
    // Sooner it would be the same one, sent to the group. On a busy machine the
    // second one may be, and the third is not.
    for _ in 0..20 {
        channel.write_all(&[2]).expect("written");
        if run.child.ends_within(Duration::from_millis(600)) {
            break;
        }
    }
    let done = run.finish();
    assert_eq!(done.exit()["signal"], 9);
    assert_eq!(done.code(), Some(130));
    done.assert_nobody_left("two signals");
}

#[test]
fn s7_a_signal_to_the_group_counts_once() {
    // The agent needs a moment to end, which a second signal would not give it.
    let agent =
        "trap 'sleep 0.2; exit 7' TERM; cat >/dev/null; echo '{}'; while :; do sleep 0.05; done";
    let (mut run, mut channel) = start(Case::script(agent), &[], &[]);
    run.wait_for("");
    run.signal(Signal::TERM);
    channel.write_all(&[15]).expect("written");
    let done = run.finish();
    assert_eq!(done.exit()["exit_code"], 7);
    assert_eq!(done.code(), Some(143));
}

#[test]
fn s7_only_sigterm_is_taken_from_others_than_the_starter() {
    let (mut run, _channel) = start(hanging(), &[], &[]);
    run.wait_for("system");
    for signal in [Signal::INT, Signal::HUP, Signal::QUIT] {
        run.signal(signal);
    }
    // Enough time to end, if one of these signals were taken.
    sleep(Duration::from_millis(600));
    run.signal(Signal::TERM);
    let done = run.finish();
    assert_eq!(done.exit()["interrupted_by"], 15);
    assert_eq!(done.code(), Some(143));
}

#[test]
fn s7_the_end_of_the_starter_and_of_the_reader_end_the_run() {
    let (mut run, channel) = start(hanging(), &[], &[]);
    run.wait_for("system");
    drop(channel);
    let done = run.finish();
    assert_eq!(done.exit()["parent_died"], true);
    assert_eq!(done.code(), Some(143));

    let (mut run, mut channel) = start(hanging(), &[], &[]);
    run.wait_for("system");
    channel.write_all(&[13]).expect("written");
    let done = run.finish();
    assert_eq!(done.exit()["reason"], "stdout_closed");
    assert_eq!(done.code(), Some(141));
}

#[test]
fn s8_the_agent_gets_the_signals_that_the_starter_had() {
    let agent = "cat >/dev/null; grep SigIgn /proc/$$/status";
    // SIGHUP, SIGINT, SIGQUIT and SIGTERM.
    let passed_on = 0x4007;
    for (first, ignored) in [(vec![], 0), (vec![128 + 1], 1), (vec![128 + 2], 0)] {
        let (run, _channel) = start(Case::script(agent), &[], &first);
        let done = run.finish();
        let noise = &done.all("cr/noise")[0]["text"];
        let mask = noise
            .as_str()
            .and_then(|text| text.split_whitespace().last());
        let mask = u64::from_str_radix(mask.expect("a mask"), 16).expect("hexadecimal");
        assert_eq!(mask & passed_on, ignored, "{first:?}: {noise}");
        assert_eq!(done.code(), Some(0));
    }
}
