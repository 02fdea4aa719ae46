//! The first half of `claude-runner`: from its command line to a pipeline that
//! only has to be run.
//!
//! The script calls us, and we become the script again, in the same process,
//! with everything settled: arguments checked, configuration read, the run's
//! directory made, the prompt as standard input.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, anyhow};
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};
use cr_io::Exit;

use crate::args::Runner;
use crate::detach;
use crate::place::Place;
use crate::prompt;
use cr_config::Config;

/// The script's word for its second half.
const MARK: &str = "--pipeline:";

/// What of the file becomes a flag of cr-spawn.
const FLAGS: [&str; 16] = [
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

/// Flags of cr-spawn that are ours to give it.
const OURS: [&str; 6] = [
    "prompt",
    "prompt_file",
    "run_dir",
    "no_record",
    "watch_pid",
    "rest",
];

/// Begins a run of `claude-runner`: `args` are the shell, the script and its
/// arguments. Returns only if there is nothing to run.
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
    let (place, prompt, words) = match &runner.resume_run {
        Some(name) => (Place::of_run(name)?, File::open("/dev/null")?, Vec::new()),
        None => settle(&matches, &runner, &config)?,
    };
    let mut command = Command::new(shell);
    command
        .arg(script)
        .arg(MARK)
        .args(place.settings(&runner, &config))
        .args(place.agent(&runner, words))
        .env("CR_RUN_ID", place.id.as_str())
        .stdin(prompt);
    if let Some(state) = config.of_file("state_dir") {
        command.env("CR_STATE_DIR", state);
    }
    match (&place.dir, runner.detach) {
        (Some(dir), true) => detach::detach(command, dir, &place.id),
        (None, true) => {
            let text = "--detach: without a directory there is nothing to wait for";
            Err(anyhow!(text).context(Exit::Io))
        }
        (_, false) => {
            let shown = Path::new(shell).display().to_string();
            Err(command.exec()).context(shown).context(Exit::Tool)
        }
    }
}

/// What a new run needs: its place, its prompt, and the arguments of cr-spawn.
fn settle(
    matches: &ArgMatches,
    runner: &Runner,
    config: &Config,
) -> anyhow::Result<(Place, File, Vec<OsString>)> {
    let words = spawn_arguments(matches, runner, config);
    let parsed = std::iter::once(OsString::from("cr-spawn")).chain(words.iter().cloned());
    let spawn = cr_agent::AgentOptions::try_parse_from(parsed).unwrap_or_else(|err| err.exit());
    cr_agent::check(&spawn)?;
    let prompt = prompt::open(runner)?;
    let place = Place::make(runner, config)?;
    Ok((place, prompt, words))
}

/// Refuses what does not go together.
fn refuse(matches: &ArgMatches, runner: &Runner) -> anyhow::Result<()> {
    let wrong = |text: String| Err(anyhow!(text).context(Exit::Usage));
    if runner.spawn.watch_pid.is_some() {
        return wrong("--watch-pid: the runner watches itself".to_owned());
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
        return wrong(format!("{name}: a run that goes on keeps its options"));
    }
    Ok(())
}

/// The arguments of cr-spawn: those that were given, then those of the file.
fn spawn_arguments(matches: &ArgMatches, runner: &Runner, config: &Config) -> Vec<OsString> {
    let is_given = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
    let spawn = cr_agent::AgentOptions::command();
    let mut argv = Vec::new();
    for arg in spawn.get_arguments() {
        let id = arg.get_id().as_str();
        let Some(long) = arg.get_long().filter(|_| !OURS.contains(&id)) else {
            continue;
        };
        if is_given(id) && !arg.get_action().takes_values() {
            argv.push(format!("--{long}").into());
        } else if is_given(id) {
            // With `=`, so that a value that begins with a dash stays a value.
            let values = matches.get_raw(id).unwrap_or_default();
            argv.extend(values.map(|value| word(long, value)));
        } else if let Some(value) = of_file(id, runner, config) {
            argv.push(word(long, value.as_ref()));
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

fn word(long: &str, value: &std::ffi::OsStr) -> OsString {
    let mut word = OsString::from(format!("--{long}="));
    word.push(value);
    word
}

/// What the file says of an option that was not given.
fn of_file(id: &str, runner: &Runner, config: &Config) -> Option<String> {
    let spawn = &runner.spawn;
    let goes_on = spawn.resume.is_some() || spawn.continue_last;
    let is_moot = match id {
        // A session goes on with its own.
        "model" => goes_on,
        "permission_mode" => spawn.dangerously_skip_permissions,
        "system_prompt_file" => spawn.system_prompt.is_some(),
        _ => !FLAGS.contains(&id),
    };
    config.of_file(id).filter(|_| !is_moot).map(str::to_owned)
}

/// Whether nobody has said anything of permissions: they are skipped then, as
/// an agent that nobody watches cannot ask.
fn skips_permissions(runner: &Runner, config: &Config) -> bool {
    let flags = ["--permission-mode", "--dangerously-skip-permissions"];
    let is_passed = runner.spawn.rest.iter().any(|arg| {
        let arg = arg.to_string_lossy();
        flags.contains(&arg.split('=').next().unwrap_or_default())
    });
    let spawn = &runner.spawn;
    let is_said = spawn.permission_mode.is_some() || spawn.dangerously_skip_permissions;
    !is_said && !is_passed && config.set("permission_mode").is_none()
}
