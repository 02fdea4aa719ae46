//! A stand-in that runs, with its input and output in the test's hands.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

use cr_test::{Child, Command, Pipe, Signal, World};
use serde_json::{Value, json};

pub(crate) const NEW: &str = "2.1.326";
pub(crate) const OLD: &str = "2.1.197";
pub(crate) const BOTH: [&str; 2] = [NEW, OLD];

/// The options of a session of many messages.
pub(crate) const PROTOCOL: [&str; 5] = [
    "-p",
    "--output-format=stream-json",
    "--verbose",
    "--input-format=stream-json",
    "--replay-user-messages",
];

/// A command that asks for permission, and so holds the turn in a tool.
pub(crate) const HELD: &str = "ask:Bash:touch held.txt";

pub(crate) struct Agent {
    pub(crate) world: World,
    child: Child,
    out: BufReader<Pipe>,
    pub(crate) lines: Vec<Value>,
}

/// How it ended, and everything it wrote.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) lines: Vec<Value>,
    pub(crate) stderr: String,
}

impl Agent {
    /// One that answers questions itself.
    pub(crate) fn new(version: &str) -> Self {
        Self::start(&World::new(), version, &["--dangerously-skip-permissions"])
    }

    /// One that asks.
    pub(crate) fn asking(version: &str) -> Self {
        Self::start(&World::new(), version, &["--permission-prompt-tool=stdio"])
    }

    pub(crate) fn start(world: &World, version: &str, flags: &[&str]) -> Self {
        let mut command = world.tool("cr-mock");
        command
            .arg("agent")
            .args(PROTOCOL)
            .args(flags)
            .env("CR_MOCK_VERSION", version)
            .env("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1")
            .current_dir(world.dir());
        Self::spawn(&mut command)
    }

    /// Any command that speaks the protocol.
    pub(crate) fn spawn(command: &mut Command) -> Self {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("start the agent");
        let out = BufReader::new(child.stdout.take().expect("piped"));
        Self {
            world: command.world().clone(),
            child,
            out,
            lines: Vec::new(),
        }
    }

    pub(crate) fn write(&mut self, line: &str) {
        let stdin = self.child.stdin.as_mut().expect("open");
        // It may have ended already.
        let _ = stdin.write_all(format!("{line}\n").as_bytes());
    }

    /// Sends a message with the uuid `id`.
    pub(crate) fn say(&mut self, id: &str, text: &str) {
        self.send(id, text, "next");
    }

    pub(crate) fn send(&mut self, id: &str, text: &str, priority: &str) {
        let message = json!({"role": "user", "content": text});
        let line = json!({"type": "user", "message": message, "uuid": id, "priority": priority});
        self.write(&line.to_string());
    }

    /// Sends a control request with the id `id`, and returns its answer.
    pub(crate) fn control(&mut self, id: &str, request: &Value) -> Value {
        self.request(id, request);
        self.until(|line| line["response"]["request_id"] == id)["response"].clone()
    }

    pub(crate) fn request(&mut self, id: &str, request: &Value) {
        let line = json!({"type": "control_request", "request_id": id, "request": request});
        self.write(&line.to_string());
    }

    /// Waits for the next line that `is_it`.
    pub(crate) fn until(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let mut text = String::new();
            self.out.read_line(&mut text).expect("a line");
            let line: Value = serde_json::from_str(&text)
                .unwrap_or_else(|err| panic!("{err}: {text:?} after {:#?}", kinds(&self.lines)));
            self.lines.push(line.clone());
            if is_it(&line) {
                return line;
            }
        }
    }

    pub(crate) fn until_kind(&mut self, wanted: &str) -> Value {
        self.until(|line| kind(line) == wanted)
    }

    pub(crate) fn until_idle(&mut self) {
        self.until_kind("state idle");
    }

    pub(crate) fn result(&mut self) -> Value {
        self.until(|line| line["type"] == "result")
    }

    /// Waits for a question; returns its line.
    pub(crate) fn question(&mut self) -> Value {
        self.until(|line| line["request"]["subtype"] == "can_use_tool")
    }

    /// Answers `question`.
    pub(crate) fn answer(&mut self, question: &Value, decision: &Value) {
        let response = json!({
            "subtype": "success",
            "request_id": question["request_id"],
            "response": decision,
        });
        let line = json!({"type": "control_response", "response": response});
        self.write(&line.to_string());
    }

    pub(crate) fn allow(&mut self, question: &Value) {
        let input = &question["request"]["input"];
        self.answer(
            question,
            &json!({"behavior": "allow", "updatedInput": input}),
        );
    }

    pub(crate) fn signal(&mut self, signal: Signal) {
        self.child.signal(signal);
    }

    /// Closes its input and waits for its end.
    pub(crate) fn close(mut self) -> Ended {
        self.child.stdin = None;
        self.end()
    }

    /// Waits for its end.
    pub(crate) fn end(mut self) -> Ended {
        let mut text = String::new();
        self.out.read_to_string(&mut text).expect("its output");
        let rest = text
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"));
        self.lines.extend(rest);
        let mut stderr = String::new();
        let mut err = self.child.stderr.take().expect("piped");
        err.read_to_string(&mut stderr).expect("its errors");
        Ended {
            code: self.child.wait().expect("wait").code(),
            lines: self.lines,
            stderr,
        }
    }
}

/// What a line is, in short.
pub(crate) fn kind(line: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match (&text(&line["type"])[..], &text(&line["subtype"])[..]) {
        ("system", "session_state_changed") => format!("state {}", text(&line["state"])),
        ("system", subtype) => subtype.to_owned(),
        ("command_lifecycle", _) => {
            format!("{} {}", text(&line["state"]), text(&line["command_uuid"]))
        }
        ("user", _) if line["isReplay"] == true => {
            let uuid = text(&line["uuid"]);
            let text = text(&line["message"]["content"]);
            format!("replay {uuid} {text:?}")
        }
        ("assistant" | "user", _) => {
            let block = &line["message"]["content"][0];
            let nested = if line["parent_tool_use_id"].is_null() {
                ""
            } else {
                "nested "
            };
            format!("{nested}{} {}", text(&line["type"]), text(&block["type"]))
        }
        (other, _) => other.to_owned(),
    }
}

pub(crate) fn kinds(lines: &[Value]) -> Vec<String> {
    lines.iter().map(kind).collect()
}

/// The texts of all results.
pub(crate) fn results(lines: &[Value]) -> Vec<&str> {
    let results = lines.iter().filter(|line| line["type"] == "result");
    results
        .map(|line| line["result"].as_str().unwrap_or("-"))
        .collect()
}
