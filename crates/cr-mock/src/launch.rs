//! The outer half of `run`: creates the sandbox, passes signals in, returns the
//! exit code.
//!
//! It stays outside to remove the work directory. It talks to the inner half
//! through a named pipe: signal numbers as bytes. If this process is killed, the
//! end of file ends the sandbox.

use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};

use anyhow::Context;
use cr_io::Exit;
use cr_signal::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, Signals};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::{RunArgs, sandbox};

/// The named pipe, below the work directory.
pub(crate) const CONTROL: &str = "control";

const FORWARDED: [i32; 6] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2];

/// Runs the command of `args` in the sandbox.
pub(crate) fn run(args: &RunArgs) -> anyhow::Result<Exit> {
    // Refuse an invalid script before anything is started.
    if let Some(path) = &args.scenario {
        args.record.api(path, Vec::new())?;
    }
    let work = tempfile::Builder::new().prefix("cr-mock.").tempdir()?;
    let mut control = control(work.path()).context("control pipe")?;
    let mut signals = Signals::take(&FORWARDED)?;
    let inner = env::current_exe().context("own program")?;

    sandbox::unshare_all().context(Exit::Tool)?;
    let mut child = Command::new(inner)
        .arg("inside")
        .arg("--work")
        .arg(work.path())
        // The rest of our own arguments, after `cr-mock run`.
        .args(env::args_os().skip(2))
        // A terminal's Ctrl-C reaches us alone, so the command gets it once.
        .process_group(0)
        .spawn()
        .context("first process")
        .context(Exit::Tool)?;
    attend(&child, &mut signals, &mut control)?;
    // It turns the command's death by a signal into a code; its own can only
    // come from outside.
    let code = child.wait()?.code().context("first process: killed")?;
    Ok(Exit::Code(u8::try_from(code)?))
}

fn control(work: &Path) -> anyhow::Result<File> {
    let path = work.join(CONTROL);
    mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
    // For reading too, since opening it for writing alone waits for a reader.
    Ok(OpenOptions::new().read(true).write(true).open(path)?)
}

/// Passes signals on until `child` has ended.
fn attend(child: &Child, signals: &mut Signals, control: &mut File) -> anyhow::Result<()> {
    let ended = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    loop {
        let mut fds = [
            PollFd::new(&ended, PollFlags::IN),
            PollFd::new(&*signals, PollFlags::IN),
        ];
        match poll(&mut fds, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(err) => return Err(err).context("poll"),
        }
        if !fds[0].revents().is_empty() {
            return Ok(());
        }
        for number in signals.numbers() {
            let number = u8::try_from(number).expect("a small number");
            control.write_all(&[number]).context("control pipe")?;
        }
    }
}

/// Makes the directory at `path`, with its parents, and gives its full name.
pub(crate) fn directory(path: &Path) -> anyhow::Result<std::path::PathBuf> {
    let place = || path.display().to_string();
    fs::create_dir_all(path).with_context(place)?;
    path.canonicalize().with_context(place)
}
