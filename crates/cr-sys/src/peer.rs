//! Who is on the other side of a Unix socket.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// The process on the other side of a Unix socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// `None`: it is in a process namespace that this process cannot see.
    pub pid: Option<i32>,
    /// Its user.
    pub uid: u32,
}

/// The process that connected `socket`, or that listened; it may have ended since.
///
/// `rustix` has this call too, but takes the number 0 of a process outside the
/// namespace for an error.
#[expect(unsafe_code, reason = "a socket option that is a structure")]
pub fn peer(socket: &impl AsFd) -> io::Result<Peer> {
    let mut credentials = libc::ucred {
        pid: 0,
        uid: 0,
        gid: 0,
    };
    let size = libc::socklen_t::try_from(size_of::<libc::ucred>()).map_err(io::Error::other)?;
    let mut length = size;
    // SAFETY: the kernel writes at most `length` bytes, which is the size of the
    // structure, and every value of its three numbers is valid.
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut credentials).cast(),
            &raw mut length,
        )
    };
    match result {
        0 if length == size => Ok(Peer {
            pid: Some(credentials.pid).filter(|&pid| pid > 0),
            uid: credentials.uid,
        }),
        0 => Err(io::ErrorKind::InvalidData.into()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn the_other_side_of_a_pair_is_this_process() {
        let (one, _other) = UnixStream::pair().expect("a pair");
        let found = peer(&one).expect("a peer");
        assert_eq!(found.pid.map(i32::cast_unsigned), Some(std::process::id()));
        assert_eq!(found.uid, rustix::process::getuid().as_raw());
    }
}
