//! A user namespace: without root, other namespaces need one.

use std::fs;
use std::io;

use rustix::process::{getegid, geteuid};

/// Enters a user namespace that keeps the user and the group. Root needs none.
pub(crate) fn user() -> io::Result<()> {
    let (uid, gid) = (geteuid(), getegid());
    if uid.is_root() {
        return Ok(());
    }
    let (uid, gid) = (uid.as_raw(), gid.as_raw());
    cr_sys::unshare_user()?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{uid} {uid} 1"))?;
    fs::write("/proc/self/gid_map", format!("{gid} {gid} 1"))
}
