//! A place for one session: its runs, one after the other, and who writes to them.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{self, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use cr_test::{Child, Command, Signal, World, bin, runner_script, until};
use serde_json::Value;

/// The versions that the stand-in acts as.
pub(crate) const VERSIONS: [&str; 2] = ["2.1.326", "2.1.197"];

/// The longest run of a test.
const RUN_LIMIT: Duration = Duration::from_mins(3);

/// A sequence of numbers that `seed` names.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        // Small seeds would begin with small numbers.
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `most`.
    pub(crate) fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % most
    }

    /// An id for a message.
    pub(crate) fn uuid(&mut self) -> String {
        let mut hex = |digits: u32| {
            format!(
                "{:0w$x}",
                self.below(1 << (4 * digits)),
                w = digits as usize
            )
        };
        let parts = [
            hex(8),
            hex(4),
            format!("4{}", hex(3)),
            format!("8{}", hex(3)),
            hex(12),
        ];
        parts.join("-")
    }
}

/// Who the agent is.
#[derive(Clone, Debug)]
pub(crate) enum Agent {
    /// The stand-in, as this version.
    StandIn(&'static str),
    /// A shell script.
    Script(&'static str),
    /// The real CLI at this path, in a sandbox, with a scenario of the API.
    Real(PathBuf, &'static str),
}

/// A session, and the runs that it had.
pub(crate) struct Place {
    pub(crate) world: World,
    /// The processes of the senders, which outlive a run.
    pub(crate) senders: World,
    agent: Agent,
    args: Vec<String>,
    runs: Mutex<Vec<String>>,
    input: Mutex<Option<process::ChildStdin>>,
}

impl Place {
    pub(crate) fn new(version: &'static str, args: &[&str]) -> Self {
        Self::with(Agent::StandIn(version), args)
    }

    pub(crate) fn with(agent: Agent, args: &[&str]) -> Self {
        let world = World::new();
        fs::create_dir(world.path("work")).expect("made");
        Self {
            world,
            senders: World::new(),
            agent,
            args: args.iter().map(|&arg| arg.to_owned()).collect(),
            runs: Mutex::default(),
            input: Mutex::default(),
        }
    }

    /// The longest time between two messages of a sender, in milliseconds. The real
    /// CLI takes a second to start, and messages are to come in every state.
    pub(crate) fn longest_pause(&self) -> u64 {
        match &self.agent {
            Agent::Real(..) => 250,
            _ => 40,
        }
    }

    /// `claude-runner` with these arguments, as the run `id`.
    pub(crate) fn runner(&self, id: &str, args: &[&str]) -> Command {
        let errors = File::create(self.world.path(format!("{id}.err"))).expect("made");
        let mut command = match &self.agent {
            Agent::Real(claude, scenario) => self.sandboxed(claude, scenario, id),
            Agent::StandIn(version) => self.plain(&self.world.stand_in(version)),
            Agent::Script(body) => self.plain(&self.world.script("agent", body)),
        };
        command
            .args(args)
            .env("CR_RUN_ID", id)
            .current_dir(self.world.path("work"))
            .timeout(RUN_LIMIT)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(errors);
        command
    }

    fn plain(&self, agent: &Path) -> Command {
        let mut command = self.world.command("/bin/sh");
        command.arg(runner_script());
        command
            .env("PATH", self.world.path_with_tools())
            .env("CR_CLAUDE", agent);
        command
    }

    /// The runner in a sandbox. By the tag its processes are found.
    fn sandboxed(&self, claude: &Path, scenario: &str, id: &str) -> Command {
        let mut command = self.world.command("/bin/sh");
        let sandbox = r#"exec "$0" run --env "CR_TEST_TAG=$CR_TEST_TAG" "$@""#;
        command.args(["-c", sandbox]).arg(bin("cr-mock"));
        let variables = [
            ("CR_RUN_ID", PathBuf::from(id)),
            ("CR_CLAUDE", claude.to_owned()),
            ("CR_STATE_DIR", self.world.state()),
            ("PATH", self.world.path_with_tools().into()),
        ];
        for (name, value) in variables {
            let value = value.to_str().expect("UTF-8");
            command.arg("--env").arg(format!("{name}={value}"));
        }
        let scenario = self.world.write("scenario.json", scenario);
        command.arg("--scenario").arg(scenario);
        command.arg("--cwd").arg(self.world.path("work"));
        command.arg("--home").arg(self.world.home());
        command.args(["--", "/bin/sh"]).arg(runner_script());
        command
    }

    /// Starts the first run.
    pub(crate) fn start(&self) -> Child {
        let args: Vec<&str> = self.args.iter().map(String::as_str).collect();
        self.begin(&[&["--input", "stream"], &args[..]].concat())
    }

    /// Starts a run that resumes `run`.
    pub(crate) fn resume(&self, run: &str) -> Child {
        self.resume_with(run, &[])
    }

    pub(crate) fn resume_with(&self, run: &str, args: &[&str]) -> Child {
        self.begin(&[&["--resume-run", run], args].concat())
    }

    fn begin(&self, args: &[&str]) -> Child {
        let mut runs = self.runs.lock().expect("no panic");
        let id = format!("20261118T0900{:02}Z-{:08x}", runs.len(), runs.len() + 1);
        let mut child = self.runner(&id, args).spawn().expect("started");
        *self.input.lock().expect("no panic") = child.stdin.take();
        runs.push(id);
        child
    }

    /// The runs, the latest last.
    pub(crate) fn runs(&self) -> Vec<String> {
        self.runs.lock().expect("no panic").clone()
    }

    pub(crate) fn latest(&self) -> String {
        self.runs().pop().expect("a run")
    }

    pub(crate) fn run_file(&self, run: &str, name: &str) -> PathBuf {
        self.world.state().join("runs").join(run).join(name)
    }

    /// What the run left in the file `name`, one object per line.
    pub(crate) fn lines_of(&self, run: &str, name: &str) -> Vec<Value> {
        let text = fs::read(self.run_file(run, name)).unwrap_or_default();
        lines(&text)
    }

    /// What a run said on standard error.
    pub(crate) fn errors(&self, run: &str) -> String {
        fs::read_to_string(self.world.path(format!("{run}.err"))).unwrap_or_default()
    }

    /// Writes a line to the standard input of the current run; `false` if it does
    /// not read any more.
    pub(crate) fn write(&self, line: &str) -> bool {
        let mut input = self.input.lock().expect("no panic");
        let line = format!("{line}\n");
        input
            .as_mut()
            .is_some_and(|input| input.write_all(line.as_bytes()).is_ok())
    }

    /// What the latest run left in the file `name` so far.
    pub(crate) fn latest_lines(&self, name: &str) -> Vec<Value> {
        self.lines_of(&self.latest(), name)
    }

    /// Kills the process of the run whose command contains `text`.
    pub(crate) fn kill(&self, text: &str) {
        let processes = self.world.processes();
        let victim = processes.iter().find(|it| it.line().contains(text));
        cr_test::kill(victim.expect("a process").pid, Signal::KILL);
    }

    /// Ends the standard input of the current run.
    pub(crate) fn end_input(&self) {
        drop(self.input.lock().expect("no panic").take());
    }

    /// A tool that talks to the runs from outside. A socket does not tell whose
    /// process is on the other side of a sandbox, so the tool enters the sandbox.
    pub(crate) fn outside(&self, tool: &str) -> Command {
        let inside = match &self.agent {
            Agent::Real(..) => self.world.processes(),
            _ => Vec::new(),
        };
        let inside = inside
            .iter()
            .find(|it| it.line().contains("cr-mock inside"));
        let mut command = if let Some(process) = inside {
            let mut enter = self.senders.command("nsenter");
            let pid = process.pid.to_string();
            enter.args(["--all", "--preserve-credentials", "--target", &pid]);
            enter.arg(bin(tool));
            enter
        } else {
            self.senders.tool(tool)
        };
        command.env("CR_STATE_DIR", self.world.state());
        command
    }

    /// Waits until the run can be talked to, or is over.
    pub(crate) fn wait_for_start(&self, child: &mut Child) {
        let run = self.latest();
        until("the run has started", || {
            self.run_file(&run, "started").exists() || child.try_wait().expect("a child").is_some()
        });
    }

    /// Kills one of the processes of the run; returns its command.
    pub(crate) fn kill_any(&self, random: &mut Random) -> String {
        let mut processes = self.world.processes();
        processes.retain(|it| is_victim(&it.argv));
        if processes.is_empty() {
            return "nobody".to_owned();
        }
        let index = random.below(processes.len() as u64);
        let victim = &processes[usize::try_from(index).expect("small")];
        cr_test::kill(victim.pid, Signal::KILL);
        victim.line()
    }

    /// Waits for the end of a run and of all its processes.
    pub(crate) fn wait_for_end(&self, mut child: Child) -> Option<i32> {
        let status = child.wait().expect("ended");
        self.world.wait_until_nobody_is_left();
        status.code()
    }

    /// Fails unless the latest run was a success, or had nothing to do: then it has
    /// no result, which is no success.
    pub(crate) fn check_code(&self, code: Option<i32>) {
        let is_idle = !self
            .latest_lines("queue")
            .iter()
            .any(|it| it["message"].is_object());
        let wanted = if is_idle { 6 } else { 0 };
        let run = self.latest();
        assert_eq!(code, Some(wanted), "{run}: {}", self.errors(&run));
    }

    /// The records of the agent's session log. There must be one log.
    pub(crate) fn log(&self) -> Vec<Value> {
        let projects = self.world.home().join(".claude/projects");
        let projects = fs::read_dir(projects).into_iter().flatten().flatten();
        let logs = projects.flat_map(|it| fs::read_dir(it.path()).into_iter().flatten().flatten());
        let logs = logs.map(|it| it.path());
        let logs: Vec<PathBuf> = logs
            .filter(|path| path.extension().is_some_and(|it| it == "jsonl"))
            .collect();
        assert!(logs.len() <= 1, "one session: {logs:?}");
        let text = logs.first().map(|log| fs::read(log).expect("a log"));
        lines(&text.unwrap_or_default())
    }
}

/// Whether a process is one of ours, or the agent: not a tool that it runs, and not
/// the sandbox.
fn is_victim(argv: &[String]) -> bool {
    let name = Path::new(argv.first().map_or("", String::as_str)).file_name();
    let name = name.and_then(|it| it.to_str()).unwrap_or_default();
    let has = |word: &str| argv.iter().any(|it| it == word);
    let is_sandbox = name == "cr-mock" && (has("run") || has("inside"));
    let is_runner = argv.iter().any(|it| it.ends_with("scripts/claude-runner"));
    !is_sandbox && (name.starts_with("cr-") || name == "claude" || is_runner)
}

/// The objects in `text`; a last line that was cut off is none.
fn lines(text: &[u8]) -> Vec<Value> {
    let lines = text.split(|&byte| byte == b'\n');
    lines
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect()
}
