//! One run of the script, in a world of its own.

use std::fs;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Output, Stdio};

use cr_test::{Child, Command, Pipe, World, bin, fixture, line_with, runner_script, until};
use serde_json::Value;

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

/// A place for runs: home, state and repository.
pub(crate) struct Case {
    pub(crate) world: World,
    shell: &'static str,
    envs: Vec<(String, String)>,
}

/// A run that goes on.
pub(crate) struct Running {
    pub(crate) child: Child,
    pub(crate) out: BufReader<Pipe>,
    world: World,
    text: String,
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
        let case = Self {
            world: World::new(),
            shell: "/bin/sh",
            envs: Vec::new(),
        };
        fs::create_dir(case.path("repo")).expect("made");
        case.git(&["init", "-q", "-b", "main"]);
        case.git(&["commit", "-q", "--allow-empty", "-m", "first"]);
        case.script("agent", agent);
        case
    }

    /// A case whose agent plays a recording.
    pub(crate) fn playing(capture: &str) -> Self {
        Self::replaying(&fixture(&format!("captures/{capture}.ndjson")))
    }

    /// A case whose agent plays `recording`.
    pub(crate) fn replaying(recording: &Path) -> Self {
        let replay = bin("cr-replay");
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
        self.world.path(name)
    }

    pub(crate) fn git(&self, args: &[&str]) {
        let done = self.command("git").args(args).status().expect("run git");
        assert!(done.success(), "git {args:?}");
    }

    /// Writes a script to the case's directory.
    pub(crate) fn script(&self, name: &str, body: &str) -> PathBuf {
        self.world.script(name, body)
    }

    /// `program` in the case's repository, with its agent and the tools.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = self.world.command(program);
        command
            .env("PATH", self.world.path_with_tools())
            .env("CR_CLAUDE", self.path("agent"))
            .current_dir(self.path("repo"));
        for (name, value) in &self.envs {
            command.env(name, value);
        }
        command
    }

    /// A shell that runs `line`.
    pub(crate) fn line(&self, line: &str) -> Command {
        let mut command = self.command("/bin/sh");
        command.args(["-c", line]);
        command
    }

    /// The script under this case's shell.
    pub(crate) fn runner(&self, args: &[&str]) -> Command {
        let mut command = self.command(self.shell);
        command.arg(runner_script()).args(args);
        command
    }

    /// One of the tools.
    pub(crate) fn tool(&self, name: &str, args: &[&str]) -> Command {
        let mut command = self.command(bin(name));
        command.args(args);
        command
    }

    /// Runs the script to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Done {
        self.finish(&mut self.runner(args))
    }

    /// Runs the script with `input` to its end.
    pub(crate) fn run_with(&self, args: &[&str], input: &[u8]) -> Done {
        self.finish(self.runner(args).write_stdin(input))
    }

    /// Runs `command` to its end.
    pub(crate) fn done_of(command: &mut Command) -> Done {
        Done::of(command.output().expect("run"))
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
            world: self.world.clone(),
            text: String::new(),
        }
    }

    /// Fails unless everything that was started here is gone.
    pub(crate) fn nobody_left(&self) {
        self.world.assert_nobody_left("a run");
    }

    /// Waits until everything that was started here is gone.
    pub(crate) fn wait_for_nobody(&self) {
        self.world.wait_until_nobody_is_left();
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
        let line = line_with(&mut self.out, text);
        self.text.push_str(&line);
    }

    pub(crate) fn signal(&self, signal: &str) {
        self.child.signal(cr_test::signal_named(signal));
    }

    /// The process of the run that is called `name`.
    pub(crate) fn stage(&self, name: &str, argument: &str) -> u32 {
        let mut found = None;
        until("the stage is there", || {
            let mut processes = self.world.processes().into_iter();
            found = processes.find(|it| {
                let program = Path::new(it.argv.first().map_or("", String::as_str));
                let is_name = program.file_name().is_some_and(|file| file == name);
                is_name && (argument.is_empty() || it.argv.iter().any(|word| word == argument))
            });
            found.is_some()
        });
        found.expect("found").pid
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
    fn of(output: Output) -> Self {
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
    cr_test::kill(pid, cr_test::signal_named(signal));
}
