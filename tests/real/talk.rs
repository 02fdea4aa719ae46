//! A session of the real CLI in a sandbox, step by step.
//!
//! A step begins when a line says that the one before is reached. Tools and
//! answers of the API wait for a file, which `Talk::open` makes.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::ChildStdin;
use std::process::Stdio;
use std::time::{Duration, Instant};

use cr_test::{Child, Pipe, bin};
use serde_json::Value;

use crate::cli::Cli;
use crate::place::Place;

/// The limit of one step: the CLI is slow to start on a busy machine.
const LINE_LIMIT: Duration = Duration::from_mins(1);

/// How the session is started.
pub(crate) struct Start<'a> {
    place: &'a Place,
    cli: &'a Cli,
    scenario: &'a Value,
    run: &'a str,
    args: Vec<String>,
    launcher: Vec<String>,
    /// The program that starts `cr-spawn`.
    before: Option<&'a Path>,
}

impl<'a> Start<'a> {
    /// A session with the API that `scenario` describes. Permissions are skipped.
    pub(crate) fn new(place: &'a Place, cli: &'a Cli, scenario: &'a Value) -> Self {
        Self {
            place,
            cli,
            scenario,
            run: "run",
            args: vec!["--dangerously-skip-permissions".to_owned()],
            launcher: Vec::new(),
            before: None,
        }
    }

    /// Permissions are asked for.
    pub(crate) fn asking(mut self) -> Self {
        self.args = vec!["--ask".to_owned()];
        self
    }

    /// Adds arguments of `cr-spawn`.
    pub(crate) fn args(mut self, args: &[&str]) -> Self {
        self.args.extend(args.iter().map(|it| (*it).to_owned()));
        self
    }

    /// Adds options of the launcher.
    pub(crate) fn launcher(mut self, options: &[&str]) -> Self {
        self.launcher
            .extend(options.iter().map(|it| (*it).to_owned()));
        self
    }

    /// Starts the session by `program`, which gets the command as its arguments.
    pub(crate) fn behind(mut self, program: &'a Path) -> Self {
        self.before = Some(program);
        self
    }

    /// Resumes the session `id` of the run in the directory `run`.
    pub(crate) fn resuming(mut self, id: &str) -> Self {
        let earlier = self.place.path(self.run).display().to_string();
        self.run = "resumed";
        self.args(&["--resume", id, "--resumed-run", &earlier])
    }

    pub(crate) fn go(self) -> Talk<'a> {
        let place = self.place;
        let scenario = place
            .world
            .write("scenario.json", self.scenario.to_string());
        let mut child = place
            .world
            .tool("cr-mock")
            .timeout(LINE_LIMIT)
            .arg("run")
            .args(self.launcher)
            .arg("--scenario")
            .arg(scenario)
            .arg("--cwd")
            .arg(place.repository())
            .arg("--home")
            .arg(place.path("home"))
            .arg("--report")
            .arg(place.path("report.json"))
            .arg("--bodies")
            .arg(place.path("bodies"))
            .arg("--")
            .args(self.before)
            .arg(bin("cr-spawn"))
            .arg("--claude")
            .arg(&self.cli.path)
            .args(["--input", "stream", "--run-dir"])
            .arg(place.path(self.run))
            .args(self.args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("start cr-mock");
        let mut talk = Talk {
            place,
            run: place.path(self.run),
            input: child.stdin.take(),
            out: BufReader::new(child.stdout.take().expect("piped")),
            child,
            lines: Vec::new(),
            seen: 0,
        };
        // From here on the run is there for clients.
        talk.until("a start", |line| line["subtype"] == "start");
        talk
    }
}

/// A session that goes on.
pub(crate) struct Talk<'a> {
    place: &'a Place,
    pub(crate) run: PathBuf,
    child: Child,
    input: Option<ChildStdin>,
    out: BufReader<Pipe>,
    pub(crate) lines: Vec<Value>,
    /// The lines before this one were waited for.
    seen: usize,
}

impl Talk<'_> {
    /// Writes a message to standard input, with an id made from its text.
    pub(crate) fn say(&mut self, text: &str) {
        let line = serde_json::json!({"text": text, "id": id_of(text)});
        let input = self.input.as_mut().expect("an open input");
        input
            .write_all(format!("{line}\n").as_bytes())
            .expect("written");
    }

    /// Writes a message of blocks.
    pub(crate) fn say_blocks(&mut self, blocks: &Value) {
        let message = serde_json::json!({"role": "user", "content": blocks});
        let line = serde_json::json!({"type": "user", "message": message});
        let input = self.input.as_mut().expect("an open input");
        input
            .write_all(format!("{line}\n").as_bytes())
            .expect("written");
    }

    /// Ends standard input.
    pub(crate) fn end_input(&mut self) {
        self.input = None;
    }

    /// Lets go on what waits for the file `name`.
    pub(crate) fn open(&self, name: &str) {
        fs::write(self.place.repository().join(name), "").expect("written");
    }

    /// Reads on until a line fits; what came before is skipped.
    pub(crate) fn until(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        // A read is bounded, but signs of life come for ever.
        let end = Instant::now() + LINE_LIMIT;
        loop {
            while let Some(line) = self.lines.get(self.seen) {
                self.seen += 1;
                if fits(line) {
                    return line.clone();
                }
            }
            let is_read = Instant::now() < end && self.read();
            assert!(is_read, "no {what} in {:#?}", self.lines);
        }
    }

    /// Reads on until a line of our own of this kind has this state.
    pub(crate) fn until_own(&mut self, subtype: &str, state: &str) -> Value {
        self.until(&format!("{subtype} {state}"), |line| {
            line["type"] == "cr" && line["subtype"] == subtype && line["state"] == state
        })
    }

    /// Reads on until the message `text` has this state.
    pub(crate) fn until_input(&mut self, text: &str, state: &str) -> Value {
        let id = id_of(text);
        self.until(&format!("{text}: {state}"), |line| {
            line["subtype"] == "input" && line["id"] == id && line["state"] == state
        })
    }

    /// Reads on until the agent calls a tool.
    pub(crate) fn until_tool(&mut self) -> Value {
        self.until("a tool call", |line| {
            line["type"] == "assistant" && line.to_string().contains("\"tool_use\"")
        })
    }

    /// Reads on until the first part of a text of the main thread; this needs
    /// `--partial-messages`.
    pub(crate) fn until_text(&mut self) -> Value {
        self.until("a part of a text", |line| {
            line["event"]["delta"]["type"] == "text_delta" && line["parent_tool_use_id"].is_null()
        })
    }

    /// Waits until the agent has this message of ours in its queue: its log says
    /// so, in every version.
    pub(crate) fn until_agent_has(&self, text: &str) {
        cr_test::until(&format!("the agent has {text}"), || {
            self.log_records()
                .iter()
                .any(|it| it["operation"] == "enqueue" && it["content"] == text)
        });
    }

    /// The records in the agent's logs of the main thread.
    pub(crate) fn log_records(&self) -> Vec<Value> {
        log_records(self.place)
    }

    fn read(&mut self) -> bool {
        let mut line = String::new();
        self.out.read_line(&mut line).expect("read");
        if line.is_empty() {
            return false;
        }
        self.lines.push(serde_json::from_str(&line).expect("JSON"));
        true
    }

    /// What `cr-send RUN ARGS` ends with and prints.
    pub(crate) fn send(&self, args: &[&str]) -> (Option<i32>, String) {
        let mut tool = self.place.world.tool("cr-send");
        let output = tool
            .arg(&self.run)
            .args(args)
            .output()
            .expect("run cr-send");
        let text = [output.stdout, output.stderr].concat();
        (
            output.status.code(),
            String::from_utf8(text).expect("UTF-8"),
        )
    }

    /// The same, and it succeeds.
    pub(crate) fn sent(&self, args: &[&str]) -> String {
        let (code, text) = self.send(args);
        assert_eq!(code, Some(0), "cr-send {args:?}: {text}");
        text
    }

    /// Kills the agent itself.
    pub(crate) fn kill_agent(&self, cli: &Cli) {
        let program = fs::canonicalize(&cli.path).expect("a program");
        let found = crate::run::descendants(&self.child.id().to_string());
        let is_agent = |pid: &&String| {
            fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == program)
        };
        let pid = found.iter().find(is_agent).expect("the agent");
        cr_test::kill(
            pid.parse().expect("a number"),
            cr_test::signal_named("KILL"),
        );
    }

    /// Ends the input, reads to the end and waits. No process is left.
    pub(crate) fn finish(mut self) -> Over {
        self.end_input();
        while self.read() {}
        let status = self.child.wait().expect("wait");
        let report = fs::read(self.place.path("report.json")).expect("a report");
        let report: Value = serde_json::from_slice(&report).expect("JSON");
        assert_eq!(report["survivors"], serde_json::json!([]));
        Over {
            lines: self.lines,
            code: status.code(),
        }
    }
}

/// The records in the agent's logs of the main thread.
pub(crate) fn log_records(place: &Place) -> Vec<Value> {
    let projects = place.path("home/.claude/projects");
    let projects = fs::read_dir(projects).into_iter().flatten().flatten();
    let files = projects.flat_map(|project| fs::read_dir(project.path()).expect("a directory"));
    let logs = files.flatten().map(|file| file.path());
    logs.filter(|path| path.extension().is_some_and(|it| it == "jsonl"))
        .flat_map(|path| records(&path))
        .collect()
}

fn records(log: &Path) -> Vec<Value> {
    let text = fs::read_to_string(log).unwrap_or_default();
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

/// The id of the message `text`, for tests that name a message by its text.
pub(crate) fn id_of(text: &str) -> String {
    let sum = text.bytes().fold(14_695_981_039_346_656_037_u64, |sum, b| {
        (sum ^ u64::from(b)).wrapping_mul(1_099_511_628_211)
    });
    format!("00000000-0000-4000-8000-{:012x}", sum & 0xffff_ffff_ffff)
}

/// A session that is over.
#[derive(Debug)]
pub(crate) struct Over {
    pub(crate) lines: Vec<Value>,
    pub(crate) code: Option<i32>,
}

impl Over {
    /// The lines of our own of this kind.
    pub(crate) fn own(&self, subtype: &str) -> Vec<&Value> {
        let own = |line: &&Value| line["type"] == "cr" && line["subtype"] == subtype;
        self.lines.iter().filter(own).collect()
    }

    /// The texts of the results.
    pub(crate) fn results(&self) -> Vec<&str> {
        let results = self.lines.iter().filter(|line| line["type"] == "result");
        results
            .map(|line| line["result"].as_str().unwrap_or_default())
            .collect()
    }

    /// The states of the message `text`, in order; a folded one says so.
    pub(crate) fn states(&self, text: &str) -> Vec<String> {
        let id = id_of(text);
        let of_it = self.own("input").into_iter().filter(|it| it["id"] == id);
        of_it
            .map(|it| {
                let folded = if it["folded"] == true { " folded" } else { "" };
                format!("{}{folded}", it["state"].as_str().unwrap_or_default())
            })
            .collect()
    }

    /// The number of the turn that took up the message `text`.
    pub(crate) fn turn(&self, text: &str) -> u64 {
        let id = id_of(text);
        let lines = self.own("input");
        let turn = lines
            .iter()
            .filter(|it| it["id"] == id)
            .find_map(|it| it["turn"].as_u64());
        turn.expect("a turn")
    }

    /// What caused each turn, in order.
    pub(crate) fn causes(&self) -> Vec<&str> {
        let running = self.own("state").into_iter();
        let running = running.filter(|it| it["state"] == "running" && it["cause"].is_string());
        let mut turns: Vec<(u64, &str)> = Vec::new();
        for line in running {
            let turn = line["turn"].as_u64().unwrap_or_default();
            turns.retain(|(known, _)| *known != turn);
            turns.push((turn, line["cause"].as_str().unwrap_or_default()));
        }
        turns.into_iter().map(|(_, cause)| cause).collect()
    }

    /// The id of the agent's session.
    pub(crate) fn session(&self) -> &str {
        let argv = self.lines[0]["argv"].as_array().expect("arguments");
        let mut argv = argv.iter().filter_map(Value::as_str);
        let id = argv.find_map(|arg| arg.strip_prefix("--session-id="));
        id.expect("an id")
    }

    /// The `cr/exit`, which is the last line.
    pub(crate) fn exit(&self) -> &Value {
        self.lines.last().expect("a line")
    }
}
