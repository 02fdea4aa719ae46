//! A repository, a home and an agent in it: one run of the real CLI.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::bins::bin;
use crate::cli::Cli;

/// A repository of one commit and one file, and a home beside it.
pub(crate) struct Place {
    dir: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let place = Self { dir };
        fs::create_dir(place.repository()).expect("a directory");
        fs::write(place.repository().join("a.txt"), "alpha\n").expect("write");
        place.git(&["init", "--quiet", "--initial-branch=main"]);
        place.git(&["config", "user.name", "Tester"]);
        place.git(&["config", "user.email", "tester@example.invalid"]);
        place.git(&["add", "a.txt"]);
        place.git(&["commit", "--quiet", "--message=begin"]);
        let up = place.repository().join("up");
        let made = Command::new("mkfifo").arg(up).status();
        assert!(made.expect("run mkfifo").success());
        place
    }

    pub(crate) fn repository(&self) -> PathBuf {
        self.path("repository")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// What `git ARGS` prints here.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .current_dir(self.repository())
            .args(args)
            .output()
            .expect("run git");
        assert!(output.status.success(), "git {args:?}: {output:?}");
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// A run of `cli` on the scenario called `scenario`.
    pub(crate) fn run<'a>(&'a self, cli: &'a Cli, scenario: &str) -> Run<'a> {
        let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/real/scenarios");
        let options: [OsString; 2] = [
            "--scenario".into(),
            scenarios.join(format!("{scenario}.json")).into(),
        ];
        Run {
            place: self,
            cli,
            options: options.into(),
            args: Vec::new(),
            prompt: "go".to_owned(),
        }
    }
}

/// A run that has not begun.
pub(crate) struct Run<'a> {
    place: &'a Place,
    cli: &'a Cli,
    options: Vec<OsString>,
    args: Vec<OsString>,
    prompt: String,
}

impl<'a> Run<'a> {
    pub(crate) fn args(mut self, args: &[&str]) -> Self {
        self.args.extend(args.iter().map(OsString::from));
        self
    }

    pub(crate) fn prompt(mut self, prompt: &str) -> Self {
        prompt.clone_into(&mut self.prompt);
        self
    }

    /// Adds options of the launcher.
    pub(crate) fn options(mut self, options: &[&str]) -> Self {
        self.options.extend(options.iter().map(OsString::from));
        self
    }

    /// Gives up after the first retry, rather than after three minutes.
    pub(crate) fn impatient(self) -> Self {
        self.options(&["--env", "CLAUDE_CODE_MAX_RETRIES=1"])
    }

    /// Starts the run; its prompt is on its way.
    pub(crate) fn start(self) -> Running<'a> {
        let place = self.place;
        let mut child = Command::new(bin("cr-mock"))
            .arg("run")
            .args(self.options)
            .arg("--cwd")
            .arg(place.repository())
            .arg("--home")
            .arg(place.path("home"))
            .arg("--report")
            .arg(place.path("report.json"))
            .arg("--bodies")
            .arg(place.path("bodies"))
            .arg("--")
            .args(agent(self.cli))
            .args(self.args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("start cr-mock");
        let mut stdin = child.stdin.take().expect("piped");
        // On a thread, since a prompt larger than a pipe waits for its reader;
        // and a command that ends at once reads none of it.
        thread::spawn(move || stdin.write_all(self.prompt.as_bytes()));
        Running { place, child }
    }

    /// The run, from its start to its end.
    pub(crate) fn end(self) -> Ended {
        self.start().end()
    }
}

/// The command under test.
fn agent(cli: &Cli) -> Vec<OsString> {
    let flags = [
        "-p",
        "--output-format",
        "stream-json",
        "--verbose",
        "--dangerously-skip-permissions",
    ];
    let program = cli.path.clone().into_os_string();
    [program]
        .into_iter()
        .chain(flags.map(OsString::from))
        .collect()
}

/// Waits until somebody opens the named pipe at `path` for writing.
fn opened(path: PathBuf) {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || send.send(fs::read(path)));
    let read = receive.recv_timeout(Duration::from_mins(1));
    read.expect("the tool is up in a minute").expect("read");
}

/// A run that has begun.
pub(crate) struct Running<'a> {
    place: &'a Place,
    child: Child,
}

impl Running<'_> {
    /// Waits until the tool of the scenario `sleep` is up.
    pub(crate) fn tool(&self) {
        opened(self.place.repository().join("up"));
    }

    /// Sends `signal` to the agent, and nobody else.
    pub(crate) fn signal(&self, signal: &str) {
        let inner = first_child(&self.child.id().to_string());
        let agent = first_child(&inner);
        let done = Command::new("kill").args(["-s", signal, &agent]).status();
        assert!(done.expect("run kill").success());
    }

    /// Waits for the end, which is also the end of every process of the run.
    pub(crate) fn end(self) -> Ended {
        let output = self.child.wait_with_output().expect("wait");
        let stdout = String::from_utf8(output.stdout).expect("UTF-8");
        let parse = |line| serde_json::from_str(line).expect("a line of JSON");
        let report = fs::read(self.place.path("report.json")).unwrap_or_default();
        Ended {
            code: output.status.code(),
            lines: stdout.lines().map(parse).collect(),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
            report: serde_json::from_slice(&report).expect("a report"),
            bodies: bodies(&self.place.path("bodies")),
        }
    }
}

/// The oldest child of process `pid`.
fn first_child(pid: &str) -> String {
    let path = format!("/proc/{pid}/task/{pid}/children");
    let children = fs::read_to_string(path).expect("a list of children");
    let first = children.split_whitespace().next();
    first.expect("a child").to_owned()
}

/// The requests written into `dir`, oldest first; they are taken out of it.
fn bodies(dir: &Path) -> Vec<Value> {
    let entries = fs::read_dir(dir).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|it| it.expect("an entry").path()).collect();
    paths.sort();
    let take = |path: PathBuf| {
        let body = fs::read(&path).expect("a body");
        fs::remove_file(path).expect("remove");
        serde_json::from_slice(&body).expect("JSON")
    };
    paths.into_iter().map(take).collect()
}

/// A run that is over.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) lines: Vec<Value>,
    pub(crate) stderr: String,
    pub(crate) report: Value,
    /// The requests for an answer.
    pub(crate) bodies: Vec<Value>,
}

impl Ended {
    /// The lines of this type.
    pub(crate) fn of(&self, kind: &str) -> Vec<&Value> {
        self.lines.iter().filter(|it| it["type"] == kind).collect()
    }

    /// The `system` lines of this subtype.
    pub(crate) fn system(&self, subtype: &str) -> Vec<&Value> {
        let mut lines = self.of("system");
        lines.retain(|it| it["subtype"] == subtype);
        lines
    }

    /// The only result.
    pub(crate) fn result(&self) -> &Value {
        let [result] = self.of("result")[..] else {
            panic!("one result, in {:#?}, {}", self.lines, self.stderr);
        };
        result
    }

    /// The commands of the processes that outlived the agent.
    pub(crate) fn survivors(&self) -> Vec<&str> {
        let survivors = self.report["survivors"].as_array();
        let survivors = survivors.expect("a list of survivors");
        survivors
            .iter()
            .filter_map(|it| it["argv"].as_str())
            .collect()
    }
}
