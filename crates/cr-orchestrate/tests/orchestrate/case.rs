//! The set-up of one test: a plan, an agent that follows a script, a state
//! directory.

use std::fs;
use std::path::PathBuf;
use std::process::{Output, Stdio};

use cr_test::{Command, World, bin_dir};

pub(crate) struct Case {
    pub(crate) world: World,
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Case {
    pub(crate) fn new() -> Self {
        let case = Self {
            world: World::new(),
        };
        fs::create_dir(case.path("script")).expect("made");
        fs::create_dir(case.path("seen")).expect("made");
        fs::create_dir(case.path("work")).expect("made");
        case.world.script("agent", include_str!("agent.sh"));
        case
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.world.path(name)
    }

    /// What the agent does the `n`th time that it is started for `task`.
    pub(crate) fn script(&self, task: &str, n: u32, text: &str) {
        self.write(&format!("script/{task}.{n}"), text);
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("written");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// A plan of tasks, each `id` and fields in YAML's flow style.
    pub(crate) fn plan(&self, tasks: &[(&str, &str)]) {
        let mut text = "tasks:\n".to_owned();
        for (id, fields) in tasks {
            let comma = if fields.is_empty() { "" } else { ", " };
            text += &format!("- {{id: {id}, prompt: do {id}, env: [TASK={id}]{comma}{fields}}}\n");
        }
        self.write("plan.yaml", &text);
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        // The tools that it runs are beside it.
        let mut command = self.world.command(bin_dir().join("cr-orchestrate"));
        self.surround(&mut command);
        command
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Gives `command` the agent, the configuration and the directory.
    pub(crate) fn surround(&self, command: &mut Command) {
        command
            .current_dir(self.path("work"))
            .env("CASE", self.world.dir())
            .env("CR_CLAUDE", self.path("agent"))
            .env("XDG_CONFIG_HOME", self.path("config"));
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ended {
        self.command(args).output().expect("run").into()
    }

    /// Runs the plan, with pauses that no test has to wait for.
    pub(crate) fn go(&self, args: &[&str]) -> Ended {
        let mut all = vec!["../plan.yaml", "--json", "--backoff", "10ms"];
        all.extend(args);
        self.run(&all)
    }

    /// Goes on with the only run.
    pub(crate) fn resume(&self, args: &[&str]) -> Ended {
        let id = self.run_id();
        let mut all = vec!["--resume-run", id.as_str(), "--json"];
        all.extend(args);
        self.run(&all)
    }

    /// The only run's directory.
    pub(crate) fn run_dir(&self) -> PathBuf {
        let all = fs::read_dir(self.path("state/orchestrate")).expect("runs");
        let mut all = all.map(|entry| entry.expect("an entry").path());
        let one = all.next().expect("a run");
        assert!(all.next().is_none(), "more than one run");
        one
    }

    /// Whether there is a run that can go on.
    pub(crate) fn has_run(&self) -> bool {
        let all = fs::read_dir(self.path("state/orchestrate"));
        let mut all = all.into_iter().flatten().flatten();
        all.any(|run| run.path().join("run.json").exists())
    }

    pub(crate) fn run_id(&self) -> String {
        let dir = self.run_dir();
        dir.file_name().expect("a name").to_string_lossy().into()
    }

    /// A file of the only run.
    pub(crate) fn of_run(&self, name: &str) -> String {
        fs::read_to_string(self.run_dir().join(name)).unwrap_or_default()
    }

    /// What the agent got the `n`th time: `prompt` or `args`.
    pub(crate) fn seen(&self, task: &str, n: u32, what: &str) -> String {
        self.read(&format!("seen/{task}.{n}.{what}"))
    }

    /// How often the agent was started for `task`.
    pub(crate) fn starts(&self, task: &str) -> usize {
        self.read(&format!("seen/{task}.starts")).lines().count()
    }

    /// The tasks whose work was done, in order.
    pub(crate) fn done(&self) -> Vec<String> {
        self.read("done").lines().map(str::to_owned).collect()
    }
}
