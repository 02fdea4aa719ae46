//! Standard output, and the recording beside it.
//!
//! A thread writes, so that a reader that stands still stops neither the clocks
//! nor the signals. What waits for it is bounded: [`Output::is_full`] tells the
//! front to read no more from the agent.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// More than this is not collected.
const FULL: usize = 1 << 20;

/// What became of standard output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It takes what it is given.
    Open,
    /// Nobody reads it any more.
    Gone,
    /// It cannot be written, and why.
    Failed(String),
}

/// The front's end.
#[derive(Debug)]
pub(crate) struct Output {
    shared: Arc<Shared>,
    woken: UnixStream,
    /// Lines of this round, not yet handed over.
    batch: Vec<u8>,
    last: Instant,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    waiting: Vec<u8>,
    is_writing: bool,
    fate: Fate,
    is_recorded: bool,
}

impl Output {
    /// Starts the writer. `record` gets the same bytes; that it fails is noted
    /// and stops nothing.
    pub(crate) fn start(record: Option<File>) -> io::Result<Self> {
        let (woken, wake) = UnixStream::pair()?;
        woken.set_nonblocking(true)?;
        wake.set_nonblocking(true)?;
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                waiting: Vec::new(),
                is_writing: false,
                fate: Fate::Open,
                is_recorded: record.is_some(),
            }),
            changed: Condvar::new(),
        });
        let writer = Writer {
            shared: Arc::clone(&shared),
            wake,
            record,
        };
        let stdout = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        thread::Builder::new()
            .name("output".into())
            .stack_size(64 << 10)
            .spawn(move || writer.run(stdout))?;
        Ok(Self {
            shared,
            woken,
            batch: Vec::new(),
            last: Instant::now(),
        })
    }

    /// Writes `line` and a newline, with the rest of this round.
    pub(crate) fn line(&mut self, line: &[u8]) {
        self.batch.extend_from_slice(line);
        self.batch.push(b'\n');
        if self.batch.len() > FULL / 16 {
            self.flush();
        }
    }

    /// Hands over what was collected.
    pub(crate) fn flush(&mut self) {
        if self.batch.is_empty() {
            return;
        }
        self.last = Instant::now();
        let mut state = self.shared.lock();
        if state.waiting.is_empty() {
            std::mem::swap(&mut state.waiting, &mut self.batch);
        } else {
            state.waiting.append(&mut self.batch);
        }
        self.batch.clear();
        if self.batch.capacity() > FULL {
            self.batch = Vec::new();
        }
        drop(state);
        self.shared.changed.notify_all();
    }

    /// Whether the writer has enough to do.
    pub(crate) fn is_full(&self) -> bool {
        self.batch.len() + self.shared.lock().waiting.len() >= FULL
    }

    /// When a line was last handed over.
    pub(crate) fn last(&self) -> Instant {
        self.last
    }

    /// What became of standard output so far.
    pub(crate) fn fate(&self) -> Fate {
        self.shared.lock().fate.clone()
    }

    /// Nobody reads standard output any more.
    pub(crate) fn abandon(&self) {
        let mut state = self.shared.lock();
        if state.fate == Fate::Open {
            state.fate = Fate::Gone;
        }
    }

    /// Whether all of it was recorded.
    pub(crate) fn is_recorded(&self) -> bool {
        self.shared.lock().is_recorded
    }

    /// Forgets that something changed; polling then waits for the next time.
    pub(crate) fn acknowledge(&self) {
        let mut bytes = [0; 64];
        while matches!((&self.woken).read(&mut bytes), Ok(n) if n > 0) {}
    }

    /// Waits until everything is written or `limit` has passed; returns whether
    /// it is.
    pub(crate) fn drain(&mut self, limit: Duration) -> bool {
        self.flush();
        let state = self.shared.lock();
        let busy = |state: &mut State| state.is_writing || !state.waiting.is_empty();
        let waited = self.shared.changed.wait_timeout_while(state, limit, busy);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }
}

impl AsFd for Output {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.woken.as_fd()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread's end.
struct Writer {
    shared: Arc<Shared>,
    wake: UnixStream,
    record: Option<File>,
}

impl Writer {
    fn run(mut self, mut stdout: File) {
        let mut bytes = Vec::new();
        loop {
            let fate = self.next(&mut bytes);
            if let Some(err) = self.write_record(&bytes) {
                let _ = err;
                self.shared.lock().is_recorded = false;
                self.record = None;
            }
            if fate == Fate::Open
                && let Err(err) = stdout.write_all(&bytes)
            {
                self.shared.lock().fate = match err.kind() {
                    ErrorKind::BrokenPipe => Fate::Gone,
                    _ => Fate::Failed(err.to_string()),
                };
            }
            let _ = (&self.wake).write(&[1]);
        }
    }

    /// Waits for bytes and takes them.
    fn next(&self, bytes: &mut Vec<u8>) -> Fate {
        bytes.clear();
        if bytes.capacity() > FULL {
            *bytes = Vec::new();
        }
        let mut state = self.shared.lock();
        state.is_writing = false;
        self.shared.changed.notify_all();
        while state.waiting.is_empty() {
            let waited = self.shared.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
        std::mem::swap(&mut state.waiting, bytes);
        state.is_writing = true;
        state.fate.clone()
    }

    fn write_record(&mut self, bytes: &[u8]) -> Option<io::Error> {
        self.record.as_mut()?.write_all(bytes).err()
    }
}
