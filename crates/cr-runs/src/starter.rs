//! The starter as a process of its own: of a detached run, and of one whose
//! prompt is an argument.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, anyhow};
use cr_io::Exit;
use cr_pipeline::{Pipeline, Script, Streams};
use cr_rundir::{Run, RunDir, RunId, file};
use rustix::event::PollFlags;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde::Serialize;

use crate::watch::Watch;

/// The command of this program that is a starter and nothing else.
pub(crate) const COMMAND: &str = "start";

#[derive(Serialize)]
struct DetachedRun<'a> {
    run_id: &'a str,
    run_dir: &'a Path,
}

/// Starts `pipeline` under a starter in a session of its own, waits until the
/// run can be found, and prints where it is. Its output goes to a file in the
/// run directory.
pub(crate) fn detach(
    pipeline: &Pipeline,
    prompt: File,
    dir: &RunDir,
    id: &RunId,
) -> anyhow::Result<Exit> {
    let own = |err: io::Error| anyhow::Error::from(err).context(Exit::Tool);
    let output = dir.create_file(file::OUTPUT).context(Exit::Io)?;
    let mut command = command(pipeline).map_err(own)?;
    command
        .stdin(prompt)
        .stderr(output.try_clone().map_err(own)?)
        .stdout(output);
    cr_sys::in_own_session(&mut command, None);
    let run = Run::new(dir.path());
    let watch = Watch::new(std::iter::once(dir.path()));
    let mut child = command.spawn().map_err(own)?;
    if let Some(exit) = wait_for_start(&mut child, &run, &watch).map_err(own)? {
        // It ended before it started; its output says why.
        let output = fs::read(run.file(file::OUTPUT)).unwrap_or_default();
        let _ = io::stderr().write_all(&output);
        return Ok(exit);
    }
    let detached = DetachedRun {
        run_id: id.as_str(),
        run_dir: dir.path(),
    };
    let mut line = serde_json::to_vec(&detached).context(Exit::Tool)?;
    line.push(b'\n');
    let written = io::stdout().write_all(&line);
    written.context("write standard output").context(Exit::Io)?;
    Ok(Exit::Ok)
}

/// Becomes the starter of `pipeline`, in the same process but with other
/// arguments: the prompt must show in no list of processes.
pub(crate) fn exec(pipeline: &Pipeline, prompt: File) -> anyhow::Result<Exit> {
    let command = command(pipeline);
    let failed = command.map(|mut command| command.stdin(prompt).exec());
    Err(failed.unwrap_or_else(|err| err))
        .context("cr-runs")
        .context(Exit::Tool)
}

/// This program, as the starter of `pipeline`.
fn command(pipeline: &Pipeline) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(COMMAND);
    if let Script::File { shell, path } = &pipeline.script {
        command.arg(shell).arg(path);
    }
    command
        .args(pipeline.args())
        .envs(pipeline.env.iter().cloned());
    Ok(command)
}

/// The starter: `args` are the shell, the script and the arguments of its second
/// half.
pub(crate) fn run(args: &[OsString]) -> anyhow::Result<Exit> {
    let mut signals = cr_pipeline::take_signals()
        .context("signals")
        .context(Exit::Tool)?;
    let pipeline = match args {
        [shell, path, args @ ..] => {
            let (shell, path) = (shell.clone(), path.clone());
            Pipeline::from_args(Script::File { shell, path }, args)
        }
        _ => None,
    };
    let wrong = || anyhow!("{COMMAND}: for claude-runner only").context(Exit::Usage);
    let streams = Streams {
        stdin: Stdio::inherit(),
        stdout: None,
        stderr: None,
    };
    pipeline.ok_or_else(wrong)?.run(streams, &mut signals)
}

/// Waits until the run has started: it has a name and a lock from then on. If
/// its process ends first, returns the code.
fn wait_for_start(child: &mut Child, run: &Run, watch: &Watch) -> io::Result<Option<Exit>> {
    let process = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    loop {
        let is_started = run.started().run_id.is_some();
        if is_started || run.has(file::EXIT) || run.has(file::SUMMARY) {
            return Ok(None);
        }
        if let Some(status) = child.try_wait()? {
            let code = status.code().and_then(|code| u8::try_from(code).ok());
            return Ok(Some(Exit::Code(code.unwrap_or(Exit::Tool.code()))));
        }
        watch.wait_or(None, Some((process.as_fd(), PollFlags::IN)));
    }
}
