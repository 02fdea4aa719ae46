//! The parent of a pipeline.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};

use cr_signal::{
    ControlMessage, ControlSender, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, Signals,
    keep_children,
};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// The signals that a starter passes on and the pipeline ignores.
pub const SIGNALS: [i32; 4] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM];

/// The signal that tells a starter which takes it that the reader of its own
/// starter's output has left. SIGPIPE cannot: any write may cause it.
pub const READER_LEFT: i32 = SIGUSR1;

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

/// How the pipeline ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PipelineEnd {
    pub(crate) code: Code,
    /// Nobody reads our standard output any more.
    pub(crate) has_reader_left: bool,
}

/// Runs `command`, the script's second half, until its last stage is gone.
pub(crate) fn run(
    mut command: Command,
    signals: &mut Signals,
    is_output_ours: bool,
) -> io::Result<PipelineEnd> {
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

/// What a starter waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Happened {
    /// A signal came.
    Signal,
    /// Nobody reads our standard output any more.
    ReaderLeft,
    /// The shell ended.
    ShellEnded,
    /// The last stage ended.
    AllEnded,
}

impl Starter {
    /// Waits for the end of every stage, also of those that a killed shell has
    /// left: each of them holds the reading end of the pipe.
    fn wait(mut self, signals: &mut Signals) -> io::Result<PipelineEnd> {
        let shell = pidfd_open(Pid::from_child(&self.child), PidfdFlags::empty())?;
        let mut has_reader_left = false;
        let mut shell = Some(shell);
        loop {
            let is_output_watched = self.is_output_ours && !has_reader_left;
            for happened in self.poll(signals, is_output_watched, shell.as_ref())? {
                match happened {
                    Happened::Signal => {
                        for number in signals.numbers() {
                            self.send(match number {
                                READER_LEFT => ControlMessage::ReaderLeft,
                                number => ControlMessage::Signal(number),
                            });
                        }
                    }
                    Happened::ReaderLeft => {
                        has_reader_left = true;
                        self.send(ControlMessage::ReaderLeft);
                    }
                    Happened::ShellEnded => {
                        shell = None;
                        if Code::of(self.child.wait()?).is_shells_own() {
                            self.send(ControlMessage::Signal(SIGTERM));
                        }
                    }
                    Happened::AllEnded => {
                        let code = Code::of(self.child.wait()?);
                        return Ok(PipelineEnd {
                            code,
                            has_reader_left,
                        });
                    }
                }
            }
        }
    }

    /// Waits until something happens. A source that has reported is not
    /// polled again: it would wake us for ever.
    fn poll(
        &self,
        signals: &Signals,
        is_output_watched: bool,
        shell: Option<&OwnedFd>,
    ) -> io::Result<Vec<Happened>> {
        let stdout = io::stdout();
        // Asking for nothing still reports an error: nobody reads.
        let none = PollFlags::empty();
        let mut fds = vec![PollFd::new(signals, PollFlags::IN)];
        let mut meanings = vec![Happened::Signal];
        if is_output_watched {
            fds.push(PollFd::new(&stdout, none));
            meanings.push(Happened::ReaderLeft);
        }
        if let Some(shell) = shell {
            fds.push(PollFd::new(shell, PollFlags::IN));
            meanings.push(Happened::ShellEnded);
        }
        fds.push(PollFd::new(&self.sender, none));
        meanings.push(Happened::AllEnded);
        match poll(&mut fds, None) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => return Ok(Vec::new()),
            Err(err) => return Err(err.into()),
        }
        let wanted = PollFlags::IN | PollFlags::ERR;
        let came = fds.iter().map(|fd| fd.revents().intersects(wanted));
        let happened = came.zip(meanings).filter(|(came, _)| *came);
        Ok(happened.map(|(_, happened)| happened).collect())
    }

    /// A stage that is gone needs no message.
    fn send(&mut self, message: ControlMessage) {
        let _ = self.sender.send(message);
    }
}
