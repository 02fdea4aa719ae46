//! The sandbox: network, process and mount namespaces with nothing but loopback.
//!
//! Entering it takes two steps, because a process cannot move itself into a new
//! process namespace: the launcher unshares, and its next child is the first
//! process of the new namespaces and sets them up.

use std::fs;

use anyhow::{Context, bail};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType};
use rustix::process::{getgid, getuid};
use rustix::thread::UnshareFlags;

use cr_sys::unshare;

/// Leaves the current namespaces. The next child is the first process of new
/// ones, in which it is root.
///
/// The process must be single-threaded, and can start no thread afterwards.
pub(crate) fn unshare_all() -> anyhow::Result<()> {
    let (uid, gid) = (getuid(), getgid());
    let namespaces = UnshareFlags::NEWNET | UnshareFlags::NEWPID;
    if uid.is_root() {
        return unshare(namespaces).context("no network namespace");
    }
    unshare(namespaces | UnshareFlags::NEWUSER).context("no user and network namespace")?;
    // An unprivileged process may map its group only once it has given up
    // the right to choose groups.
    let maps = [
        ("setgroups", "deny".to_owned()),
        ("uid_map", format!("0 {} 1", uid.as_raw())),
        ("gid_map", format!("0 {} 1", gid.as_raw())),
    ];
    for (name, map) in maps {
        fs::write(format!("/proc/self/{name}"), map).context(name)?;
    }
    Ok(())
}

/// Sets up the namespaces that this process is the first of, and checks that
/// they have no way out.
pub(crate) fn set_up() -> anyhow::Result<()> {
    unshare(UnshareFlags::NEWNS).context("no mount namespace")?;
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).context("private mounts")?;
    // The inherited /proc shows the processes outside, with other numbers.
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("proc", "/proc", "proc", flags, None).context("mount /proc")?;
    loopback_up().context("loopback")?;
    check(&fs::read_to_string("/proc/self/net/dev").context("/proc/self/net/dev")?)
}

/// Refuses a table of network interfaces with anything but loopback in it: two
/// lines of headings, then `name: numbers`.
fn check(table: &str) -> anyhow::Result<()> {
    let rows = table.lines().skip(2).filter_map(|row| row.split_once(':'));
    let names: Vec<&str> = rows.map(|(name, _)| name.trim()).collect();
    match names.as_slice() {
        ["lo"] => Ok(()),
        names => bail!("interfaces other than loopback: {}", names.join(", ")),
    }
}

/// Brings loopback up: in a new namespace it is there, but down.
fn loopback_up() -> anyhow::Result<()> {
    let kernel = rustix::net::socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        None, // the first of the protocols, which is routing
    )?;
    rustix::net::send(&kernel, &link_up(1), SendFlags::empty())?;
    let mut reply = [0; 64];
    let (got, _) = rustix::net::recv(&kernel, &mut reply, rustix::net::RecvFlags::empty())?;
    // The header is followed by the error number, negative; 0 is an agreement.
    let code = reply[..got].get(16..20).context("a short reply")?;
    match i32::from_ne_bytes(code.try_into().expect("four bytes")) {
        0 => Ok(()),
        code => Err(std::io::Error::from_raw_os_error(-code).into()),
    }
}

/// The request that brings up interface `index`; loopback is always the first.
///
/// A `nlmsghdr` and an `ifinfomsg`, as in rtnetlink(7).
fn link_up(index: i32) -> Vec<u8> {
    const LENGTH: u32 = 32;
    const NEW_LINK: u16 = 16;
    const REQUEST_AND_ACK: u16 = 1 | 4;
    const UP: u32 = 1;
    let mut message = Vec::new();
    message.extend(LENGTH.to_ne_bytes());
    message.extend(NEW_LINK.to_ne_bytes());
    message.extend(REQUEST_AND_ACK.to_ne_bytes());
    message.extend([0; 8]); // sequence number, sender
    message.extend([0; 4]); // address family, padding, device type
    message.extend(index.to_ne_bytes());
    message.extend(UP.to_ne_bytes()); // the flags
    message.extend(UP.to_ne_bytes()); // which of them are meant
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_interface_beside_loopback_is_one_too_many() {
        let table = "Inter-| Receive\n face |bytes\n    lo: 0 0\n";
        assert!(check(table).is_ok());
        let err = check(&format!("{table}  eth0: 1 2\n")).expect_err("a refusal");
        assert_eq!(err.to_string(), "interfaces other than loopback: lo, eth0");
        assert!(check("").is_err());
    }

    #[test]
    fn a_request_is_as_long_as_it_says() {
        let message = link_up(1);
        assert_eq!(message[..4], 32_u32.to_ne_bytes());
        assert_eq!(message.len(), 32);
    }
}
