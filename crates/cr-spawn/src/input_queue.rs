//! The agent's standard input: a queue of messages.
//!
//! Writing never blocks: the output of an agent is read even if the agent does
//! not read its input. A single prompt is one message and then the end.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::os::fd::OwnedFd;

/// The most messages that wait, and the most bytes of them.
const MAX_MESSAGES: usize = 1000;
const MAX_BYTES: usize = 64 << 20;

/// The most bytes of a session that are on their way; further messages wait in
/// its own queue.
const MAX_WAITING: usize = 1 << 20;

/// Messages on their way to the agent.
#[derive(Debug)]
pub(crate) struct InputQueue {
    /// None: it is closed.
    pipe: Option<File>,
    messages: VecDeque<Vec<u8>>,
    /// What is written of the first message.
    written: usize,
    /// What waits, in bytes.
    waiting: usize,
    /// No message comes after those that wait.
    is_complete: bool,
}

/// Why a message was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Too many messages, or too many bytes, wait already.
    Full,
    /// The agent's input is closed, or was declared complete.
    Closed,
}

impl InputQueue {
    /// An empty queue that is written to `pipe`, which does not block.
    pub(crate) fn new(pipe: OwnedFd) -> Self {
        Self {
            pipe: Some(pipe.into()),
            messages: VecDeque::new(),
            written: 0,
            waiting: 0,
            is_complete: false,
        }
    }

    /// The queue of a run with one prompt.
    pub(crate) fn with_prompt(pipe: OwnedFd, prompt: Vec<u8>) -> Self {
        let mut queue = Self::new(pipe);
        // An empty queue takes a message of any size.
        let _ = queue.push(prompt);
        queue.complete();
        queue
    }

    /// Adds a message. One that is alone may have any size.
    pub(crate) fn push(&mut self, message: Vec<u8>) -> Result<(), Refused> {
        if self.pipe.is_none() || self.is_complete {
            return Err(Refused::Closed);
        }
        let bytes = self.waiting.saturating_add(message.len());
        let is_alone = self.messages.is_empty();
        if !is_alone && (bytes > MAX_BYTES || self.messages.len() >= MAX_MESSAGES) {
            return Err(Refused::Full);
        }
        self.waiting = bytes;
        self.messages.push_back(message);
        Ok(())
    }

    /// Adds a line of a session, which has bounds of its own.
    pub(crate) fn push_line(&mut self, line: Vec<u8>) {
        if self.pipe.is_some() && !self.is_complete {
            self.waiting += line.len();
            self.messages.push_back(line);
        }
    }

    /// Whether the agent has read most of what it was given.
    pub(crate) fn has_room(&self) -> bool {
        self.waiting < MAX_WAITING
    }

    /// Closes the agent's input when all that waits is written.
    pub(crate) fn complete(&mut self) {
        self.is_complete = true;
        self.close_if_done();
    }

    /// Closes the agent's input now; messages that wait are dropped.
    pub(crate) fn close(&mut self) {
        self.pipe = None;
        self.messages.clear();
        (self.written, self.waiting) = (0, 0);
    }

    /// The pipe, as long as there is something to write to it.
    pub(crate) fn writable(&self) -> Option<&File> {
        self.pipe.as_ref().filter(|_| !self.messages.is_empty())
    }

    /// Writes what fits. An agent that closes its input is no failure of ours.
    pub(crate) fn write(&mut self) {
        while let (Some(pipe), Some(message)) = (&mut self.pipe, self.messages.front()) {
            if self.written == message.len() {
                self.messages.pop_front();
                self.written = 0;
                continue;
            }
            match pipe.write(&message[self.written..]) {
                Ok(length) => {
                    self.written += length;
                    self.waiting -= length;
                }
                Err(err) if err.kind() == ErrorKind::Interrupted => {}
                Err(err) if err.kind() == ErrorKind::WouldBlock => return,
                Err(_) => return self.close(),
            }
        }
        self.close_if_done();
    }

    fn close_if_done(&mut self) {
        if self.is_complete && self.messages.is_empty() {
            self.close();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{PipeReader, Read, pipe};

    use rustix::io::ioctl_fionbio;

    use super::*;

    fn queue() -> (InputQueue, PipeReader) {
        let (read, write) = pipe().expect("a pipe");
        ioctl_fionbio(&write, true).expect("non-blocking");
        (InputQueue::new(write.into()), read)
    }

    #[test]
    fn messages_arrive_in_order_and_then_the_end() {
        let (mut queue, mut agent) = queue();
        queue.push(b"one\n".to_vec()).expect("taken");
        queue.push(b"two\n".to_vec()).expect("taken");
        queue.write();
        assert!(queue.writable().is_none());
        queue.push(b"three\n".to_vec()).expect("taken");
        queue.complete();
        assert_eq!(queue.push(b"late".to_vec()), Err(Refused::Closed));
        queue.write();
        let mut text = String::new();
        agent.read_to_string(&mut text).expect("read to the end");
        assert_eq!(text, "one\ntwo\nthree\n");
    }

    #[test]
    fn an_agent_that_does_not_read_blocks_nobody() {
        let (mut queue, mut agent) = queue();
        let long = vec![b'x'; 1 << 20];
        queue.push(long.clone()).expect("taken");
        queue.complete();
        queue.write();
        queue.write();
        assert!(queue.writable().is_some());
        let (mut all, mut buf) = (Vec::new(), [0; 4096]);
        while all.len() < long.len() {
            let length = agent.read(&mut buf).expect("read");
            all.extend_from_slice(&buf[..length]);
            queue.write();
        }
        assert_eq!(all, long);
        assert_eq!(agent.read(&mut buf).expect("read"), 0);
    }

    #[test]
    fn the_queue_is_bounded_in_messages_and_bytes() {
        let (mut queue, _agent) = queue();
        queue.push(vec![0; MAX_BYTES + 1]).expect("alone");
        assert_eq!(queue.push(vec![0]), Err(Refused::Full));
        let (mut queue, _agent) = self::queue();
        for _ in 0..MAX_MESSAGES {
            queue.push(vec![0]).expect("taken");
        }
        assert_eq!(queue.push(vec![0]), Err(Refused::Full));
        queue.write();
        queue.push(vec![0]).expect("taken again");
    }

    #[test]
    fn an_agent_that_closes_its_input_ends_the_queue() {
        let (mut queue, agent) = queue();
        drop(agent);
        queue.push(b"one".to_vec()).expect("taken");
        queue.write();
        assert!(queue.writable().is_none());
        assert_eq!(queue.push(b"two".to_vec()), Err(Refused::Closed));
    }
}
