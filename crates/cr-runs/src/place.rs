//! The run's name and directory, and what the pipeline is told beside cr-spawn's
//! arguments.

use std::ffi::OsString;
use std::io::{self, IsTerminal};

use anyhow::{Context, anyhow};
use clap::ValueEnum;
use cr_io::{Exit, message};
use cr_rundir::{RunDir, RunId, Unsafe};

use crate::args::{Output, Runner};
use crate::find;
use cr_config::Config;

/// Where a run will be.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) id: RunId,
    /// None, if nothing is to be recorded or can be.
    pub(crate) dir: Option<RunDir>,
}

impl Place {
    /// Names the run and makes its directory.
    pub(crate) fn make(runner: &Runner, config: &Config) -> anyhow::Result<Self> {
        let given = RunId::given().context("CR_RUN_ID").context(Exit::Config)?;
        let id = given.unwrap_or_default();
        let dir = directory(runner, config, &id)?;
        Ok(Self { id, dir })
    }

    /// The place of a run that goes on.
    pub(crate) fn of_run(name: &str) -> anyhow::Result<Self> {
        let run = find::named(name)?;
        if !run.has("run.json") {
            let text = format!(
                "{}: not started with --retry; go on with --resume",
                run.id()
            );
            return Err(anyhow!(text).context(Exit::Usage));
        }
        let id = run.started().run_id.and_then(|id| RunId::parse(&id));
        let dir = RunDir::at(&run.dir).context(Exit::Config)?;
        refuse_busy(&dir)?;
        Ok(Self {
            id: id.unwrap_or_default(),
            dir: Some(dir),
        })
    }

    /// What the script reads before the arguments of whoever runs the agent.
    pub(crate) fn settings(&self, runner: &Runner, config: &Config) -> [OsString; 6] {
        let of_file = || Output::from_str(config.set("output")?, false).ok();
        let output = if runner.json {
            Output::Summary
        } else {
            runner.output.or_else(of_file).unwrap_or_default()
        };
        let is_terminal = match output {
            Output::Report => io::stdout().is_terminal(),
            _ => io::stderr().is_terminal(),
        } && !runner.detach;
        let usual = if is_terminal { 0 } else { config.limit() };
        let limit = runner.limit.unwrap_or(usual);
        let limit = if limit > 0 {
            limit.to_string()
        } else {
            String::new()
        };
        let quiet = if runner.quiet { "1" } else { "" };
        let cwd = runner.spawn.cwd.clone().unwrap_or_else(|| ".".into());
        let dir = self.dir.as_ref().map(|dir| dir.path().into());
        let words = [output.name().into(), cwd.into(), dir.unwrap_or_default()];
        let [output, cwd, dir] = words;
        let retry = if runner.has_attempts() { "1" } else { "" };
        [output, cwd, dir, limit.into(), quiet.into(), retry.into()]
    }

    /// The arguments of whoever runs the agent: cr-spawn, which has `words`, or
    /// cr-orchestrate, which calls that.
    pub(crate) fn agent(&self, runner: &Runner, words: Vec<OsString>) -> Vec<OsString> {
        let at = |name: &str| match &self.dir {
            Some(dir) => {
                let mut word = OsString::from(name);
                word.push(dir.path());
                word
            }
            None => "--no-record".into(),
        };
        if !runner.has_attempts() {
            return std::iter::once(at("--run-dir=")).chain(words).collect();
        }
        let mut own = vec![at("--dir=")];
        own.extend(
            runner
                .retry
                .map(|count| format!("--retries={count}").into()),
        );
        let seconds = runner.max_wait.map(|time| time.as_secs_f64());
        own.extend(seconds.map(|seconds| format!("--max-wait={seconds}").into()));
        own.push("--".into());
        own.extend(words);
        own
    }
}

/// A directory that cannot be written stops no run; one that cannot be trusted
/// does.
fn directory(runner: &Runner, config: &Config, id: &RunId) -> anyhow::Result<Option<RunDir>> {
    if runner.spawn.no_record {
        return Ok(None);
    }
    let made = match &runner.spawn.run_dir {
        Some(path) => RunDir::at(path),
        None => config.state_dir().and_then(|state| {
            let made = RunDir::create(&state, id)?;
            cr_rundir::prune_daily(state.path(), config.retention());
            Ok(made)
        }),
    };
    match made {
        Ok(dir) if runner.spawn.run_dir.is_some() => {
            refuse_busy(&dir)?;
            refuse_attempts(runner, &dir)?;
            Ok(Some(dir))
        }
        Ok(dir) => Ok(Some(dir)),
        Err(err) if err.downcast_ref::<Unsafe>().is_some() => Err(err.context(Exit::Config)),
        Err(err) if runner.spawn.run_dir.is_some() || runner.detach || runner.has_attempts() => {
            Err(err.context(Exit::Io))
        }
        Err(err) => {
            let text = format!("claude-runner: not recorded: {}\n", message(&err));
            let _ = io::Write::write_all(&mut io::stderr(), text.as_bytes());
            Ok(None)
        }
    }
}

/// Refuses the directory of a run that goes on: a second pipeline would write its
/// own summary there.
fn refuse_busy(dir: &RunDir) -> anyhow::Result<()> {
    dir.lock_patiently().map(drop).map_err(|err| {
        let is_busy = err.is::<Unsafe>();
        err.context(if is_busy { Exit::Retry } else { Exit::Io })
    })
}

/// Refuses to begin where attempts of another run are: they would be taken for
/// those of this one, and a good one for its answer.
fn refuse_attempts(runner: &Runner, dir: &RunDir) -> anyhow::Result<()> {
    if !runner.has_attempts() || !dir.has("run.json") {
        return Ok(());
    }
    let shown = dir.path().display();
    let text = format!("{shown}: attempts of another run; go on with --resume-run {shown}");
    Err(anyhow!(text).context(Exit::Usage))
}
