//! The parent of a pipeline.

use std::io;
use std::os::fd::AsFd;
use std::process::{Child, Command, ExitStatus};

use cr_signal::{
    ControlMessage, ControlSender, SIGHUP, SIGINT, SIGQUIT, SIGTERM, Signals, keep_children,
};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::os::unix::process::ExitStatusExt;

/// The signals that a starter passes on and the pipeline ignores.
pub const SIGNALS: [i32; 4] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM];

/// The descriptor under which the script and its stages have the pipe.
const CONTROL_FD: i32 = 3;

/// Takes over the signals that a starter passes on. Those that come before the
/// pipeline runs wait for it.
pub fn take_signals() -> io::Result<Signals> {
    Signals::take(&SIGNALS)
}

/// How the script's shell ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// With this code.
    Exit(u8),
    /// By this signal: somebody killed it.
    Signal(u8),
}

impl Code {
    fn of(status: ExitStatus) -> Self {
        let small = |number: Option<i32>| number.and_then(|number| u8::try_from(number).ok());
        match small(status.signal()) {
            Some(signal) => Self::Signal(signal),
            None => Self::Exit(small(status.code()).unwrap_or(u8::MAX)),
        }
    }

    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Exit(code) => code,
            Self::Signal(signal) => signal.saturating_add(128),
        }
    }

    /// Whether the shell, or by its code the last stage, was killed.
    pub(crate) fn is_signal(self) -> bool {
        self.number() > 128
    }

    /// Whether it was the shell that was killed.
    pub(crate) fn is_shells_own(self) -> bool {
        matches!(self, Self::Signal(_))
    }
}

/// Runs `command`, the script's second half, until its last stage is gone.
pub(crate) fn run(
    mut command: Command,
    signals: &mut Signals,
    is_output_ours: bool,
) -> io::Result<Code> {
    let (mut sender, reader) = ControlSender::pair()?;
    sender.send_ignored(signals.ignored())?;
    keep_children()?;
    cr_sys::with_ignored_signals_and_fd(&mut command, &SIGNALS, reader.into(), CONTROL_FD);
    let child = command.spawn()?;
    // The command holds our copy of the reading end.
    drop(command);
    Starter {
        sender,
        child,
        is_output_ours,
    }
    .wait(signals)
}

struct Starter {
    sender: ControlSender,
    child: Child,
    /// Whether the pipeline writes to our own standard output.
    is_output_ours: bool,
}

impl Starter {
    /// Waits for the end of every stage, also of those that a killed shell has
    /// left: each of them holds the reading end.
    fn wait(mut self, signals: &mut Signals) -> io::Result<Code> {
        let shell = pidfd_open(Pid::from_child(&self.child), PidfdFlags::empty())?;
        let stdout = io::stdout();
        let (mut is_running, mut is_read) = (true, self.is_output_ours);
        loop {
            let none = PollFlags::empty();
            let wanted = |is_wanted, flags| if is_wanted { flags } else { none };
            // A descriptor that has had its say is replaced by one that is quiet.
            let output = if is_read {
                stdout.as_fd()
            } else {
                signals.as_fd()
            };
            let shell_fd = if is_running {
                shell.as_fd()
            } else {
                signals.as_fd()
            };
            let mut fds = [
                PollFd::new(&*signals, PollFlags::IN),
                // Asking for nothing still reports an error: nobody reads.
                PollFd::new(&self.sender, none),
                PollFd::from_borrowed_fd(output, none),
                PollFd::from_borrowed_fd(shell_fd, wanted(is_running, PollFlags::IN)),
            ];
            match poll(&mut fds, None) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(err) => return Err(err.into()),
            }
            let [came, readers, output, ended] = fds.map(|fd| fd.revents());
            if readers.contains(PollFlags::ERR) {
                return Ok(Code::of(self.child.wait()?));
            }
            if came.contains(PollFlags::IN) {
                for number in signals.numbers() {
                    self.send(ControlMessage::Signal(number));
                }
            }
            if is_read && output.contains(PollFlags::ERR) {
                is_read = false;
                self.send(ControlMessage::ReaderLeft);
            }
            if is_running && !ended.is_empty() {
                is_running = false;
                if Code::of(self.child.wait()?).is_shells_own() {
                    self.send(ControlMessage::Signal(SIGTERM));
                }
            }
        }
    }

    /// A stage that is gone needs no message.
    fn send(&mut self, message: ControlMessage) {
        let _ = self.sender.send(message);
    }
}
