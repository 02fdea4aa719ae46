//! The first half of `claude-runner`: from its command line to a pipeline that
//! only has to be run.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;

use anyhow::{Context, anyhow};
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};
use cr_config::Config;
use cr_io::Exit;
use cr_pipeline::{Pipeline, Script, Streams};
use cr_signal::Signals;

use crate::args::Runner;
use crate::location::RunLocation;
use crate::prompt;
use crate::starter;

/// The settings of the configuration file that are options of cr-spawn.
const SPAWN_SETTINGS: [&str; 16] = [
    "model",
    "fallback_model",
    "max_turns",
    "max_budget",
    "allowed_tools",
    "disallowed_tools",
    "system_prompt_file",
    "permission_mode",
    "timeout",
    "startup_timeout",
    "idle_timeout",
    "tool_timeout",
    "turn_timeout",
    "post_result_grace",
    "grace",
    "claude",
];

/// The options of cr-spawn that a user's values are not passed to.
const NOT_PASSED_ON: [&str; 7] = [
    "prompt",
    "prompt_file",
    "run_dir",
    "no_record",
    "watch_pid",
    "control_fd",
    "rest",
];

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
    refuse(&matches, &runner)?;
    let script = Script::File {
        shell: shell.clone(),
        path: script.clone(),
    };
    let run = prepare(&matches, &runner, &config)?;
    let mut env = vec![("CR_RUN_ID".into(), run.location.id.as_str().into())];
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

fn is_prompt_argument(runner: &Runner) -> bool {
    runner.words.is_some() || runner.spawn.prompt.is_some()
}

/// A run that can be started.
struct PreparedRun {
    location: RunLocation,
    prompt: File,
    /// The options of cr-spawn.
    options: Vec<OsString>,
    /// The signals to pass on, unless another process image is the starter.
    signals: Option<Signals>,
}

/// Checks the options, reads the prompt and makes the run directory, in this
/// order: until there is a run directory, a signal just ends us.
fn prepare(matches: &ArgMatches, runner: &Runner, config: &Config) -> anyhow::Result<PreparedRun> {
    let signals = || {
        let taken = (!runner.detach && !is_prompt_argument(runner)).then(cr_pipeline::take_signals);
        taken.transpose().context("signals").context(Exit::Tool)
    };
    if let Some(name) = &runner.resume_run {
        let signals = signals()?;
        return Ok(PreparedRun {
            location: RunLocation::of_run(name)?,
            prompt: File::open("/dev/null")?,
            options: Vec::new(),
            signals,
        });
    }
    let options = spawn_arguments(matches, runner, config);
    let argv = std::iter::once(OsString::from("cr-spawn")).chain(options.iter().cloned());
    let spawn = cr_agent::AgentOptions::try_parse_from(argv).unwrap_or_else(|err| err.exit());
    cr_agent::check(&spawn)?;
    let prompt = prompt::open(runner)?;
    let signals = signals()?;
    Ok(PreparedRun {
        location: RunLocation::make(runner, config)?,
        prompt,
        options,
        signals,
    })
}

/// Refuses options that do not go together.
fn refuse(matches: &ArgMatches, runner: &Runner) -> anyhow::Result<()> {
    let wrong = |text: String| Err(anyhow!(text).context(Exit::Usage));
    for (name, value) in [
        ("--watch-pid", runner.spawn.watch_pid),
        ("--control-fd", runner.spawn.control_fd),
    ] {
        if value.is_some() {
            return wrong(format!("{name}: claude-runner does not take it"));
        }
    }
    if runner.max_wait.is_some() && !runner.has_attempts() {
        return wrong("--max-wait: only with --retry".to_owned());
    }
    let is_given = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
    let spawn = cr_agent::AgentOptions::command();
    let given = spawn
        .get_arguments()
        .find(|arg| is_given(arg.get_id().as_str()));
    if let (Some(arg), true) = (given, runner.resume_run.is_some()) {
        let name = arg
            .get_long()
            .map_or("--".to_owned(), |long| format!("--{long}"));
        return wrong(format!("{name}: a resumed run keeps its options"));
    }
    Ok(())
}

/// The arguments of cr-spawn: from the command line, else from the file.
fn spawn_arguments(matches: &ArgMatches, runner: &Runner, config: &Config) -> Vec<OsString> {
    let is_given = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
    let spawn = cr_agent::AgentOptions::command();
    let mut argv = Vec::new();
    for arg in spawn.get_arguments() {
        let id = arg.get_id().as_str();
        let Some(long) = arg.get_long().filter(|_| !NOT_PASSED_ON.contains(&id)) else {
            continue;
        };
        if is_given(id) && !arg.get_action().takes_values() {
            argv.push(format!("--{long}").into());
        } else if is_given(id) {
            // With `=`, so that a value that begins with a dash stays a value.
            let values = matches.get_raw(id).unwrap_or_default();
            argv.extend(values.map(|value| option(long, value)));
        } else if let Some(value) = of_file(id, runner, config) {
            argv.push(option(long, value.as_ref()));
        }
    }
    if skips_permissions(runner, config) {
        argv.push("--dangerously-skip-permissions".into());
    }
    if !runner.spawn.rest.is_empty() {
        argv.push("--".into());
        argv.extend(runner.spawn.rest.iter().cloned());
    }
    argv
}

fn option(long: &str, value: &OsStr) -> OsString {
    let mut option = OsString::from(format!("--{long}="));
    option.push(value);
    option
}

/// The value that the file has for an option that was not given.
fn of_file(id: &str, runner: &Runner, config: &Config) -> Option<String> {
    let spawn = &runner.spawn;
    let is_resumed = spawn.resume.is_some() || spawn.continue_last;
    let is_unused = match id {
        // A session keeps its own model.
        "model" => is_resumed,
        "permission_mode" => spawn.dangerously_skip_permissions,
        "system_prompt_file" => spawn.system_prompt.is_some(),
        _ => !SPAWN_SETTINGS.contains(&id),
    };
    config.of_file(id).filter(|_| !is_unused).map(str::to_owned)
}

/// Whether permissions are skipped: they are if nothing is said about them,
/// because an agent without a user cannot ask.
fn skips_permissions(runner: &Runner, config: &Config) -> bool {
    let flags = ["--permission-mode", "--dangerously-skip-permissions"];
    let is_passed = runner.spawn.rest.iter().any(|arg| {
        let arg = arg.to_string_lossy();
        flags.contains(&arg.split('=').next().unwrap_or_default())
    });
    let spawn = &runner.spawn;
    let is_given_here = spawn.permission_mode.is_some() || spawn.dangerously_skip_permissions;
    !is_given_here && !is_passed && config.set("permission_mode").is_none()
}
