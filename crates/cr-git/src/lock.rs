//! `cr-git lock`: a command run while nobody else holds the repository's lock.

use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};

use anyhow::{Context, bail};
use cr_io::Exit;
use cr_signal::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, Signals};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// Runs `command` to its end; signals that we get are passed on to it.
pub(crate) fn run(command: &[OsString]) -> anyhow::Result<Exit> {
    let [program, args @ ..] = command else {
        bail!("no command");
    };
    // Before the command exists: a signal in between would leave it behind.
    let mut signals = Signals::take(&[SIGHUP, SIGINT, SIGQUIT, SIGTERM])
        .context("signals")
        .context(Exit::Tool)?;
    let mut child = Command::new(program).args(args).spawn().map_err(|err| {
        let exit = match err.kind() {
            io::ErrorKind::NotFound => Exit::NotFound,
            _ => Exit::CannotExec,
        };
        anyhow::Error::from(err)
            .context(PathBuf::from(program).display().to_string())
            .context(exit)
    })?;
    let process = pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).context(Exit::Tool)?;
    loop {
        let mut fds = [
            PollFd::new(&process, PollFlags::IN),
            PollFd::new(&signals, PollFlags::IN),
        ];
        match poll(&mut fds, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(err) => return Err(anyhow::Error::from(err).context(Exit::Tool)),
        }
        let ended = !fds[0].revents().is_empty();
        for came in signals.pending() {
            // The terminal sends it to the command as well.
            if !came.is_from_terminal()
                && let Some(signal) = Signal::from_named_raw(came.number)
            {
                let _ = pidfd_send_signal(process.as_fd(), signal);
            }
        }
        if ended {
            return Ok(code(child.wait().context(Exit::Tool)?));
        }
    }
}

/// What the shell would make of `status`.
fn code(status: ExitStatus) -> Exit {
    let code = status.code().or(status.signal().map(|number| 128 + number));
    let code = code.and_then(|code| u8::try_from(code).ok());
    Exit::Code(code.unwrap_or(128))
}
