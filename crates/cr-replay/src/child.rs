//! Child processes that try to escape their supervisor.
//!
//! Each is this program again; its first argument selects its kind. The child
//! reports on its standard input, a socket, that it has escaped. The player waits
//! for that, so that a test knows that the child exists.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, getpid, getppid, kill_process, setpgid, setsid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// The first argument of a child.
const MARK: &str = "--child:";

/// Longer than any test.
const LONG: Duration = Duration::from_hours(1);

/// How a child tries to escape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    Group,
    Session,
    Daemon,
    Stubborn,
    Stopped,
    Storm(u8),
    StopAdopter,
    KillAdopter,
    StopAdopterAgain,
    Holder,
}

const NAMES: [(&str, Kind); 13] = [
    ("plain", Kind::Plain),
    ("group", Kind::Group),
    ("session", Kind::Session),
    ("daemon", Kind::Daemon),
    ("stubborn", Kind::Stubborn),
    ("stopped", Kind::Stopped),
    ("storm", Kind::Storm(1)),
    ("storm4", Kind::Storm(4)),
    ("storm16", Kind::Storm(16)),
    ("stop-adopter", Kind::StopAdopter),
    ("kill-adopter", Kind::KillAdopter),
    ("stop-adopter-again", Kind::StopAdopterAgain),
    ("holder", Kind::Holder),
];

impl Kind {
    pub(crate) fn parse(name: &str) -> Option<Self> {
        NAMES
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, kind)| *kind)
    }

    fn name(self) -> &'static str {
        NAMES
            .iter()
            .find(|(_, kind)| *kind == self)
            .map_or("plain", |(name, _)| name)
    }

    /// Whether it must be orphaned first.
    fn forks_twice(self) -> bool {
        matches!(
            self,
            Self::Daemon | Self::StopAdopter | Self::KillAdopter | Self::StopAdopterAgain
        )
    }
}

/// Starts a child and waits until it has escaped.
pub(crate) fn leave_behind(kind: Kind) -> io::Result<()> {
    let (ours, theirs) = UnixStream::pair()?;
    let stage = if kind.forks_twice() { "first" } else { "last" };
    let mut child = start(kind, stage, theirs.into())?;
    let mut ready = [0; 1];
    (&ours).read_exact(&mut ready)?;
    if kind.forks_twice() {
        child.wait()?;
    }
    Ok(())
}

fn start(kind: Kind, stage: &str, socket: OwnedFd) -> io::Result<std::process::Child> {
    let mut command = Command::new("/proc/self/exe");
    command.arg0("cr-replay").args([MARK, kind.name(), stage]);
    command.stdin(Stdio::from(socket)).stderr(Stdio::null());
    if kind != Kind::Holder {
        command.stdout(Stdio::null());
    }
    command.spawn()
}

/// Runs as a child if this process was started as one.
pub(crate) fn run(args: &[String]) -> Option<ExitCode> {
    let [mark, name, stage] = args else {
        return None;
    };
    let kind = Kind::parse(name).filter(|_| mark == MARK)?;
    let _ = std::fs::write("/proc/self/comm", "replay-child");
    // If anything fails here, the player sees that `ready` never comes.
    let _ = be(kind, stage);
    Some(ExitCode::SUCCESS)
}

fn be(kind: Kind, stage: &str) -> io::Result<()> {
    let socket = || io::stdin().as_fd().try_clone_to_owned();
    if stage == "first" {
        let _ = setsid();
        start(kind, "last", socket()?)?;
        return Ok(());
    }
    if stage == "next" {
        return storm(kind, 1);
    }
    match kind {
        Kind::Plain | Kind::Daemon => {}
        Kind::Group => setpgid(None, None)?,
        Kind::Session | Kind::Holder | Kind::Stopped => {
            setsid()?;
        }
        Kind::Stubborn => {
            setsid()?;
            ignore()?;
        }
        Kind::Storm(width) => {
            setsid()?;
            ready()?;
            return storm(kind, width);
        }
        Kind::StopAdopter | Kind::KillAdopter | Kind::StopAdopterAgain => adopted(),
    }
    ready()?;
    match kind {
        Kind::Stopped => kill_process(getpid(), Signal::STOP)?,
        Kind::StopAdopter => kill_process(parent()?, Signal::STOP)?,
        Kind::KillAdopter => kill_process(parent()?, Signal::KILL)?,
        Kind::StopAdopterAgain => loop {
            kill_process(parent()?, Signal::STOP)?;
            thread::sleep(Duration::from_millis(1));
        },
        _ => {}
    }
    thread::sleep(LONG);
    Ok(())
}

/// Ignores the signals that ask a process to end.
pub(crate) fn ignore() -> io::Result<()> {
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        signal_hook::flag::register(signal, Arc::default())?;
    }
    Ok(())
}

/// Reports `ready` to the player and closes the last open descriptor.
fn ready() -> io::Result<()> {
    let mut socket = std::fs::File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let _ = socket.write(b"!");
    let null = std::fs::File::open("/dev/null")?;
    Ok(rustix::stdio::dup2_stdin(&null)?)
}

/// Each starts the next and ends.
fn storm(kind: Kind, width: u8) -> io::Result<()> {
    for _ in 0..width {
        let null = std::fs::File::open("/dev/null")?;
        start(kind, "next", null.into())?;
    }
    Ok(())
}

/// Waits until the process that started this one is gone.
fn adopted() {
    let first = getppid();
    // The first stage ends as soon as it has started this one. It may even
    // have done so before the line above, so this gives up after a while.
    for _ in 0..200 {
        if getppid() != first {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

fn parent() -> io::Result<Pid> {
    getppid()
        .filter(|pid| *pid != Pid::INIT)
        .ok_or_else(|| io::ErrorKind::NotFound.into())
}
