//! The control socket: the clients that are connected, their requests and the
//! replies to them. Nothing here blocks.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};

use cr_control::{LineBuffer, bind, peer_pid, refuse_foreign_peer, to_line};
use cr_rundir::{ControlReply, ControlRequest, RunDir, parse_state};

use super::message::MAX_MESSAGE;
use crate::poll_set::PollSet;
use crate::supervisor::Key;

/// The most clients at a time.
const MAX_CLIENTS: usize = 128;

/// The longest request.
const MAX_REQUEST: usize = MAX_MESSAGE + (1 << 16);

/// The most bytes that wait for a client. One that does not read is cut off.
const MAX_REPLIES: usize = 64 << 20;

/// The most that is read from a client in one round.
const READ_SIZE: usize = 256 << 10;

/// A client, for as long as it is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClientId(u64);

#[derive(Debug)]
struct Client {
    id: ClientId,
    stream: UnixStream,
    lines: LineBuffer,
    replies: Vec<u8>,
    /// It sends nothing more.
    is_done: bool,
    /// It is closed when its replies are written.
    is_closing: bool,
}

/// The socket and its clients.
#[derive(Debug)]
pub(crate) struct Clients {
    listener: UnixListener,
    connected: Vec<Client>,
    next: u64,
}

/// A request, or why it is none.
pub(crate) type Request = Result<ControlRequest, ControlReply>;

impl Clients {
    /// Makes the socket in the run directory.
    pub(crate) fn listen(dir: &RunDir) -> std::io::Result<Self> {
        let listener = bind(dir)?;
        listener.set_nonblocking(true)?;
        Ok(Self {
            listener,
            connected: Vec::new(),
            next: 0,
        })
    }

    /// Adds what to wait for.
    pub(crate) fn register<'a>(&'a self, set: &mut PollSet<'a, Key>) {
        if self.connected.len() < MAX_CLIENTS {
            set.add_reader(Key::Socket, &self.listener);
        }
        for client in &self.connected {
            let key = Key::Client(client.id);
            match (client.replies.is_empty(), client.is_done) {
                (false, _) => set.add_writer(key, &client.stream),
                (true, false) => set.add_reader(key, &client.stream),
                (true, true) => set.add_hangup(key, &client.stream),
            }
        }
    }

    /// Takes new clients of our own user.
    pub(crate) fn accept(&mut self) {
        while self.connected.len() < MAX_CLIENTS {
            let Ok((stream, _)) = self.listener.accept() else {
                return;
            };
            if refuse_foreign_peer(&stream).is_err() || stream.set_nonblocking(true).is_err() {
                continue;
            }
            self.next += 1;
            self.connected.push(Client {
                id: ClientId(self.next),
                stream,
                lines: LineBuffer::new(MAX_REQUEST),
                replies: Vec::new(),
                is_done: false,
                is_closing: false,
            });
        }
    }

    /// Reads the requests of a client, and writes what waits for it.
    pub(crate) fn serve(&mut self, id: ClientId) -> Vec<Request> {
        let Some(index) = self.connected.iter().position(|client| client.id == id) else {
            return Vec::new();
        };
        let client = &mut self.connected[index];
        let requests = client.read();
        if !client.write() {
            self.connected.remove(index);
        }
        requests
    }

    /// Whether the client may be a process below `root`: it is one, or the process
    /// that connected is gone, and with it the proof that it is none.
    pub(crate) fn is_below(&self, id: ClientId, root: u32) -> bool {
        let client = self.connected.iter().find(|client| client.id == id);
        let mut pid = match client.map(|client| peer_pid(&client.stream)) {
            // Outside of our process namespace, where nothing of the agent is.
            Some(Ok(None)) => return false,
            Some(Ok(Some(pid))) => pid,
            Some(Err(_)) | None => return true,
        };
        while pid > 1 {
            if u32::try_from(pid) == Ok(root) {
                return true;
            }
            match cr_proc::Process::read(pid) {
                Some(process) => pid = process.parent(),
                None => return true,
            }
        }
        false
    }

    /// Replies to a client, if it is still there.
    pub(crate) fn reply(&mut self, id: ClientId, reply: &ControlReply) {
        let Some(index) = self.connected.iter().position(|client| client.id == id) else {
            return;
        };
        let client = &mut self.connected[index];
        if let Ok(line) = to_line(reply) {
            client.replies.extend(line);
        }
        if client.replies.len() > MAX_REPLIES || !client.write() {
            self.connected.remove(index);
        }
    }
}

impl Client {
    /// The requests that have arrived.
    fn read(&mut self) -> Vec<Request> {
        let mut chunk = vec![0; READ_SIZE];
        match self.stream.read(&mut chunk) {
            _ if self.is_done => {}
            Ok(0) => self.is_done = true,
            Ok(count) => self.lines.push(&chunk[..count]),
            Err(err) if is_temporary(err.kind()) => {}
            Err(_) => (self.is_done, self.is_closing) = (true, true),
        }
        let mut requests = Vec::new();
        loop {
            match self.lines.next_line() {
                Ok(Some(line)) => requests.push(parse_state(line).map_err(|err| refusal(&err))),
                Ok(None) => return requests,
                Err(err) => {
                    requests.push(Err(refusal(&err.into())));
                    (self.is_done, self.is_closing) = (true, true);
                    return requests;
                }
            }
        }
    }

    /// Writes what it can; returns whether the client stays.
    fn write(&mut self) -> bool {
        while !self.replies.is_empty() {
            match self.stream.write(&self.replies) {
                Ok(count) => drop(self.replies.drain(..count)),
                Err(err) if is_temporary(err.kind()) => return true,
                Err(_) => return false,
            }
        }
        !self.is_closing && !has_hung_up(&self.stream)
    }
}

fn is_temporary(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// Whether the other side has closed both directions.
fn has_hung_up(stream: &UnixStream) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut fds = [PollFd::new(stream, PollFlags::empty())];
    let polled = poll(&mut fds, Some(&Timespec::default()));
    polled == Ok(1) && fds[0].revents().contains(PollFlags::HUP)
}

fn refusal(err: &anyhow::Error) -> ControlReply {
    let code = match cr_io::exit_of(err) {
        cr_io::Exit::Config => cr_io::Exit::Config,
        _ => cr_io::Exit::Data,
    };
    ControlReply {
        code: Some(code.code()),
        error: Some(cr_io::message(err)),
        ..ControlReply::new(false)
    }
}
