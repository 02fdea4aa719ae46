//! A run that is left to itself.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, Command};

use anyhow::Context;
use cr_io::Exit;
use cr_rundir::{RunDir, RunId};
use rustix::event::PollFlags;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde::Serialize;

use crate::watch::Watch;
use cr_rundir::Run;

#[derive(Serialize)]
struct Where<'a> {
    run_id: &'a str,
    run_dir: &'a Path,
}

/// Starts `command` in a session of its own, waits until there is a run to wait
/// for, and says where. What it writes is kept as `output`.
pub(crate) fn detach(mut command: Command, dir: &RunDir, id: &RunId) -> anyhow::Result<Exit> {
    let own = |err: io::Error| anyhow::Error::from(err).context(Exit::Tool);
    let output = dir.create_file("output").context(Exit::Io)?;
    command
        .stderr(output.try_clone().map_err(own)?)
        .stdout(output);
    cr_sys::in_own_session(&mut command, None);
    let run = Run::new(dir.path());
    let watch = Watch::new(std::iter::once(dir.path()));
    let mut child = command.spawn().map_err(own)?;
    if let Some(exit) = beginning(&mut child, &run, &watch).map_err(own)? {
        // It was over before it began, and its words are all there is.
        let said = fs::read(run.file("output")).unwrap_or_default();
        let _ = io::stderr().write_all(&said);
        return Ok(exit);
    }
    let place = Where {
        run_id: id.as_str(),
        run_dir: dir.path(),
    };
    let mut line = serde_json::to_vec(&place).context(Exit::Tool)?;
    line.push(b'\n');
    let written = io::stdout().write_all(&line);
    written.context("write standard output").context(Exit::Io)?;
    Ok(Exit::Ok)
}

/// Waits until the run has begun. If its process ends first: its code.
fn beginning(child: &mut Child, run: &Run, watch: &Watch) -> io::Result<Option<Exit>> {
    let process = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    loop {
        let marks = ["started", "exit.json", "summary.json"];
        if marks.iter().any(|mark| run.has(mark)) {
            return Ok(None);
        }
        if let Some(status) = child.try_wait()? {
            let code = status.code().and_then(|code| u8::try_from(code).ok());
            return Ok(Some(Exit::Code(code.unwrap_or(Exit::Tool.code()))));
        }
        let other = (std::os::fd::AsFd::as_fd(&process), PollFlags::IN);
        watch.wait_or(None, Some(other));
    }
}
