//! The supervisor's link to the guardian.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use cr_proc::Process;
use cr_signal::SIGCONT;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open};

use crate::guardian::{MARK, WAKE_INTERVAL_AT_END};
use crate::guardian_protocol::{End, GuardianSocket, LeftoverReport, Order, Received, Report};
use crate::poll_set::wait_readable;

/// Between two pings.
const PING_INTERVAL: Duration = Duration::from_secs(1);

/// A guardian that is stopped and has said nothing for this long is lost.
const LOST_AFTER: Duration = Duration::from_secs(6);

/// How long a dismissed guardian may take to leave.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(1);

/// A guardian that runs.
#[derive(Debug)]
pub(crate) struct GuardianLink {
    socket: GuardianSocket,
    child: Child,
    /// The agent's process id, once it runs.
    pub(crate) agent: Option<i32>,
    last_report: Instant,
    last_ping: Instant,
}

impl GuardianLink {
    /// Starts a guardian that will run `argv`. The environment is the agent's.
    pub(crate) fn start(
        name: &OsString,
        argv: &[OsString],
        environment: &[(&'static str, Option<String>)],
        isolate: bool,
    ) -> io::Result<Self> {
        let (socket, theirs) = GuardianSocket::pair()?;
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
            socket,
            child,
            agent: None,
            last_report: now,
            last_ping: now,
        })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Gives an order. That the guardian is dead is noticed elsewhere.
    pub(crate) fn order(&self, order: &Order, fds: &[BorrowedFd<'_>]) {
        let _ = self.socket.send(order, fds);
    }

    /// The next report.
    pub(crate) fn next_report(&mut self) -> Received<Report> {
        let received = self.socket.receive();
        if let Received::Message(..) = received {
            self.last_report = Instant::now();
        }
        received
    }

    /// Pings the guardian if it is time to; returns whether it is lost because
    /// somebody keeps stopping it.
    pub(crate) fn is_lost(&mut self) -> bool {
        if self.last_ping.elapsed() < PING_INTERVAL {
            return false;
        }
        self.last_ping = Instant::now();
        self.order(&Order::Ping, &[]);
        // Nobody has a reason to stop it, so it is woken without asking.
        let Some(process) = self.process().filter(Process::is_stopped) else {
            return false;
        };
        let _ = process.signal(Signal::CONT);
        self.last_report.elapsed() > LOST_AFTER
    }

    /// When [`GuardianLink::is_lost`] must be called next.
    pub(crate) fn ping_due(&self) -> Instant {
        self.last_ping + PING_INTERVAL
    }

    /// Leaves out the time in which this process itself was stopped.
    pub(crate) fn exclude(&mut self, gap: Duration) {
        self.last_report += gap;
    }

    fn process(&self) -> Option<Process> {
        Process::read(i32::try_from(self.child.id()).ok()?)
    }

    /// Ends the guardian and everything below it from this process; returns who
    /// was left and how the agent ended.
    pub(crate) fn take_over(&mut self, term_grace: Duration) -> (LeftoverReport, Option<End>) {
        // The processes that we are about to adopt may stop us, and no guardian
        // is left to wake us.
        let _ = cr_signal::ignore_here(SIGCONT);
        let _ = cr_sys::wake_every(WAKE_INTERVAL_AT_END);
        let mut leaked = cr_proc::outlive(Pid::from_child(&self.child));
        let _ = self.child.wait();
        let (agent, mut end) = (self.agent, None);
        let swept = cr_proc::sweep(term_grace, |pid, status| {
            if Some(pid.as_raw_nonzero().get()) == agent {
                end = Some(End::from(status));
            }
        });
        let new = |found: &Process| !leaked.iter().any(|known| known.pid == found.pid);
        let more: Vec<Process> = swept.leaked.into_iter().filter(new).collect();
        leaked.extend(more);
        leaked.retain(|process| Some(process.pid) != agent);
        let leftovers = LeftoverReport {
            leaked_total: leaked.len(),
            leaked,
            unkillable: swept.unkillable,
        };
        (leftovers, end)
    }

    /// Sends the guardian away: the end is recorded.
    pub(crate) fn dismiss(mut self) {
        self.order(&Order::Leave, &[]);
        let process = pidfd_open(Pid::from_child(&self.child), PidfdFlags::empty());
        let has_left = process.is_ok_and(|process: OwnedFd| wait_readable(&process, LEAVE_TIMEOUT));
        if !has_left {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

impl AsFd for GuardianLink {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
