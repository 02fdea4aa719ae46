//! The id and the run directory of a run, and its pipeline.

use std::ffi::OsString;
use std::io::{self, IsTerminal};

use anyhow::{Context, anyhow};
use clap::ValueEnum;
use cr_io::{Exit, message};
use cr_pipeline::{Pipeline, Script, Source};
use cr_rundir::{Run, RunDir, RunId, Unsafe, file};

use crate::args::{Output, Runner};
use cr_config::Config;

/// A file that only shows whether there is room for a record, and its size.
const PROBE: &str = "probe";
const PROBE_BYTES: usize = 64 << 10;

/// The id of a run and its run directory.
#[derive(Debug)]
pub(crate) struct RunLocation {
    pub(crate) id: RunId,
    /// None if the run is not recorded, by request or by failure.
    pub(crate) dir: Option<RunDir>,
}

impl RunLocation {
    /// Chooses the id and makes the run directory.
    pub(crate) fn make(runner: &Runner, config: &Config) -> anyhow::Result<Self> {
        let given = RunId::given().context("CR_RUN_ID").context(Exit::Config)?;
        let id = given.unwrap_or_default();
        let dir = directory(runner, config, &id)?;
        Ok(Self { id, dir })
    }

    /// The location of a run with attempts, for more of them.
    pub(crate) fn of_attempts(run: &Run) -> anyhow::Result<Self> {
        let id = run.started().run_id.and_then(|id| RunId::parse(&id));
        let dir = RunDir::at(&run.dir).context(Exit::Config)?;
        refuse_busy(&dir)?;
        Ok(Self {
            id: id.unwrap_or_default(),
            dir: Some(dir),
        })
    }

    /// The pipeline of this run; `options` are those of cr-spawn.
    pub(crate) fn pipeline(
        &self,
        script: Script,
        runner: &Runner,
        config: &Config,
        options: Vec<OsString>,
    ) -> Pipeline {
        let output = output(runner, config);
        let is_terminal = match output {
            Output::Report => io::stdout().is_terminal(),
            _ => io::stderr().is_terminal(),
        } && !runner.detach;
        let default_limit = if is_terminal { 0 } else { config.limit() };
        let has_attempts = runner.has_attempts();
        Pipeline {
            script,
            output: output.into(),
            cwd: runner.spawn.cwd.clone().unwrap_or_else(|| ".".into()),
            run_dir: self.dir.as_ref().map(|dir| dir.path().to_owned()),
            limit: runner.limit.unwrap_or(default_limit),
            quiet: runner.quiet,
            source: if has_attempts {
                Source::Retry
            } else {
                Source::Spawn
            },
            options: self.source_options(runner, options),
            env: Vec::new(),
            is_part: false,
        }
    }

    /// The options of the first stage: those of cr-spawn, or those of
    /// cr-orchestrate with those of cr-spawn after them.
    fn source_options(&self, runner: &Runner, options: Vec<OsString>) -> Vec<OsString> {
        let run_dir = |name: &str| match &self.dir {
            Some(dir) => {
                let mut option = OsString::from(name);
                option.push(dir.path());
                option
            }
            None => "--no-record".into(),
        };
        if !runner.has_attempts() {
            let own = std::iter::once(run_dir("--run-dir="));
            return own.chain(options).collect();
        }
        let retries = runner.retry.map(|count| format!("--retries={count}"));
        let seconds = runner.max_wait.map(|time| time.as_secs_f64());
        let max_wait = seconds.map(|seconds| format!("--max-wait={seconds}"));
        let mut own = vec![run_dir("--dir=")];
        own.extend(retries.into_iter().chain(max_wait).map(OsString::from));
        own.push("--".into());
        own.extend(options);
        own
    }
}

fn output(runner: &Runner, config: &Config) -> Output {
    if runner.json {
        return Output::Summary;
    }
    let of_config = || Output::from_str(config.set("output")?, false).ok();
    runner.output.or_else(of_config).unwrap_or_default()
}

/// Makes the run directory. One that cannot be written stops no run; one that is
/// unsafe does.
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
    let needs_record = runner.detach || runner.has_attempts();
    let made = made.and_then(|dir| {
        if needs_record {
            refuse_full(&dir).context("--retry and --detach need a record")?;
        }
        Ok(dir)
    });
    match made {
        Ok(dir) if runner.spawn.run_dir.is_some() => {
            refuse_busy(&dir)?;
            refuse_attempts(runner, &dir)?;
            Ok(Some(dir))
        }
        Ok(dir) => Ok(Some(dir)),
        Err(err) if err.downcast_ref::<Unsafe>().is_some() => Err(err.context(Exit::Config)),
        Err(err) if runner.spawn.run_dir.is_some() || needs_record => Err(err.context(Exit::Io)),
        Err(err) => {
            let text = format!("claude-runner: not recorded: {}\n", message(&err));
            let _ = io::Write::write_all(&mut io::stderr(), text.as_bytes());
            Ok(None)
        }
    }
}

/// Refuses a directory on a full disk, for a run that is nothing without its
/// record: retries are decided by it, and a detached run is waited for by it.
fn refuse_full(dir: &RunDir) -> anyhow::Result<()> {
    dir.write(PROBE, &vec![0; PROBE_BYTES])?;
    std::fs::remove_file(dir.path().join(PROBE))?;
    Ok(())
}

/// Refuses the directory of a run that is still going on: a second pipeline would
/// write its own summary there.
fn refuse_busy(dir: &RunDir) -> anyhow::Result<()> {
    dir.lock_patiently().map(drop).map_err(|err| {
        let is_busy = err.is::<Unsafe>();
        err.context(if is_busy { Exit::Retry } else { Exit::Io })
    })
}

/// Refuses a directory with attempts of another run: they would count as attempts
/// of this one, and a successful one as its answer.
fn refuse_attempts(runner: &Runner, dir: &RunDir) -> anyhow::Result<()> {
    if !runner.has_attempts() || !dir.has(file::RUN) {
        return Ok(());
    }
    let shown = dir.path().display();
    let text = format!("{shown}: attempts of another run; resume it with --resume-run {shown}");
    Err(anyhow!(text).context(Exit::Usage))
}
