//! `{ cr-git start; cr-spawn …; } | cr-git end | cr-summarize`, in files.

use std::fs::File;
use std::io::{Write, pipe};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, anyhow};
use cr_rundir::RunDir;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::attempt::Spec;
use crate::stop::{Stop, Target};
use crate::tools::tool;

/// Where the agent's words are.
pub(crate) const PROMPT: &str = "attempt.prompt";

/// The first line of the stream.
pub(crate) const START: &str = "start.json";

/// Runs the agent; afterwards there is a summary in `dir`.
pub(crate) fn run(dir: &RunDir, spec: &Spec, notes: &File, stop: &Stop) -> anyhow::Result<()> {
    let (from_spawn, to_end) = pipe()?;
    let (from_end, to_summary) = pipe()?;
    let run_dir = format!("--run-dir={}", dir.path().display());
    let stages = [
        start(
            tool("cr-git")
                .args(["end", &run_dir])
                .stdin(from_spawn)
                .stdout(to_summary),
            notes,
        )?,
        start(
            tool("cr-summarize")
                .args(["--full", &run_dir])
                .stdin(from_end)
                .stdout(Stdio::null()),
            notes,
        )?,
    ];
    let spawned = agent(dir, spec, notes, to_end, stop);
    for mut stage in stages {
        stage.wait()?;
    }
    spawned
}

/// Everything up to the end of the agent; closes `to_end`.
fn agent(
    dir: &RunDir,
    spec: &Spec,
    notes: &File,
    mut to_end: std::io::PipeWriter,
    stop: &Stop,
) -> anyhow::Result<()> {
    let line = before(spec, notes)?;
    dir.write(START, &line)?;
    to_end.write_all(&line)?;
    let mut command = spawn(dir, spec)?;
    let mut child = start(command.stdin(Stdio::null()).stdout(to_end), notes)?;
    // The command holds on to our end of the pipe.
    drop(command);
    let process = Pid::from_child(&child);
    stop.hand_to(
        pidfd_open(process, PidfdFlags::empty())
            .ok()
            .map(Target::Process),
    );
    let status = child.wait()?;
    stop.hand_to(None);
    // Who refuses to begin says so in words only.
    if !status.success() && !dir.has("exit.json") && !stop.is_asked() {
        return Err(anyhow!(last_words(dir)));
    }
    Ok(())
}

/// The last line that a stage had to say.
fn last_words(dir: &RunDir) -> String {
    let bytes = std::fs::read(dir.path().join("attempt.stderr")).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let last = text.lines().rfind(|line| !line.trim().is_empty());
    last.unwrap_or("cr-spawn did not begin").to_owned()
}

/// The line of `cr-git start`.
fn before(spec: &Spec, notes: &File) -> anyhow::Result<Vec<u8>> {
    let mut command = tool("cr-git");
    command
        .arg("start")
        .arg("--cwd")
        .arg(&spec.task.cwd)
        .env("CR_RUN_ID", &spec.run_id)
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let child = start(&mut command, notes)?;
    Ok(child.wait_with_output()?.stdout)
}

/// Starts one stage; what it has to say goes to `notes`.
fn start(command: &mut Command, notes: &File) -> anyhow::Result<Child> {
    let shown = command.get_program().to_string_lossy().into_owned();
    command
        .stderr(notes.try_clone()?)
        .spawn()
        .with_context(|| shown)
}

fn spawn(dir: &RunDir, spec: &Spec) -> anyhow::Result<Command> {
    let mut options = spec.agent_options()?;
    options.run_dir = Some(dir.path().to_owned());
    options.prompt_file = Some(dir.path().join(PROMPT));
    let mut command = tool("cr-spawn");
    let env = spec
        .task
        .env
        .iter()
        .filter_map(|entry| entry.split_once('='));
    command
        .args(options.to_argv())
        .envs(env)
        .env("CR_RUN_ID", &spec.run_id);
    Ok(command)
}

/// Makes up the summary of a run whose agent has ended, from what it left.
pub(crate) fn sum_up(dir: &RunDir, notes: &File) -> anyhow::Result<()> {
    let run_dir = format!("--run-dir={}", dir.path().display());
    let first = if dir.has("git.json") {
        "git.json"
    } else {
        START
    };
    let mut text = std::fs::read(dir.path().join(first)).unwrap_or_default();
    text.extend(std::fs::read(dir.path().join("stream.ndjson")).unwrap_or_default());
    let mut command = tool("cr-summarize");
    command
        .args(["--full", &run_dir])
        .stdin(Stdio::piped())
        .stdout(Stdio::null());
    let mut child = start(&mut command, notes)?;
    let mut input = child.stdin.take().context("no pipe")?;
    input.write_all(&text)?;
    drop(input);
    child.wait()?;
    Ok(())
}
