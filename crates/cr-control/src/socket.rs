//! The address of the socket, and how both sides open it.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::time::Duration;

use cr_rundir::{RunDir, file};
use rustix::fs::{AtFlags, FileType, Mode, chmodat, statat, unlinkat};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use rustix::process::geteuid;

/// Connections that may wait until the server accepts them.
const BACKLOG: i32 = 128;

/// The path of the socket through the descriptor of its directory. An address
/// holds 107 bytes, and the path of a run directory may be longer.
pub fn socket_path(dir: &RunDir) -> PathBuf {
    let fd = dir.as_fd().as_raw_fd();
    PathBuf::from(format!("/proc/self/fd/{fd}/{}", file::CONTROL_SOCKET))
}

/// Makes the socket (0600) and listens. A socket that an earlier process left is
/// replaced, so the caller must hold the lock of the run.
pub fn bind(dir: &RunDir) -> io::Result<UnixListener> {
    match unlinkat(dir, file::CONTROL_SOCKET, AtFlags::empty()) {
        Ok(()) | Err(rustix::io::Errno::NOENT) => {}
        Err(err) => return Err(err.into()),
    }
    let socket = new_socket()?;
    rustix::net::bind(&socket, &address(dir)?)?;
    // Nobody can connect before `listen`, so nobody sees the first mode.
    let mode = Mode::RUSR | Mode::WUSR;
    chmodat(dir, file::CONTROL_SOCKET, mode, AtFlags::empty())?;
    rustix::net::listen(&socket, BACKLOG)?;
    Ok(socket.into())
}

/// Connects to the socket, for at most `limit` if the server does not accept.
/// A server of another user is refused.
pub fn connect(dir: &RunDir, limit: Duration) -> io::Result<UnixStream> {
    let stat = statat(dir, file::CONTROL_SOCKET, AtFlags::SYMLINK_NOFOLLOW)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::Socket {
        return Err(denied("it is not a socket"));
    }
    let socket = new_socket()?;
    // The kernel takes this limit for `connect` too; zero would be no limit.
    let limit = limit.max(Duration::from_millis(1));
    set_socket_timeout(&socket, Timeout::Send, Some(limit))?;
    loop {
        match rustix::net::connect(&socket, &address(dir)?) {
            Ok(()) => break,
            Err(rustix::io::Errno::INTR) => {}
            Err(err) => return Err(err.into()),
        }
    }
    set_socket_timeout(&socket, Timeout::Send, None)?;
    let stream = UnixStream::from(socket);
    refuse_foreign_peer(&stream)?;
    Ok(stream)
}

/// Refuses a peer that is not of our own user.
pub fn refuse_foreign_peer(stream: &UnixStream) -> io::Result<()> {
    let uid = peer_uid(stream)?;
    if uid == geteuid().as_raw() {
        return Ok(());
    }
    Err(denied(&format!("the other side belongs to user {uid}")))
}

/// The user of the process on the other side. For a client it is the process
/// that listened.
pub fn peer_uid(stream: &UnixStream) -> io::Result<u32> {
    Ok(cr_sys::peer(stream)?.uid)
}

/// The process on the other side; for a client the one that listened. It may
/// have ended since. `None`: it is outside of our process namespace.
pub fn peer_pid(stream: &UnixStream) -> io::Result<Option<i32>> {
    Ok(cr_sys::peer(stream)?.pid)
}

fn denied(cause: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, cause)
}

fn new_socket() -> io::Result<OwnedFd> {
    let (family, kind) = (AddressFamily::UNIX, SocketType::STREAM);
    let socket = rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, None)?;
    Ok(socket)
}

fn address(dir: &RunDir) -> io::Result<SocketAddrUnix> {
    Ok(SocketAddrUnix::new(socket_path(dir))?)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const SOON: Duration = Duration::from_secs(5);

    #[test]
    fn a_path_longer_than_an_address_is_reached_and_the_socket_is_private() {
        let top = tempfile::tempdir().expect("a directory");
        let path = top.path().join("d".repeat(120)).join("e".repeat(120));
        fs::create_dir_all(&path).expect("made");
        let dir = RunDir::existing(&path).expect("opened");
        let listener = bind(&dir).expect("bound");
        let meta = fs::symlink_metadata(path.join(file::CONTROL_SOCKET)).expect("there");
        assert_eq!(meta.permissions().mode() & 0o7777, 0o600);
        let client = connect(&dir, SOON).expect("connected");
        let (server, _) = listener.accept().expect("accepted");
        assert_eq!(peer_uid(&client).ok(), Some(geteuid().as_raw()));
        assert!(refuse_foreign_peer(&server).is_ok());
    }

    #[test]
    fn a_socket_that_was_left_refuses_connections_and_is_replaced() {
        let top = tempfile::tempdir().expect("a directory");
        let dir = RunDir::existing(top.path()).expect("opened");
        let none = connect(&dir, SOON).expect_err("no socket");
        assert_eq!(none.kind(), io::ErrorKind::NotFound);
        drop(bind(&dir).expect("bound"));
        let stale = connect(&dir, SOON).expect_err("nobody listens");
        assert_eq!(stale.kind(), io::ErrorKind::ConnectionRefused);
        let _listener = bind(&dir).expect("bound again");
        assert!(connect(&dir, SOON).is_ok());
    }

    #[test]
    fn what_is_not_a_socket_is_refused() {
        let top = tempfile::tempdir().expect("a directory");
        let dir = RunDir::existing(top.path()).expect("opened");
        fs::write(top.path().join(file::CONTROL_SOCKET), b"").expect("written");
        let err = connect(&dir, SOON).expect_err("a file");
        assert_eq!(err.kind(), io::ErrorKind::PermissionDenied);
    }
}
