//! Relays that do not work: a clear message, and never a success.

use crate::case::{Case, ENDLESS, End};

#[test]
fn a_far_end_that_cannot_begin_says_why() {
    let magic = "printf '\\n#cr-relay-far 99 9.9.9\\n'; cat >/dev/null";
    let tests = [
        ("env PATH=/nowhere", 127, "git: not found at the far end"),
        ("env CR_STATE_DIR=/proc/none", 125, "/proc/none"),
        ("sh -c 'exec /no/such/program' sh", 127, "not found"),
        (
            "exit 3;",
            75,
            "no far end answered; the command ended with code 3",
        ),
        (
            "sh -c 'echo permission denied >&2; exit 255' sh",
            75,
            "it said: permission denied",
        ),
    ];
    for (command, code, text) in tests {
        let case = Case::new();
        let end = case.run(command, "result");
        assert_eq!(end.code, Some(code), "{command}: {end:?}");
        assert!(end.stderr.contains(text), "{command}: {}", end.stderr);
        let reason = if code == 75 {
            "relay_lost"
        } else {
            "spawn_failed"
        };
        assert_eq!(end.exit()["reason"], reason, "{command}");
        assert_ne!(case.verdict(&end.stream), Some(0), "{command}");
    }
    let case = Case::new();
    let end = case.run(&case.relay(magic), "result");
    assert_eq!(end.code, Some(126), "{end:?}");
    assert!(
        end.stderr.contains("the far end is version 9.9.9"),
        "{}",
        end.stderr
    );
}

#[test]
fn a_command_that_ends_with_0_in_the_middle_is_no_success() {
    let case = Case::new();
    let relay = case.relay("timeout -s KILL 1 \"$@\"; exit 0");
    let end = case.run(&relay, ENDLESS);
    assert_eq!(end.code, Some(75), "{end:?}");
    let exit = end.exit();
    assert_eq!(exit["reason"], "relay_lost");
    assert_eq!(exit["relay"]["relay_code"], 0);
    assert!(exit["relay"]["last_line_at"].is_string());
    assert_eq!(case.verdict(&end.stream), Some(6));
    case.world.wait_until_nobody_is_left();
}

#[test]
fn a_command_that_changes_what_it_passes_on_is_no_success() {
    for body in [
        "\"$@\" | sed -u '/result/d'",
        "\"$@\" | sed -u 's/init/initial/'",
        "\"$@\" | sed -u '/init/i text of its own'",
        "\"$@\" | sed -u 's/$/\\r/'",
        "\"$@\" | dd bs=1 count=600 2>/dev/null",
    ] {
        let case = Case::new();
        let mut near = case.near(&case.relay(body), "result; sleep 0.3");
        let end = End::of(&near.args(["--lease", "1s"]).output().expect("run"));
        assert_eq!(end.exit()["reason"], "relay_lost", "{body}: {end:?}");
        assert_ne!(case.verdict(&end.stream), Some(0), "{body}");
        case.world.wait_until_nobody_is_left();
    }
}

#[test]
fn a_command_that_does_not_end_by_itself_is_ended_with_all_of_its_group() {
    let case = Case::new();
    // It answers in an unknown version, and then waits for nothing.
    let relay = case.relay("printf '\\n#cr-relay-far 99 9.9.9\\n'; sleep 1000; true");
    let end = case.run(&relay, "result");
    assert_eq!(end.code, Some(126), "{end:?}");
    case.world.assert_nobody_left("after the near end");
}
