//! The messages between the supervisor and the guardian.
//!
//! One message is one packet, so that half a message cannot arrive. An end of
//! file means that the other side is dead.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use cr_agent::OsText;
use cr_proc::Process;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The longest message: a list of processes.
const MAX_PACKET: usize = 64 << 10;

/// The most descriptors that come with one message.
const MAX_DESCRIPTORS: usize = 5;

/// Commands to the guardian.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) enum Order {
    /// Take note of the run; the run directory and its lock come with this. From
    /// now on the guardian can write the record of the run's end.
    Prepare(RunSpec),
    /// Start the agent; its three standard streams come with this.
    Start,
    /// Report that you are alive.
    Ping,
    /// Send a signal to the agent's group.
    Signal(i32),
    /// End everything that is left.
    Sweep {
        /// The time from SIGTERM to SIGKILL.
        term_grace_ms: u64,
    },
    /// Report the processes that are left, and do not kill them.
    List,
    /// Stop all processes until [`Order::Resume`]; the supervisor stops too.
    Pause,
    /// Let them continue.
    Resume,
    /// Exit: the end is recorded.
    Leave,
}

/// The facts of a run that the guardian needs.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct RunSpec {
    /// The agent's working directory.
    pub(crate) cwd: OsText,
    /// The agent's program.
    pub(crate) program: OsText,
    /// The run's id, for the record that the guardian writes if the supervisor
    /// cannot.
    pub(crate) run_id: String,
    /// The run directory, for the same record.
    pub(crate) run_dir: Option<OsText>,
    /// Whether leftover processes are not killed.
    pub(crate) keep_children: bool,
}

/// What the guardian reports.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) enum Report {
    /// The agent runs.
    Started { pid: i32 },
    /// It could not be started.
    Failed { errno: i32, what: String },
    /// It ended.
    Exited(End),
    /// The answer to a ping.
    Pong,
    /// The leftover processes have ended, except those that cannot be killed; or
    /// the answer to [`Order::List`].
    Swept(LeftoverReport),
}

/// The processes that the agent left behind.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct LeftoverReport {
    /// The first of them.
    pub(crate) leaked: Vec<Process>,
    /// How many there were.
    pub(crate) leaked_total: usize,
    /// Those that could not be killed.
    pub(crate) unkillable: Vec<Process>,
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

    /// Sends a message, or gives up at once: a side that does not read must not
    /// block the other.
    pub(crate) fn send(&self, message: &impl Serialize, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
        let text = serde_json::to_vec(message)?;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
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
        let mut packet = vec![0; MAX_PACKET];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
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
        // Both sides are the same program: it wrote no message that it cannot read.
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
