//! The sealed launcher, from outside and from inside.
//!
//! End of file on a command's output is proof that everything that held it is
//! gone, so nothing here looks at a process table.

#![allow(missing_docs, reason = "an integration test is a crate of its own")]

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use cr_test::{Command, Signal, World, bin, has_namespaces, tool};
use predicates::prelude::*;
use serde_json::Value;

/// `cr-mock run OPTIONS -- bash -c SCRIPT`.
fn sealed(options: &[&str], script: &str) -> Command {
    let mut command = tool("cr-mock");
    command.arg("run").args(options);
    command.args(["--", "bash", "-c", script]);
    command
}

/// Whether the launcher can be tested here.
fn granted() -> bool {
    has_namespaces("tests of the sealed launcher")
}

fn without_api(script: &str) -> Command {
    sealed(&["--no-api"], script)
}

#[test]
fn nothing_but_loopback_is_there_and_it_is_up() {
    if !granted() {
        return;
    }
    without_api("tail -n +3 /proc/net/dev | cut -d : -f 1; (echo > /dev/tcp/127.0.0.1/9) 2>&1")
        .assert()
        .stdout(predicate::str::starts_with("    lo\n"))
        .stdout(predicate::str::contains("Connection refused"));
}

#[test]
fn the_environment_is_scrubbed_and_holds_a_fake_key() {
    if !granted() {
        return;
    }
    without_api("env")
        .env("ANTHROPIC_API_KEY", "the real one")
        .env("HTTPS_PROXY", "http://proxy")
        .assert()
        .success()
        .stdout(predicate::str::contains(
            "ANTHROPIC_API_KEY=sk-ant-test-000\n",
        ))
        .stdout(predicate::str::contains("the real one").not())
        .stdout(predicate::str::contains("PROXY").not());
}

#[test]
fn streams_and_code_are_the_commands_own() {
    if !granted() {
        return;
    }
    without_api("cat; echo err >&2; exit 7")
        .write_stdin("in\n")
        .assert()
        .code(7)
        .stdout("in\n")
        .stderr("err\n");
    without_api("kill -KILL $$").assert().code(128 + 9);
    sealed_program("no-such-program").code(127);
    sealed_program("/dev/null").code(126);
}

fn sealed_program(name: &str) -> assert_cmd::assert::Assert {
    tool("cr-mock")
        .args(["run", "--no-api", "--", name])
        .assert()
        .stderr(predicate::str::starts_with(format!("cr-mock: {name}: ")))
}

#[test]
fn the_api_of_the_script_is_in_reach() {
    if !granted() {
        return;
    }
    let world = World::new();
    let script = world.path("script.json");
    fs::write(&script, r#"{"turns": [{"text": "you are in {{cwd}}"}]}"#).expect("write");
    let ask = r#"
        at=${ANTHROPIC_BASE_URL#http://}
        exec 3<>"/dev/tcp/${at%:*}/${at#*:}"
        body='{"tools":[{"name":"Bash"}]}'
        printf 'POST /v1/messages HTTP/1.1\r\ncontent-length: %d\r\n\r\n%s' ${#body} "$body" >&3
        while read -r line <&3 && [ "$line" != $'\r' ]; do
            case $line in content-length:*) n=${line#*: } ;; esac
        done
        read -r -N "${n%$'\r'}" body <&3; echo "$body""#;
    let [script, cwd] = [script.as_path(), world.dir()].map(|it| it.to_str().expect("a path"));
    let mut command = sealed(&["--scenario", script, "--cwd", cwd], ask);
    let output = command.output().expect("run cr-mock");
    let answer = String::from_utf8_lossy(&output.stdout);
    let cwd = world.dir().canonicalize().expect("a path");
    assert!(
        answer.contains(&format!("you are in {}", cwd.display())),
        "{answer}"
    );
}

#[test]
fn a_signal_is_passed_on() {
    if !granted() {
        return;
    }
    let mut child = sealed(
        &["--no-api"],
        "trap 'exit 3' INT; echo ready; sleep 1000 & wait",
    )
    .stdout(Stdio::piped())
    .spawn()
    .expect("start cr-mock");
    let mut out = BufReader::new(child.stdout.take().expect("piped"));
    out.read_line(&mut String::new()).expect("a line");
    child.signal(Signal::INT);
    out.read_to_end(&mut Vec::new()).expect("end of file");
    assert_eq!(child.wait().expect("wait").code(), Some(3));
}

#[test]
fn what_the_command_leaves_running_is_told_and_ends() {
    if !granted() {
        return;
    }
    let world = World::new();
    let path = world.path("report.json");
    let report = path.to_str().expect("a path");
    let script = "setsid sleep 1001 & setsid -f sleep 1002; exit 4";
    let output = sealed(&["--no-api", "--report", report], script)
        .output()
        .expect("run cr-mock");
    assert_eq!(output.status.code(), Some(4));
    let report: Value = serde_json::from_slice(&fs::read(&path).expect("a report")).expect("JSON");
    assert_eq!(report["exit_code"], 4);
    let survivors = report["survivors"].as_array().expect("a list");
    assert_eq!(survivors.len(), 2, "{survivors:?}");
}

#[test]
fn killing_the_launcher_kills_everything_in_its_namespace() {
    if !granted() {
        return;
    }
    let mut child = sealed(&["--no-api"], "setsid sleep 1000 & echo $HOME; wait")
        .stdout(Stdio::piped())
        .spawn()
        .expect("start cr-mock");
    let mut out = BufReader::new(child.stdout.take().expect("piped"));
    let mut home = String::new();
    out.read_line(&mut home).expect("a line");
    child.kill().expect("kill");
    child.wait().expect("wait");
    out.read_to_end(&mut Vec::new()).expect("end of file");
    assert!(!fs::exists(home.trim()).expect("a look"), "{home}");
}

#[test]
fn without_a_namespace_nothing_is_run() {
    if !granted() {
        return;
    }
    // In a user namespace of its own, a limit can be set that hits no one else.
    let script = r#"echo 0 > /proc/sys/user/max_net_namespaces && exec "$@""#;
    Command::new("unshare")
        .args(["--user", "--map-root-user", "sh", "-c", script, "sh"])
        .arg(bin("cr-mock"))
        .args(["run", "--no-api", "--", "echo", "ran"])
        .assert()
        .code(125)
        .stdout("")
        .stderr(predicate::str::starts_with(
            "cr-mock: no network namespace: ",
        ));
}
