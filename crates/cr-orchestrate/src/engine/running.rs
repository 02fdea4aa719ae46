//! One attempt that is watched: its supervisor is a process of its own, which
//! may have to be started a second time.

use std::fs::OpenOptions;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use anyhow::{Context, anyhow};
use cr_io::Exit;
use cr_rundir::{Run, file};
use cr_signal::SIGHUP;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::stop;

/// How often the supervisor of one attempt is started, if it dies on the way.
const MOST_STARTS: u32 = 2;

/// An attempt that is watched.
#[derive(Debug)]
pub(crate) struct RunningAttempt {
    pub(crate) number: u32,
    pub(crate) path: PathBuf,
    dies_with_engine: bool,
    ignores_hangup: bool,
    starts: u32,
    supervisor: Option<Supervisor>,
    /// Its supervisor has ended before it: the work is to be verified or merged
    /// later.
    is_suspended: bool,
    pub(crate) slot: u32,
}

/// The code of a supervisor that leaves the rest of its work for later.
const LATER: i32 = 75;

/// The process that supervises it.
#[derive(Debug)]
struct Supervisor {
    child: Child,
    process: OwnedFd,
    /// It writes a byte when it listens to signals: one before that would end
    /// it, and not its agent.
    listening: Option<ChildStdout>,
    held_back: Vec<Signal>,
}

/// What can come of an attempt.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    Listening,
    Ended,
}

impl RunningAttempt {
    pub(crate) fn new(
        path: PathBuf,
        (number, slot): (u32, u32),
        dies_with_engine: bool,
        ignores_hangup: bool,
    ) -> Self {
        Self {
            number,
            slot,
            path,
            dies_with_engine,
            ignores_hangup,
            starts: 0,
            supervisor: None,
            is_suspended: false,
        }
    }

    /// Whether its end is to be made later, by another supervisor.
    pub(crate) fn is_suspended(&self) -> bool {
        self.is_suspended && !self.has_ended()
    }

    /// Whether its end is recorded and its supervisor gone.
    pub(crate) fn has_ended(&self) -> bool {
        self.supervisor.is_none() && self.path.join(file::ATTEMPT_END).exists()
    }

    /// Starts its supervisor if it has none and its end is not recorded. Returns
    /// the process id of a new one. Starting it never starts the agent twice:
    /// the records decide what is left to do.
    pub(crate) fn supervise(&mut self) -> anyhow::Result<Option<u32>> {
        if self.supervisor.is_some() || self.is_suspended || self.has_ended() {
            return Ok(None);
        }
        if self.starts == MOST_STARTS {
            Run::new(&self.path).refuse_newer()?;
            let text = format!(
                "{}: the attempt did not record its end",
                self.path.display()
            );
            return Err(anyhow!(text).context(Exit::Io));
        }
        self.starts += 1;
        let supervisor = Supervisor::start(&self.path, self.dies_with_engine, self.ignores_hangup)?;
        let pid = supervisor.child.id();
        self.supervisor = Some(supervisor);
        Ok(Some(pid))
    }

    /// What to wait for.
    pub(crate) fn interests(&self) -> Vec<(Event, BorrowedFd<'_>)> {
        let Some(supervisor) = &self.supervisor else {
            return Vec::new();
        };
        let listening = supervisor.listening.as_ref();
        let listening = listening.map(|pipe| (Event::Listening, pipe.as_fd()));
        let ended = (Event::Ended, supervisor.process.as_fd());
        listening.into_iter().chain([ended]).collect()
    }

    /// Takes note of `event`.
    pub(crate) fn handle(&mut self, event: Event) -> anyhow::Result<()> {
        let Some(supervisor) = &mut self.supervisor else {
            return Ok(());
        };
        match event {
            Event::Listening => supervisor.listens(),
            Event::Ended => {
                let status = supervisor.child.wait()?;
                self.is_suspended = status.code() == Some(LATER);
                self.supervisor = None;
            }
        }
        Ok(())
    }

    /// Hands signal `number` to its supervisor.
    pub(crate) fn signal(&mut self, number: i32) {
        if let Some(supervisor) = &mut self.supervisor {
            supervisor.signal(stop::signal(number));
        }
    }

    /// Waits for its supervisor, whatever it does.
    pub(crate) fn wait(&mut self) {
        if let Some(mut supervisor) = self.supervisor.take() {
            supervisor.listens();
            // Only what never was a child of ours cannot be waited for.
            let _ = supervisor.child.wait();
        }
    }
}

impl Supervisor {
    fn start(path: &Path, dies_with_engine: bool, ignores_hangup: bool) -> anyhow::Result<Self> {
        let program = std::env::current_exe()?;
        let notes = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path.join(file::ATTEMPT_STDERR))?;
        let mut command = Command::new(program);
        command.arg("attempt").arg(path);
        if dies_with_engine {
            command.arg(format!("--watch-pid={}", std::process::id()));
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(notes);
        // It must get the engine's signals, also those that the engine ignores; but
        // a hang-up is ignored for the agents too if the user said so (nohup).
        cr_sys::with_default_signals(&mut command, ignores_hangup.then_some(SIGHUP));
        cr_sys::in_own_session(&mut command, None);
        let mut child = command.spawn().context("start an attempt")?;
        let process = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
        Ok(Self {
            listening: child.stdout.take(),
            child,
            process,
            held_back: Vec::new(),
        })
    }

    /// It listens to signals, or has ended; waits for that if need be.
    fn listens(&mut self) {
        if let Some(mut pipe) = self.listening.take() {
            let _ = pipe.read(&mut [0]);
        }
        for signal in std::mem::take(&mut self.held_back) {
            self.signal(signal);
        }
    }

    fn signal(&mut self, signal: Signal) {
        if self.listening.is_some() {
            self.held_back.push(signal);
        } else {
            // It may have ended just now.
            let _ = pidfd_send_signal(&self.process, signal);
        }
    }
}
