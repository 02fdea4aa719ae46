//! Prepares a child process between fork and exec.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Has `command` ignore `signals`, and gives it `fd` under the number `number`.
#[expect(unsafe_code, reason = "code between fork and exec")]
pub fn with_ignored_signals_and_fd(
    command: &mut Command,
    signals: &'static [i32],
    fd: OwnedFd,
    number: i32,
) {
    let prepare = move || {
        for &signal in signals {
            // SAFETY: SIG_IGN is a disposition that runs no code of ours.
            if unsafe { libc::signal(signal, libc::SIG_IGN) } == libc::SIG_ERR {
                return Err(io::Error::last_os_error());
            }
        }
        let from = fd.as_raw_fd();
        // SAFETY: both work on numbers alone. A copy onto itself would keep
        // close-on-exec, so the flag is taken away.
        let result = unsafe {
            if from == number {
                libc::fcntl(from, libc::F_SETFD, 0)
            } else {
                libc::dup2(from, number)
            }
        };
        match result {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    };
    // SAFETY: plain system calls that neither allocate nor take a lock, and
    // `io::Error` from an errno does not allocate either.
    unsafe { command.pre_exec(prepare) };
}
