//! One attempt, in a process of its own, which outlives the engine.
//!
//! Everything is decided under the attempt's lock. A second process for the same
//! attempt waits for the first and then finds that there is nothing left to do.
//! So adopting an attempt is the same as starting it.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, anyhow};
use cr_io::{Exit, Redactor};
use cr_rundir::{RunDir, file, state_text};
use cr_verdict::Outcome;
use rustix::process::{Pid, PidfdFlags, pidfd_open, pidfd_send_signal};

use crate::attempt::{End, Spec, read_state};
use crate::loop_watch::LoopWatch;
use crate::stop::{self, Stop};
use crate::{gate, judge, pipeline};

/// How often a signal is tried again for a process that does not have its id on
/// record yet.
const HOLDER_CHECK_INTERVAL: Duration = Duration::from_millis(20);

/// Runs the attempt at `path`, or waits for the process that does. The end of
/// process `watch_pid` counts as a SIGTERM.
pub(crate) fn run(path: &Path, watch_pid: Option<i32>) -> anyhow::Result<Exit> {
    let mut stop = Stop::listen(watch_pid)?;
    // The engine sends no signal before this, if it is still there.
    let _ = io::stdout()
        .write_all(b"\n")
        .and_then(|()| io::stdout().flush());
    let dir = RunDir::at(path)?;
    let spec: Spec = read_state(&path.join(file::ATTEMPT))?
        .with_context(|| format!("{}: no attempt", path.display()))
        .context(Exit::NoInput)?;
    let _lock = lock(&dir, &mut stop)?;
    if dir.has(file::ATTEMPT_END) {
        return Ok(Exit::Ok);
    }
    let notes = File::options()
        .create(true)
        .append(true)
        .open(path.join(file::ATTEMPT_STDERR))?;
    let mut attempt = Attempt {
        dir: &dir,
        spec: &spec,
        notes: &notes,
        stop: &mut stop,
    };
    let mut end = attempt.end()?;
    let redactor = Redactor::from_env();
    let texts = [&mut end.why, &mut end.error].into_iter();
    // The other texts come from a summary, in which secrets are hidden already.
    for text in texts.chain(&mut end.question) {
        *text = redactor.redact(text).into_owned();
    }
    dir.write_once(file::ATTEMPT_END, &state_text(&end)?)?;
    Ok(Exit::Ok)
}

/// Takes the attempt's lock. Signals that come while another process holds it go
/// to that process.
fn lock(dir: &RunDir, stop: &mut Stop) -> anyhow::Result<File> {
    let lock = dir.create_file(file::ATTEMPT_LOCK)?;
    if lock.try_lock().is_ok() {
        return Ok(lock);
    }
    let (is_locked, writer) = io::pipe()?;
    let shared = lock.try_clone()?;
    // A thread can wait for the lock, and a poll cannot.
    let waiting = std::thread::Builder::new().spawn(move || {
        let locked = shared.lock();
        drop(writer);
        locked
    })?;
    let mut undelivered = Vec::new();
    loop {
        let limit = (!undelivered.is_empty()).then_some(HOLDER_CHECK_INTERVAL);
        let (is_locked, signals) = stop.wait(is_locked.as_fd(), limit)?;
        if is_locked {
            break;
        }
        undelivered.extend(signals);
        if let Some(holder) = holder(dir) {
            for number in undelivered.drain(..) {
                // It may have ended just now.
                let _ = pidfd_send_signal(&holder, stop::signal(number));
            }
        }
    }
    match waiting.join() {
        Ok(locked) => locked?,
        Err(_) => return Err(anyhow!("the lock's thread ended")),
    }
    Ok(lock)
}

/// The process that holds the attempt's lock, once its process id is recorded. An
/// id from before may belong to another process by now, which gets no signal.
fn holder(dir: &RunDir) -> Option<OwnedFd> {
    let text = std::fs::read_to_string(dir.path().join(file::ATTEMPT_PID)).ok()?;
    let pid = text.trim().parse().ok().and_then(Pid::from_raw)?;
    let process = pidfd_open(pid, PidfdFlags::empty()).ok()?;
    let command = std::fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).ok()?;
    let path = dir.path().as_os_str().as_encoded_bytes();
    let mut arguments = command.split(|&byte| byte == 0);
    arguments
        .any(|argument| argument == path)
        .then_some(process)
}

struct Attempt<'a> {
    dir: &'a RunDir,
    spec: &'a Spec,
    notes: &'a File,
    stop: &'a mut Stop,
}

impl Attempt<'_> {
    fn end(&mut self) -> anyhow::Result<End> {
        let pid = std::process::id().to_string();
        self.dir.write(file::ATTEMPT_PID, pid.as_bytes())?;
        if self.dir.has(file::ATTEMPT_STARTED) {
            return self.finish();
        }
        if self.stop.is_asked() {
            return Ok(End::new(Outcome::Interrupted, "stopped before it began"));
        }
        let now = cr_stream::now();
        if !self.dir.write_once(file::ATTEMPT_STARTED, now.as_bytes())? {
            return self.finish();
        }
        let task = &self.spec.task;
        let setup = ("setup", task.setup.as_slice());
        if let Some(error) = gate::run(self.dir, task, setup, self.stop)? {
            return Ok(self.failed(&format!("setup: {error}")));
        }
        if self.stop.is_asked() {
            return Ok(self.failed("stopped"));
        }
        let watch = LoopWatch::start(self.dir, task)?;
        if let Err(err) = pipeline::run(self.dir, self.spec, self.notes, self.stop) {
            let why = cr_io::message(&err);
            return Ok(End::new(Outcome::SpawnFailed, &why));
        }
        drop(watch);
        self.judged()
    }

    /// A failure, or an interruption if the attempt was asked to stop.
    fn failed(&self, why: &str) -> End {
        let outcome = if self.stop.is_asked() {
            Outcome::Interrupted
        } else {
            Outcome::Failed
        };
        End::new(outcome, why)
    }

    /// Ends an attempt whose first supervisor is gone.
    fn finish(&mut self) -> anyhow::Result<End> {
        // The agent and its supervisor end with ours, but not at once.
        pipeline::wait_for_agent(self.dir)?;
        if !self.dir.has(file::EXIT) {
            let why = "it was cut off, and it is not known how far it came";
            return Ok(End {
                lost: true,
                ..End::new(Outcome::Incomplete, why)
            });
        }
        pipeline::complete(self.dir)?;
        self.judged()
    }

    /// The end by the summary and, if that is good, by what must hold.
    fn judged(&mut self) -> anyhow::Result<End> {
        let mut end = judge::by_summary(self.dir, self.spec)?;
        let mark = self.dir.read(file::ATTEMPT_LOOPING, 4096)?;
        if let Some(why) = mark {
            Outcome::Looping.as_str().clone_into(&mut end.outcome);
            end.why = String::from_utf8_lossy(&why).into_owned();
            end.error.clone_from(&end.why);
            return Ok(end);
        }
        if !end.is_success() {
            return Ok(end);
        }
        if let Some((outcome, error)) = self.finding(&end)? {
            let was_stopped = self.stop.is_asked();
            let outcome = if was_stopped {
                Outcome::Interrupted
            } else {
                outcome
            };
            outcome.as_str().clone_into(&mut end.outcome);
            let first = error.lines().next().unwrap_or_default();
            first.trim_end_matches(':').clone_into(&mut end.why);
            end.error = error;
        }
        end.ended_at = jiff::Timestamp::now();
        Ok(end)
    }

    /// What is wrong with a run that ended well.
    fn finding(&mut self, end: &End) -> anyhow::Result<Option<(Outcome, String)>> {
        let task = &self.spec.task;
        if let Some(finding) = judge::commits(task, end) {
            return Ok(Some(finding));
        }
        if let Some(error) = gate::outside(self.dir, self.spec)? {
            return Ok(Some((Outcome::ScopeViolation, error)));
        }
        let verify = ("verify", task.verify.as_slice());
        let error = gate::run(self.dir, task, verify, self.stop)?;
        Ok(error.map(|error| (Outcome::VerifyFailed, error)))
    }
}
