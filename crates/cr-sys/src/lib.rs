//! System calls that need `unsafe`, one function each.
//!
//! No other crate uses `unsafe`; `cr-dev tidy` lists the exceptions.

mod peer;
mod pipeline_child;

pub use peer::{Peer, peer};
pub use pipeline_child::with_ignored_signals_and_fd;

use std::io;
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{Signal, set_parent_process_death_signal, setsid};
use rustix::thread::UnshareFlags;

/// Starts `command` in a session of its own. The kernel sends it `last` when
/// the thread that spawned it ends.
///
/// Spawn it from a thread that lives as long as the process: the kernel watches
/// the thread, not the process.
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

/// Starts `command` with the default action for every signal, whatever this
/// process ignores, and with none blocked. The signal `kept` stays as it is.
#[expect(unsafe_code, reason = "code between fork and exec")]
pub fn with_default_signals(command: &mut Command, kept: Option<i32>) {
    let prepare = move || {
        // SAFETY: plain system calls on values of their own; `sigset_t` is
        // plain numbers, and the call before its use fills it in. The few
        // signals that cannot be set are refused, which changes nothing.
        unsafe {
            for number in 1..=libc::SIGRTMAX() {
                if Some(number) != kept {
                    libc::signal(number, libc::SIG_DFL);
                }
            }
            let mut none: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut none);
            libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
        }
        Ok(())
    };
    // SAFETY: what runs there neither allocates nor takes a lock.
    unsafe { command.pre_exec(prepare) };
}

/// Makes the kernel send SIGCONT to this process at every `interval`, so that no
/// other process can keep it stopped. SIGCONT needs a handler: the kernel may
/// suspend a timer whose signal is ignored.
#[expect(unsafe_code, reason = "a timer that sends a signal")]
pub fn wake_every(interval: Duration) -> io::Result<()> {
    let interval = libc::timespec {
        tv_sec: 0,
        tv_nsec: interval.subsec_nanos().into(),
    };
    let times = libc::itimerspec {
        it_interval: interval,
        it_value: interval,
    };
    // SAFETY: both structures are plain numbers for which zero is a value; the
    // calls read them, write the timer's id, and keep no reference to either.
    let result = unsafe {
        let mut event: libc::sigevent = std::mem::zeroed();
        event.sigev_notify = libc::SIGEV_SIGNAL;
        event.sigev_signo = libc::SIGCONT;
        let mut id = std::mem::zeroed();
        match libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut id) {
            0 => libc::timer_settime(id, 0, &raw const times, std::ptr::null_mut()),
            failed => failed,
        }
    };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Replaces the arguments of this process, as `ps` shows them, by `title`. They
/// may hold text that other users must not see. `std::env::args` is of no use
/// afterwards.
#[expect(unsafe_code, reason = "the kernel's copy of the arguments")]
pub fn hide_arguments(title: &str) -> io::Result<()> {
    let status = std::fs::read_to_string("/proc/self/stat")?;
    // The name, in brackets, may hold blanks; the fields after it are counted
    // from the third: 48 and 49 are where the arguments begin and end.
    let fields = status.rsplit_once(')').map_or("", |(_, fields)| fields);
    let mut bounds = fields.split_whitespace().skip(45).map(str::parse::<usize>);
    let (Some(Ok(start)), Some(Ok(end))) = (bounds.next(), bounds.next()) else {
        return Err(io::ErrorKind::Unsupported.into());
    };
    if start == 0 || end <= start {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let length = (end - start).min(title.len());
    // SAFETY: the range is the memory in which the kernel has put the arguments
    // of this process. It is writable and lasts as long as the process, and no
    // reference to it exists: `std` has copied what it has handed out.
    unsafe {
        let memory = std::ptr::with_exposed_provenance_mut::<u8>(start);
        std::ptr::write_bytes(memory, 0, end - start);
        std::ptr::copy_nonoverlapping(title.as_ptr(), memory, length);
    }
    Ok(())
}

/// Marks every inherited descriptor except the standard three as close-on-exec,
/// so that child programs do not get them.
#[expect(unsafe_code, reason = "descriptors that nobody here has opened")]
pub fn keep_descriptors() -> io::Result<()> {
    for entry in std::fs::read_dir("/proc/self/fd")? {
        let name = entry?.file_name();
        let Some(number) = name.to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        if number > 2 {
            // SAFETY: it is borrowed for one call, and if it was closed since
            // it was listed, that call fails and does nothing.
            let fd = unsafe { BorrowedFd::borrow_raw(number) };
            let _ = fcntl_setfd(fd, FdFlags::CLOEXEC);
        }
    }
    Ok(())
}

/// Takes over the descriptor `number` that the process inherited, and keeps it
/// from the programs that this process starts. Call it once for each number, at
/// the start of the program.
#[expect(unsafe_code, reason = "a descriptor that is known by its number")]
pub fn inherited_descriptor(number: i32) -> io::Result<OwnedFd> {
    if number <= 2 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: it is borrowed for one call, which fails if it is not open.
    fcntl_setfd(unsafe { BorrowedFd::borrow_raw(number) }, FdFlags::CLOEXEC)?;
    // SAFETY: it is open, and by this function's contract nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Whether this process leads its session. The session may have begun outside of
/// a process id namespace, where its number is 0.
#[expect(unsafe_code, reason = "rustix knows no session 0")]
pub fn leads_session() -> bool {
    // SAFETY: both only return a number.
    unsafe { libc::getsid(0) == libc::getpid() }
}

/// Moves this process into a user namespace of its own, where it has all
/// privileges. The process must be single-threaded.
pub fn unshare_user() -> io::Result<()> {
    unshare(UnshareFlags::NEWUSER)
}

/// Starts all further children of this thread in a new process id namespace;
/// the first of them is its init. This thread can start no threads afterwards.
pub fn unshare_processes() -> io::Result<()> {
    unshare(UnshareFlags::NEWPID)
}

/// Leaves the namespaces in `flags`. [`UnshareFlags::FILES`] is refused: it would
/// take descriptors away from other threads.
#[expect(unsafe_code, reason = "unsharing can take descriptors from a thread")]
pub fn unshare(flags: UnshareFlags) -> io::Result<()> {
    if flags.contains(UnshareFlags::FILES) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: the table of descriptors stays shared.
    Ok(unsafe { rustix::thread::unshare_unsafe(flags) }?)
}

/// Mounts a new `/proc` for `command`, the first process of a namespace.
#[expect(unsafe_code, reason = "code between fork and exec")]
pub fn with_own_proc(command: &mut Command) {
    let prepare = || {
        unshare(UnshareFlags::NEWNS)?;
        // The mount must not be visible outside the namespace.
        let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
        mount_change(c"/", private)?;
        mount(c"proc", c"/proc", c"proc", MountFlags::empty(), c"")?;
        Ok(())
    };
    // SAFETY: plain system calls on constant strings; nothing allocates or
    // takes a lock.
    unsafe { command.pre_exec(prepare) };
}
