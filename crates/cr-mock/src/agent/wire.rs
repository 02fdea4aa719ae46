//! Standard input, signals and the running command, as one thing to wait for.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use anyhow::Context;
use cr_signal::{SIGINT, SIGTERM, Signals};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// What there was to wait for.
#[derive(Debug)]
pub(crate) struct Wire {
    signals: Signals,
    buffer: Vec<u8>,
    is_open: bool,
}

/// What has come.
#[derive(Debug, Default)]
pub(crate) struct Arrived {
    pub(crate) lines: Vec<String>,
    /// Standard input has ended just now.
    pub(crate) has_ended: bool,
    pub(crate) signals: Vec<i32>,
}

impl Wire {
    pub(crate) fn new() -> anyhow::Result<Self> {
        Ok(Self {
            signals: Signals::take(&[SIGINT, SIGTERM]).context("signals")?,
            buffer: Vec::new(),
            is_open: true,
        })
    }

    /// Reads no more.
    pub(crate) fn close(&mut self) {
        self.is_open = false;
    }

    /// Waits until something comes, `child` ends, or `until`.
    pub(crate) fn wait(
        &mut self,
        child: Option<BorrowedFd<'_>>,
        until: Option<Instant>,
    ) -> anyhow::Result<Arrived> {
        let stdin = io::stdin();
        let mut fds = vec![PollFd::new(&self.signals, PollFlags::IN)];
        fds.extend(child.map(|child| PollFd::from_borrowed_fd(child, PollFlags::IN)));
        if self.is_open {
            fds.push(PollFd::from_borrowed_fd(stdin.as_fd(), PollFlags::IN));
        }
        match poll(&mut fds, timeout(until).as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(err) => return Err(err).context("poll"),
        }
        let is_readable = self.is_open && fds.last().is_some_and(|fd| !fd.revents().is_empty());
        let mut arrived = Arrived {
            signals: self.signals.numbers().collect(),
            ..Arrived::default()
        };
        if is_readable {
            self.read(stdin.as_fd(), &mut arrived)?;
        }
        Ok(arrived)
    }

    fn read(&mut self, stdin: BorrowedFd<'_>, arrived: &mut Arrived) -> anyhow::Result<()> {
        let mut chunk = vec![0; 1 << 16];
        let count = rustix::io::read(stdin, &mut chunk).context("standard input")?;
        // Only in what is new: a large message comes in many reads.
        let end = chunk[..count].iter().rposition(|byte| *byte == b'\n');
        let end = end.map(|end| self.buffer.len() + end);
        self.buffer.extend_from_slice(&chunk[..count]);
        arrived.has_ended = count == 0;
        self.is_open = count > 0;
        if let Some(end) = end {
            let rest = self.buffer.split_off(end + 1);
            let text = String::from_utf8_lossy(&self.buffer);
            arrived.lines.extend(text.lines().map(str::to_owned));
            self.buffer = rest;
        }
        if arrived.has_ended && !self.buffer.is_empty() {
            let last = String::from_utf8_lossy(&self.buffer).into_owned();
            arrived.lines.push(last);
            self.buffer.clear();
        }
        Ok(())
    }
}

fn timeout(until: Option<Instant>) -> Option<Timespec> {
    let left = until?.saturating_duration_since(Instant::now());
    Timespec::try_from(left).ok()
}
