//! The first half of `claude-runner`: makes a pipeline from the command line.

use std::ffi::OsString;
use std::fs::File;
use std::io;

use anyhow::{Context, anyhow};
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};
use cr_agent::AgentOptions;
use cr_config::Config;
use cr_io::Exit;
use cr_pipeline::{Pipeline, Script, Streams};
use cr_signal::Signals;

use crate::args::Runner;
use crate::location::RunLocation;
use crate::{milestone, prompt, resume, spawn_options, starter};

/// Starts a run of `claude-runner`: `args` are the shell, the script and its
/// arguments. Returns its verdict.
pub(crate) fn begin(args: &[OsString]) -> anyhow::Result<Exit> {
    let [shell, script, rest @ ..] = args else {
        return Err(anyhow!("begin: for claude-runner only").context(Exit::Usage));
    };
    let config = Config::load()?;
    if rest.len() == 1 && rest[0] == "config" {
        return config.print(io::stdout());
    }
    let name = OsString::from("claude-runner");
    let matches = Runner::command().get_matches_from(std::iter::once(&name).chain(rest));
    let runner = Runner::from_arg_matches(&matches).unwrap_or_else(|err| err.exit());
    refuse(&runner)?;
    let script = Script::File {
        shell: shell.clone(),
        path: script.clone(),
    };
    let run = prepare(&matches, runner, &config)?;
    let runner = run.runner;
    let mut env = run.env;
    env.push(("CR_RUN_ID".into(), run.location.id.as_str().into()));
    if runner.no_ledger {
        env.push((cr_pipeline::NO_LEDGER.into(), "1".into()));
    }
    let state_dir = config.of_file("state_dir");
    env.extend(state_dir.map(|dir| ("CR_STATE_DIR".into(), dir.into())));
    let pipeline = Pipeline {
        env,
        ..run.location.pipeline(script, &runner, &config, run.options)
    };
    match (run.signals, &run.location.dir) {
        (Some(mut signals), _) => {
            let streams = Streams {
                stdin: run.prompt.into(),
                stdout: None,
                stderr: None,
            };
            pipeline.run(streams, &mut signals)
        }
        (None, _) if !runner.detach => starter::exec(&pipeline, run.prompt),
        (None, Some(dir)) => starter::detach(&pipeline, run.prompt, dir, &run.location.id),
        (None, None) => {
            let text = "--detach: a run without a run directory cannot be waited for";
            Err(anyhow!(text).context(Exit::Io))
        }
    }
}

/// Prepares the run that the command line asks for.
fn prepare(
    matches: &ArgMatches,
    mut runner: Runner,
    config: &Config,
) -> anyhow::Result<PreparedRun> {
    if let Some(name) = runner.resume_run.clone() {
        return resume::prepare(&name, matches, runner, config);
    }
    let of_milestone = milestone::ask(&mut runner)?;
    let options = spawn_options::new(matches, &runner, config);
    let options = of_milestone.options.into_iter().chain(options).collect();
    let mut run = PreparedRun::new(runner, config, options)?;
    run.env.extend(of_milestone.env);
    Ok(run)
}

fn is_prompt_argument(runner: &Runner) -> bool {
    runner.prompt_argument.is_some() || runner.spawn.prompt.is_some()
}

/// A run that can be started.
pub(crate) struct PreparedRun {
    pub(crate) location: RunLocation,
    pub(crate) prompt: File,
    /// The options of cr-spawn.
    pub(crate) options: Vec<OsString>,
    /// The signals to pass on, unless another process image is the starter.
    pub(crate) signals: Option<Signals>,
    /// The command line. That of a resumed run has the old run's settings.
    pub(crate) runner: Runner,
    /// Variables for its tools.
    pub(crate) env: Vec<(OsString, OsString)>,
}

impl PreparedRun {
    /// Checks the options, reads the prompt and makes the run directory, in this
    /// order: until there is a run directory, a signal just ends us.
    pub(crate) fn new(
        runner: Runner,
        config: &Config,
        mut options: Vec<OsString>,
    ) -> anyhow::Result<Self> {
        let argv = std::iter::once(OsString::from("cr-spawn")).chain(options.iter().cloned());
        let spawn = AgentOptions::try_parse_from(argv).unwrap_or_else(|err| err.exit());
        cr_agent::check(&spawn)?;
        let prompt = prompt::open(&runner)?;
        let signals = signals(&runner)?;
        let location = RunLocation::make(&runner, config)?;
        if let Some(option) = prompt::first_message(&runner, location.dir.as_ref())? {
            options.insert(0, option);
        }
        Ok(Self {
            location,
            prompt,
            options,
            signals,
            runner,
            env: Vec::new(),
        })
    }
}

/// Takes over the signals that are passed on, if this process is the starter. It
/// is not if its arguments hold the prompt and cannot be hidden.
pub(crate) fn signals(runner: &Runner) -> anyhow::Result<Option<Signals>> {
    let is_private =
        || !is_prompt_argument(runner) || cr_sys::hide_arguments("claude-runner").is_ok();
    let is_starter = !runner.detach && is_private();
    let taken = is_starter.then(cr_pipeline::take_signals);
    taken.transpose().context("signals").context(Exit::Tool)
}

/// Refuses options that do not go together.
fn refuse(runner: &Runner) -> anyhow::Result<()> {
    let wrong = |text: String| Err(anyhow!(text).context(Exit::Usage));
    for (name, value) in [
        ("--watch-pid", runner.spawn.watch_pid),
        ("--control-fd", runner.spawn.control_fd),
    ] {
        if value.is_some() {
            return wrong(format!("{name}: claude-runner does not take it"));
        }
    }
    if runner.retry.is_some() && runner.spawn.session.is_interactive() {
        let text = "--retry: not with --input stream or --ask, whose messages and answers \
                    belong to one attempt";
        return wrong(text.to_owned());
    }
    if runner.max_wait.is_some() && !runner.has_attempts() {
        return wrong("--max-wait: only with --retry".to_owned());
    }
    Ok(())
}
