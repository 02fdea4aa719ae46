//! The inner half of `run`: the first process of the sandbox.
//!
//! It is process 1 there, so nothing is left behind: when it ends, the kernel
//! kills every other process of the namespace.

use std::fs::{self, File};
use std::io::{self, Read};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use cr_io::Exit;
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, pidfd_open, pidfd_send_signal, wait};
use serde::Serialize;

use crate::launch::{CONTROL, directory};
use crate::{RunArgs, sandbox};

/// Programs are searched in the system's directories only.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/// Runs the command and its API in the sandbox.
pub(crate) fn run(args: &RunArgs, work: &Path) -> anyhow::Result<Exit> {
    sandbox::set_up().context(Exit::Tool)?;
    let control = File::open(work.join(CONTROL)).context("control pipe")?;
    let cwd = args.cwd.canonicalize();
    let cwd = cwd
        .with_context(|| args.cwd.display().to_string())
        .context(Exit::Tool)?;
    let port = api(args, &cwd)?;

    let mut command = Command::new(&args.command[0]);
    command.args(&args.command[1..]).current_dir(&cwd);
    furnish(&mut command, args, work, port)?;
    let child = match command.spawn() {
        Ok(child) => Pid::from_child(&child),
        Err(err) => {
            let exit = match err.kind() {
                io::ErrorKind::NotFound => Exit::NotFound,
                _ => Exit::CannotExec,
            };
            let name = args.command[0].to_string_lossy().into_owned();
            return Err(err).context(name).context(exit);
        }
    };
    let signalled = pidfd_open(child, PidfdFlags::empty()).context("pidfd")?;
    let work = work.to_owned();
    thread::spawn(move || obey(control, &signalled, &work));
    let status = reap(child)?;
    let survivors = linger(Duration::from_secs(args.linger))?;
    if let Some(path) = &args.report {
        let report = Report {
            exit_code: status.code(),
            signal: status.signal(),
            survivors,
        };
        let report = serde_json::to_vec(&report)?;
        fs::write(path, report).with_context(|| path.display().to_string())?;
    }
    let code = status.code().or(status.signal().map(|n| 128 + n));
    let code = code.and_then(|code| u8::try_from(code).ok());
    Ok(Exit::Code(code.context("no exit code")?))
}

/// Starts the API, if there is to be one; the port it would be on.
fn api(args: &RunArgs, cwd: &Path) -> anyhow::Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).context("listen on loopback")?;
    let port = listener.local_addr()?.port();
    // Without an API the listener closes here. No other process of this
    // namespace can take its port.
    if let (Some(path), false) = (&args.scenario, args.no_api) {
        let cwd = ("cwd".to_owned(), cwd.display().to_string());
        let api = args.record.api(path, vec![cwd])?;
        thread::spawn(move || api.serve(&listener));
    }
    Ok(port)
}

/// Sets the complete environment of `command`.
fn furnish(command: &mut Command, args: &RunArgs, work: &Path, port: u16) -> anyhow::Result<()> {
    let home = args.home.clone().unwrap_or_else(|| work.join("home"));
    let home = directory(&home)?;
    // The CLI keeps tool output and sockets outside its home. In the work
    // directory they are removed with it.
    let tmp = directory(&work.join("tmp"))?;
    command
        .env_clear()
        .env("PATH", PATH)
        .env("HOME", home)
        .env("TMPDIR", &tmp)
        .env("XDG_RUNTIME_DIR", &tmp)
        .env("CLAUDE_CODE_TMPDIR", &tmp)
        .env("TERM", "dumb")
        .env("LANG", "C.UTF-8")
        .env("TZ", "UTC")
        .env("ANTHROPIC_API_KEY", "sk-ant-test-000")
        .env("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{port}"))
        .env("DISABLE_TELEMETRY", "1")
        .env("DISABLE_AUTOUPDATER", "1")
        .env("DISABLE_ERROR_REPORTING", "1")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("IS_SANDBOX", "1")
        .envs(args.envs.iter().cloned());
    Ok(())
}

/// Passes on each signal that the launcher names. End of file means that the
/// launcher is gone: the sandbox ends and `work` is removed.
#[expect(clippy::exit, reason = "nothing is buffered, and the place must end")]
fn obey(mut control: File, command: &OwnedFd, work: &Path) {
    let mut byte = [0];
    while let Ok(1) = control.read(&mut byte) {
        if let Some(signal) = Signal::from_named_raw(byte[0].into()) {
            // It may have ended meanwhile.
            let _ = pidfd_send_signal(command, signal);
        }
    }
    let _ = fs::remove_dir_all(work);
    std::process::exit(Exit::Tool.code().into());
}

/// Reaps every orphan of the sandbox until `child` has ended.
fn reap(child: Pid) -> anyhow::Result<ExitStatus> {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == child => {
                return Ok(ExitStatus::from_raw(status.as_raw()));
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(err) => return Err(err).context("wait"),
        }
    }
}

/// How the command ended.
#[derive(Debug, Serialize)]
struct Report {
    exit_code: Option<i32>,
    signal: Option<i32>,
    survivors: Vec<Survivor>,
}

/// A process that was alive when the command was not.
#[derive(Debug, Serialize)]
struct Survivor {
    pid: u32,
    argv: String,
}

/// The processes that are still alive after `time`; returns early if none are.
fn linger(time: Duration) -> anyhow::Result<Vec<Survivor>> {
    let until = Instant::now() + time;
    loop {
        let survivors = Survivor::all()?;
        if survivors.is_empty() || Instant::now() >= until {
            return Ok(survivors);
        }
        // Not all of them are children, so there is nothing to wait on.
        thread::sleep(Duration::from_millis(5));
    }
}

impl Survivor {
    fn all() -> anyhow::Result<Vec<Self>> {
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").context("/proc")? {
            let name = entry.context("/proc")?.file_name();
            let pid = name.to_str().and_then(|name| name.parse().ok());
            found.extend(pid.and_then(Self::find));
        }
        Ok(found)
    }

    /// Process `pid`, if it is there, alive, and not this one.
    fn find(pid: u32) -> Option<Self> {
        if pid == std::process::id() {
            return None;
        }
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The state follows the name, which is in brackets and may hold any.
        let state = stat.rsplit_once(") ")?.1.chars().next()?;
        let argv = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let argv = String::from_utf8_lossy(&argv).replace('\0', " ");
        (!matches!(state, 'Z' | 'X')).then_some(Self { pid, argv })
    }
}
