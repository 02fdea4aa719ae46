//! One run of the real CLI in a sandbox, from its start to its end.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use cr_test::{Child, bin, kill, signal_named, until};
use serde_json::Value;

use crate::cli::Cli;
use crate::place::Place;

/// The limit of one run: the CLI is slow to start on a busy machine.
pub(crate) const RUN_LIMIT: Duration = Duration::from_mins(3);

/// A run that has not begun.
pub(crate) struct Run<'a> {
    place: &'a Place,
    cli: &'a Cli,
    command: Vec<OsString>,
    options: Vec<OsString>,
    args: Vec<OsString>,
    prompt: String,
}

/// The command under test.
fn supervised(cli: &Cli) -> Vec<OsString> {
    let spawn = bin("cr-spawn").into_os_string();
    let claude = cli.path.clone().into_os_string();
    let skip = "--dangerously-skip-permissions".into();
    vec![spawn, "--claude".into(), claude, skip]
}

/// The same agent without us, to compare with.
fn bare(cli: &Cli) -> Vec<OsString> {
    let flags = "-p --output-format stream-json --verbose --dangerously-skip-permissions";
    let claude = cli.path.clone().into_os_string();
    let flags = flags.split(' ').map(OsString::from);
    [claude].into_iter().chain(flags).collect()
}

impl<'a> Run<'a> {
    pub(crate) fn new(place: &'a Place, cli: &'a Cli, options: Vec<OsString>) -> Self {
        Self {
            place,
            cli,
            command: supervised(cli),
            options,
            args: Vec::new(),
            prompt: "go".to_owned(),
        }
    }

    /// Runs the CLI alone, without `cr-spawn`.
    pub(crate) fn bare(mut self) -> Self {
        self.command = bare(self.cli);
        self
    }

    /// Runs another command.
    pub(crate) fn command(mut self, command: Vec<OsString>) -> Self {
        self.command = command;
        self
    }

    /// Adds arguments of the agent.
    pub(crate) fn args(mut self, args: &[&str]) -> Self {
        self.args.extend(args.iter().map(OsString::from));
        self
    }

    /// Adds options of the launcher.
    pub(crate) fn options(mut self, options: &[&str]) -> Self {
        self.options.extend(options.iter().map(OsString::from));
        self
    }

    pub(crate) fn prompt(mut self, prompt: &str) -> Self {
        prompt.clone_into(&mut self.prompt);
        self
    }

    /// Gives up after the first retry, rather than after three minutes.
    pub(crate) fn impatient(self) -> Self {
        self.options(&["--env", "CLAUDE_CODE_MAX_RETRIES=1"])
    }

    /// Starts the run; its prompt is on its way.
    pub(crate) fn start(self) -> Running<'a> {
        let place = self.place;
        let mut child = place.world.tool("cr-mock");
        let mut child = child
            .timeout(RUN_LIMIT)
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
            .args(&self.command)
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

    /// The same, for what writes no stream: its code, its output, its errors.
    pub(crate) fn text(self) -> (Option<i32>, String, String) {
        let output = self.start().child.wait_with_output().expect("wait");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        (
            output.status.code(),
            text(output.stdout),
            text(output.stderr),
        )
    }
}

/// A run that has begun.
pub(crate) struct Running<'a> {
    place: &'a Place,
    child: Child,
}

impl Running<'_> {
    /// Waits until the tool of the scenario `sleep` is up.
    pub(crate) fn tool_is_up(&self) {
        self.place.up.read();
    }

    /// Sends `signal` to number `nth` of the processes that run `program`.
    pub(crate) fn signal(&self, signal: &str, program: &Path, nth: usize) {
        // The kernel names the file, and not the links on the way to it.
        let program = fs::canonicalize(program).expect("a program");
        let mut found = Vec::new();
        until("the process is there", || {
            found = descendants(&self.child.id().to_string());
            found.retain(|pid| {
                fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == program)
            });
            found.len() > nth
        });
        kill(found[nth].parse().expect("a pid"), signal_named(signal));
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
            requests: self.place.requests(),
        }
    }
}

/// Every process below `pid`, a parent before its children.
pub(crate) fn descendants(pid: &str) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task"))
        .into_iter()
        .flatten();
    let tasks = tasks.flatten().map(|task| task.path().join("children"));
    let lists = tasks.flat_map(fs::read_to_string);
    let children: Vec<String> = lists
        .flat_map(|list| {
            list.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .collect();
    let below = children.iter().flat_map(|child| descendants(child));
    let below: Vec<String> = below.collect();
    [children, below].concat()
}

/// A run that is over.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) lines: Vec<Value>,
    pub(crate) stderr: String,
    pub(crate) report: Value,
    /// What the API was asked.
    pub(crate) requests: Vec<Value>,
}

impl Ended {
    /// The lines of this type.
    pub(crate) fn of(&self, kind: &str) -> Vec<&Value> {
        self.lines.iter().filter(|it| it["type"] == kind).collect()
    }

    /// The lines of this type and subtype.
    pub(crate) fn kind(&self, kind: &str, subtype: &str) -> Vec<&Value> {
        let mut lines = self.of(kind);
        lines.retain(|it| it["subtype"] == subtype);
        lines
    }

    /// The lines of the agent.
    pub(crate) fn agent(&self) -> Vec<&Value> {
        self.lines.iter().filter(|it| it["type"] != "cr").collect()
    }

    /// The agent's only result.
    pub(crate) fn result(&self) -> &Value {
        let [result] = self.of("result")[..] else {
            panic!("one result, in {:#?}, {}", self.lines, self.stderr);
        };
        result
    }

    /// The `cr/exit`, which there is once, and last.
    pub(crate) fn exit(&self) -> &Value {
        let [exit] = self.kind("cr", "exit")[..] else {
            panic!("one cr/exit, in {:#?}, {}", self.lines, self.stderr);
        };
        assert_eq!(self.lines.last(), Some(exit), "the last line");
        exit
    }

    /// The commands of the processes that outlived the command under test.
    pub(crate) fn survivors(&self) -> Vec<&str> {
        let survivors = self.report["survivors"].as_array();
        let survivors = survivors.expect("a list of survivors");
        survivors
            .iter()
            .filter_map(|it| it["argv"].as_str())
            .collect()
    }
}
