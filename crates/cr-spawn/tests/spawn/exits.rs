//! How it ended: S2, S3, exit codes and signals, starts that fail.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use cr_test::bin;

use crate::case::{Case, INIT, RESULT};

/// Half of all codes at a time: each is a process of its own.
fn every_code(codes: std::ops::RangeInclusive<u8>) {
    for code in codes {
        let done = Case::playing(&[RESULT], &format!("exit={code}"))
            .args(&["--no-record"])
            .run();
        let exit = done.exit();
        assert_eq!(done.code(), Some(i32::from(code)));
        assert_eq!(exit["exit_code"], code);
        assert!(exit["signal"].is_null() && exit["killed"] == false);
        assert_eq!(exit["reason"], "exit");
    }
}

#[test]
fn s3_the_codes_0_to_127_are_reported_exactly() {
    every_code(0..=127);
}

#[test]
fn s3_the_codes_128_to_255_are_reported_exactly() {
    every_code(128..=255);
}

#[test]
fn s3_death_by_any_signal_is_reported_exactly() {
    // Those that do not end a process: CHLD, CONT, STOP, TSTP, TTIN, TTOU, URG, WINCH.
    let harmless = [17, 18, 19, 20, 21, 22, 23, 28];
    for signal in (1..=31).filter(|signal| !harmless.contains(signal)) {
        let done = Case::script(&format!("ulimit -c 0; kill -{signal} $$; sleep 9")).run();
        let exit = done.exit();
        assert_eq!(exit["signal"], signal);
        assert!(exit["exit_code"].is_null(), "signal {signal}");
        assert_eq!(exit["reason"], "signal");
        assert_eq!(exit["killed"], false, "signal {signal}");
        assert_eq!(done.code(), Some(128 + signal));
    }
}

#[test]
fn s3_signals_that_end_nobody_end_nobody() {
    for signal in [17, 18, 23, 28] {
        let done = Case::script(&format!("kill -{signal} $$; exit 3")).run();
        assert_eq!(done.code(), Some(3), "signal {signal}");
    }
}

#[test]
fn s2_a_program_that_is_not_there_is_127() {
    for name in ["no-such-agent", "/no/such/agent", "./agent"] {
        let done = Case::playing(&[], "").env("CR_CLAUDE", name).run();
        let exit = done.exit();
        assert_eq!(done.code(), Some(127), "{name}");
        assert_eq!(exit["reason"], "spawn_failed");
        assert_eq!(exit["spawn_code"], 127);
        assert_eq!(exit["error"], format!("{name}: not found"));
        assert_eq!(done.stderr, format!("cr-spawn: {name}: not found\n"));
        assert_eq!(done.record(), exit);
    }
}

#[test]
fn s2_a_program_that_cannot_run_is_126() {
    let case = Case::playing(&[], "");
    let plain = case.world.path("plain");
    fs::write(&plain, "text").expect("write");
    fs::set_permissions(&plain, fs::Permissions::from_mode(0o644)).expect("chmod");
    let bad = case.write_script("bad", "");
    fs::write(&bad, "#!/no/such/shell\n").expect("write");
    for path in [&plain, &bad, &case.world.dir().to_owned()] {
        let program = path.to_str().expect("a path");
        let done = Case::playing(&[], "").args(&["--claude", program]).run();
        let exit = done.exit();
        assert_eq!(done.code(), Some(126), "{program}: {exit}");
        assert_eq!(exit["reason"], "spawn_failed");
        assert_eq!(exit["spawn_code"], 126);
        assert!(
            exit["error"]
                .as_str()
                .is_some_and(|text| text.starts_with(program)),
            "{exit}"
        );
    }
}

#[test]
fn s2_a_directory_that_is_not_there_is_125_and_named() {
    let done = Case::playing(&[INIT], "")
        .args(&["--cwd", "/no/such/place"])
        .run();
    assert_eq!(done.code(), Some(125));
    assert_eq!(done.exit()["error"], "/no/such/place: no such directory");
}

#[test]
fn s2_what_we_lack_ourselves_is_125_and_said() {
    for descriptors in [12, 16, 20] {
        let mut case = Case::playing(&[INIT], "");
        let spawn = bin("cr-spawn");
        let spawn = spawn.display();
        let script = format!("ulimit -n {descriptors}; exec {spawn} --prompt x");
        let script = case.write_script("few", &script);
        case.instead(case.world.command(script));
        let done = case.run();
        assert_eq!(done.code(), Some(125), "{descriptors}: {}", done.stderr);
        let exit = done.exit();
        assert_eq!(exit["reason"], "spawn_failed");
        let error = exit["error"].as_str().expect("text");
        assert!(error.contains("Too many open files"), "{error}");
        done.assert_nobody_left("too many open files");
    }
}

#[test]
fn a_wrong_command_line_is_2_and_starts_nothing() {
    #[rustfmt::skip]
    let cases: &[(&[&str], &str)] = &[
        (&["--no-such-flag"],                   "--no-such-flag"),
        (&["--timeout", "soon"],                "soon"),
        (&["--", "--output-format", "text"],    "--output-format cannot be passed on"),
        (&["--", "--output-format=json"],       "--output-format cannot be passed on"),
        (&["--", "--input-format=stream-json"], "--input-format cannot be passed on"),
        (&["--", "--verbose"],                  "--verbose cannot be passed on"),
        (&["--", "-p"],                         "-p cannot be passed on"),
        (&["--", "--print"],                    "--print cannot be passed on"),
        (&["--prompt", " \n"],                  "the prompt is empty"),
    ];
    for (args, text) in cases {
        let done = Case::playing(&[INIT], "").args(args).run();
        assert_eq!(done.code(), Some(2), "{args:?}");
        assert!(done.stderr.contains(text), "{args:?}: {}", done.stderr);
        assert!(done.lines.is_empty(), "{args:?}");
    }
}

#[test]
fn an_empty_prompt_is_fine_when_a_session_is_resumed() {
    let case = Case::script(r#"printf '{"type":"p","text":"%s"}\n' "$(cat)""#);
    let done = case.args(&["--resume=-id"]).start_with(b"").finish();
    assert_eq!(done.all("p")[0]["text"], "Continue from where you left off");
    let argv = done.all("cr/start")[0]["argv"].to_string();
    assert!(
        argv.contains("--resume=-id") && !argv.contains("--model"),
        "{argv}"
    );
}

#[test]
fn runs_nested_too_deep_are_refused() {
    let done = Case::playing(&[INIT], "").env("CR_DEPTH", "4").run();
    assert_eq!(done.code(), Some(78));
    assert!(done.lines.is_empty());
    let done = Case::playing(&[INIT], "").env("CR_DEPTH", "3").run();
    assert_eq!(done.code(), Some(0));
}

#[test]
fn a_recording_gives_its_own_end() {
    let end = r#"{"type":"cr","subtype":"exit","exit_code":9,"signal":null}"#;
    let done = Case::playing(&[INIT, RESULT, end], "").run();
    assert_eq!(done.agents(), [INIT, RESULT]);
    assert_eq!(done.code(), Some(9));
    let end = r#"{"type":"cr","subtype":"exit","exit_code":null,"signal":6}"#;
    let done = Case::playing(&[INIT, RESULT, end], "").run();
    assert_eq!(done.code(), Some(134));
}

#[test]
fn a_namespace_whose_session_began_outside_is_no_obstacle() {
    if !cr_test::has_namespaces("a supervisor in a namespace") {
        return;
    }
    // As in a container or a sandbox without setsid: the session and the group
    // have the number 0. The parent is nobody, init, or one of init's children.
    let scripts = [
        r#"exec "$@""#,
        r#""$@"; exit $?"#,
        r#"sh -c '"$@"; exit $?' sh "$@"; exit $?"#,
    ];
    for script in scripts {
        let mut case = Case::playing(&[INIT, RESULT], "exit=3");
        let mut unshare = case.world.command("unshare");
        unshare
            .args(["--user", "--map-root-user", "--pid"])
            .args(["--fork", "--mount-proc", "sh", "-c", script, "sh"])
            .arg(case.command.get_program());
        case.instead(unshare);
        let done = case.run();
        assert_eq!(done.code(), Some(3), "{script}: {}", done.stderr);
        assert_eq!(done.exit()["exit_code"], 3, "{script}");
        done.assert_nobody_left(script);
    }
}
