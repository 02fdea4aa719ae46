//! Requests that an attempt stops, in the attempt's own process: signals of the
//! engine, or the engine's end.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::anyhow;
use cr_pipeline::READER_LEFT;
use cr_signal::{Ignored, SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, Signals, Starter};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;

/// How often a wait for a lock looks whether it is still wanted, at least.
const LOCK_CHECK_INTERVAL: Duration = Duration::from_secs(10);

/// The signal that asks an attempt to stop, for the request `number` or for a
/// signal that an attempt got.
pub(crate) fn signal(number: i32) -> Signal {
    match number {
        SIGPIPE | READER_LEFT => Signal::USR1,
        SIGHUP => Signal::HUP,
        SIGINT => Signal::INT,
        SIGQUIT => Signal::QUIT,
        _ => Signal::TERM,
    }
}

/// Something that can be asked to stop while it waits.
pub(crate) trait Stopping {
    /// Whether it was asked to stop.
    fn must_stop(&mut self) -> bool;

    /// Waits until `fd` can be read, as long as `limit`, or until it is asked to
    /// stop. Returns whether `fd` can be read.
    fn wait_for(&mut self, fd: BorrowedFd<'_>, limit: Duration) -> io::Result<bool>;
}

impl Stopping for Stop {
    fn must_stop(&mut self) -> bool {
        self.is_asked()
    }

    fn wait_for(&mut self, fd: BorrowedFd<'_>, limit: Duration) -> io::Result<bool> {
        Ok(self.wait(fd, Some(limit))?.0)
    }
}

/// Takes the lock on `file`, unless `stop` is asked to stop before. Returns whether
/// it has the lock.
pub(crate) fn lock(file: &File, stop: &mut dyn Stopping) -> anyhow::Result<bool> {
    if file.try_lock().is_ok() {
        return Ok(true);
    }
    let (is_locked, writer) = io::pipe()?;
    let shared = file.try_clone()?;
    // A thread can wait for the lock, and a poll cannot.
    let waiting = std::thread::Builder::new().spawn(move || {
        let locked = shared.lock();
        drop(writer);
        locked
    })?;
    while !stop.wait_for(is_locked.as_fd(), LOCK_CHECK_INTERVAL)? {
        if stop.must_stop() {
            return Ok(false);
        }
    }
    match waiting.join() {
        Ok(locked) => locked?,
        Err(_) => return Err(anyhow!("the lock's thread ended")),
    }
    Ok(true)
}

/// Whether the attempt was asked to stop.
#[derive(Debug)]
pub(crate) struct Stop {
    /// The pipeline reads the signals itself while it runs.
    pub(crate) signals: Signals,
    is_asked: Arc<AtomicBool>,
}

impl Stop {
    /// Listens for signals from now on; the end of process `starter` is a SIGTERM.
    pub(crate) fn listen(starter: Option<i32>) -> io::Result<Self> {
        let is_asked = Arc::new(AtomicBool::new(false));
        let mut taken = cr_pipeline::SIGNALS.to_vec();
        taken.push(READER_LEFT);
        // A hang-up that the engine leaves ignored stays so.
        for number in Ignored::read().without(&taken) {
            signal_hook::flag::register(number, Arc::clone(&is_asked))?;
        }
        let signals = Signals::take(&taken)?;
        if let Some(pid) = starter {
            std::thread::Builder::new().spawn(move || {
                if let Some(starter) = Starter::named(pid) {
                    let mut polled = [PollFd::new(&starter, PollFlags::IN)];
                    while poll(&mut polled, None) == Err(rustix::io::Errno::INTR) {}
                }
                signal_hook::low_level::raise(SIGTERM)
            })?;
        }
        Ok(Self { signals, is_asked })
    }

    pub(crate) fn is_asked(&self) -> bool {
        self.is_asked.load(Ordering::SeqCst)
    }

    /// Waits until `fd` can be read, a signal comes, or `limit` is over. Returns
    /// whether the first is the case, and the signals.
    pub(crate) fn wait(
        &mut self,
        fd: BorrowedFd<'_>,
        limit: Option<Duration>,
    ) -> io::Result<(bool, Vec<i32>)> {
        let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
        let mut polled = [
            PollFd::from_borrowed_fd(fd, PollFlags::IN),
            PollFd::from_borrowed_fd(self.signals.as_fd(), PollFlags::IN),
        ];
        match poll(&mut polled, limit.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(err) => return Err(err.into()),
        }
        let is_ready = !polled[0].revents().is_empty();
        Ok((is_ready, self.signals.numbers().collect()))
    }
}
