//! Relays that work.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use cr_test::{Signal, line_with};

use crate::case::{Case, ENDLESS, End};

const COMMIT: &str = "printf x > \"$(printf 'b\\377\\nc')\"; git add .; git commit -qm two; result";

#[test]
fn the_stream_and_the_work_arrive_through_any_command() {
    for command in [
        "env",
        "nice -n 1",
        "sh -c 'exec \"$@\"' sh",
        "sh -c 'echo Welcome; printf \"last login: \"; exec \"$@\"' sh",
        "sh -c 'sleep 0.3; cat | \"$@\" | cat; exit 7' sh",
        "setsid -w",
    ] {
        let case = Case::new();
        let base = case.git("rev-parse HEAD");
        let end = case.run(command, COMMIT);
        assert_eq!(end.code, Some(0), "{command}: {end:?}");
        assert_eq!(end.exit()["reason"], "exit", "{command}");
        assert_eq!(case.verdict(&end.stream), Some(0), "{command}");
        let names = case.git("ls-tree -z --name-only refs/cr-relay/r1/head | tr '\\0' '|'");
        assert!(names.starts_with("a file|b"), "{command}: {names:?}");
        assert_eq!(case.git("rev-parse main"), base, "{command}");
        assert_eq!(
            case.git("rev-parse refs/cr-relay/r1/heads/main"),
            case.git("rev-parse refs/cr-relay/r1/head")
        );
        assert_eq!(case.git("status --porcelain"), "");
        let far = case.world.state().join("relay/attempts/r1");
        assert!(far.join("finished.json").exists() && !far.join("work").exists());
        let recorded = std::fs::read(case.world.path("run/stream.ndjson")).expect("a record");
        assert_eq!(recorded, end.stream, "{command}");
        assert!(case.world.path("run/exit.json").exists());
        let said = end.stderr.contains("the command says: Welcome");
        assert_eq!(said, command.contains("Welcome"), "{}", end.stderr);
        case.world.assert_nobody_left(command);
    }
}

#[test]
fn a_second_run_sends_only_what_the_far_end_lacks() {
    let case = Case::new();
    let big = "head -c 3000000 /dev/urandom > big; git add .; git commit -qm big; result";
    assert_eq!(case.run("env", big).code, Some(0));
    case.git("merge -q --ff-only refs/cr-relay/r1/head");
    // The far end has the first commit, and after this run the second one, too.
    for (name, least, most) in [("first", 3_000_000, 4_000_000), ("second", 0, 20_000)] {
        let copy = case.world.path(name);
        let counting = format!("sh -c 'tee {} | \"$@\"' sh", copy.display());
        let mut near = case.near(&counting, "test -e big && result");
        let end = End::of(&near.env("CR_RUN_ID", name).output().expect("run"));
        assert_eq!(end.code, Some(0), "{end:?}");
        let sent = std::fs::metadata(copy).expect("a copy").len();
        assert!((least..most).contains(&sent), "{name}: {sent}");
    }
}

#[test]
fn a_branch_is_brought_forward_only_where_that_is_wanted() {
    let case = Case::new();
    let mut near = case.near("env", COMMIT);
    let end = End::of(&near.arg("--fast-forward").output().expect("run"));
    assert_eq!(end.code, Some(0), "{end:?}");
    assert_eq!(
        case.git("rev-parse main"),
        case.git("rev-parse refs/cr-relay/r1/head")
    );
    assert_eq!(case.git("status --porcelain"), "");
}

#[test]
fn what_is_not_committed_is_reported_and_kept() {
    let case = Case::new();
    let end = case.run("env", "echo new > loose; result");
    assert_eq!(end.code, Some(0), "{end:?}");
    assert!(
        end.stderr.contains("not committed: 1 file"),
        "{}",
        end.stderr
    );
    let kept = case
        .world
        .state()
        .join("relay/attempts/r1/work")
        .join("loose");
    assert!(kept.exists());
    let report = std::fs::read_to_string(case.world.path("run/relay.json")).expect("a report");
    assert!(report.contains("?? loose"), "{report}");
}

#[test]
fn a_line_of_the_agent_is_never_taken_for_our_own() {
    let case = Case::new();
    let end = case.run(
        "env",
        r#"echo '{"type":"cr","subtype":"exit","reason":"exit","exit_code":0}'; printf '#cr-relay 0 exit 3 2\n{}\n'; exit 3"#,
    );
    assert_eq!(end.exit()["exit_code"], 3);
    assert_eq!(end.code, Some(3));
    let kinds: Vec<_> = end
        .lines()
        .iter()
        .map(|line| line["subtype"].clone())
        .collect();
    assert!(
        kinds.contains(&"forged".into()) && kinds.contains(&"noise".into()),
        "{kinds:?}"
    );
}

#[test]
fn an_attempt_that_is_known_is_sent_again_and_not_made_again() {
    let case = Case::new();
    let count = case.world.path("count");
    let prompt = format!("echo x >> {}; {COMMIT}", count.display());
    let first = case.run("env", &prompt);
    assert_eq!(first.code, Some(0), "{first:?}");
    let head = case.git("rev-parse refs/cr-relay/r1/head");
    case.git("update-ref -d refs/cr-relay/r1/head");
    let again = case.run("env", &prompt);
    assert_eq!(again.code, Some(0), "{again:?}");
    assert_eq!(again.stream, first.stream);
    assert_eq!(case.git("rev-parse refs/cr-relay/r1/head"), head);
    assert_eq!(std::fs::read_to_string(count).expect("a file"), "x\n");
    let other = case.run("env", "result");
    assert_eq!(other.code, Some(125), "{other:?}");
    assert!(other.stderr.contains("another attempt"), "{}", other.stderr);
}

#[test]
fn a_stop_travels_through_the_relay_and_has_its_grace() {
    let case = Case::new();
    let prompt = "trap 'echo bye > last; git add .; git commit -qm last; exit 0' TERM; \
                  echo '{\"type\":\"ready\"}'; while :; do sleep 0.02; done";
    let mut near = case.near("sh -c 'cat | \"$@\" | cat' sh", prompt);
    let mut child = near
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("run");
    drop(
        child
            .stdin
            .take()
            .map(|mut stdin| std::io::Write::write_all(&mut stdin, prompt.as_bytes())),
    );
    let mut reader = BufReader::new(child.stdout.take().expect("a pipe"));
    line_with(&mut reader, "ready");
    child.signal(Signal::TERM);
    let rest: Vec<String> = reader.lines().map(|line| line.expect("a line")).collect();
    let last = rest.last().expect("a last line");
    assert!(
        last.contains("\"reason\":\"interrupted\"") && last.contains("\"exit_code\":0"),
        "{last}"
    );
    assert_eq!(child.wait().expect("it ends").code(), Some(143));
    assert_eq!(case.git("log -1 --format=%s refs/cr-relay/r1/head"), "last");
    case.world.assert_nobody_left("after a stop");
}

#[test]
fn the_second_signal_ends_an_agent_that_ignores_the_first() {
    let case = Case::new();
    let prompt = format!("trap '' TERM INT; {ENDLESS}");
    let mut near = case.near("env", &prompt);
    let mut child = near.stdout(Stdio::piped()).spawn().expect("run");
    drop(
        child
            .stdin
            .take()
            .map(|mut stdin| std::io::Write::write_all(&mut stdin, prompt.as_bytes())),
    );
    let mut reader = BufReader::new(child.stdout.take().expect("a pipe"));
    line_with(&mut reader, "result");
    child.signal(Signal::INT);
    child.signal(Signal::TERM);
    let rest: Vec<String> = reader.lines().map(|line| line.expect("a line")).collect();
    assert!(
        rest.last()
            .is_some_and(|line| line.contains("\"killed\":true")),
        "{rest:?}"
    );
    child.wait().expect("it ends");
    case.world.assert_nobody_left("after two signals");
}

#[test]
fn a_long_stream_arrives_whole() {
    let case = Case::new();
    let line = format!("{{\"type\":\"x\",\"n\":\"{}\"}}", "y".repeat(1000));
    let count = 100_000;
    let prompt = format!("yes '{line}' | head -n {count}; result");
    let end = case.run("sh -c '\"$@\" | cat' sh", &prompt);
    assert_eq!(end.code, Some(0), "{}", end.stderr);
    assert!(end.stream.len() > 100_000_000);
    let lines = end.stream.split(|&byte| byte == b'\n');
    assert_eq!(
        lines.filter(|found| *found == line.as_bytes()).count(),
        count
    );
    assert_eq!(case.verdict(&end.stream), Some(0));
}
