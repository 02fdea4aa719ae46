//! Signals to an attempt's supervisor, handed on to whatever it runs just then.

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::process::{Pid, Signal, kill_process, kill_process_group, pidfd_send_signal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
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
    fn stop(&self) {
        // Whoever is gone needs no signal.
        let _ = match self {
            Self::Process(process) => pidfd_send_signal(process, Signal::TERM),
            Self::Group(leader) => kill_process_group(*leader, Signal::TERM),
            Self::Holder(file) => {
                let text = std::fs::read_to_string(file).unwrap_or_default();
                let pid = text.trim().parse().ok().and_then(Pid::from_raw);
                pid.map_or(Ok(()), |pid| kill_process(pid, Signal::TERM))
            }
        };
    }
}

#[derive(Debug, Default)]
struct State {
    asked: bool,
    target: Option<Target>,
}

/// Whether the attempt was asked to stop.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(Arc<Mutex<State>>);

impl Stop {
    /// Listens for signals from now on.
    pub(crate) fn listen() -> io::Result<Self> {
        let stop = Self::default();
        let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP])?;
        let shared = stop.clone();
        std::thread::Builder::new().spawn(move || {
            for _ in signals.forever() {
                let mut state = shared.state();
                state.asked = true;
                if let Some(target) = &state.target {
                    target.stop();
                }
            }
        })?;
        Ok(stop)
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Signals go to `target` from now on, also one that came before.
    pub(crate) fn hand_to(&self, target: Option<Target>) {
        let mut state = self.state();
        if let Some(target) = target.as_ref().filter(|_| state.asked) {
            target.stop();
        }
        state.target = target;
    }

    pub(crate) fn is_asked(&self) -> bool {
        self.state().asked
    }
}
