//! The command that leads to the other machine, and the frames through it.

use std::io::{self, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

use crate::NearArgs;
use crate::frame::{Found, Frame, FrameReader, FrameWriter, Kind, MAGIC};
use crate::tail::Tail;

/// Frames that wait for us.
const MOST_FRAMES: usize = 16;

/// The most bytes that wait for the writer.
const MOST_WAITING: usize = 1 << 20;

/// How long the command has between SIGTERM and SIGKILL.
const KILL_AFTER: Duration = Duration::from_secs(5);

/// How often the lease is renewed in its time.
const RENEWALS: u32 = 12;

/// What came through the command.
#[derive(Debug)]
pub(crate) enum Event {
    /// The far end is there: its protocol and its version.
    Magic(u32, String),
    Frame(Frame),
    Noise(String),
    /// The end, and why if it is not the end of file.
    Ended(Option<String>),
}

/// The running command.
#[derive(Debug)]
pub(crate) struct Executor {
    child: Child,
    status: Option<ExitStatus>,
    pub(crate) events: Receiver<Event>,
    pub(crate) outbox: Outbox,
    pub(crate) stderr: Tail,
}

impl Executor {
    /// Starts the command with the far program behind it.
    pub(crate) fn start(args: &NearArgs, token: &str) -> io::Result<Self> {
        let mut command = Command::new("/bin/sh");
        // The shell reads the command's words.
        command.arg("-c");
        command.arg(format!("{} \"$@\"", args.executor_cmd));
        command.arg("cr-relay").arg(&args.far_program).arg("far");
        command.env_remove("CR_RUN_ID");
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // Out of reach of the terminal: a stop must travel through the relay.
        cr_sys::with_default_signals(&mut command, None);
        cr_sys::in_own_session(&mut command, None);
        let mut child = command.spawn()?;
        let missing = || io::Error::from(io::ErrorKind::BrokenPipe);
        let stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let stderr = child.stderr.take().ok_or_else(missing)?;
        let (sender, events) = sync_channel(MOST_FRAMES);
        let known = token.to_owned();
        thread::Builder::new().spawn(move || read(stdout, &known, &sender))?;
        Ok(Self {
            child,
            status: None,
            events,
            outbox: Outbox::start(stdin, token, args.lease / RENEWALS)?,
            stderr: Tail::of(stderr)?,
        })
    }

    /// Its status, if it is over.
    pub(crate) fn status(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() {
            self.status = self.child.try_wait().ok().flatten();
        }
        self.status
    }

    /// Its code and its signal, if it is over.
    pub(crate) fn end(&mut self) -> (Option<i32>, Option<i32>) {
        let status = self.status();
        let code = status.and_then(|status| status.code());
        (code, status.and_then(|status| status.signal()))
    }

    /// Closes its input and waits for its end; one that takes longer than `time`
    /// gets SIGTERM, and then SIGKILL.
    pub(crate) fn dismiss(&mut self, time: Duration) {
        self.outbox.close();
        if self.ends_within(time) {
            return;
        }
        // The whole group: the shell may have kept a process of its own, and the
        // command is then a child of it.
        let group = Pid::from_child(&self.child);
        let _ = kill_process_group(group, Signal::TERM);
        let until = Instant::now() + KILL_AFTER;
        self.ends_within(KILL_AFTER);
        while test_kill_process_group(group).is_ok() && Instant::now() < until {
            thread::sleep(Duration::from_millis(5));
        }
        let _ = kill_process_group(group, Signal::KILL);
        self.ends_within(KILL_AFTER);
    }

    fn ends_within(&mut self, time: Duration) -> bool {
        let until = Instant::now() + time;
        while self.status().is_none() {
            if Instant::now() >= until {
                return false;
            }
            // Its output must not keep it: nobody needs it any more.
            while self.events.try_recv().is_ok() {}
            thread::sleep(Duration::from_millis(5));
        }
        true
    }
}

/// Reads what comes through the command, to the end.
fn read(stdout: ChildStdout, token: &str, events: &SyncSender<Event>) {
    let mut reader = FrameReader::new(BufReader::with_capacity(64 << 10, stdout), token);
    let mut is_answered = false;
    loop {
        let event = if is_answered {
            match reader.next() {
                Ok(Found::Frame(frame)) => Event::Frame(frame),
                Ok(Found::Noise(text)) => Event::Noise(text),
                Ok(Found::End) => Event::Ended(None),
                Err(err) => Event::Ended(Some(err.to_string())),
            }
        } else {
            match reader.line() {
                Ok(Some(line)) => magic(&line).unwrap_or(Event::Noise(line)),
                Ok(None) => Event::Ended(None),
                Err(err) => Event::Ended(Some(err.to_string())),
            }
        };
        is_answered |= matches!(event, Event::Magic(..));
        let is_last = matches!(event, Event::Ended(_));
        if events.send(event).is_err() || is_last {
            return;
        }
    }
}

fn magic(line: &str) -> Option<Event> {
    let rest = line.strip_prefix(MAGIC)?;
    if rest.ends_with('\r') {
        let text = "the command makes a terminal, which changes what it passes on";
        return Some(Event::Ended(Some(text.to_owned())));
    }
    let (protocol, version) = rest.split_once(' ')?;
    Some(Event::Magic(protocol.parse().ok()?, version.to_owned()))
}

/// Frames on their way to the far end, written on a thread. Where nothing is to
/// be said, the lease is renewed.
#[derive(Clone, Debug)]
pub(crate) struct Outbox {
    shared: Arc<(Mutex<Waiting>, Condvar)>,
}

#[derive(Debug, Default)]
struct Waiting {
    frames: Vec<(Kind, Vec<u8>)>,
    bytes: usize,
    /// The far end has said that it is there.
    is_open: bool,
    is_closed: bool,
}

impl Outbox {
    fn start(stdin: ChildStdin, token: &str, renewal: Duration) -> io::Result<Self> {
        let outbox = Self {
            shared: Arc::default(),
        };
        let shared = outbox.clone();
        let mut writer = FrameWriter::new(stdin, token);
        thread::Builder::new().spawn(move || {
            while let Some(frames) = shared.next(renewal) {
                if frames.is_empty() && writer.blank().is_err() {
                    break;
                }
                let mut frames = frames.into_iter();
                if frames.any(|(kind, bytes)| writer.write(kind, &bytes).is_err()) {
                    break;
                }
            }
            shared.close();
        })?;
        Ok(outbox)
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(
        &self,
        waiting: MutexGuard<'a, Waiting>,
        time: Duration,
    ) -> MutexGuard<'a, Waiting> {
        let waited = self.shared.1.wait_timeout(waiting, time);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// What is to be written next; `None` at the end. Nothing at all stands for a
    /// blank line, while the far end has not answered: a command that waits for
    /// input, and whose far end is gone, notices it by that.
    fn next(&self, renewal: Duration) -> Option<Vec<(Kind, Vec<u8>)>> {
        let until = Instant::now() + renewal;
        let mut waiting = self.lock();
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if waiting.is_open && !waiting.frames.is_empty() {
                waiting.bytes = 0;
                let frames = std::mem::take(&mut waiting.frames);
                self.shared.1.notify_all();
                return Some(frames);
            }
            if waiting.is_closed {
                return None;
            }
            if left.is_zero() {
                let beat = waiting.is_open.then(|| (Kind::Beat, Vec::new()));
                return Some(beat.into_iter().collect());
            }
            waiting = self.wait(waiting, left);
        }
    }

    /// Begins to write, with the frame `hello`.
    pub(crate) fn open(&self, hello: Vec<u8>) {
        let mut waiting = self.lock();
        waiting.frames.insert(0, (Kind::Hello, hello));
        waiting.is_open = true;
        self.shared.1.notify_all();
    }

    /// Sends a frame; waits while many others do. Returns whether it can arrive.
    pub(crate) fn send(&self, kind: Kind, bytes: Vec<u8>) -> bool {
        let mut waiting = self.lock();
        while waiting.bytes > MOST_WAITING && !waiting.is_closed {
            waiting = self.wait(waiting, Duration::from_secs(1));
        }
        self.push(waiting, kind, bytes)
    }

    /// Sends a frame without a wait.
    pub(crate) fn urgent(&self, kind: Kind, bytes: Vec<u8>) {
        let waiting = self.lock();
        self.push(waiting, kind, bytes);
    }

    fn push(&self, mut waiting: MutexGuard<'_, Waiting>, kind: Kind, bytes: Vec<u8>) -> bool {
        waiting.bytes += bytes.len();
        waiting.frames.push((kind, bytes));
        self.shared.1.notify_all();
        !waiting.is_closed
    }

    /// Ends the input of the command when all is written.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.shared.1.notify_all();
    }
}
