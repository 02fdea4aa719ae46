//! A session with the stand-in for the agent, step by step.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::ChildStdin;
use std::process::Stdio;
use std::time::{Duration, Instant};

use cr_control::Client;
use cr_rundir::{ControlOperation, ControlReply, ControlRequest, RunDir};
use cr_test::{Child, Pipe, World, bin};
use serde_json::Value;

/// The versions that the stand-in acts as.
pub(crate) const VERSIONS: [&str; 2] = ["2.1.326", "2.1.197"];

const REPLY_LIMIT: Duration = Duration::from_secs(20);

/// A session that goes on.
pub(crate) struct Talk {
    pub(crate) world: World,
    pub(crate) child: Child,
    input: Option<ChildStdin>,
    out: BufReader<Pipe>,
    pub(crate) lines: Vec<Value>,
    /// The lines before this one were waited for.
    seen: usize,
}

impl Talk {
    pub(crate) fn start(version: &str, args: &[&str]) -> Self {
        Self::start_in(World::new(), version, args)
    }

    /// Starts a session in a world that may have had one before.
    pub(crate) fn start_in(world: World, version: &str, args: &[&str]) -> Self {
        let agent = format!("exec {} agent \"$@\"", bin("cr-mock").display());
        let agent = world.script("agent", &agent);
        let mut child = world
            .tool("cr-spawn")
            .env("CR_CLAUDE", agent)
            .env("CR_MOCK_VERSION", version)
            .current_dir(world.dir())
            .args(["--input", "stream", "--run-dir"])
            .arg(world.dir().join(run_name(args)))
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("start cr-spawn");
        let input = child.stdin.take();
        let out = BufReader::new(child.stdout.take().expect("piped"));
        Self {
            world,
            child,
            input,
            out,
            lines: Vec::new(),
            seen: 0,
        }
    }

    pub(crate) fn run_dir(&self) -> PathBuf {
        self.world.dir().join("run")
    }

    /// Writes a line to standard input.
    pub(crate) fn say(&mut self, line: &str) {
        let input = self.input.as_mut().expect("an open input");
        input
            .write_all(format!("{line}\n").as_bytes())
            .expect("written");
    }

    /// Ends standard input.
    pub(crate) fn end_input(&mut self) {
        self.input = None;
    }

    /// Reads on until a line fits; what came before is skipped.
    pub(crate) fn until(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            while let Some(line) = self.lines.get(self.seen) {
                self.seen += 1;
                if fits(line) {
                    return line.clone();
                }
            }
            assert!(self.read(), "no {what} in {:#?}", self.own_lines());
        }
    }

    /// Reads on until a line of our own of this kind has this state.
    pub(crate) fn until_state(&mut self, subtype: &str, state: &str) -> Value {
        self.until(&format!("{subtype} {state}"), |line| {
            line["type"] == "cr" && line["subtype"] == subtype && line["state"] == state
        })
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

    /// Ends the input, reads to the end and waits.
    pub(crate) fn finish(mut self) -> Over {
        self.end_input();
        while self.read() {}
        let status = self.child.wait().expect("wait");
        self.world.assert_nobody_left("a session");
        Over {
            world: self.world,
            lines: self.lines,
            code: status.code(),
        }
    }

    /// Sends a request to the control socket.
    pub(crate) fn ask(&self, request: &ControlRequest) -> ControlReply {
        self.client()
            .request(request, Some(Instant::now() + REPLY_LIMIT))
            .expect("a reply")
    }

    pub(crate) fn client(&self) -> Client {
        let mut client = None;
        cr_test::until("the run takes clients", || {
            let dir = RunDir::existing(&self.run_dir()).ok();
            client = dir.and_then(|dir| Client::connect(&dir, REPLY_LIMIT).ok());
            client.is_some()
        });
        client.expect("connected")
    }

    /// Sends a message.
    pub(crate) fn send(&self, text: &str, when: &str) -> ControlReply {
        let text = serde_json::to_string(text).expect("JSON");
        let request = format!(r#"{{"op":"send","text":{text},"when":"{when}"}}"#);
        self.ask(&serde_json::from_str(&request).expect("a request"))
    }

    pub(crate) fn own_lines(&self) -> Vec<&Value> {
        self.lines
            .iter()
            .filter(|line| line["type"] == "cr")
            .collect()
    }
}

/// The name of the run directory: that of a resumed run differs.
fn run_name(args: &[&str]) -> &'static str {
    if args.contains(&"--resumed-run") {
        "resumed"
    } else {
        "run"
    }
}

/// A request with an id.
pub(crate) fn request(op: ControlOperation, id: &str) -> ControlRequest {
    ControlRequest {
        id: Some(id.to_owned()),
        ..ControlRequest::new(op)
    }
}

/// A session that is over.
pub(crate) struct Over {
    pub(crate) world: World,
    pub(crate) lines: Vec<Value>,
    pub(crate) code: Option<i32>,
}

impl Over {
    /// The lines of our own of this kind.
    pub(crate) fn own(&self, subtype: &str) -> Vec<&Value> {
        let own = |line: &&Value| line["type"] == "cr" && line["subtype"] == subtype;
        self.lines.iter().filter(own).collect()
    }

    /// The states of the messages, as `TEXT state`, in order; `texts` are the
    /// messages in the order in which they were accepted.
    pub(crate) fn inputs(&self, texts: &[&str]) -> Vec<String> {
        let mut ids: Vec<String> = Vec::new();
        let mut states = Vec::new();
        for line in self.own("input") {
            let id = line["id"].as_str().unwrap_or_default().to_owned();
            let index = ids
                .iter()
                .position(|known| *known == id)
                .unwrap_or_else(|| {
                    ids.push(id);
                    ids.len() - 1
                });
            let folded = if line["folded"] == true {
                " folded"
            } else {
                ""
            };
            let turn = line["turn"].as_u64();
            let turn = turn.map(|turn| format!(" {turn}")).unwrap_or_default();
            let state = line["state"].as_str().unwrap_or_default();
            states.push(format!("{} {state}{turn}{folded}", texts[index]));
        }
        states
    }

    pub(crate) fn results(&self) -> Vec<&str> {
        let results = self.lines.iter().filter(|line| line["type"] == "result");
        results
            .map(|line| line["result"].as_str().unwrap_or_default())
            .collect()
    }

    pub(crate) fn exit(&self) -> &Value {
        self.lines.last().expect("a line")
    }

    /// The texts of the messages in the agent's session log.
    pub(crate) fn logged(&self) -> Vec<String> {
        logged(&self.world)
    }
}

/// The texts of the messages in the agent's session logs.
pub(crate) fn logged(world: &World) -> Vec<String> {
    let projects = world.home().join(".claude/projects");
    let mut texts = Vec::new();
    for project in fs::read_dir(projects).into_iter().flatten().flatten() {
        for log in fs::read_dir(project.path()).expect("a directory").flatten() {
            texts.extend(messages_in(&log.path()));
        }
    }
    texts
}

fn messages_in(log: &Path) -> Vec<String> {
    let text = fs::read_to_string(log).unwrap_or_default();
    let records = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    records
        .filter_map(|record| {
            let of_turn = record["message"]["content"]
                .as_str()
                .filter(|_| record["type"] == "user");
            let folded = record["attachment"]["prompt"].as_str();
            of_turn.or(folded).map(str::to_owned)
        })
        .collect()
}
