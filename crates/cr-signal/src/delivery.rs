//! Signals as a descriptor to poll.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGCHLD, SIGINT, SIGQUIT, SIGTSTP};
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::raw::WithRawSiginfo;

use crate::Ignored;

/// `si_code` of a signal that the kernel sent, and not a process.
const SI_KERNEL: i32 = 0x80;

/// A signal that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// Its number.
    pub number: i32,
    /// Whether the kernel sent it, and not a process by `kill`.
    pub is_from_kernel: bool,
}

impl Delivered {
    /// Whether a key of the terminal sent it. Every process of the foreground
    /// group, our children among them, then got it too.
    pub fn is_from_terminal(self) -> bool {
        self.is_from_kernel && [SIGINT, SIGQUIT, SIGTSTP].contains(&self.number)
    }
}

/// Wanted signals, delivered through a descriptor.
///
/// As long as it exists they do not end the process.
#[derive(Debug)]
pub struct Signals {
    delivery: SignalDelivery<UnixStream, WithRawSiginfo>,
    ignored: Ignored,
}

impl Signals {
    /// Takes over the `wanted` signals, except those that are ignored: with a
    /// handler of ours they would no longer be ignored by our children.
    pub fn take(wanted: &[i32]) -> io::Result<Self> {
        Self::take_all(&Ignored::read().without(wanted))
    }

    /// Takes over the `wanted` signals, also those that are ignored. It is for a
    /// process whose starter has it ignore signals that other processes send.
    pub fn take_all(wanted: &[i32]) -> io::Result<Self> {
        let ignored = Ignored::read();
        let (read, write) = UnixStream::pair()?;
        let delivery = SignalDelivery::with_pipe(read, write, WithRawSiginfo, wanted)?;
        Ok(Self { delivery, ignored })
    }

    /// The signals that were ignored when these were taken over.
    pub fn ignored(&self) -> Ignored {
        self.ignored
    }

    /// The signals that came since the last call.
    pub fn pending(&mut self) -> impl Iterator<Item = Delivered> + '_ {
        self.delivery.pending().map(|info| Delivered {
            number: info.si_signo,
            is_from_kernel: info.si_code == SI_KERNEL,
        })
    }

    /// The numbers of the signals that came since the last call.
    pub fn numbers(&mut self) -> impl Iterator<Item = i32> + '_ {
        self.pending().map(|signal| signal.number)
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.delivery.get_read().as_fd()
    }
}

/// Keeps children until they are waited for, also where SIGCHLD was ignored:
/// the kernel would then reap them for us.
pub fn keep_children() -> io::Result<()> {
    ignore_here(SIGCHLD)
}

/// Gives signal `number` a handler that does nothing. This process then still
/// ignores the signal, and the programs that it starts get the default action,
/// also where this process inherited the signal as ignored.
pub fn ignore_here(number: i32) -> io::Result<()> {
    signal_hook::flag::register(number, Arc::default())?;
    Ok(())
}

/// A flag that each signal `number` sets, also in the middle of other work.
pub fn flag_of(number: i32) -> io::Result<Arc<AtomicBool>> {
    let flag = Arc::default();
    signal_hook::flag::register(number, Arc::clone(&flag))?;
    Ok(flag)
}

#[cfg(test)]
mod tests {
    use rustix::event::{PollFd, PollFlags, poll};
    use signal_hook::consts::{SIGUSR1, SIGUSR2};
    use signal_hook::low_level::raise;

    use super::*;

    #[test]
    fn a_signal_wakes_a_poll_and_is_delivered_once() {
        let mut signals = Signals::take(&[SIGUSR1, SIGUSR2]).expect("taken");
        raise(SIGUSR2).expect("raised");
        let mut fds = [PollFd::new(&signals, PollFlags::IN)];
        assert_eq!(poll(&mut fds, None), Ok(1));
        let came: Vec<Delivered> = signals.pending().collect();
        let expected = Delivered {
            number: SIGUSR2,
            is_from_kernel: false,
        };
        assert_eq!(came, [expected]);
        assert_eq!(signals.numbers().count(), 0);
    }

    #[test]
    fn a_key_of_the_terminal_is_told_from_kill() {
        let by = |number, is_from_kernel| Delivered {
            number,
            is_from_kernel,
        };
        assert!(by(SIGINT, true).is_from_terminal());
        assert!(!by(SIGINT, false).is_from_terminal());
        assert!(!by(SIGUSR1, true).is_from_terminal());
    }
}
