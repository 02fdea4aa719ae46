//! Signals to an attempt's supervisor, handed on to whatever it runs just then.

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, kill_process, kill_process_group, pidfd_open, pidfd_send_signal,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals;

/// Who gets the signal.
#[derive(Debug)]
pub(crate) enum Target {
    /// A process.
    Process(OwnedFd),
    /// A group of processes whose leader has not been waited for.
    Group(Pid),
    /// The process whose number is in this file: another supervisor, which holds
    /// the lock that we wait for.
    Holder(PathBuf),
}

impl Target {
    fn stop(&self, signal: Signal) {
        // Whoever is gone needs no signal.
        let _ = match self {
            Self::Process(process) => pidfd_send_signal(process, signal),
            Self::Group(leader) => kill_process_group(*leader, Signal::TERM),
            Self::Holder(file) => {
                let text = std::fs::read_to_string(file).unwrap_or_default();
                let pid = text.trim().parse().ok().and_then(Pid::from_raw);
                pid.map_or(Ok(()), |pid| kill_process(pid, signal))
            }
        };
    }
}

/// What is handed on for signal `number`. SIGINT goes by its other name: it may
/// be ignored by all of us, if a shell runs us in the background.
pub(crate) fn signal(number: i32) -> Signal {
    match number {
        SIGHUP => Signal::HUP,
        SIGINT | SIGUSR1 => Signal::USR1,
        _ => Signal::TERM,
    }
}

/// Waits until process `pid` has ended, if it has not yet.
fn wait_for(pid: Pid) {
    let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else {
        return;
    };
    let mut polled = [PollFd::new(&process, PollFlags::IN)];
    while poll(&mut polled, None) == Err(rustix::io::Errno::INTR) {}
}

#[derive(Debug, Default)]
struct State {
    asked: Option<Signal>,
    target: Option<Target>,
}

/// Whether the attempt was asked to stop.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(Arc<Mutex<State>>);

impl Stop {
    /// Listens for signals from now on; the end of process `starter` is one.
    pub(crate) fn listen(starter: Option<i32>) -> io::Result<Self> {
        let stop = Self::default();
        let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP, SIGUSR1])?;
        let shared = stop.clone();
        std::thread::Builder::new().spawn(move || {
            for number in signals.forever() {
                shared.ask(signal(number));
            }
        })?;
        if let Some(pid) = starter.and_then(Pid::from_raw) {
            let shared = stop.clone();
            std::thread::Builder::new().spawn(move || {
                wait_for(pid);
                shared.ask(Signal::TERM);
            })?;
        }
        Ok(stop)
    }

    fn ask(&self, signal: Signal) {
        let mut state = self.state();
        state.asked = Some(signal);
        if let Some(target) = &state.target {
            target.stop(signal);
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Signals go to `target` from now on, also one that came before.
    pub(crate) fn hand_to(&self, target: Option<Target>) {
        let mut state = self.state();
        if let (Some(target), Some(signal)) = (&target, state.asked) {
            target.stop(signal);
        }
        state.target = target;
    }

    pub(crate) fn is_asked(&self) -> bool {
        self.state().asked.is_some()
    }
}
