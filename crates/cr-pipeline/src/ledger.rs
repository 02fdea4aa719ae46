//! Recording a run in the ledger, after its summary.
//!
//! cr-ledger does it, as a process of its own, so that no other tool needs the
//! database. Whatever goes wrong there does not change the verdict; the summary in
//! the run directory says it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use cr_io::find_tool;
use cr_rundir::{Run, RunDir, file};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// With a value, runs are not recorded.
pub const NO_LEDGER: &str = "CR_NO_LEDGER";
/// The id of the milestone that runs belong to.
pub const MILESTONE: &str = "CR_MILESTONE";
/// The task of a plan that a run works on.
pub const TASK: &str = "CR_TASK";
/// The kind of that task.
pub const TASK_TYPE: &str = "CR_TASK_TYPE";

/// How long a run waits for the ledger, which another process may hold.
const LIMIT: Duration = Duration::from_secs(10);

/// Bytes of a message of cr-ledger that are kept.
const LONGEST_MESSAGE: u64 = 4096;

/// Whoever installs only some of the tools wants no ledger.
const NOT_INSTALLED: &str = "cr-ledger is not installed";

/// Records the run at `run_dir`, which has a summary. `env` are the variables of
/// its pipeline; they count before our own.
pub(crate) fn record(run_dir: &Path, env: &[(OsString, OsString)]) {
    let run = Run::new(run_dir);
    let value = |name: &str| value(env, name);
    if value(NO_LEDGER).is_some() || !run.has(file::SUMMARY) {
        return;
    }
    let options = [
        ("--milestone", MILESTONE),
        ("--task", TASK),
        ("--task-type", TASK_TYPE),
    ];
    let options = options.map(|(option, name)| {
        let mut text = OsString::from(format!("{option}="));
        text.push(value(name).unwrap_or_default());
        text
    });
    if let Err(why) = run_tool(&run, &options) {
        if why != NOT_INSTALLED {
            // The summary is printed already; a closed standard error stops nothing.
            let _ = writeln!(io::stderr(), "claude-runner: not in the ledger: {why}");
        }
        // A summary that cannot be written again stays as it is.
        let _ = say_in_summary(run_dir, &why);
    }
}

/// The variable `name`, if it has a value.
fn value(env: &[(OsString, OsString)], name: &str) -> Option<OsString> {
    let of_pipeline = env.iter().find(|(known, _)| known == OsStr::new(name));
    let value = match of_pipeline {
        Some((_, value)) => Some(value.clone()),
        None => std::env::var_os(name),
    };
    value.filter(|value| !value.is_empty())
}

/// Why the run is not in the ledger.
fn run_tool(run: &Run, options: &[OsString]) -> Result<(), String> {
    let summary = File::open(run.file(file::SUMMARY)).map_err(|err| err.to_string())?;
    let mut command = Command::new(find_tool("cr-ledger"));
    command.arg("record").args(options);
    command.stdin(summary).stdout(Stdio::null());
    command.stderr(Stdio::piped());
    // A Ctrl-C is for the agent.
    cr_sys::in_own_session(&mut command, None);
    let mut child = command.spawn().map_err(|err| match err.kind() {
        io::ErrorKind::NotFound => NOT_INSTALLED.to_owned(),
        _ => format!("cr-ledger: {err}"),
    })?;
    if !ends(&child).unwrap_or(false) {
        let _ = child.kill();
        let _ = child.wait();
        return Err(format!("cr-ledger took longer than {} s", LIMIT.as_secs()));
    }
    let mut text = Vec::new();
    if let Some(stderr) = child.stderr.take() {
        let _ = stderr.take(LONGEST_MESSAGE).read_to_end(&mut text);
    }
    let status = child.wait().map_err(|err| err.to_string())?;
    if status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().next().unwrap_or_default();
    let line = line.strip_prefix("cr-ledger: ").unwrap_or(line);
    Err(cr_io::sanitized(line))
}

/// Whether it ends in time. What it writes meanwhile fits into the pipe.
fn ends(child: &Child) -> io::Result<bool> {
    let process = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    let limit = Timespec::try_from(LIMIT).ok();
    loop {
        let mut polled = [PollFd::new(&process, PollFlags::IN)];
        match poll(&mut polled, limit.as_ref()) {
            Ok(count) => return Ok(count > 0),
            Err(rustix::io::Errno::INTR) => {}
            Err(err) => return Err(err.into()),
        }
    }
}

fn say_in_summary(run_dir: &Path, why: &str) -> anyhow::Result<()> {
    let path = run_dir.join(file::SUMMARY);
    if let Some(mut summary) = cr_summary::read(&path)? {
        summary.ledger_error = Some(why.to_owned());
        let line = format!("{}\n", summary.line());
        RunDir::at(run_dir)?.write(file::SUMMARY, line.as_bytes())?;
    }
    Ok(())
}
