//! The system calls that need `unsafe`, one function each.
//!
//! Nothing else in the workspace may use it.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Signal, set_parent_process_death_signal, setsid};
use rustix::thread::UnshareFlags;

/// Lets `command` lead a session of its own, and sends it `last` when the
/// thread that spawns it ends.
///
/// That thread must be one that lasts: the kernel watches it and not the
/// process.
#[expect(unsafe_code, reason = "code between fork and exec")]
pub fn in_own_session(command: &mut Command, last: Option<Signal>) {
    let prepare = move || {
        setsid()?;
        set_parent_process_death_signal(last)?;
        Ok(())
    };
    // SAFETY: both are plain system calls that neither allocate nor take a
    // lock, and `io::Error` from an errno does not allocate either.
    unsafe { command.pre_exec(prepare) };
}

/// Puts the children that this process starts from now on into a process id
/// namespace of their own, with a mount namespace for its `/proc`; without the
/// privilege for it, in a user namespace as well.
#[expect(unsafe_code, reason = "unsharing can take descriptors from a thread")]
pub fn unshare_processes(user_too: bool) -> io::Result<()> {
    let mut flags = UnshareFlags::NEWPID | UnshareFlags::NEWNS;
    flags.set(UnshareFlags::NEWUSER, user_too);
    // SAFETY: the table of descriptors stays shared.
    Ok(unsafe { rustix::thread::unshare_unsafe(flags) }?)
}
