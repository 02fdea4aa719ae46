//! `cr-runs stop`.

use std::fs;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use cr_io::Exit;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::args::StopArgs;
use crate::find;
use crate::watch::Watch;
use cr_rundir::{Run, file};
use cr_status::Status;

/// Longer than the longest grace an agent has by default, with the sweep.
const STOP_TIMEOUT: Duration = Duration::from_secs(20);

/// From the first signal to the second, which kills at once.
const SECOND_SIGNAL_DELAY: Duration = Duration::from_millis(500);

/// Asks the run to end and waits until it has.
pub(crate) fn stop(args: &StopArgs, mut out: impl Write) -> anyhow::Result<Exit> {
    let run = find::one(&args.which)?;
    let watch = Watch::new(std::iter::once(Path::new(&run.dir)));
    if !run.state().is_over() {
        let spawn = supervisor(&run)
            .ok_or_else(|| anyhow!("{}: the supervisor is gone", run.id()).context(Exit::Tool))?;
        let signal = |spawn: &OwnedFd| pidfd_send_signal(spawn, Signal::TERM);
        let mut sent = signal(&spawn);
        if args.kill && sent.is_ok() {
            wait(&run, &watch, SECOND_SIGNAL_DELAY);
            sent = signal(&spawn);
        }
        // It may have ended just now, and then the supervisor is gone.
        if sent.is_ok() && !wait(&run, &watch, STOP_TIMEOUT) {
            return Err(anyhow!("{}: the run did not end", run.id()).context(Exit::Retry));
        }
    }
    let line = format!("{}\n", Status::of(&run)?.line());
    out.write_all(line.as_bytes())?;
    Ok(Exit::Ok)
}

/// Waits until the run is over; says whether it is.
fn wait(run: &Run, watch: &Watch, limit: Duration) -> bool {
    let deadline = Instant::now() + limit;
    while !run.state().is_over() {
        if deadline <= Instant::now() {
            return false;
        }
        watch.wait(Some(deadline));
    }
    true
}

/// The process that supervises the run. A number alone may be somebody else's by
/// now: it must have the run's lock open.
fn supervisor(run: &Run) -> Option<OwnedFd> {
    let pid = run.started().pid?;
    let handle = pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?;
    let lock = fs::metadata(run.file(file::LOCK)).ok()?;
    let open = fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
    let mut files = open.flatten().filter_map(|fd| fs::metadata(fd.path()).ok());
    files
        .any(|file| (file.dev(), file.ino()) == (lock.dev(), lock.ino()))
        .then_some(handle)
}
