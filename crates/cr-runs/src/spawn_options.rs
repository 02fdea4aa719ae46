//! The options of cr-spawn, from the command line and the configuration.

use std::ffi::{OsStr, OsString};

use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory};
use cr_agent::AgentOptions;
use cr_config::{Config, SETTINGS};

use crate::args::Runner;

/// The options of cr-spawn that a user's values are not passed to.
const NOT_PASSED_ON: [&str; 8] = [
    "prompt",
    "prompt_file",
    "run_dir",
    "no_record",
    "watch_pid",
    "control_fd",
    "resumed_run",
    "rest",
];

/// The options of a new run: from the command line, else from the file.
pub(crate) fn new(matches: &ArgMatches, runner: &Runner, config: &Config) -> Vec<OsString> {
    let mut argv = given(matches);
    for setting in SETTINGS {
        let value = of_file(setting.key, runner, config);
        let value = value.filter(|_| !is_given(matches, setting.key));
        if let (Some(flag), Some(value)) = (setting.flag, value) {
            argv.push(option(flag, value.as_ref()));
        }
    }
    if skips_permissions(runner, config) {
        argv.push("--dangerously-skip-permissions".into());
    }
    with_rest(argv, &runner.spawn.rest)
}

/// Whether option `id` is on the command line.
pub(crate) fn is_given(matches: &ArgMatches, id: &str) -> bool {
    matches.value_source(id) == Some(ValueSource::CommandLine)
}

/// The options of cr-spawn that are on the command line.
pub(crate) fn given(matches: &ArgMatches) -> Vec<OsString> {
    let spawn = AgentOptions::command();
    let mut argv = Vec::new();
    for arg in spawn.get_arguments() {
        let id = arg.get_id().as_str();
        let Some(long) = arg.get_long().filter(|_| !NOT_PASSED_ON.contains(&id)) else {
            continue;
        };
        if is_given(matches, id) && !arg.get_action().takes_values() {
            argv.push(format!("--{long}").into());
        } else if is_given(matches, id) {
            // With `=`, so that a value that begins with a dash stays a value.
            let values = matches.get_raw(id).unwrap_or_default();
            argv.extend(values.map(|value| option(long, value)));
        }
    }
    argv
}

/// `argv`, and the arguments for the agent itself.
pub(crate) fn with_rest(mut argv: Vec<OsString>, rest: &[OsString]) -> Vec<OsString> {
    if !rest.is_empty() {
        argv.push("--".into());
        argv.extend(rest.iter().cloned());
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
        _ => false,
    };
    config.of_file(id).filter(|_| !is_unused).map(str::to_owned)
}

/// Whether permissions are skipped: they are if nothing is said about them,
/// because an agent without a user cannot ask. With --ask it can.
fn skips_permissions(runner: &Runner, config: &Config) -> bool {
    let flags = ["--permission-mode", "--dangerously-skip-permissions"];
    let is_passed = runner.spawn.rest.iter().any(|arg| {
        let arg = arg.to_string_lossy();
        flags.contains(&arg.split('=').next().unwrap_or_default())
    });
    let spawn = &runner.spawn;
    let is_given_here = spawn.permission_mode.is_some() || spawn.dangerously_skip_permissions;
    let asks = spawn.session.asks();
    !asks && !is_given_here && !is_passed && config.set("permission_mode").is_none()
}
