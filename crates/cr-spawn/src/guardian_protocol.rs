//! What the front and the guardian say to each other.
//!
//! One message a packet, so that a half-written one cannot exist; an end of
//! file means that the other side is dead.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use cr_proc::Process;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Enough for a list of processes; nothing larger is sent.
const PACKET: usize = 64 << 10;

/// The most descriptors that come with one message.
const DESCRIPTORS: usize = 5;

/// What the guardian is told to do.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) enum Order {
    /// What the run is; the run's directory and its lock come with this. From
    /// now on the guardian can write the record of its end.
    Know(Spec),
    /// Start the agent; its three standard streams come with this.
    Start,
    /// Say that you are alive.
    Ping,
    /// Send a signal to the agent's group.
    Signal(i32),
    /// End everything that is left.
    Sweep {
        /// How long SIGTERM has before SIGKILL.
        patience_ms: u64,
    },
    /// Say who is left, and let them live.
    List,
    /// Stop everything until further notice; the front stops too.
    Pause,
    /// Go on.
    Resume,
    /// The end is recorded; leave.
    Leave,
}

/// How to start the agent.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Spec {
    /// Its directory.
    pub(crate) cwd: Option<PathBuf>,
    /// Its program.
    pub(crate) program: PathBuf,
    /// The run, for the record that the guardian writes if the front cannot.
    pub(crate) run_id: String,
    /// Where that record goes.
    pub(crate) run_dir: Option<PathBuf>,
    /// Whether the agent gets a process id namespace of its own.
    pub(crate) isolate: bool,
    /// Whether what the agent leaves behind may live on.
    pub(crate) keep_children: bool,
}

/// What the guardian says.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) enum Report {
    /// The agent runs.
    Started { pid: i32 },
    /// It could not be started.
    Failed { errno: i32, what: String },
    /// It ended.
    Exited(End),
    /// Alive.
    Pong,
    /// Nobody is left, but for those named.
    Swept {
        leaked: Vec<Process>,
        unkillable: Vec<Process>,
    },
}

/// How a process ended: by itself, or by a signal.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub(crate) struct End {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
}

impl From<rustix::process::WaitStatus> for End {
    fn from(status: rustix::process::WaitStatus) -> Self {
        Self {
            code: status.exit_status(),
            signal: status.terminating_signal(),
        }
    }
}

/// One end of the connection.
#[derive(Debug)]
pub(crate) struct GuardianSocket {
    socket: OwnedFd,
}

/// What [`GuardianSocket::receive`] found.
#[derive(Debug)]
pub(crate) enum Received<T> {
    Message(T, Vec<OwnedFd>),
    Nothing,
    /// The other side is dead.
    Closed,
}

impl GuardianSocket {
    /// Both ends.
    pub(crate) fn pair() -> io::Result<(Self, OwnedFd)> {
        let (kind, flags) = (SocketType::SEQPACKET, SocketFlags::CLOEXEC);
        let (ours, theirs) = socketpair(AddressFamily::UNIX, kind, flags, None)?;
        Ok((Self { socket: ours }, theirs))
    }

    /// The end that was handed to this process.
    pub(crate) fn from_fd(socket: OwnedFd) -> Self {
        Self { socket }
    }

    /// Sends a message, or gives up at once: a side that does not listen must
    /// not hold up the other.
    pub(crate) fn send(&self, message: &impl Serialize, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
        let text = serde_json::to_vec(message)?;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !fds.is_empty() && !control.push(SendAncillaryMessage::ScmRights(fds)) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        sendmsg(&self.socket, &[IoSlice::new(&text)], &mut control, flags)?;
        Ok(())
    }

    /// Takes the next message, if there is one.
    pub(crate) fn receive<T: DeserializeOwned>(&self) -> Received<T> {
        let mut packet = vec![0; PACKET];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
        let mut parts = [IoSliceMut::new(&mut packet)];
        let length = match recvmsg(&self.socket, &mut parts, &mut control, flags) {
            Ok(received) if received.bytes == 0 => return Received::Closed,
            Ok(received) => received.bytes,
            Err(Errno::AGAIN | Errno::INTR) => return Received::Nothing,
            Err(_) => return Received::Closed,
        };
        let fds = control
            .drain()
            .filter_map(|message| match message {
                RecvAncillaryMessage::ScmRights(fds) => Some(fds),
                _ => None,
            })
            .flatten()
            .collect();
        // Both sides are one program: a message that cannot be read is not ours.
        match serde_json::from_slice(&packet[..length]) {
            Ok(message) => Received::Message(message, fds),
            Err(_) => Received::Closed,
        }
    }
}

impl AsFd for GuardianSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
