//! The layout of an orchestrated run: its directory, and the files in it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow};
use cr_io::Exit;
use cr_rundir::{RunDir, RunId, Unsafe, file};
use serde::{Deserialize, Serialize};

use crate::agent_options;
use crate::attempt::{Ended, Spec, read_state};
use crate::finish::OnMerged;
use crate::isolation::Worktrees;
use crate::plan_gates::PlanGates;
use crate::run_budget::RunBudget;
use crate::sandbox::SandboxSettings;
use crate::sprint_args::SPRINT_LOOP;
use crate::task::Task;

/// The record of a run: its plan and settings.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Run {
    pub(crate) schema: u32,
    pub(crate) id: String,
    #[serde(with = "cr_agent::os_path")]
    pub(crate) plan: PathBuf,
    pub(crate) settings: Settings,
    /// In the order in which they run.
    pub(crate) tasks: Vec<Task>,
}

/// What holds for all tasks of a run.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Settings {
    pub(crate) sprint: bool,
    pub(crate) retries: u32,
    /// Seconds.
    pub(crate) max_wait: Option<f64>,
    /// Seconds.
    pub(crate) backoff: Vec<f64>,
    /// The limit of turns is not raised above this, unless it was higher before.
    #[serde(default = "turns_max")]
    pub(crate) turns_max: u64,
    /// How many agents work at the same time; 0 from an older version, which had
    /// one.
    #[serde(default)]
    pub(crate) slots: u16,
    /// What the plan says for all tasks.
    #[serde(default)]
    pub(crate) gates: PlanGates,
    /// The repository, if each attempt has a worktree of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) worktrees: Option<Worktrees>,
    /// What the sandboxes of the attempts let in, if they have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sandbox: Option<SandboxSettings>,
    /// What happens with merged work.
    #[serde(default)]
    pub(crate) on_merged: OnMerged,
    /// The milestone in whose session the tasks run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) milestone: Option<String>,
    /// The models, of which the next one comes when the retries with one are used up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) models: Vec<String>,
    /// What all attempts may use together, if the user has said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) budget: Option<RunBudget>,
    /// The agent's options as the user gave them, if the run is one task that
    /// came as a command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<cr_agent::Settings>,
    /// Read only: an older version recorded them as arguments of cr-spawn.
    #[serde(default, rename = "words", skip_serializing)]
    pub(crate) arguments: Option<Vec<String>>,
}

/// The value for runs that an older version recorded.
fn turns_max() -> u64 {
    cr_verdict::policy::Settings::default().turns_max
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            sprint: false,
            retries: 2,
            max_wait: None,
            backoff: vec![1.0, 5.0, 30.0],
            turns_max: turns_max(),
            slots: 1,
            gates: PlanGates::default(),
            worktrees: None,
            sandbox: None,
            on_merged: OnMerged::default(),
            milestone: None,
            models: Vec::new(),
            budget: None,
            agent: None,
            arguments: None,
        }
    }
}

impl Settings {
    /// Those of a new run: the configuration's, where it has some.
    pub(crate) fn configured() -> anyhow::Result<Self> {
        let config = cr_config::Config::load()?;
        Ok(Self {
            turns_max: config.turns().bounds.max(),
            ..Self::default()
        })
    }

    /// The same for the policy; `jitter` is from 0 to 1.
    pub(crate) fn policy(&self, task: &Task, jitter: f64) -> cr_verdict::policy::Settings {
        let time = |&seconds: &f64| Duration::try_from_secs_f64(seconds).ok();
        cr_verdict::policy::Settings {
            retries: task.retries.unwrap_or(self.retries),
            max_wait: self.max_wait.as_ref().and_then(time),
            backoff: self.backoff.iter().filter_map(time).collect(),
            jitter,
            turns_max: self.turns_max,
            ..cr_verdict::policy::Settings::default()
        }
    }
}

impl Run {
    /// What all attempts may use together. The attempts of one command line have only
    /// a budget each.
    pub(crate) fn budget(&self) -> Option<RunBudget> {
        let of_tasks = || RunBudget::of_tasks(self.tasks.iter());
        let is_plan = self.settings.agent.is_none();
        self.settings.budget.or_else(of_tasks).filter(|_| is_plan)
    }

    /// The command that resumes this run.
    pub(crate) fn resume_command(&self) -> String {
        let tool = match &self.settings {
            Settings { agent: Some(_), .. } => "claude-runner",
            Settings { sprint: true, .. } => SPRINT_LOOP,
            _ => "cr-orchestrate",
        };
        format!("{tool} --resume-run {}", self.id)
    }
}

/// The directory of a run.
#[derive(Debug)]
pub(crate) struct RunLayout {
    pub(crate) dir: RunDir,
}

/// Attempts at a task, as far as they are recorded.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attempts {
    pub(crate) ended: Vec<Ended>,
    /// The number of one that is recorded and whose end is not.
    pub(crate) open: Option<u32>,
}

impl Attempts {
    /// The number of the last attempt that has ended; 0 if there is none.
    pub(crate) fn last_number(&self) -> u32 {
        u32::try_from(self.ended.len()).unwrap_or(u32::MAX)
    }
}

/// An unsafe run directory is not a failure to read or write.
fn unsafe_directory(err: anyhow::Error) -> anyhow::Error {
    match err.downcast_ref::<Unsafe>() {
        Some(_) => err.context(Exit::Config),
        None => err,
    }
}

impl RunLayout {
    /// A directory for a new run.
    pub(crate) fn create() -> anyhow::Result<(Self, RunId)> {
        // A failure is no reason not to run; the next run tries again.
        let _ = cr_config::prune_daily();
        let state = cr_config::state_dir()?;
        let id = RunId::new();
        state
            .open_part(file::ORCHESTRATED)
            .map_err(unsafe_directory)?;
        let path = state.path().join(file::ORCHESTRATED).join(id.as_str());
        let dir = RunDir::at(&path).map_err(unsafe_directory)?;
        Ok((Self { dir }, id))
    }

    /// The directory of run `id`, or of the beginning of one; also of a run of
    /// `claude-runner --retry`.
    pub(crate) fn open(id: &str) -> anyhow::Result<Self> {
        let state = cr_config::state_dir()?;
        let all = state.path().join(file::ORCHESTRATED);
        let mut found = runs(&all);
        found.extend(runs(&state.path().join(file::RUNS)));
        // An empty text is the beginning of every name.
        found.retain(|path| !id.is_empty() && name(path).starts_with(id));
        if let Some(exact) = found.iter().find(|path| name(path) == id) {
            found = vec![exact.clone()];
        }
        match found.as_slice() {
            [path] => Self::at(path),
            [] => Err(anyhow!("{}: no run `{id}`", all.display()).context(Exit::NoInput)),
            _ => {
                let names: Vec<String> = found.iter().map(|path| name(path)).collect();
                let text = format!("`{id}` is the beginning of {}", names.join(", "));
                Err(anyhow!(text).context(Exit::Usage))
            }
        }
    }

    /// The directory of the run that was started last.
    pub(crate) fn latest() -> anyhow::Result<Self> {
        let all = cr_config::state_dir()?.path().join(file::ORCHESTRATED);
        let last = runs(&all).pop();
        let path = last
            .with_context(|| format!("{}: no runs", all.display()))
            .context(Exit::NoInput)?;
        Self::at(&path)
    }

    /// The ids of all orchestrated runs, the latest last.
    pub(crate) fn ids() -> anyhow::Result<Vec<String>> {
        let all = cr_config::state_dir()?.path().join(file::ORCHESTRATED);
        let mut ids: Vec<String> = runs(&all).iter().map(|path| name(path)).collect();
        ids.retain(|id| RunId::parse(id).is_some());
        Ok(ids)
    }

    fn at(path: &Path) -> anyhow::Result<Self> {
        let dir = RunDir::at(path).map_err(unsafe_directory)?;
        Ok(Self { dir })
    }

    /// The record of the run.
    pub(crate) fn run(&self) -> anyhow::Result<Run> {
        let path = self.dir.path().join(file::RUN);
        let run: Option<Run> = read_state(&path)?;
        let mut run = run
            .with_context(|| format!("{}: the run was not started", self.dir.path().display()))
            .context(Exit::NoInput)?;
        if let (Some(arguments), [task]) = (run.settings.arguments.take(), run.tasks.as_slice()) {
            let mut options = agent_options::of_arguments(&arguments)?;
            options.rest = task.claude_args.iter().map(Into::into).collect();
            run.settings.agent = Some(cr_agent::Settings::of_options(&options));
        }
        Ok(run)
    }

    /// The directory of attempt `number`; it is there afterwards.
    pub(crate) fn attempt(&self, id: &str, number: u32) -> anyhow::Result<RunDir> {
        let mut path = self.dir.path().join(file::ATTEMPTS);
        RunDir::at(&path)?;
        path.push(id);
        RunDir::at(&path)?;
        path.push(number.to_string());
        RunDir::at(&path)
    }

    pub(crate) fn attempt_path(&self, id: &str, number: u32) -> PathBuf {
        let attempts = self.dir.path().join(file::ATTEMPTS);
        attempts.join(id).join(number.to_string())
    }

    /// What attempt `number` at task `id` is, if it is recorded.
    pub(crate) fn spec(&self, id: &str, number: u32) -> anyhow::Result<Option<Spec>> {
        read_state(&self.attempt_path(id, number).join(file::ATTEMPT))
    }

    /// Reads what is recorded of the attempts at task `id`.
    pub(crate) fn attempts(&self, id: &str) -> anyhow::Result<Attempts> {
        let mut attempts = Attempts::default();
        for number in 1.. {
            let path = self.attempt_path(id, number);
            let Some(spec) = read_state::<Spec>(&path.join(file::ATTEMPT))? else {
                break;
            };
            let Some(end) = read_state(&path.join(file::ATTEMPT_END))? else {
                attempts.open = Some(number);
                break;
            };
            let again = std::fs::read_to_string(path.join(file::ATTEMPT_AGAIN)).ok();
            attempts.ended.push(Ended { spec, end, again });
        }
        Ok(attempts)
    }

    /// Writes a file of task `id`, for people and other programs. A failure stops
    /// nothing.
    pub(crate) fn note(&self, id: &str, ending: &str, text: &str) {
        let name = format!("task-{id}.{ending}");
        let _ = self.dir.write(&name, text.as_bytes());
    }
}

fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// The directories of all runs, the latest last.
fn runs(all: &Path) -> Vec<PathBuf> {
    let listed = std::fs::read_dir(all).into_iter().flatten();
    let mut found: Vec<PathBuf> = listed
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.join(file::RUN).is_file())
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(run: &str) -> (tempfile::TempDir, RunLayout) {
        let temporary = tempfile::TempDir::new().expect("a directory");
        let dir = RunDir::at(&temporary.path().join("run")).expect("made");
        dir.write(file::RUN, run.as_bytes()).expect("written");
        (temporary, RunLayout { dir })
    }

    #[test]
    fn options_that_an_older_version_recorded_as_arguments_are_read() {
        let (_temporary, layout) = layout(
            r#"{"schema":1,"id":"x","plan":"/r","settings":{"sprint":false,"retries":1,
            "max_wait":null,"backoff":[1.0],"words":["--max-turns=5","--model=m",
            "--output-file=/o"]},"tasks":[{"id":"run","prompt":"p","max_turns":5,
            "claude_args":["--add-dir","/d"],"cwd":"/w"}]}"#,
        );
        let run = layout.run().expect("read");
        let options = run
            .settings
            .agent
            .as_ref()
            .expect("a command line")
            .options();
        assert_eq!(
            (options.max_turns, options.model.as_deref()),
            (5, Some("m"))
        );
        assert_eq!(options.output_file, Some(PathBuf::from("/o")));
        assert_eq!(options.rest, ["--add-dir", "/d"]);
        // The new form is read in the same way.
        layout
            .dir
            .write(file::RUN, &serde_json::to_vec(&run).expect("JSON"))
            .expect("written");
        let again = layout.run().expect("read");
        assert_eq!(again.settings.agent, run.settings.agent);
        assert_eq!(again.tasks, run.tasks);
    }

    #[test]
    fn a_run_of_a_newer_version_is_refused() {
        let (_temporary, layout) = layout(
            r#"{"schema":2,"id":"x","plan":"/r","settings":{"sprint":false,"retries":1,
            "max_wait":null,"backoff":[]},"tasks":[]}"#,
        );
        let err = layout.run().expect_err("refused");
        assert!(matches!(err.downcast_ref(), Some(Exit::Config)), "{err:#}");
    }

    #[test]
    fn an_attempt_of_a_newer_version_is_refused_and_left_as_it_is() {
        let (_temporary, layout) = layout("{}");
        let dir = layout.attempt("a", 1).expect("made");
        let newer = br#"{"schema":2,"number":"one"}"#;
        for name in [file::ATTEMPT_END, file::ATTEMPT] {
            let spec = cr_rundir::state_text(&Spec::default()).expect("text");
            dir.write(file::ATTEMPT, &spec).expect("written");
            assert_eq!(layout.attempts("a").expect("read").open, Some(1));
            dir.write(name, newer).expect("written");
            let err = layout.attempts("a").expect_err("refused");
            assert_eq!(cr_io::exit_of(&err), Exit::Config, "{err:#}");
            let path = dir.path().join(name);
            assert_eq!(std::fs::read(&path).expect("there"), newer);
            std::fs::remove_file(path).expect("removed");
        }
    }
}
