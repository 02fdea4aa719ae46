//! One run of the script, in a world of its own.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::bins;

pub(crate) const DELIMITER: &str = "---CLAUDE-RUNNER-RESULT---";
pub(crate) const SESSION: &str = "80f8ae6e-b027-4253-8e9c-1ffd717366a1";
pub(crate) const SHELLS: [&str; 2] = ["dash", "bash"];

/// Says that it is there.
pub(crate) const INIT: &str = r#"cat >"$HOME/got"
printf '{"type":"system","subtype":"init","session_id":"80f8ae6e-b027-4253-8e9c-1ffd717366a1","cwd":"%s","model":"m","tools":[]}\n' "$PWD"
"#;

/// Says that all is well.
pub(crate) const RESULT: &str = r#"echo '{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"80f8ae6e-b027-4253-8e9c-1ffd717366a1","num_turns":1,"duration_ms":5,"total_cost_usd":0.01,"usage":{"input_tokens":1,"output_tokens":1}}'
"#;

/// Stays, with a child that hides.
pub(crate) const HANG: &str = "setsid sleep 600 &\nsleep 600\n";

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// A place for runs: home, state and repository.
pub(crate) struct Case {
    pub(crate) dir: tempfile::TempDir,
    tag: String,
    shell: &'static str,
    envs: Vec<(String, String)>,
}

/// A run that goes on.
pub(crate) struct Running {
    pub(crate) child: Child,
    pub(crate) out: BufReader<ChildStdout>,
    pub(crate) text: String,
    tag: String,
}

/// A run that is over.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) status: ExitStatus,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Case {
    /// A case whose agent is the shell script `agent`.
    pub(crate) fn new(agent: &str) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let case = Self {
            dir,
            tag: format!("{}-{number}", std::process::id()),
            shell: "/bin/sh",
            envs: Vec::new(),
        };
        for part in ["home", "repo"] {
            fs::create_dir(case.path(part)).expect("made");
        }
        // git's own housekeeping in the background is none of ours.
        let plain = "[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n";
        fs::write(case.path("home/.gitconfig"), plain).expect("written");
        case.git(&["init", "-q", "-b", "main"]);
        case.git(&["commit", "-q", "--allow-empty", "-m", "first"]);
        case.script("agent", agent);
        case
    }

    /// A case whose agent plays a recording.
    pub(crate) fn playing(capture: &str) -> Self {
        let recording = bins::root().join(format!("tests/fixtures/captures/{capture}.ndjson"));
        Self::replaying(&recording)
    }

    /// A case whose agent plays `recording`.
    pub(crate) fn replaying(recording: &Path) -> Self {
        let replay = bins::bin("cr-replay");
        let case = Self::new("");
        case.env("CR_CLAUDE", replay.to_str().expect("a path"))
            .env("CR_REPLAY", recording.to_str().expect("a path"))
            .env("CR_REPLAY_SPEED", "instant")
    }

    pub(crate) fn shell(mut self, shell: &'static str) -> Self {
        self.shell = shell;
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.envs.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn git(&self, args: &[&str]) {
        let mut command = Command::new("git");
        self.world(&mut command);
        let done = command.args(args).status().expect("run git");
        assert!(done.success(), "git {args:?}");
    }

    /// Writes a script to the case's directory.
    pub(crate) fn script(&self, name: &str, body: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, format!("#!/bin/sh\n{body}")).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("executable");
        path
    }

    /// Gives `command` the case's surroundings.
    pub(crate) fn world(&self, command: &mut Command) {
        let path = std::env::var("PATH").unwrap_or_default();
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy().into_owned();
            if ["CR_", "XDG_", "GIT_", "CLAUDE"]
                .iter()
                .any(|start| name.starts_with(start))
            {
                command.env_remove(name);
            }
        }
        command
            .env("PATH", format!("{}:{path}", bins::dir().display()))
            .env("HOME", self.path("home"))
            .env("CR_STATE_DIR", self.path("state"))
            .env("CR_CLAUDE", self.path("agent"))
            .env("CR_TEST_TAG", &self.tag)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_NAME", "t")
            .env("GIT_AUTHOR_EMAIL", "t@example.org")
            .env("GIT_COMMITTER_NAME", "t")
            .env("GIT_COMMITTER_EMAIL", "t@example.org")
            .env("IS_SANDBOX", "1")
            .env("TZ", "UTC")
            .env("NO_COLOR", "1")
            .current_dir(self.path("repo"));
        for (name, value) in &self.envs {
            command.env(name, value);
        }
    }

    /// The script under this case's shell.
    pub(crate) fn runner(&self, args: &[&str]) -> Command {
        let mut command = Command::new(self.shell);
        self.world(&mut command);
        command
            .arg(bins::root().join("scripts/claude-runner"))
            .args(args)
            .stdin(Stdio::null());
        command
    }

    /// One of the tools.
    pub(crate) fn tool(&self, name: &str, args: &[&str]) -> Command {
        let mut command = Command::new(bins::bin(name));
        self.world(&mut command);
        command.args(args).stdin(Stdio::null());
        command
    }

    /// Runs the script to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Done {
        self.finish(&mut self.runner(args))
    }

    /// Runs the script with `input` to its end.
    pub(crate) fn run_with(&self, args: &[&str], input: &[u8]) -> Done {
        let mut command = self.runner(args);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("started");
        let mut stdin = child.stdin.take().expect("piped");
        let input = input.to_vec();
        let writer = std::thread::spawn(move || stdin.write_all(&input));
        let done = Done::of(child.wait_with_output().expect("ended"));
        let _ = writer.join();
        self.nobody_left();
        done
    }

    /// Runs `command` to its end; nobody may be left then.
    pub(crate) fn finish(&self, command: &mut Command) -> Done {
        let done = Done::of(command.output().expect("run"));
        self.nobody_left();
        done
    }

    /// Starts the script.
    pub(crate) fn start(&self, args: &[&str]) -> Running {
        self.begin(self.runner(args))
    }

    /// Starts `command`, which is the script in some way.
    pub(crate) fn begin(&self, mut command: Command) -> Running {
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("started");
        let out = BufReader::new(child.stdout.take().expect("piped"));
        Running {
            child,
            out,
            text: String::new(),
            tag: self.tag.clone(),
        }
    }

    /// Fails unless everything that was started here is gone.
    pub(crate) fn nobody_left(&self) {
        assert_eq!(tagged(&self.tag), Vec::<String>::new());
    }

    /// Waits until everything that was started here is gone.
    pub(crate) fn wait_for_nobody(&self) {
        until("nobody is left", || tagged(&self.tag).is_empty());
    }

    /// What `git` says of HEAD.
    pub(crate) fn runs(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path("state/runs")).into_iter().flatten();
        let paths = entries.flatten().map(|entry| entry.path());
        paths.filter(|path| path.is_dir()).collect()
    }
}

impl Running {
    /// Reads on to a line that contains `text`.
    pub(crate) fn wait_for(&mut self, text: &str) {
        let mut line = String::new();
        loop {
            line.clear();
            let read = self.out.read_line(&mut line).expect("a line");
            assert!(read > 0, "no {text} in {}", self.text);
            self.text.push_str(&line);
            if line.contains(text) {
                return;
            }
        }
    }

    pub(crate) fn signal(&self, signal: &str) {
        kill(self.child.id(), signal);
    }

    /// The process of the run that is called `name`.
    pub(crate) fn stage(&self, name: &str, argument: &str) -> u32 {
        let mut found = None;
        until("the stage is there", || {
            found = processes(&self.tag).into_iter().find(|(_, words)| {
                let program = Path::new(words.first().map_or("", String::as_str));
                let is_name = program.file_name().is_some_and(|file| file == name);
                is_name && (argument.is_empty() || words.iter().any(|word| word == argument))
            });
            found.is_some()
        });
        found.expect("found").0
    }

    /// Waits for the end.
    pub(crate) fn end(mut self) -> Done {
        self.out.read_to_string(&mut self.text).expect("text");
        let status = self.child.wait().expect("ended");
        Done {
            status,
            out: self.text,
            err: String::new(),
        }
    }
}

impl Done {
    fn of(output: std::process::Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Self {
            status: output.status,
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }

    pub(crate) fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// How many summaries were written.
    pub(crate) fn summaries(&self) -> usize {
        let lines = self.out.lines();
        lines
            .filter(|line| line.starts_with(r#"{"session_id""#))
            .count()
    }

    /// The one summary, as a caller finds it: what follows the one delimiter.
    pub(crate) fn summary(&self) -> Value {
        let delimiters = self.out.lines().filter(|line| *line == DELIMITER).count();
        assert_eq!((delimiters, self.summaries()), (1, 1), "{self:?}");
        let (_, json) = self.out.rsplit_once(DELIMITER).expect("one");
        serde_json::from_str(json).expect("JSON")
    }
}

/// Sends `signal` to `pid`.
pub(crate) fn kill(pid: u32, signal: &str) {
    let done = Command::new("kill")
        .args(["-s", signal, &pid.to_string()])
        .status();
    assert!(done.expect("run kill").success());
}

/// Waits until `holds`, which nothing announces.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(1);
    while !holds() {
        assert!(Instant::now() < deadline, "not in a minute: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The processes that have the tag in their environment, with their arguments.
fn processes(tag: &str) -> Vec<(u32, Vec<String>)> {
    let wanted = format!("CR_TEST_TAG={tag}");
    let entries = fs::read_dir("/proc").expect("/proc").flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let has_tag = |pid: &u32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let mut parts = environment.split(|&byte| byte == 0);
        parts.any(|part| part == wanted.as_bytes())
    };
    pids.filter(has_tag)
        .map(|pid| {
            let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let words = words.split(|&byte| byte == 0);
            let words = words.map(|word| String::from_utf8_lossy(word).into_owned());
            (pid, words.collect())
        })
        .collect()
}

fn tagged(tag: &str) -> Vec<String> {
    let found = processes(tag).into_iter();
    found
        .map(|(pid, words)| format!("{pid} {}", words.join(" ")))
        .collect()
}
