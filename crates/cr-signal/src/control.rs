//! Signals that a starter passes on through a pipe.
//!
//! A shell between the starter and the tool would see the signals first, or
//! have them ignored, so the starter writes them into a pipe whose read end the
//! tool inherits by number (`--control-fd N`). One byte is one message: 1, 2, 3
//! or 15 is the signal of that number, 13 says that the reader of the starter's
//! standard output left, and 128 + N says that the starter was told to ignore
//! signal N, as nohup does. Other bytes are skipped: a later version may send
//! them. The end of file is the starter's death.
//!
//! The starter has the whole pipeline ignore the signals that it passes on, so
//! only the bytes from 128 on say which signals the agent must ignore.

use std::fs::File;
use std::io::{self, ErrorKind, PipeReader, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use signal_hook::consts::{SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM};

use crate::Ignored;

/// The signals that a starter passes on.
const PASSED_ON: [i32; 4] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM];

/// Added to a signal that the starter was told to ignore.
const IGNORED: u8 = 128;

/// What a starter says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlMessage {
    /// It got this signal: SIGHUP, SIGINT, SIGQUIT or SIGTERM.
    Signal(i32),
    /// The reader of its standard output left.
    ReaderLeft,
    /// It died. This counts as SIGTERM, as the death of a [`crate::Starter`].
    StarterDied,
}

impl ControlMessage {
    fn from_byte(byte: u8) -> Option<Self> {
        match i32::from(byte) {
            SIGPIPE => Some(Self::ReaderLeft),
            number @ (SIGHUP | SIGINT | SIGQUIT | SIGTERM) => Some(Self::Signal(number)),
            _ => None,
        }
    }

    /// Its byte; the starter's death has none.
    fn byte(self) -> Option<u8> {
        match self {
            Self::Signal(number) => u8::try_from(number).ok(),
            Self::ReaderLeft => u8::try_from(SIGPIPE).ok(),
            Self::StarterDied => None,
        }
    }
}

/// The end of the pipe that the tool reads. It can be polled until
/// [`ControlChannel::is_open`] says no.
#[derive(Debug)]
pub struct ControlChannel {
    pipe: File,
    is_open: bool,
    ignored: Ignored,
}

impl ControlChannel {
    /// Takes over the inherited descriptor `number`. Our children do not get it.
    pub fn inherit(number: i32) -> io::Result<Self> {
        Self::new(cr_sys::inherited_descriptor(number)?)
    }

    /// Reads from `pipe`.
    pub fn new(pipe: impl Into<OwnedFd>) -> io::Result<Self> {
        let pipe = pipe.into();
        fcntl_setfl(&pipe, fcntl_getfl(&pipe)? | OFlags::NONBLOCK)?;
        Ok(Self {
            pipe: pipe.into(),
            is_open: true,
            ignored: Ignored::default(),
        })
    }

    /// Whether more can come. A channel that has ended is always readable, so it
    /// must not be polled any more.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// The signals that the starter was told to ignore. It says so before it
    /// starts anything, so this is complete after the first call of
    /// [`ControlChannel::pending`].
    pub fn ignored(&self) -> Ignored {
        self.ignored
    }

    /// What the starter said since the last call. Its death is said once.
    pub fn pending(&mut self) -> Vec<ControlMessage> {
        let mut messages = Vec::new();
        let mut bytes = [0; 64];
        while self.is_open {
            match self.pipe.read(&mut bytes) {
                Ok(length @ 1..) => {
                    for &byte in &bytes[..length] {
                        self.ignored.insert(i32::from(byte) - i32::from(IGNORED));
                        messages.extend(ControlMessage::from_byte(byte));
                    }
                }
                Err(err) if err.kind() == ErrorKind::Interrupted => {}
                Err(err) if err.kind() == ErrorKind::WouldBlock => break,
                // A pipe that cannot be read brings no message any more.
                Ok(0) | Err(_) => {
                    self.is_open = false;
                    messages.push(ControlMessage::StarterDied);
                }
            }
        }
        messages
    }
}

impl AsFd for ControlChannel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }
}

/// The end of the pipe that a starter writes. Dropping it says that the starter
/// died.
#[derive(Debug)]
pub struct ControlSender(File);

impl ControlSender {
    /// A new pipe. The reading end goes to the tool under a number of its own
    /// and must then be closed here; both are closed on exec.
    pub fn pair() -> io::Result<(Self, PipeReader)> {
        let (read, write) = io::pipe()?;
        let write = OwnedFd::from(write);
        // A tool that does not read must not stop its starter.
        fcntl_setfl(&write, fcntl_getfl(&write)? | OFlags::NONBLOCK)?;
        Ok((Self(write.into()), read))
    }

    /// Says which of the signals that are passed on were `ignored` when the
    /// starter began. To be sent before any tool is started.
    pub fn send_ignored(&mut self, ignored: Ignored) -> io::Result<()> {
        for number in PASSED_ON {
            if ignored.contains(number) {
                let number = u8::try_from(number).unwrap_or_default();
                self.send_byte(IGNORED + number)?;
            }
        }
        Ok(())
    }

    /// Sends `message`. Fails when no tool reads the pipe any more.
    pub fn send(&mut self, message: ControlMessage) -> io::Result<()> {
        match message.byte() {
            Some(byte) => self.send_byte(byte),
            None => Ok(()),
        }
    }

    fn send_byte(&mut self, byte: u8) -> io::Result<()> {
        match self.0.write_all(&[byte]) {
            // The tool has enough to read.
            Err(err) if err.kind() == ErrorKind::WouldBlock => Ok(()),
            result => result,
        }
    }
}

/// For a poll: an error on it says that every reader has closed its end.
impl AsFd for ControlSender {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_come_in_order_and_the_end_once() {
        let (mut sender, read) = ControlSender::pair().expect("a pipe");
        let mut channel = ControlChannel::new(read).expect("a channel");
        assert_eq!(channel.pending(), []);
        let sent = [
            ControlMessage::Signal(SIGINT),
            ControlMessage::ReaderLeft,
            ControlMessage::Signal(SIGTERM),
        ];
        for message in sent {
            sender.send(message).expect("sent");
        }
        assert_eq!(channel.pending(), sent);
        assert!(channel.is_open());
        drop(sender);
        assert_eq!(channel.pending(), [ControlMessage::StarterDied]);
        assert!(!channel.is_open());
        assert_eq!(channel.pending(), []);
    }

    #[test]
    fn what_the_starter_ignores_is_known_after_the_first_read() {
        let (mut sender, read) = ControlSender::pair().expect("a pipe");
        let mut ignored = Ignored::default();
        ignored.insert(SIGHUP);
        sender.send_ignored(ignored).expect("sent");
        sender.send(ControlMessage::Signal(SIGTERM)).expect("sent");
        let mut channel = ControlChannel::new(read).expect("a channel");
        assert_eq!(channel.pending(), [ControlMessage::Signal(SIGTERM)]);
        assert_eq!(channel.ignored(), ignored);
    }

    #[test]
    fn an_unknown_byte_is_skipped() {
        let (read, mut write) = io::pipe().expect("a pipe");
        let mut channel = ControlChannel::new(read).expect("a channel");
        write.write_all(&[0, 200, 15]).expect("written");
        assert_eq!(channel.pending(), [ControlMessage::Signal(SIGTERM)]);
    }

    #[test]
    fn a_tool_that_is_gone_is_an_error_and_one_that_is_slow_is_not() {
        let (mut sender, read) = ControlSender::pair().expect("a pipe");
        for _ in 0..100_000 {
            sender.send(ControlMessage::ReaderLeft).expect("sent");
        }
        drop(read);
        assert!(sender.send(ControlMessage::ReaderLeft).is_err());
    }

    #[test]
    fn only_an_open_descriptor_beyond_the_standard_ones_is_taken() {
        for number in [-1, 0, 2, 9999] {
            assert!(ControlChannel::inherit(number).is_err(), "{number}");
        }
    }
}
