//! Standard output, and the recording beside it.
//!
//! A thread does the writes that may block, so that a slow reader stops neither
//! the clocks nor the signals. The queue of the thread is bounded:
//! [`Output::is_full`] tells the supervisor to read no more from the agent. A
//! write that cannot block is done at once, without the thread.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::poll_set::is_writable;
use cr_io::{OutputFile, OutputFileRecord};
use cr_rundir::Recording;

/// The most bytes that wait for the writer.
const MAX_WAITING: usize = 1 << 20;

/// How long the record may be behind: to wake a thread for every line would slow
/// down the lines.
const RECORD_LAG: Duration = Duration::from_millis(5);

/// How long the end waits for the user's own file to be written.
const OUTPUT_FILE_TIMEOUT: Duration = Duration::from_secs(1);

/// A pipe that can be written to takes this much without blocking.
const ATOMIC_WRITE: usize = 4096;

/// The state of standard output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It takes what it is given.
    Open,
    /// Its reader has left.
    Gone,
    /// It cannot be written, and why.
    Failed(String),
}

/// The supervisor's end.
#[derive(Debug)]
pub(crate) struct Output {
    shared: Arc<Shared>,
    woken: UnixStream,
    /// Lines of this round, not yet handed over.
    batch: Vec<u8>,
    stdout: File,
    is_direct: bool,
    /// Nothing comes after the batch.
    is_ending: bool,
    last: Instant,
    /// Since when there is something to record that the writer does not know of.
    unannounced: Option<Instant>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
struct State {
    /// For standard output.
    waiting: Vec<u8>,
    /// For the record.
    unrecorded: Vec<u8>,
    is_writing: bool,
    is_recording: bool,
    /// The supervisor waits for room.
    is_awaited: bool,
    fate: Fate,
    is_recorded: bool,
    /// The state of the user's own file, if there is one.
    output_file: Option<OutputFileRecord>,
    is_cut: bool,
    /// Nothing comes after what waits.
    is_ending: bool,
}

impl Output {
    /// Starts the writer. `record` and `output_file` get the same bytes; that one
    /// of them fails is noted and stops nothing.
    pub(crate) fn start(
        record: Option<Recording>,
        output_file: Option<OutputFile>,
    ) -> io::Result<Self> {
        let (woken, wake) = UnixStream::pair()?;
        woken.set_nonblocking(true)?;
        wake.set_nonblocking(true)?;
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                waiting: Vec::new(),
                unrecorded: Vec::new(),
                is_writing: false,
                is_recording: false,
                is_awaited: false,
                fate: Fate::Open,
                is_recorded: record.is_some(),
                output_file: output_file.as_ref().map(OutputFile::record),
                is_cut: false,
                is_ending: false,
            }),
            changed: Condvar::new(),
        });
        let writer = Writer {
            shared: Arc::clone(&shared),
            wake,
            record,
            output_file,
        };
        let stdout = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        let theirs = stdout.try_clone()?;
        thread::Builder::new()
            .name("output".into())
            .stack_size(64 << 10)
            .spawn(move || writer.run(theirs))?;
        Ok(Self {
            shared,
            woken,
            batch: Vec::new(),
            is_direct: is_pipe_or_file(&stdout),
            stdout,
            is_ending: false,
            last: Instant::now(),
            unannounced: None,
        })
    }

    /// Writes `line` and a newline, with the rest of this round.
    pub(crate) fn line(&mut self, line: &[u8]) {
        self.batch.extend_from_slice(line);
        self.batch.push(b'\n');
        if self.batch.len() > MAX_WAITING / 16 {
            self.flush();
        }
    }

    /// Writes or hands over what was collected.
    pub(crate) fn flush(&mut self) {
        if self.batch.is_empty() {
            return self.wake_writer(false);
        }
        self.last = Instant::now();
        let mut state = self.shared.lock();
        // Together with the last lines: the writer takes both or none.
        state.is_ending = self.is_ending;
        if state.is_kept() {
            state.unrecorded.extend_from_slice(&self.batch);
        }
        if state.is_idle() && self.is_direct && self.fits() {
            if let Err(err) = self.stdout.write_all(&self.batch) {
                state.fate = Fate::of(&err);
            }
        } else {
            state.waiting.extend_from_slice(&self.batch);
        }
        let is_urgent = !state.waiting.is_empty() || state.unrecorded.len() > ATOMIC_WRITE * 16;
        if !state.unrecorded.is_empty() {
            self.unannounced.get_or_insert(self.last);
        }
        drop(state);
        self.batch.clear();
        self.batch.shrink_to(MAX_WAITING);
        self.wake_writer(is_urgent);
    }

    /// Wakes the writer if it is time to.
    fn wake_writer(&mut self, is_urgent: bool) {
        if is_urgent
            || self
                .unannounced
                .is_some_and(|since| since.elapsed() >= RECORD_LAG)
        {
            self.unannounced = None;
            self.shared.changed.notify_all();
        }
    }

    /// When [`Output::flush`] must be called at the latest.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.unannounced.map(|since| since + RECORD_LAG)
    }

    /// Whether the batch can be written without blocking.
    fn fits(&self) -> bool {
        self.batch.len() <= ATOMIC_WRITE && is_writable(&self.stdout)
    }

    /// Whether the queue of the writer is full.
    pub(crate) fn is_full(&self) -> bool {
        let mut state = self.shared.lock();
        let is_full = self.batch.len() + state.waiting.len() >= MAX_WAITING
            || state.unrecorded.len() >= MAX_WAITING;
        state.is_awaited |= is_full;
        is_full
    }

    /// When a line was last handed over.
    pub(crate) fn last(&self) -> Instant {
        self.last
    }

    /// The state of standard output.
    pub(crate) fn fate(&self) -> Fate {
        self.shared.lock().fate.clone()
    }

    /// Takes note that the reader of standard output has left.
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

    /// Waits until the user's own file is written, if there is one, so that the
    /// last line can say what became of it. Not for ever: the writer may wait for
    /// the reader of standard output.
    pub(crate) fn finish_output_file(&mut self) {
        self.flush();
        let state = self.shared.lock();
        if state.output_file.is_none() {
            return;
        }
        self.shared.changed.notify_all();
        let busy = |state: &mut State| state.is_recording || !state.unrecorded.is_empty();
        drop(
            self.shared
                .changed
                .wait_timeout_while(state, OUTPUT_FILE_TIMEOUT, busy),
        );
    }

    /// What became of the user's own file, if there is one.
    pub(crate) fn output_file(&self) -> Option<OutputFileRecord> {
        self.shared.lock().output_file.clone()
    }

    /// Whether the record lacks a part of it.
    pub(crate) fn is_cut(&self) -> bool {
        self.shared.lock().is_cut
    }

    /// Writes or hands over what was collected, and after it nothing.
    pub(crate) fn end(&mut self) {
        self.is_ending = true;
        self.flush();
    }

    /// Clears the wake-up of the writer, so that a poll waits for the next one.
    pub(crate) fn acknowledge(&self) {
        let mut bytes = [0; 64];
        while matches!((&self.woken).read(&mut bytes), Ok(n) if n > 0) {}
    }

    /// Waits until everything is written or `limit` has passed; returns whether
    /// it is.
    pub(crate) fn drain(&mut self, limit: Duration) -> bool {
        self.flush();
        self.wake_writer(true);
        let state = self.shared.lock();
        let busy = |state: &mut State| !state.is_done();
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
    record: Option<Recording>,
    output_file: Option<OutputFile>,
}

impl State {
    /// Whether anything but standard output gets the lines.
    fn is_kept(&self) -> bool {
        let is_written = |file: &OutputFileRecord| file.error.is_none();
        self.is_recorded || self.output_file.as_ref().is_some_and(is_written)
    }

    /// Whether nothing is on its way to standard output.
    fn is_idle(&self) -> bool {
        !self.is_writing && self.waiting.is_empty() && self.fate == Fate::Open
    }

    /// Whether there is nothing left to do.
    fn is_done(&self) -> bool {
        !self.is_writing
            && !self.is_recording
            && self.waiting.is_empty()
            && self.unrecorded.is_empty()
    }
}

impl Fate {
    fn of(err: &io::Error) -> Self {
        match err.kind() {
            ErrorKind::BrokenPipe => Self::Gone,
            _ => Self::Failed(err.to_string()),
        }
    }
}

impl Writer {
    fn run(mut self, mut stdout: File) {
        let (mut bytes, mut unrecorded) = (Vec::new(), Vec::new());
        loop {
            let fate = self.next(&mut bytes, &mut unrecorded);
            self.record(&unrecorded);
            if let Some(file) = &mut self.output_file
                && let Err(err) = file.write_all(&unrecorded)
            {
                self.output_file = None;
                if let Some(state) = &mut self.shared.lock().output_file {
                    state.error = Some(err.to_string());
                }
            }
            if fate == Fate::Open
                && let Err(err) = stdout.write_all(&bytes)
            {
                self.shared.lock().fate = Fate::of(&err);
            }
        }
    }

    fn record(&mut self, lines: &[u8]) {
        let Some(record) = &mut self.record else {
            return;
        };
        let is_ending = self.shared.lock().is_ending;
        let written = if is_ending {
            record.finish(lines)
        } else {
            record.write(lines)
        };
        self.shared.lock().is_cut = record.is_cut();
        if written.is_err() {
            self.record = None;
            self.shared.lock().is_recorded = false;
        }
    }

    /// Says that the last bytes are written, waits for more and takes them.
    fn next(&self, bytes: &mut Vec<u8>, unrecorded: &mut Vec<u8>) -> Fate {
        for done in [&mut *bytes, &mut *unrecorded] {
            done.clear();
            done.shrink_to(MAX_WAITING);
        }
        let mut state = self.shared.lock();
        state.is_writing = false;
        state.is_recording = false;
        if state.unrecorded.is_empty() {
            self.shared.changed.notify_all();
        }
        if std::mem::take(&mut state.is_awaited) || state.fate != Fate::Open {
            let _ = (&self.wake).write(&[1]);
        }
        while state.waiting.is_empty() && state.unrecorded.is_empty() {
            let waited = self.shared.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
        std::mem::swap(&mut state.waiting, bytes);
        std::mem::swap(&mut state.unrecorded, unrecorded);
        state.is_writing = !bytes.is_empty();
        state.is_recording = !unrecorded.is_empty();
        state.fate.clone()
    }
}

/// Whether a short write to `file` does not block.
fn is_pipe_or_file(file: &File) -> bool {
    let kind = file.metadata().map(|meta| meta.file_type());
    kind.is_ok_and(|kind| kind.is_fifo() || kind.is_file())
}
