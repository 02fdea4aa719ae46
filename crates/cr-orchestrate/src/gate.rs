//! Commands of the plan: what comes before an attempt, and what it must pass.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use cr_rundir::RunDir;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use crate::attempt::Spec;
use crate::stop::{Stop, Target};
use crate::task::Task;

/// How long one command may take.
const LIMIT: Duration = Duration::from_mins(30);

/// How long it may take once it was asked to stop.
const GRACE: Duration = Duration::from_secs(10);

/// How often a wait looks whether somebody asked.
const GLANCE: Duration = Duration::from_secs(1);

/// The most of its output that is handed on, in bytes.
const TAIL: u64 = 3000;

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
    let spawned = Command::new("/bin/sh")
        .args(["-c", text])
        .current_dir(&task.cwd)
        .envs(env)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log.try_clone()?)
        .process_group(0)
        .spawn();
    let mut child = match spawned {
        Ok(child) => child,
        // Its directory may be gone, or the text may be too long.
        Err(err) => {
            let cwd = task.cwd.display();
            return Ok(Some(format!("could not be run in {cwd}: {err}")));
        }
    };
    let leader = Pid::from_child(&child);
    stop.hand_to(Some(Target::Group(leader)));
    let has_ended = ends(leader, stop);
    stop.hand_to(None);
    // Before its leader is waited for, so that the number is still theirs.
    let _ = kill_process_group(leader, Signal::KILL);
    let status = child.wait()?;
    Ok(match status.code() {
        _ if !has_ended? => Some(format!("took more than {} minutes", LIMIT.as_secs() / 60)),
        Some(0) => None,
        Some(code) => Some(format!("ended with {code}")),
        None => Some("died by a signal".to_owned()),
    })
}

/// Waits for the end of process `leader`, and not for ever; says whether it came,
/// or somebody who asked for it has waited long enough.
fn ends(leader: Pid, stop: &Stop) -> anyhow::Result<bool> {
    let process = pidfd_open(leader, PidfdFlags::empty())?;
    let mut polled = [PollFd::new(&process, PollFlags::IN)];
    let start = Instant::now();
    let mut asked = None;
    let glance = Timespec::try_from(GLANCE)?;
    loop {
        match poll(&mut polled, Some(&glance)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            ended => return Ok(ended.map(|_| true)?),
        }
        if stop.is_asked() && asked.get_or_insert_with(Instant::now).elapsed() > GRACE {
            return Ok(true);
        } else if start.elapsed() > LIMIT {
            return Ok(false);
        }
    }
}

fn tail(path: &Path) -> String {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|mut file| {
        let from = file.metadata()?.len().saturating_sub(TAIL);
        file.seek(SeekFrom::Start(from))?;
        file.take(TAIL).read_to_end(&mut bytes)
    });
    // What cannot be read is as if it had said nothing.
    drop(read);
    String::from_utf8_lossy(&bytes).trim().to_owned()
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
    let said = |bytes| String::from_utf8_lossy(bytes).trim().to_owned();
    Ok(match output.status.code() {
        Some(0) => None,
        Some(5) => Some(format!(
            "files outside the task's scope were changed; take back commits with `git reset`, \
             not with new ones:\n{}",
            said(&output.stdout)
        )),
        // What cannot be checked has not been kept to.
        _ => Some(format!(
            "the task's scope could not be checked: {}",
            said(&output.stderr)
        )),
    })
}
