//! Commands of the plan: `setup` before an attempt, `verify` after it.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use cr_rundir::RunDir;
use cr_sandbox::CommandSandbox;
use rustix::process::{
    Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, set_child_subreaper,
};

use crate::attempt::Spec;
use crate::stop::Stopping;

/// How long one command may take.
const COMMAND_LIMIT: Duration = Duration::from_mins(30);

/// How long it may take once it was asked to stop.
const STOP_GRACE: Duration = Duration::from_secs(10);

/// How often the limits are checked.
const LIMIT_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// The most of its output that is reported, in bytes.
const TAIL: u64 = 3000;

/// The directory of the logs of commands, variables of their environment, and the
/// sandbox that they run in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surroundings<'a> {
    pub(crate) dir: &'a RunDir,
    pub(crate) env: &'a [(String, String)],
    pub(crate) sandbox: Option<&'a CommandSandbox>,
}

/// Commands, and the directory in which they run.
pub(crate) type Commands<'a> = (&'a Path, &'a [String]);

/// Runs all commands one after the other; returns the output of the first one that
/// fails. Their logs are called `name`, with a number.
pub(crate) fn run(
    around: Surroundings<'_>,
    (name, groups): (&str, &[Commands<'_>]),
    stop: &mut dyn Stopping,
) -> anyhow::Result<Option<String>> {
    let each = |&(cwd, commands): &Commands<'_>| -> Vec<(PathBuf, String)> {
        let each = commands.iter();
        each.map(|text| (cwd.to_owned(), text.clone())).collect()
    };
    for (at, (cwd, text)) in groups.iter().flat_map(each).enumerate() {
        let file = format!("{name}.{}.log", at + 1);
        let log = around.dir.create_file(&file)?;
        let Some(end) = command((&text, &cwd), around, &log, stop)? else {
            continue;
        };
        let tail = tail(&around.dir.path().join(file));
        return Ok(Some(format!("`{text}` {end}:\n{tail}")));
    }
    Ok(None)
}

/// Runs one command with everything that it starts; `None` if it ends well.
fn command(
    (text, cwd): (&str, &Path),
    around: Surroundings<'_>,
    log: &File,
    stop: &mut dyn Stopping,
) -> anyhow::Result<Option<String>> {
    let mut shell = shell(text, cwd, around);
    shell
        .current_dir(cwd)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log.try_clone()?);
    // Its own group, which ends with this process: a second supervisor would
    // run the same command in the same directory.
    cr_sys::in_own_session(&mut shell, Some(Signal::KILL));
    // What it leaves in other groups becomes ours, and is ended with it.
    cr_proc::adopt_orphans()?;
    let mut child = match shell.spawn() {
        Ok(child) => child,
        // Its directory may be gone, or the text may be too long.
        Err(err) => {
            let cwd = cwd.display();
            return Ok(Some(format!("could not be run in {cwd}: {err}")));
        }
    };
    let leader = Pid::from_child(&child);
    let has_ended = ends(leader, stop);
    // Before its leader is waited for: until then the group has its number.
    let _ = kill_process_group(leader, Signal::KILL);
    let status = child.wait()?;
    cr_proc::sweep(Duration::ZERO, |_, _| ());
    // The agent's orphans belong to its own supervisor.
    set_child_subreaper(None)?;
    Ok(match status.code() {
        _ if !has_ended? => Some(format!(
            "took more than {} minutes",
            COMMAND_LIMIT.as_secs() / 60
        )),
        Some(0) => None,
        Some(code) => Some(format!("ended with {code}")),
        None => Some("died by a signal".to_owned()),
    })
}

/// A shell that runs `text`, in the sandbox if there is one.
fn shell(text: &str, cwd: &Path, around: Surroundings<'_>) -> Command {
    if let Some(sandbox) = around.sandbox {
        return sandbox.shell(text, cwd, around.env);
    }
    let mut shell = Command::new("/bin/sh");
    let env = around.env.iter().map(|(name, value)| (name, value));
    shell.args(["-c", text]).envs(env);
    shell
}

/// Waits for the end of the process `leader`. Returns false if it takes too long.
/// A request to stop goes to its group, which then has a grace.
fn ends(leader: Pid, stop: &mut dyn Stopping) -> anyhow::Result<bool> {
    let process = pidfd_open(leader, PidfdFlags::empty())?;
    let start = Instant::now();
    let mut asked_at = None;
    loop {
        if stop.must_stop() && asked_at.is_none() {
            asked_at = Some(Instant::now());
            // It may have ended just now.
            let _ = kill_process_group(leader, Signal::TERM);
        }
        let has_ended = stop.wait_for(process.as_fd(), LIMIT_CHECK_INTERVAL)?;
        if has_ended || asked_at.is_some_and(|at| at.elapsed() > STOP_GRACE) {
            return Ok(true);
        } else if start.elapsed() > COMMAND_LIMIT {
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
    // A log that cannot be read counts as empty.
    drop(read);
    String::from_utf8_lossy(&bytes).trim().to_owned()
}

/// The files outside its scope that the task has changed: since the attempt began,
/// or since `base` in a worktree, where all that came after it is the task's.
pub(crate) fn outside(
    dir: &RunDir,
    spec: &Spec,
    base: Option<&str>,
) -> anyhow::Result<Option<String>> {
    let task = &spec.task;
    if task.files.is_empty() {
        return Ok(None);
    }
    let mut command = Command::new(cr_io::find_tool("cr-git"));
    command.arg("scope").current_dir(spec.cwd());
    if let Some(base) = base {
        command.arg("--base").arg(base);
    } else {
        let other = spec.scope_from.map(|number| format!("../{number}"));
        let start = dir.path().join(other.unwrap_or_default());
        command
            .arg("--stream")
            .arg(start.join(cr_rundir::file::GIT_START));
    }
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
        // A scope that cannot be checked counts as violated.
        _ => Some(format!(
            "the scope could not be checked: {}",
            said(&output.stderr)
        )),
    })
}
