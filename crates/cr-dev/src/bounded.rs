//! `cr-dev bounded`: runs a command with default signals and a deadline, and
//! leaves no process.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use cr_io::Exit;
use cr_signal::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, Signals};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

/// The directory in which each running test leaves its name. It is also the
/// variable by which the processes of the command are found.
const RUNNING: &str = "CR_TEST_RUNNING";

/// How long killing what is left may take.
const KILL_LIMIT: Duration = Duration::from_secs(10);

/// What ended the wait.
enum Event {
    Exit,
    Signal(i32),
    Deadline,
}

/// Runs `command` for at most `limit`; its code, 124 or that of the signal.
pub(crate) fn run(
    command: &[OsString],
    limit: Duration,
    notes: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let [program, args @ ..] = command else {
        bail!("no command");
    };
    let running = tempfile::tempdir()?;
    let mut signals = Signals::take(&[SIGHUP, SIGINT, SIGQUIT, SIGTERM])?;
    let mut command = Command::new(program);
    command.args(args).env(RUNNING, running.path());
    cr_sys::in_own_session(&mut command, Some(Signal::KILL));
    cr_sys::with_default_signals(&mut command, None);
    let mut child = command
        .spawn()
        .with_context(|| program.display().to_string())?;
    let event = wait(
        Pid::from_child(&child),
        &mut signals,
        Instant::now() + limit,
    )?;
    let exit = match event {
        Event::Exit => code(child.wait()?),
        Event::Signal(number) => Exit::Code(u8::try_from(128 + number)?),
        Event::Deadline => {
            writeln!(notes, "cr-dev: not over after {} s", limit.as_secs())?;
            for test in tests(running.path()) {
                writeln!(notes, "cr-dev: was running: {test}")?;
            }
            Exit::Timeout
        }
    };
    let left = kill_all(running.path());
    let _ = child.wait();
    if matches!(event, Event::Exit) {
        for line in left {
            writeln!(notes, "cr-dev: left behind, killed: {line}")?;
        }
    }
    Ok(exit)
}

fn wait(child: Pid, signals: &mut Signals, end: Instant) -> anyhow::Result<Event> {
    let gone = pidfd_open(child, PidfdFlags::empty())?;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(Event::Deadline);
        }
        let left = Timespec::try_from(left)?;
        let mut fds = [
            PollFd::new(&gone, PollFlags::IN),
            PollFd::new(&*signals, PollFlags::IN),
        ];
        match poll(&mut fds, Some(&left)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(err) => return Err(err.into()),
        }
        if !fds[0].revents().is_empty() {
            return Ok(Event::Exit);
        }
        if let Some(number) = signals.numbers().next() {
            return Ok(Event::Signal(number));
        }
    }
}

fn code(status: ExitStatus) -> Exit {
    let code = status.code().or(status.signal().map(|number| 128 + number));
    let code = code.and_then(|code| u8::try_from(code).ok());
    Exit::Code(code.unwrap_or(1))
}

/// The names of the tests that have not ended.
fn tests(running: &Path) -> Vec<String> {
    let files = fs::read_dir(running).into_iter().flatten().flatten();
    let names = files.filter_map(|file| fs::read_to_string(file.path()).ok());
    let mut names: Vec<String> = names.map(|name| name.trim().to_owned()).collect();
    names.sort();
    names
}

/// Kills every process with the variable, until there is none; returns the
/// first ones that were found.
fn kill_all(running: &Path) -> Vec<String> {
    let variable = format!("{RUNNING}={}", running.display());
    let end = Instant::now() + KILL_LIMIT;
    let mut first = None;
    loop {
        let left = with_variable(&variable);
        for (pid, _) in &left {
            let _ = kill_process(*pid, Signal::KILL);
        }
        let is_over = left.is_empty() || Instant::now() > end;
        let lines = left.into_iter().map(|(_, line)| line);
        let first = first.get_or_insert_with(|| lines.collect::<Vec<_>>());
        if is_over {
            return std::mem::take(first);
        }
        // Nothing announces the end of processes that are not our children.
        thread::sleep(Duration::from_millis(5));
    }
}

/// The living processes with `variable` in their environment, and their argv.
fn with_variable(variable: &str) -> Vec<(Pid, String)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let found = entries.filter_map(|entry| {
        let pid = Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)?;
        let environment = fs::read(entry.path().join("environ")).ok()?;
        let mut parts = environment.split(|&byte| byte == 0);
        parts.find(|part| *part == variable.as_bytes())?;
        let argv = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let argv = String::from_utf8_lossy(&argv).replace('\0', " ");
        Some((pid, argv))
    });
    found.collect()
}
