//! `claude-runner --resume-run`: a run that continues an earlier one.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::anyhow;
use clap::{ArgMatches, CommandFactory, Parser};
use cr_agent::{AgentOptions, Settings};
use cr_config::Config;
use cr_io::{Exit, find_tool};
use cr_rundir::{Run, RunState, file};

use crate::args::Runner;
use crate::begin::{PreparedRun, signals};
use crate::find;
use crate::location::RunLocation;
use crate::spawn_options::{given, is_given, with_rest};

/// Options that would make a plain run another kind of run, or another session.
const OTHER_RUN: [(&str, &str); 6] = [
    ("retry", "--retry"),
    ("max_wait", "--max-wait"),
    ("resume", "--resume"),
    ("continue_last", "--continue"),
    ("session_id", "--session-id"),
    ("fork_session", "--fork-session"),
];

/// Options of which one takes the place of the other.
const INSTEAD: [[&str; 2]; 2] = [
    ["permission-mode", "dangerously-skip-permissions"],
    ["system-prompt", "system-prompt-file"],
];

/// Prepares a run that continues the run `name`, which may be of any kind.
pub(crate) fn prepare(
    name: &str,
    matches: &ArgMatches,
    runner: Runner,
    config: &Config,
) -> anyhow::Result<PreparedRun> {
    let run = match find::named(name) {
        Err(err) if find::is_orchestrated(name, config)? => {
            drop(err);
            return Err(orchestrate(name, matches));
        }
        found => found?,
    };
    if !run.has(file::RUN) {
        return plain(&run, matches, runner, config);
    }
    if !run.has(file::STARTED) {
        return Err(orchestrate(&run.id(), matches));
    }
    refuse_all(matches, "a run with --retry keeps its options")?;
    let signals = signals(&runner)?;
    Ok(PreparedRun {
        location: RunLocation::of_attempts(&run)?,
        prompt: File::open("/dev/null")?,
        options: Vec::new(),
        signals,
        runner,
        env: vec![no_mode()],
    })
}

/// Hands an orchestrated run to cr-orchestrate; returns only an error.
fn orchestrate(id: &str, matches: &ArgMatches) -> anyhow::Error {
    if let Err(err) = refuse_all(matches, "an orchestrated run keeps its options") {
        return err;
    }
    let program = find_tool("cr-orchestrate");
    let shown = program.display().to_string();
    let mut command = Command::new(program);
    command.args(["--resume-run", id]);
    // It means the same there: JSON on standard output.
    if is_given(matches, "json") {
        command.arg("--json");
    }
    anyhow::Error::from(command.exec())
        .context(shown)
        .context(Exit::Tool)
}

/// Refuses every option of cr-spawn, and a prompt.
fn refuse_all(matches: &ArgMatches, why: &str) -> anyhow::Result<()> {
    let wrong = |name: &str| Err(anyhow!("{name}: {why}").context(Exit::Usage));
    if is_given(matches, "prompt_argument") {
        return wrong("a prompt");
    }
    let spawn = AgentOptions::command();
    let mut options = spawn.get_arguments();
    match options.find(|arg| is_given(matches, arg.get_id().as_str())) {
        Some(arg) => wrong(&format!("--{}", arg.get_long().unwrap_or_default())),
        None => Ok(()),
    }
}

/// Prepares a new run with the session and the settings of `run`, which was
/// started without --retry.
fn plain(
    run: &Run,
    matches: &ArgMatches,
    mut runner: Runner,
    config: &Config,
) -> anyhow::Result<PreparedRun> {
    let id = run.id();
    if let Some((_, name)) = OTHER_RUN.iter().find(|(id, _)| is_given(matches, id)) {
        let text = format!("{name}: {id} is resumed with its own session, in one attempt");
        return Err(anyhow!(text).context(Exit::Usage));
    }
    if matches!(run.state(), RunState::Starting | RunState::Running) {
        let text = format!("{id}: a run is going on there");
        return Err(anyhow!(text).context(Exit::Retry));
    }
    let old = old_options(run)?;
    refuse_second(old.resume.as_deref(), &id)?;
    let options = merged(&old, matches, &runner.spawn.rest);
    let argv = std::iter::once(OsString::from("cr-spawn")).chain(options.iter().cloned());
    let spawn = AgentOptions::try_parse_from(argv).unwrap_or_else(|err| err.exit());
    // Without a mode of its own the run has what the agent's own settings say,
    // and not what the environment says today.
    let is_mode_given = spawn.permission_mode.is_some() || spawn.dangerously_skip_permissions;
    let here = runner.spawn;
    runner.resume_run = None;
    runner.spawn = AgentOptions {
        prompt: here.prompt,
        prompt_file: here.prompt_file,
        run_dir: here.run_dir,
        no_record: here.no_record,
        ..spawn
    };
    let mut run = PreparedRun::new(runner, config, options)?;
    if !is_mode_given {
        run.env.push(no_mode());
    }
    Ok(run)
}

/// Refuses to resume a session that another run is working on: both would write to
/// it.
fn refuse_second(session: Option<&str>, id: &str) -> anyhow::Result<()> {
    let busy = cr_rundir::runs_in(&find::runs()?).into_iter().find(|run| {
        matches!(run.state(), RunState::Starting | RunState::Running)
            && run.session().as_deref() == session
    });
    match busy {
        Some(run) => {
            let text = format!("{id}: the run {} is going on in its session", run.id());
            Err(anyhow!(text).context(Exit::Retry))
        }
        None => Ok(()),
    }
}

/// The variable that says nothing about permissions. The mode of a resumed run is
/// on record, and what the environment says today is not.
fn no_mode() -> (OsString, OsString) {
    ("CR_PERMISSION_MODE".into(), "".into())
}

/// The options of a run that continues the session of `run` with its settings.
fn old_options(run: &Run) -> anyhow::Result<AgentOptions> {
    let id = run.id();
    let usage = |text: String| anyhow!(text).context(Exit::Usage);
    let Some(settings) = Settings::read(&run.dir)? else {
        let session = run.session();
        let session = session.as_deref().unwrap_or("SESSION");
        let text = format!(
            "{id}: an older version left no settings.json; use --resume {session}, \
             with the options of that run"
        );
        return Err(usage(text));
    };
    let is_saved = !settings.no_session_persistence;
    // A session of many turns has its id before the agent writes anything.
    let given = || settings.session_id.clone().or_else(|| run.started().resume);
    let given = settings.session.is_interactive().then(given).flatten();
    let session = given.or_else(|| run.session()).filter(|_| is_saved);
    let session = session.ok_or_else(|| {
        usage(format!(
            "{id}: it has no session to resume; start a new run"
        ))
    })?;
    Ok(AgentOptions {
        resume: Some(session),
        continue_last: false,
        session_id: None,
        fork_session: false,
        // The stream of that run is in it.
        output_file: None,
        resumed_run: Some(name_of(run)?),
        ..settings.options()
    })
}

/// The name by which cr-spawn finds the run: its id, or where it is kept.
fn name_of(run: &Run) -> anyhow::Result<String> {
    let is_kept = run.dir.parent() == Some(&find::runs()?);
    let path = || {
        std::path::absolute(&run.dir)
            .ok()?
            .into_os_string()
            .into_string()
            .ok()
    };
    Ok(path().filter(|_| !is_kept).unwrap_or_else(|| run.id()))
}

/// The options of `old`, but for those that are on the command line.
fn merged(old: &AgentOptions, matches: &ArgMatches, rest: &[OsString]) -> Vec<OsString> {
    let old_rest = &old.rest;
    let old = AgentOptions {
        rest: Vec::new(),
        ..old.clone()
    };
    let given = given(matches);
    let name = |option: &OsString| {
        let text = option.to_string_lossy();
        let name = text.split('=').next().unwrap_or_default();
        name.trim_start_matches('-').to_owned()
    };
    let mut replaced: Vec<String> = given.iter().map(name).collect();
    for pair in INSTEAD {
        if pair
            .iter()
            .any(|one| replaced.iter().any(|name| name == one))
        {
            replaced.extend(pair.map(str::to_owned));
        }
    }
    let kept = old.to_argv().into_iter();
    let mut argv: Vec<OsString> = kept
        .filter(|option| !replaced.contains(&name(option)))
        .collect();
    argv.extend(given);
    with_rest(argv, if rest.is_empty() { old_rest } else { rest })
}
