//! A repository, an agent, and a near end.

use std::path::PathBuf;

use cr_test::{Command, World, bin};
use serde_json::Value;

/// The agent: what it does is said by the prompt, a shell script.
const AGENT: &str = r#"case "$*" in *--version*) echo '2.1.326 (Claude Code)'; exit ;; esac
echo '{"type":"system","subtype":"init","session_id":"s"}'
result() { echo '{"type":"result","subtype":"success","is_error":false,"result":"ok","session_id":"s","num_turns":1}'; }
prompt=$(cat)
eval "$prompt"
"#;

/// What an agent does that goes on for ever, with a result and a process that
/// has left its session.
pub(crate) const ENDLESS: &str =
    "setsid sleep 1000 & result; while :; do echo '{\"type\":\"x\"}'; sleep 0.05; done";

pub(crate) struct Case {
    pub(crate) world: World,
}

impl Case {
    pub(crate) fn new() -> Self {
        let world = World::new();
        world.script("agent", AGENT);
        let case = Self { world };
        case.git("init -q .");
        case.world.write("repo/a file", "one\n");
        case.git("add . && git commit -qm one");
        case
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.world.path("repo")
    }

    /// What a git command says.
    pub(crate) fn git(&self, line: &str) -> String {
        std::fs::create_dir_all(self.repo()).expect("made");
        let mut shell = self.world.shell(&format!("git {line}"));
        let output = shell.current_dir(self.repo()).output().expect("run");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "git {line}: {text}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// A near end behind `command`.
    pub(crate) fn near(&self, command: &str, prompt: &str) -> Command {
        let mut near = self.world.tool("cr-relay");
        near.args(["near", "--executor-cmd", command, "--grace", "1s"])
            .arg("--far-program")
            .arg(bin("cr-relay"))
            .arg("--run-dir")
            .arg(self.world.path("run"))
            .current_dir(self.repo())
            .env("CR_CLAUDE", self.world.path("agent"))
            .env("CR_RUN_ID", "r1")
            .write_stdin(prompt);
        near
    }

    /// A script that relays in its own way; `"$@"` is the far end.
    pub(crate) fn relay(&self, body: &str) -> String {
        self.world.script("relay", body).display().to_string()
    }

    pub(crate) fn run(&self, command: &str, prompt: &str) -> End {
        End::of(&self.near(command, prompt).output().expect("run"))
    }

    /// The verdict of cr-summarize on a stream: its exit code.
    pub(crate) fn verdict(&self, stream: &[u8]) -> Option<i32> {
        let mut summarize = self.world.tool("cr-summarize");
        let output = summarize.write_stdin(stream).output().expect("run");
        output.status.code()
    }
}

/// How a near end ended.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) code: Option<i32>,
    pub(crate) stream: Vec<u8>,
    pub(crate) stderr: String,
}

impl End {
    pub(crate) fn of(output: &std::process::Output) -> Self {
        Self {
            code: output.status.code(),
            stream: output.stdout.clone(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    pub(crate) fn lines(&self) -> Vec<Value> {
        let lines = self.stream.split(|&byte| byte == b'\n');
        let lines = lines.filter(|line| !line.is_empty());
        lines
            .map(|line| serde_json::from_slice(line).expect("JSON"))
            .collect()
    }

    /// The last line, which is `cr/exit`, and there is no other.
    pub(crate) fn exit(&self) -> Value {
        let lines = self.lines();
        let is_exit = |line: &&Value| line["type"] == "cr" && line["subtype"] == "exit";
        assert_eq!(lines.iter().filter(is_exit).count(), 1, "{self:?}");
        lines.last().filter(is_exit).expect("cr/exit last").clone()
    }
}
