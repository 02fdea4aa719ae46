//! The far end's side of the relay: frames in, frames out, and the lease.
//!
//! Two threads of its own read and write, so that a relay that stalls stops
//! neither the lease nor the end of the agent.

use std::collections::VecDeque;
use std::io::{self, BufReader, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use cr_io::Exit;

use crate::frame::{Found, Frame, FrameReader, FrameWriter, Kind, MAGIC, PROTOCOL};

/// The most bytes that wait for the writer.
const MOST_WAITING: usize = 1 << 20;

/// Frames that wait for us.
const MOST_FRAMES: usize = 16;

/// The lease until the near end has named one.
const FIRST_LEASE: Duration = Duration::from_mins(1);

/// How many signs of life are sent in one lease.
const BEATS: u32 = 12;

/// What [`Link::take`] got.
#[derive(Debug)]
pub(crate) enum Taken {
    Frame(Frame),
    /// Nothing came in time.
    Nothing,
    /// The relay has ended.
    Ended,
}

/// Both directions.
#[derive(Debug)]
pub(crate) struct Link {
    frames: Receiver<Frame>,
    shared: Arc<Shared>,
}

/// The end of the queue that other threads may write to.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    /// Known with the near end's first frame.
    token: Option<String>,
    queue: VecDeque<(Kind, Vec<u8>)>,
    waiting: usize,
    is_writing: bool,
    /// Nobody reads: what is sent is dropped.
    is_cut: bool,
    is_finished: bool,
    renewed: Instant,
    lease: Duration,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>, time: Duration) -> MutexGuard<'a, State> {
        let waited = self.changed.wait_timeout(state, time);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    fn cut(&self) {
        self.change(|state| {
            state.is_cut = true;
            state.queue.clear();
            state.waiting = 0;
        });
    }
}

impl Link {
    /// Says who we are, and begins to read and to write.
    pub(crate) fn open() -> anyhow::Result<Self> {
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                token: None,
                queue: VecDeque::new(),
                waiting: 0,
                is_writing: false,
                is_cut: false,
                is_finished: false,
                renewed: Instant::now(),
                lease: FIRST_LEASE,
            }),
            changed: Condvar::new(),
        });
        // The newline first: the last line of a banner may have none.
        let magic = format!("\n{MAGIC}{PROTOCOL} {}\n", env!("CARGO_PKG_VERSION"));
        let mut stdout = io::stdout();
        let said = stdout.write_all(magic.as_bytes());
        said.and_then(|()| stdout.flush())
            .context("standard output")
            .context(Exit::Io)?;
        let (sender, frames) = sync_channel(MOST_FRAMES);
        let reading = Arc::clone(&shared);
        thread::Builder::new().spawn(move || read(&reading, &sender))?;
        let writing = Arc::clone(&shared);
        thread::Builder::new().spawn(move || write(&writing))?;
        Ok(Self { frames, shared })
    }

    pub(crate) fn set_lease(&self, lease: Duration) {
        self.shared.change(|state| state.lease = lease);
    }

    /// The next frame, if one comes within `time`.
    pub(crate) fn take(&self, time: Duration) -> Taken {
        match self.frames.recv_timeout(time) {
            Ok(frame) => Taken::Frame(frame),
            Err(RecvTimeoutError::Timeout) => Taken::Nothing,
            Err(RecvTimeoutError::Disconnected) => Taken::Ended,
        }
    }

    /// Whether the near end is given up: the lease has run out, or what we write
    /// goes nowhere.
    pub(crate) fn is_lost(&self) -> bool {
        let state = self.shared.lock();
        state.is_cut || state.renewed.elapsed() > state.lease
    }

    /// Drops what waits, and all that is sent from now on.
    pub(crate) fn cut(&self) {
        self.shared.cut();
    }

    pub(crate) fn sender(&self) -> Sender {
        Sender {
            shared: Arc::clone(&self.shared),
        }
    }

    pub(crate) fn send(&self, kind: Kind, bytes: Vec<u8>) {
        self.sender().send(kind, bytes);
    }

    /// Waits until all is written, as long as the near end is there.
    pub(crate) fn finish(&self) {
        self.shared.change(|state| state.is_finished = true);
        let mut state = self.shared.lock();
        while !state.is_cut && (state.is_writing || !state.queue.is_empty()) {
            if state.token.is_none() || state.renewed.elapsed() > state.lease {
                return;
            }
            state = self.shared.wait(state, Duration::from_millis(50));
        }
    }
}

impl Sender {
    /// Sends a frame; waits while many others do.
    pub(crate) fn send(&self, kind: Kind, bytes: Vec<u8>) {
        let mut state = self.shared.lock();
        while state.waiting > MOST_WAITING && !state.is_cut {
            state = self.shared.wait(state, Duration::from_secs(1));
        }
        if state.is_cut {
            return;
        }
        state.waiting += bytes.len();
        state.queue.push_back((kind, bytes));
        drop(state);
        self.shared.changed.notify_all();
    }
}

/// Reads frames to the end. Every one renews the lease, and one that does only
/// that is not passed on: the lease holds also while we are busy.
fn read(shared: &Shared, frames: &SyncSender<Frame>) {
    let mut reader = FrameReader::new(BufReader::new(io::stdin()), "");
    // A broken frame is the end, too: what follows it cannot be read.
    while let Ok(found) = reader.next() {
        let frame = match found {
            Found::Frame(frame) => frame,
            Found::Noise(_) => continue,
            Found::End => break,
        };
        shared.change(|state| {
            state.renewed = Instant::now();
            if state.token.is_none() {
                state.token = Some(reader.token().to_owned());
            }
        });
        if frame.kind != Kind::Beat && frames.send(frame).is_err() {
            break;
        }
    }
}

/// Writes what is sent, and a sign of life where nothing is.
fn write(shared: &Shared) {
    let mut state = shared.lock();
    let token = loop {
        match &state.token {
            Some(token) => break token.clone(),
            None => state = shared.wait(state, Duration::from_secs(1)),
        }
    };
    drop(state);
    let mut writer = FrameWriter::new(io::stdout(), &token);
    let mut last = Instant::now();
    loop {
        let mut state = shared.lock();
        let (kind, bytes) = loop {
            let pause = state.lease / BEATS;
            if state.is_cut || (state.is_finished && state.queue.is_empty()) {
                return;
            }
            if let Some((kind, bytes)) = state.queue.pop_front() {
                state.waiting -= bytes.len();
                break (kind, bytes);
            }
            let left = pause.saturating_sub(last.elapsed());
            if left.is_zero() {
                break (Kind::Beat, Vec::new());
            }
            state = shared.wait(state, left);
        };
        state.is_writing = true;
        drop(state);
        let written = writer.write(kind, &bytes);
        last = Instant::now();
        shared.change(|state| state.is_writing = false);
        if written.is_err() {
            shared.cut();
            return;
        }
    }
}
