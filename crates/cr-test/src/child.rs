//! A process that a test has started.

use std::fmt::Write as _;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{self, ChildStdin, ExitStatus, Output, Stdio};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open};

use crate::wait::readable;
use crate::{World, kill};

/// A process that a test has started, as [`std::process::Child`]. A wait keeps
/// standard input open: it ends when the test drops it.
#[derive(Debug)]
pub struct Child {
    inner: process::Child,
    watch: Watch,
    /// Its standard input, if piped.
    pub stdin: Option<ChildStdin>,
    /// Its standard output, if piped.
    pub stdout: Option<Pipe>,
    /// Its standard error, if piped.
    pub stderr: Option<Pipe>,
    is_over: bool,
}

/// Its output, if piped. A read that passes the limit panics.
#[derive(Debug)]
pub struct Pipe {
    file: std::fs::File,
    watch: Watch,
}

/// What a wait needs when it passes its limit: the processes to kill, and the
/// output to show.
#[derive(Clone, Debug)]
struct Watch {
    world: World,
    line: String,
    limit: Duration,
    seen: Arc<Mutex<Vec<u8>>>,
}

impl Watch {
    /// Ends the process tree and the test.
    fn give_up(&self, waiting: &str) -> ! {
        let left = self.world.processes();
        self.world.kill_all();
        let mut text = format!("`{}`: {waiting} after {:?}", self.line, self.limit);
        for process in left {
            let _ = write!(text, "\nalive: {} {}", process.pid, process.line());
        }
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        panic!("{text}\nits output:\n{}", String::from_utf8_lossy(&seen));
    }

    fn note(&self, bytes: &[u8]) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.extend_from_slice(bytes);
    }

    fn end(&self) -> Instant {
        Instant::now() + self.limit
    }
}

impl Child {
    pub(crate) fn new(
        mut inner: process::Child,
        world: World,
        line: String,
        limit: Duration,
    ) -> Self {
        let watch = Watch {
            world,
            line,
            limit,
            seen: Arc::default(),
        };
        let pipe = |fd: OwnedFd| Pipe {
            file: fd.into(),
            watch: watch.clone(),
        };
        Self {
            stdin: inner.stdin.take(),
            stdout: inner.stdout.take().map(|out| pipe(out.into())),
            stderr: inner.stderr.take().map(|err| pipe(err.into())),
            inner,
            watch,
            is_over: false,
        }
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.inner.id()
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        kill(self.id(), signal);
    }

    /// Kills it, and only it.
    pub fn kill(&mut self) -> io::Result<()> {
        self.inner.kill()
    }

    /// Its status, if it is over.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        let status = self.inner.try_wait()?;
        self.is_over |= status.is_some();
        Ok(status)
    }

    /// Whether it is over after `time`, or before.
    pub fn ends_within(&mut self, time: Duration) -> bool {
        if self.is_over {
            return true;
        }
        let pid = Pid::from_child(&self.inner);
        let gone = pidfd_open(pid, PidfdFlags::empty()).expect("a pidfd");
        readable(&gone, Instant::now() + time)
    }

    /// Waits for its end. Does not read its output.
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        if !self.ends_within(self.watch.limit) {
            self.watch.give_up("does not end");
        }
        self.is_over = true;
        self.inner.wait()
    }

    /// Sends `signal` again and again until it is over: two signals of one
    /// kind may become one.
    pub fn signal_until_it_ends(&mut self, signal: Signal) -> io::Result<ExitStatus> {
        let end = self.watch.end();
        while !self.ends_within(Duration::from_millis(5)) {
            if Instant::now() > end {
                self.watch.give_up("does not end by signals");
            }
            self.signal(signal);
        }
        self.wait()
    }

    /// Reads its output to the end of file, and waits for its end.
    pub fn wait_with_output(mut self) -> io::Result<Output> {
        let end = self.watch.end();
        let out = self.stdout.take().map(Pipe::collect);
        let err = self.stderr.take().map(Pipe::collect);
        let stdout = self.collected(out, end);
        let stderr = self.collected(err, end);
        let status = self.wait()?;
        Ok(Output {
            status,
            stdout,
            stderr,
        })
    }

    fn collected(&self, pipe: Option<mpsc::Receiver<Vec<u8>>>, end: Instant) -> Vec<u8> {
        let Some(pipe) = pipe else {
            return Vec::new();
        };
        let left = end.saturating_duration_since(Instant::now());
        match pipe.recv_timeout(left) {
            Ok(bytes) => bytes,
            Err(_) => self.watch.give_up("its output has no end"),
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.is_over {
            let _ = self.inner.kill();
            let _ = self.inner.wait();
        }
    }
}

impl Pipe {
    /// Reads to the end on a thread.
    fn collect(mut self) -> mpsc::Receiver<Vec<u8>> {
        let (send, receive) = mpsc::channel();
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let mut buffer = vec![0; 1 << 16];
            while let Ok(count @ 1..) = self.file.read(&mut buffer) {
                bytes.extend_from_slice(&buffer[..count]);
                self.watch.note(&buffer[..count]);
            }
            drop(self);
            send.send(bytes)
        });
        receive
    }
}

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !readable(&self.file, self.watch.end()) {
            self.watch.give_up("writes nothing");
        }
        let count = self.file.read(buffer)?;
        self.watch.note(&buffer[..count]);
        Ok(count)
    }
}

impl From<Pipe> for Stdio {
    fn from(pipe: Pipe) -> Self {
        pipe.file.into()
    }
}

impl AsFd for Pipe {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
