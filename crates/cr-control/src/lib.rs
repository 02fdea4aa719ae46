//! The control socket of a run: its address, its lines, and its client.
//!
//! The socket is a stream socket in the run directory. Each request is one line
//! and is answered with one line; `cr_rundir` has their types and cr-rundir(5)
//! describes them. [`bind`] is for the server, [`Client`] for everyone else, and
//! [`LineBuffer`] is the framing of both.

mod client;
mod line_buffer;
mod socket;

pub use client::{Client, Failure, MAX_REPLY, REPLY_TIMEOUT};
pub use line_buffer::{LineBuffer, TooLong, to_line};
pub use socket::{bind, connect, peer_pid, peer_uid, refuse_foreign_peer, socket_path};
