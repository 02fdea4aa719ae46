//! Commands of the plan: what comes before an attempt, and what it must pass.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context;
use cr_run::RunDir;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use crate::attempt::Spec;
use crate::stop::{Stop, Target};
use crate::task::Task;

/// How long one command may take.
const LIMIT: Duration = Duration::from_mins(30);

/// The most of its output that is handed on, in bytes.
const TAIL: usize = 3000;

/// Runs `commands` one after the other; returns what the first one that fails has
/// to say.
pub(crate) fn run(
    dir: &RunDir,
    task: &Task,
    (name, commands): (&str, &[String]),
    stop: &Stop,
) -> anyhow::Result<Option<String>> {
    for (at, text) in commands.iter().enumerate() {
        let file = format!("{name}.{}.log", at + 1);
        let log = dir.create_file(&file)?;
        let Some(end) = one(text, task, &log, stop)? else {
            continue;
        };
        let tail = tail(&dir.path().join(file));
        return Ok(Some(format!("`{text}` {end}:\n{tail}")));
    }
    Ok(None)
}

/// Runs one command with its whole group; `None` if it ends well.
fn one(text: &str, task: &Task, log: &File, stop: &Stop) -> anyhow::Result<Option<String>> {
    let env = task.env.iter().filter_map(|entry| entry.split_once('='));
    let mut child = Command::new("/bin/sh")
        .args(["-c", text])
        .current_dir(&task.cwd)
        .envs(env)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log.try_clone()?)
        .process_group(0)
        .spawn()
        .context("/bin/sh")?;
    let leader = Pid::from_child(&child);
    stop.hand_to(Some(Target::Group(leader)));
    let process = pidfd_open(leader, PidfdFlags::empty())?;
    let limit = Timespec::try_from(LIMIT)?;
    let mut polled = [PollFd::new(&process, PollFlags::IN)];
    let ready = loop {
        match poll(&mut polled, Some(&limit)) {
            Err(rustix::io::Errno::INTR) => {}
            ready => break ready?,
        }
    };
    stop.hand_to(None);
    // Before its leader is waited for, so that the number is still theirs.
    let _ = kill_process_group(leader, Signal::KILL);
    let status = child.wait()?;
    Ok(match status.code() {
        _ if ready == 0 => Some(format!("took more than {} minutes", LIMIT.as_secs() / 60)),
        Some(0) => None,
        Some(code) => Some(format!("ended with {code}")),
        None => Some("died by a signal".to_owned()),
    })
}

fn tail(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap_or_default();
    let from = bytes.len().saturating_sub(TAIL);
    String::from_utf8_lossy(&bytes[from..]).trim().to_owned()
}

/// The files outside its scope that the task has changed.
pub(crate) fn outside(dir: &RunDir, spec: &Spec) -> anyhow::Result<Option<String>> {
    let task = &spec.task;
    if task.files.is_empty() {
        return Ok(None);
    }
    let mut command = crate::tools::tool("cr-git");
    command.arg("scope").arg("--stream");
    let other = spec.scope_from.map(|number| format!("../{number}"));
    let start = dir.path().join(other.unwrap_or_default());
    command.arg(start.join(crate::pipeline::START));
    for glob in &task.files {
        command.arg(format!("--allow={glob}"));
    }
    let output = command.stdin(Stdio::null()).output().context("cr-git")?;
    let names = String::from_utf8_lossy(&output.stdout);
    Ok((output.status.code() == Some(5)).then(|| {
        format!(
            "files outside the task's scope were changed; take back commits with `git reset`, \
             not with new ones:\n{}",
            names.trim()
        )
    }))
}
