//! The front's view of the guardian.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use cr_proc::{Process, Swept};
use rustix::process::{Pid, Signal};
use signal_hook::consts::SIGCONT;

use crate::guardian::{MARK, WAKE_SOON};
use crate::guardian_protocol::{End, GuardianSocket, Order, Received, Report};

/// Between two signs of life.
const BEAT: Duration = Duration::from_secs(1);

/// Without one for this long, a guardian that is stopped is given up.
const LOST: Duration = Duration::from_secs(6);

/// A guardian that runs.
#[derive(Debug)]
pub(crate) struct GuardianLink {
    wire: GuardianSocket,
    child: Child,
    heard: Instant,
    asked: Instant,
}

impl GuardianLink {
    /// Starts a guardian that will run `argv`. The environment is the agent's.
    pub(crate) fn start(
        name: &OsString,
        argv: &[OsString],
        environment: &[(&'static str, Option<String>)],
        isolate: bool,
    ) -> io::Result<Self> {
        let (wire, theirs) = GuardianSocket::pair()?;
        let mut command = Command::new("/proc/self/exe");
        command
            .arg0("cr-spawn")
            .arg(MARK)
            .arg(name)
            .args(argv)
            .stdin(Stdio::from(theirs));
        for (name, value) in environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if isolate {
            cr_sys::with_own_proc(&mut command);
        }
        let child = command.spawn()?;
        let now = Instant::now();
        Ok(Self {
            wire,
            child,
            heard: now,
            asked: now,
        })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Gives an order; a guardian that is dead will be noticed as such.
    pub(crate) fn order(&self, order: &Order, fds: &[BorrowedFd<'_>]) {
        let _ = self.wire.send(order, fds);
    }

    /// The next report.
    pub(crate) fn report(&mut self) -> Received<Report> {
        let received = self.wire.receive();
        if let Received::Message(..) = received {
            self.heard = Instant::now();
        }
        received
    }

    /// Does what is due to keep in touch; returns whether the guardian is lost:
    /// somebody keeps stopping it.
    pub(crate) fn is_lost(&mut self) -> bool {
        if self.asked.elapsed() < BEAT {
            return false;
        }
        self.asked = Instant::now();
        self.order(&Order::Ping, &[]);
        // Nobody has a reason to stop it, so whoever did is not asked.
        let Some(process) = self.process().filter(Process::is_stopped) else {
            return false;
        };
        let _ = process.signal(Signal::CONT);
        self.heard.elapsed() > LOST
    }

    /// When [`GuardianLink::is_lost`] wants to be called next.
    pub(crate) fn due(&self) -> Instant {
        self.asked + BEAT
    }

    /// Forgives the time that this process itself was stopped.
    pub(crate) fn shift(&mut self, by: Duration) {
        self.heard += by;
    }

    fn process(&self) -> Option<Process> {
        Process::read(i32::try_from(self.child.id()).ok()?)
    }

    /// Ends the guardian and everything below it by our own hand; `agent` is
    /// the one whose end is wanted.
    pub(crate) fn outlive(
        &mut self,
        agent: Option<i32>,
        patience: Duration,
    ) -> (Swept, Option<End>) {
        // Those we are about to adopt may stop us, and nobody else is left.
        let _ = signal_hook::flag::register(SIGCONT, std::sync::Arc::default());
        let _ = cr_sys::wake_every(WAKE_SOON);
        let mut leaked = cr_proc::outlive(Pid::from_child(&self.child));
        let _ = self.child.wait();
        let mut end = None;
        let mut swept = cr_proc::sweep(patience, |pid, status| {
            if Some(pid.as_raw_nonzero().get()) == agent {
                end = Some(End::from(status));
            }
        });
        let new = |found: &Process| !leaked.iter().any(|known| known.pid == found.pid);
        let more: Vec<Process> = swept.leaked.into_iter().filter(new).collect();
        leaked.extend(more);
        leaked.retain(|process| Some(process.pid) != agent);
        swept.leaked = leaked;
        (swept, end)
    }

    /// Sends the guardian away: the end is recorded.
    pub(crate) fn dismiss(mut self) {
        self.order(&Order::Leave, &[]);
        let gone = rustix::process::pidfd_open(
            Pid::from_child(&self.child),
            rustix::process::PidfdFlags::empty(),
        );
        let left = gone.is_ok_and(|gone: OwnedFd| crate::poll_set::readable(&gone, BEAT));
        if !left {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

impl AsFd for GuardianLink {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wire.as_fd()
    }
}
