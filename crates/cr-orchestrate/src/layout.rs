//! The directory of an orchestrated run, and what is in it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow};
use cr_io::Exit;
use cr_rundir::{RunDir, RunId, Unsafe};
use serde::{Deserialize, Serialize};

use crate::attempt::{Ended, Spec, read_json};
use crate::task::Task;

/// A run as it was asked for.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Run {
    pub(crate) schema: u32,
    pub(crate) id: String,
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
    /// The one task came as options of cr-spawn: these.
    #[serde(default)]
    pub(crate) words: Option<Vec<String>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            sprint: false,
            retries: 2,
            max_wait: None,
            backoff: vec![1.0, 5.0, 30.0],
            words: None,
        }
    }
}

impl Settings {
    /// The same for the policy; `jitter` is from 0 to 1.
    pub(crate) fn policy(&self, task: &Task, jitter: f64) -> cr_verdict::policy::Settings {
        let time = |&seconds: &f64| Duration::try_from_secs_f64(seconds).ok();
        cr_verdict::policy::Settings {
            retries: task.retries.unwrap_or(self.retries),
            max_wait: self.max_wait.as_ref().and_then(time),
            backoff: self.backoff.iter().filter_map(time).collect(),
            jitter,
            ..cr_verdict::policy::Settings::default()
        }
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
    /// The number of one that was asked for and whose end is not recorded.
    pub(crate) open: Option<u32>,
}

impl Attempts {
    /// The number of the last attempt that has ended; 0 if there is none.
    pub(crate) fn last_number(&self) -> u32 {
        u32::try_from(self.ended.len()).unwrap_or(u32::MAX)
    }
}

/// A place that is refused is not a failure to read or write.
fn refused(err: anyhow::Error) -> anyhow::Error {
    match err.downcast_ref::<Unsafe>() {
        Some(_) => err.context(Exit::Config),
        None => err,
    }
}

impl RunLayout {
    /// A directory for a new run.
    pub(crate) fn create() -> anyhow::Result<(Self, RunId)> {
        // What goes wrong is for the next one to find.
        let _ = cr_config::prune_daily();
        let state = cr_config::state_dir()?;
        let id = RunId::new();
        state.open_part("orchestrate").map_err(refused)?;
        let path = state.path().join("orchestrate").join(id.as_str());
        let dir = RunDir::at(&path).map_err(refused)?;
        Ok((Self { dir }, id))
    }

    /// The directory of run `id`, or of the beginning of one; also of a run of
    /// `claude-runner --retry`.
    pub(crate) fn open(id: &str) -> anyhow::Result<Self> {
        let state = cr_config::state_dir()?;
        let all = state.path().join("orchestrate");
        let mut found = runs(&all);
        found.extend(runs(&state.path().join("runs")));
        // Nothing at all is the beginning of every name.
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
        let all = cr_config::state_dir()?.path().join("orchestrate");
        let last = runs(&all).pop();
        let path = last
            .with_context(|| format!("{}: no runs", all.display()))
            .context(Exit::NoInput)?;
        Self::at(&path)
    }

    fn at(path: &Path) -> anyhow::Result<Self> {
        let dir = RunDir::at(path).map_err(refused)?;
        Ok(Self { dir })
    }

    pub(crate) fn run(&self) -> anyhow::Result<Run> {
        read_json(&self.dir.path().join("run.json"))?
            .with_context(|| format!("{}: it never began", self.dir.path().display()))
            .context(Exit::NoInput)
    }

    /// The directory of attempt `number`; it is there afterwards.
    pub(crate) fn attempt(&self, id: &str, number: u32) -> anyhow::Result<RunDir> {
        let mut path = self.dir.path().join("attempts");
        RunDir::at(&path)?;
        path.push(id);
        RunDir::at(&path)?;
        path.push(number.to_string());
        RunDir::at(&path)
    }

    pub(crate) fn attempt_path(&self, id: &str, number: u32) -> PathBuf {
        let attempts = self.dir.path().join("attempts");
        attempts.join(id).join(number.to_string())
    }

    /// Reads what is recorded of the attempts at task `id`.
    pub(crate) fn attempts(&self, id: &str) -> anyhow::Result<Attempts> {
        let mut attempts = Attempts::default();
        for number in 1.. {
            let path = self.attempt_path(id, number);
            let Some(spec) = read_json::<Spec>(&path.join("attempt.json"))? else {
                break;
            };
            let Some(end) = read_json(&path.join("end.json"))? else {
                attempts.open = Some(number);
                break;
            };
            let again = std::fs::read_to_string(path.join("again")).ok();
            attempts.ended.push(Ended { spec, end, again });
        }
        Ok(attempts)
    }

    /// Writes a file of task `id`, for people and other programs. That it cannot
    /// be written stops nothing.
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
        .filter(|path| path.join("run.json").is_file())
        .collect();
    found.sort();
    found
}
