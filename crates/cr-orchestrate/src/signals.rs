//! Waiting: for whatever there is to wait for, and always for a signal.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use cr_signal::{ControlChannel, ControlMessage};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::SignalOnly;

use crate::observer::Interest;

/// A signal to the whole process group reaches us twice: directly, and passed on
/// by our starter. The same signal within this time is the same request.
const SAME_REQUEST: Duration = Duration::from_millis(400);

/// Signals to the engine, as something to wait for.
#[derive(Debug)]
pub(crate) struct Signals {
    delivery: SignalDelivery<UnixStream, SignalOnly>,
    first: Option<i32>,
    /// Those that nobody has asked for yet.
    fresh: Vec<i32>,
    /// Its end is a SIGTERM.
    starter: Option<OwnedFd>,
    /// Signals that our starter passes on.
    control: Option<ControlChannel>,
    last: Option<(i32, Instant)>,
}

impl Signals {
    /// Listens from now on; what nohup told us to ignore stays ignored.
    pub(crate) fn install() -> io::Result<Self> {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        let is_ignored = |signal: i32| mask.unwrap_or(0) & (1 << (signal - 1)) != 0;
        let wanted = [SIGHUP, SIGINT, SIGTERM, SIGUSR1].into_iter();
        let wanted: Vec<i32> = wanted.filter(|&signal| !is_ignored(signal)).collect();
        Self::of(wanted, None)
    }

    /// Listens to the starter's control channel, which is descriptor `number`.
    /// The pipeline ignores the signals that come through it; SIGTERM is taken
    /// all the same, because `cr-runs stop` sends it to us alone.
    pub(crate) fn with_control(number: i32) -> io::Result<Self> {
        let control = ControlChannel::inherit(number)?;
        Self::of(vec![SIGTERM, SIGUSR1], Some(control))
    }

    fn of(wanted: Vec<i32>, control: Option<ControlChannel>) -> io::Result<Self> {
        let (read, write) = UnixStream::pair()?;
        let delivery = SignalDelivery::with_pipe(read, write, SignalOnly, wanted)?;
        Ok(Self {
            delivery,
            first: None,
            fresh: Vec::new(),
            starter: None,
            control,
            last: None,
        })
    }

    /// Takes the end of process `pid` for a SIGTERM from now on.
    pub(crate) fn starter(&mut self, pid: i32) {
        let process = Pid::from_raw(pid).map(|pid| pidfd_open(pid, PidfdFlags::empty()));
        match process {
            Some(Ok(process)) => self.starter = Some(process),
            // It has ended already.
            _ => self.pretend(SIGTERM),
        }
    }

    /// The first signal that came.
    pub(crate) fn first(&mut self) -> Option<i32> {
        self.collect();
        self.first
    }

    /// The signals that came since the last call.
    pub(crate) fn take_new(&mut self) -> Vec<i32> {
        self.collect();
        std::mem::take(&mut self.fresh)
    }

    /// Takes `signal` for one that came, if none has yet.
    pub(crate) fn pretend(&mut self, signal: i32) {
        if self.first.is_none() {
            self.first = Some(signal);
            self.fresh.push(signal);
        }
    }

    /// SIGUSR1 is SIGINT by another name: a shell has what it runs in the
    /// background ignore that.
    fn collect(&mut self) {
        let name = |number| if number == SIGUSR1 { SIGINT } else { number };
        let mut came: Vec<i32> = self.delivery.pending().map(name).collect();
        let messages = self.control.as_mut().map(ControlChannel::pending);
        for message in messages.into_iter().flatten() {
            // That nobody reads the starter's output, our own output tells us.
            if let ControlMessage::Signal(number) = message {
                came.push(number);
            } else if message == ControlMessage::StarterDied {
                self.pretend(SIGTERM);
            }
        }
        for number in came {
            if !self.is_same_request(number) {
                self.fresh.push(number);
            }
        }
        self.first = self.first.or(self.fresh.first().copied());
    }

    fn is_same_request(&mut self, number: i32) -> bool {
        let now = Instant::now();
        let is_same = |(last, at): (i32, Instant)| last == number && now - at < SAME_REQUEST;
        if self.control.is_some() && self.last.is_some_and(is_same) {
            return true;
        }
        self.last = Some((number, now));
        false
    }

    /// Waits until something becomes of `fds`, a signal comes, or `limit` is
    /// over. Returns what became of them.
    pub(crate) fn wait(
        &mut self,
        fds: &[Interest<'_>],
        limit: Option<Duration>,
    ) -> io::Result<Vec<PollFlags>> {
        let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
        let polled = fds.iter().map(|(fd, flags)| PollFd::new(fd, *flags));
        let mut polled: Vec<PollFd<'_>> = polled.collect();
        polled.push(PollFd::new(self.delivery.get_read(), PollFlags::IN));
        let control = self.control.iter().filter(|control| control.is_open());
        let is_controlled = control.clone().count();
        polled.extend(control.map(|fd| PollFd::new(fd, PollFlags::IN)));
        polled.extend(self.starter.iter().map(|fd| PollFd::new(fd, PollFlags::IN)));
        match poll(&mut polled, limit.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(err) => return Err(err.into()),
        }
        let mut came: Vec<PollFlags> = polled.iter().map(PollFd::revents).collect();
        drop(polled);
        if came.len() > fds.len() + 1 + is_controlled
            && came.pop().is_some_and(|came| !came.is_empty())
        {
            self.starter = None;
            self.pretend(SIGTERM);
        }
        came.truncate(fds.len());
        self.collect();
        Ok(came)
    }
}
