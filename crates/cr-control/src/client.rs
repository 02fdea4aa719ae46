//! The side that asks.

use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use cr_io::Exit;
use cr_rundir::{ControlReply, ControlRequest, RunDir, parse_state};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::line_buffer::{LineBuffer, to_line};
use crate::socket;

/// The longest reply that is read. A turn's result is the longest part of one.
pub const MAX_REPLY: usize = 64 << 20;

/// How long a server may take to acknowledge a request.
pub const REPLY_TIMEOUT: Duration = Duration::from_secs(10);

/// Why there is no reply, where the caller may know more about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The other side has closed the connection: the run has ended, most often.
    Closed,
    /// The time is over.
    TimedOut,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Closed => "the connection was closed without a reply",
            Self::TimedOut => "no reply in time",
        })
    }
}

impl std::error::Error for Failure {}

/// A connection to the socket of a run. Requests on one connection are taken in
/// their order.
#[derive(Debug)]
pub struct Client {
    stream: UnixStream,
    lines: LineBuffer,
    chunk: Vec<u8>,
}

impl Client {
    /// Connects, within `limit`.
    pub fn connect(dir: &RunDir, limit: Duration) -> io::Result<Self> {
        let stream = socket::connect(dir, limit)?;
        stream.set_nonblocking(true)?;
        Ok(Self {
            stream,
            lines: LineBuffer::new(MAX_REPLY),
            chunk: vec![0; 64 << 10],
        })
    }

    /// Sends one request and waits for its reply.
    pub fn request(
        &mut self,
        request: &ControlRequest,
        deadline: Option<Instant>,
    ) -> anyhow::Result<ControlReply> {
        match self.send(request, deadline) {
            // A server may refuse a connection by a reply and close it at once.
            Err(err) if err.downcast_ref() == Some(&Failure::Closed) => {}
            sent => sent?,
        }
        self.reply(deadline)
    }

    /// Sends one request; its reply is the next one that [`Self::reply`] returns,
    /// unless others are open.
    pub fn send(
        &mut self,
        request: &ControlRequest,
        deadline: Option<Instant>,
    ) -> anyhow::Result<()> {
        let line = to_line(request)?;
        let mut left = &line[..];
        while !left.is_empty() {
            match (&self.stream).write(left) {
                Ok(count) => left = &left[count..],
                Err(err) if err.kind() == ErrorKind::WouldBlock => {
                    self.wait(PollFlags::OUT, deadline)?;
                }
                Err(err) => interpret(err)?,
            }
        }
        Ok(())
    }

    /// The next reply. One that is too long or is no reply is an error (65), one
    /// of a newer version too (78).
    pub fn reply(&mut self, deadline: Option<Instant>) -> anyhow::Result<ControlReply> {
        loop {
            let line = self.lines.next_line();
            let line = line.map_err(|err| anyhow!("the reply: {err}").context(Exit::Data))?;
            if let Some(line) = line {
                return parse(line);
            }
            self.fill(deadline)?;
        }
    }

    /// Reads once.
    fn fill(&mut self, deadline: Option<Instant>) -> anyhow::Result<()> {
        match (&self.stream).read(&mut self.chunk) {
            Ok(0) => Err(Failure::Closed.into()),
            Ok(count) => {
                self.lines.push(&self.chunk[..count]);
                Ok(())
            }
            Err(err) if err.kind() == ErrorKind::WouldBlock => self.wait(PollFlags::IN, deadline),
            Err(err) => interpret(err),
        }
    }

    /// Waits until the stream is ready.
    fn wait(&self, what: PollFlags, deadline: Option<Instant>) -> anyhow::Result<()> {
        let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
        let left = left.map(Timespec::try_from).transpose()?;
        let mut fds = [PollFd::new(&self.stream, what)];
        match poll(&mut fds, left.as_ref()) {
            Ok(0) => Err(Failure::TimedOut.into()),
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(err) => Err(io::Error::from(err).into()),
        }
    }
}

/// What an error of a stream means: nothing, or that the other side has gone.
fn interpret(err: io::Error) -> anyhow::Result<()> {
    match err.kind() {
        ErrorKind::Interrupted => Ok(()),
        ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => Err(Failure::Closed.into()),
        _ => Err(err.into()),
    }
}

fn parse(line: &[u8]) -> anyhow::Result<ControlReply> {
    let reply = parse_state(line).context("the reply cannot be read");
    reply.map_err(|err| match cr_io::exit_of(&err) {
        Exit::Config => err,
        _ => err.context(Exit::Data),
    })
}

#[cfg(test)]
mod tests {
    use std::thread;

    use cr_rundir::ControlOperation;

    use super::*;

    /// What a client makes of a server that writes `reply` and closes.
    fn answered(reply: &'static [u8]) -> anyhow::Result<ControlReply> {
        let top = tempfile::tempdir().expect("a directory");
        let dir = RunDir::existing(top.path()).expect("opened");
        let listener = socket::bind(&dir).expect("bound");
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("accepted");
            stream.write_all(reply).expect("written");
        });
        let mut client = Client::connect(&dir, REPLY_TIMEOUT).expect("connected");
        server.join().expect("ended");
        let request = ControlRequest::new(ControlOperation::Interrupt);
        client.request(&request, Some(Instant::now() + REPLY_TIMEOUT))
    }

    #[test]
    fn a_reply_is_read_even_if_the_server_has_closed_already() {
        let reply = answered(b"{\"schema\":1,\"ok\":false,\"error\":\"full\"}\n").expect("a reply");
        assert_eq!(reply.error.as_deref(), Some("full"));
    }

    #[test]
    fn what_is_no_reply_has_its_code() {
        let code = |reply| cr_io::exit_of(&answered(reply).expect_err("refused")).code();
        assert_eq!(code(b"hello\n"), 65);
        assert_eq!(code(b"{\"schema\":1}\n"), 65);
        assert_eq!(code(b"{\"schema\":2,\"ok\":true}\n"), 78);
        let err = answered(b"{\"ok\":true}").expect_err("no newline");
        assert_eq!(err.downcast_ref(), Some(&Failure::Closed));
    }

    #[test]
    fn a_server_that_is_silent_is_waited_for_until_the_deadline() {
        let top = tempfile::tempdir().expect("a directory");
        let dir = RunDir::existing(top.path()).expect("opened");
        let _listener = socket::bind(&dir).expect("bound");
        let mut client = Client::connect(&dir, REPLY_TIMEOUT).expect("connected");
        let request = ControlRequest::new(ControlOperation::Interrupt);
        let err = client
            .request(&request, Some(Instant::now()))
            .expect_err("none");
        assert_eq!(err.downcast_ref(), Some(&Failure::TimedOut));
    }
}
