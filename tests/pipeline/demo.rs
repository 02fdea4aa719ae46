//! `scripts/demo`.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::{SystemTime, UNIX_EPOCH};

use cr_test::{Command, Terminal, World, bin_dir, line_with, root};

/// The demo, four times as fast as recorded.
fn demo() -> Command {
    let mut command = Command::new(root().join("scripts/demo"));
    command
        .env("CR_BIN_DIR", bin_dir())
        .env("CR_REPLAY_SPEED", "4")
        .env("TZ", "UTC");
    command
}

fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.expect("after 1970").as_secs()
}

/// The seconds since midnight of each progress line.
fn times(text: &str) -> Vec<u64> {
    let time = |line: &str| {
        let time = line.strip_prefix('[')?.split_once(']')?.0;
        let mut parts = time.split(':').map(|part| part.parse::<u64>().ok());
        let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
        Some(hours * 3600 + minutes * 60 + seconds)
    };
    text.lines().filter_map(time).collect()
}

/// The lines below `head`, until an empty one.
fn below<'a>(text: &'a str, head: &str) -> Vec<&'a str> {
    let lines = text.lines().skip_while(|line| *line != head).skip(1);
    lines.take_while(|line| !line.is_empty()).collect()
}

/// Checks what the demo shows, wherever it is shown.
fn check(text: &str) {
    for part in [
        "$ claude-runner --json \"The test fails. Find out why, fix it, commit.\"",
        "] Failed: Bash: sh test.sh | code 1 | FAILED: wanted 'Hello, Ada!'",
        "] Commit: fix: punctuation of the greeting",
        "] Rate limit: five_hour: rejected, resets ",
        "] Task: run: attempt 2: completed (success)",
        "] Killed by signal 9",
        "$ claude-runner --json --resume-run readme",
        "\"uncommitted_changes\":1",
        "] Commit: docs: how to greet",
        "scripts/demo --real",
        "scripts/install",
    ] {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
    let codes = text.lines().filter(|line| line.parse::<u8>().is_ok());
    assert_eq!(codes.collect::<Vec<_>>(), ["0", "0", "137", "0"], "{text}");
    check_log(text);

    let models: BTreeSet<&str> = text
        .split(" | model: ")
        .skip(1)
        .map(|rest| rest.split(' ').next().unwrap_or_default())
        .collect();
    assert_eq!(models.len(), 1, "one model: {models:?}");
}

/// The log of the repository has the commits that the summaries name, in order.
fn check_log(text: &str) {
    let log = below(text, "$ git log --oneline");
    let commits = text.lines().filter_map(|line| {
        line.trim()
            .strip_prefix("\"commits\":[\"")?
            .strip_suffix("\"]")
    });
    let mut commits: Vec<&str> = commits.collect();
    commits.reverse();
    assert_eq!(commits.len(), 3, "{text}");
    assert_eq!(log[..3], commits, "{text}");
    assert!(log[3].ends_with(" greet by name"), "{text}");
    let mut runs = below(text, "$ cr-runs ls");
    runs.retain(|run| !run.starts_with("RUN "));
    assert_eq!(runs.len(), 4, "{text}");
    assert!(runs.iter().any(|run| run.contains("killed 137")), "{text}");
}

#[test]
fn the_demo_shows_a_task_a_limit_and_a_crash_while_they_happen() {
    let began = now();
    let mut child = demo()
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("start the demo");
    let mut out = BufReader::new(child.stdout.take().expect("piped"));
    let mut text = line_with(&mut out, "] Read: ");
    assert!(!text.contains("] Commit: "), "not live: {text}");
    assert!(child.try_wait().expect("a state").is_none(), "not live");
    out.read_to_string(&mut text).expect("the rest");
    let output = child.wait_with_output().expect("its end");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success() && errors.is_empty(),
        "{errors}{text}"
    );
    check(&text);

    // One clock: every time is of now, and not of the recording.
    let took = now() - began;
    let since = |time: u64| (86400 + time - began % 86400) % 86400;
    let times = times(&text);
    assert!(times.len() > 30, "{text}");
    assert!(times.iter().all(|&time| since(time) <= took), "{text}");
}

#[test]
fn the_demo_shows_the_same_in_a_terminal() {
    let (terminal, mut child) = Terminal::start(&demo());
    let shown = terminal.finish().replace('\r', "");
    assert!(child.wait().expect("its end").success(), "{shown}");
    let mut text = String::new();
    // Without the colours.
    for (number, part) in shown.split("\u{1b}[").enumerate() {
        let plain = part.split_once('m').map_or(part, |(_, rest)| rest);
        text.push_str(if number == 0 { part } else { plain });
    }
    check(&text);
}

/// What the script `name` gives to cargo, one argument a line.
fn cargo_arguments(name: &str) -> Vec<String> {
    let world = World::new();
    let cargo = world.write(
        "bin/cargo",
        "#!/bin/sh\nprintf '%s\\n' \"$@\" >\"${0%/*}/arguments\"\nexit 1\n",
    );
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).expect("a program");
    let path = std::env::var("PATH").expect("a PATH");
    let mut script = world.command(root().join("scripts").join(name).to_str().expect("text"));
    let bin = world.path("bin");
    script
        .env("PATH", format!("{}:{path}", bin.display()))
        .env_remove("CR_BIN_DIR");
    let output = script.output().expect("run the script");
    assert!(!output.status.success(), "it goes on without its tools");
    let arguments = fs::read_to_string(bin.join("arguments")).expect("cargo was called");
    arguments.lines().map(str::to_owned).collect()
}

/// Everything that such a build compiles: packages with their features.
fn compiled(build: &[String]) -> BTreeSet<String> {
    let packages = build.windows(2).filter(|pair| pair[0] == "-p");
    let mut tree = Command::new(env!("CARGO"));
    tree.current_dir(root())
        .env("CARGO_HOME", cargo_home())
        .env(
            "RUSTUP_HOME",
            std::env::var_os("RUSTUP_HOME").unwrap_or_default(),
        )
        .args(["tree", "--locked", "--offline", "--edges=normal,build"])
        .args(["--prefix=none", "--format={p} {f}"]);
    for pair in packages {
        tree.args(["-p", &pair[1]]);
    }
    let output = tree.output().expect("run cargo");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}");
    let text = String::from_utf8(output.stdout).expect("text");
    let lines = text.lines().map(|line| line.trim_end_matches(" (*)"));
    lines.map(|line| line.trim_end().to_owned()).collect()
}

/// Where cargo has the crates of this build.
fn cargo_home() -> std::path::PathBuf {
    let default =
        || std::path::Path::new(&std::env::var_os("HOME").expect("a home")).join(".cargo");
    std::env::var_os("CARGO_HOME").map_or_else(default, Into::into)
}

#[test]
fn what_the_demo_builds_the_installation_uses_again() {
    let (demo, install) = (cargo_arguments("demo"), cargo_arguments("install"));
    for build in [&demo, &install] {
        assert_eq!(build[..3], ["build", "--release", "--locked"], "{build:?}");
    }
    let (demo, install) = (compiled(&demo), compiled(&install));
    let twice: Vec<&String> = demo.difference(&install).collect();
    assert!(twice.is_empty(), "built with other features: {twice:#?}");
    assert!(demo.len() < install.len(), "only what is shown is built");
}
