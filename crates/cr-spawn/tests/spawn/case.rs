//! The set-up of one test: a run and its results.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use cr_test::{Child, Command, Pipe, Signal, World, bin};
use serde_json::Value;

pub(crate) const INIT: &str = r#"{"type":"system","subtype":"init","session_id":"s"}"#;
pub(crate) const CALL: &str = r#"{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"sleep 300"}}]}}"#;
pub(crate) const RESULT: &str =
    r#"{"duration_ms":5,"is_error":false,"type":"result","subtype":"success","result":"done"}"#;

/// A run in the making.
pub(crate) struct Case {
    pub(crate) world: World,
    pub(crate) command: Command,
}

/// A run that goes on.
pub(crate) struct Running {
    pub(crate) world: World,
    pub(crate) child: Child,
    pub(crate) out: Option<BufReader<Pipe>>,
    pub(crate) lines: Vec<String>,
}

/// A run that is over.
pub(crate) struct Done {
    pub(crate) world: World,
    pub(crate) lines: Vec<String>,
    pub(crate) status: ExitStatus,
    pub(crate) stderr: String,
}

impl Case {
    /// An agent that plays `lines` with `fault`.
    pub(crate) fn playing(lines: &[&str], fault: &str) -> Self {
        let world = World::new();
        let text: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
        let recording = world.write("recording.ndjson", text);
        let mut command = world.tool("cr-spawn");
        command
            .env("CR_CLAUDE", bin("cr-replay"))
            .env("CR_REPLAY", &recording)
            .env("CR_REPLAY_SPEED", "instant")
            .env("CR_REPLAY_FAULT", fault)
            .current_dir(world.dir())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Self { world, command }
    }

    /// An agent that is a shell script.
    pub(crate) fn script(text: &str) -> Self {
        let mut case = Self::playing(&[], "");
        let path = case.write_script("agent", text);
        case.command.env("CR_CLAUDE", path);
        case
    }

    pub(crate) fn write_script(&self, name: &str, text: &str) -> PathBuf {
        self.world.script(name, text)
    }

    /// Replaces the command, with its environment and its directory.
    pub(crate) fn instead(&mut self, mut command: Command) {
        command
            .env_clear()
            .envs(self.command.variables())
            .current_dir(self.world.dir())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        self.command = command;
    }

    pub(crate) fn args(mut self, args: &[&str]) -> Self {
        self.command.args(args);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Starts it, with a prompt.
    pub(crate) fn start(self) -> Running {
        self.start_with(b"what to do")
    }

    pub(crate) fn start_with(mut self, prompt: &[u8]) -> Running {
        let mut child = self.command.spawn().expect("start cr-spawn");
        if let Some(mut stdin) = child.stdin.take() {
            // A run that is refused does not read it.
            let _ = stdin.write_all(prompt);
        }
        let out = child.stdout.take().map(BufReader::new);
        Running {
            world: self.world,
            child,
            out,
            lines: Vec::new(),
        }
    }

    /// Runs it to its end.
    pub(crate) fn run(self) -> Done {
        self.start().finish()
    }
}

impl Running {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The guardian's pid, from the first line.
    pub(crate) fn guardian(&mut self) -> u32 {
        self.number("guardian_pid")
    }

    pub(crate) fn agent(&mut self) -> u32 {
        self.number("agent_pid")
    }

    fn number(&mut self, key: &str) -> u32 {
        self.wait_for("cr/start");
        let start: Value = serde_json::from_str(&self.lines[0]).expect("JSON");
        u32::try_from(start[key].as_i64().expect("a number")).expect("a pid")
    }

    /// Reads until a line of this kind came.
    pub(crate) fn wait_for(&mut self, kind: &str) -> Value {
        if let Some(line) = self.lines.iter().find(|line| kind_of(line) == kind) {
            return serde_json::from_str(line).expect("JSON");
        }
        loop {
            let line = self
                .next()
                .unwrap_or_else(|| panic!("no {kind} in {:#?}", self.lines));
            if kind_of(&line) == kind {
                return serde_json::from_str(&line).expect("JSON");
            }
        }
    }

    fn next(&mut self) -> Option<String> {
        let out = self.out.as_mut().expect("a reader");
        let mut line = String::new();
        out.read_line(&mut line).expect("read");
        if line.is_empty() {
            return None;
        }
        self.lines.push(line.trim_end().to_owned());
        self.lines.last().cloned()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        self.child.signal(signal);
    }

    /// Nobody reads any more.
    pub(crate) fn leave(&mut self) {
        self.out = None;
    }

    /// Reads to the end.
    pub(crate) fn finish(mut self) -> Done {
        if self.out.is_some() {
            while self.next().is_some() {}
        }
        self.wait()
    }

    /// Waits for the end without reading.
    pub(crate) fn wait(mut self) -> Done {
        let status = self.child.wait().expect("wait");
        let mut stderr = Vec::new();
        if let Some(mut pipe) = self.child.stderr.take() {
            pipe.read_to_end(&mut stderr).expect("read stderr");
        }
        Done {
            world: self.world,
            lines: self.lines,
            status,
            stderr: String::from_utf8_lossy(&stderr).into_owned(),
        }
    }
}

impl Done {
    pub(crate) fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// All lines of a kind.
    pub(crate) fn all(&self, kind: &str) -> Vec<Value> {
        let lines = self.lines.iter().filter(|line| kind_of(line) == kind);
        lines
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect()
    }

    /// The last line, which must be the only `cr/exit`, after a first line that
    /// must be `cr/start`.
    pub(crate) fn exit(&self) -> Value {
        let exits = self.all("cr/exit");
        assert_eq!(exits.len(), 1, "{:#?}\n{}", self.lines, self.stderr);
        assert_eq!(
            self.lines.first().map(|line| kind_of(line)).as_deref(),
            Some("cr/start")
        );
        assert_eq!(
            self.lines.last().map(|line| kind_of(line)).as_deref(),
            Some("cr/exit")
        );
        exits.into_iter().next().expect("one")
    }

    /// The agent's lines, without ours.
    pub(crate) fn agents(&self) -> Vec<&str> {
        let lines = self.lines.iter().map(String::as_str);
        lines
            .filter(|line| !kind_of(line).starts_with("cr/"))
            .collect()
    }

    /// The run's directory.
    pub(crate) fn run_dir(&self) -> PathBuf {
        run_dirs(self.world.dir())
            .into_iter()
            .next()
            .expect("a run directory")
    }

    /// What the run's directory says of its end.
    pub(crate) fn record(&self) -> Value {
        let text = fs::read(self.run_dir().join("exit.json")).expect("exit.json");
        serde_json::from_slice(&text).expect("JSON")
    }

    /// Fails unless nobody is left.
    pub(crate) fn assert_nobody_left(&self, what: &str) {
        self.world.assert_nobody_left(what);
    }
}

pub(crate) fn run_dirs(dir: &Path) -> Vec<PathBuf> {
    let runs = fs::read_dir(dir.join("state/runs")).into_iter().flatten();
    runs.map(|entry| entry.expect("an entry").path()).collect()
}

/// `type`, or `type/subtype` for lines of ours.
pub(crate) fn kind_of(line: &str) -> String {
    let Ok(value) = serde_json::from_str::<Value>(line) else {
        return "no JSON".to_owned();
    };
    let kind = value["type"].as_str().unwrap_or_default();
    match (kind, value["subtype"].as_str()) {
        ("cr", Some(subtype)) => format!("cr/{subtype}"),
        _ => kind.to_owned(),
    }
}
