//! One attempt, in a process of its own, which outlives the engine.
//!
//! Everything is decided under the attempt's lock. A second process for the same
//! attempt waits for the first and then finds that there is nothing left to do.
//! So adopting an attempt is the same as starting it.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use cr_io::{Exit, Redactor};
use cr_rundir::{RunDir, file, state_text};
use cr_verdict::Outcome;
use rustix::process::{Pid, PidfdFlags, pidfd_open, pidfd_send_signal};

use crate::attempt::{End, Spec, read_state};
use crate::gate::{Commands, Surroundings};
use crate::loop_watch::LoopWatch;
use crate::merging::{self, Finding, Proved};
use crate::stop::{self, Stop, Stopping};
use crate::{gate, judge, pipeline, sandbox};

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
    let Some(mut end) = attempt.end()? else {
        return Ok(Exit::Retry);
    };
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
    let mut waiting = ForHolder {
        dir,
        stop,
        undelivered: Vec::new(),
    };
    stop::lock(&lock, &mut waiting)?;
    Ok(lock)
}

/// A wait for the attempt's lock: requests to stop go to its holder.
struct ForHolder<'a> {
    dir: &'a RunDir,
    stop: &'a mut Stop,
    undelivered: Vec<i32>,
}

impl Stopping for ForHolder<'_> {
    /// The holder's end is waited for in any case.
    fn must_stop(&mut self) -> bool {
        false
    }

    fn wait_for(&mut self, fd: BorrowedFd<'_>, limit: Duration) -> io::Result<bool> {
        let limit = if self.undelivered.is_empty() {
            limit
        } else {
            HOLDER_CHECK_INTERVAL
        };
        let (is_ready, signals) = self.stop.wait(fd, Some(limit))?;
        self.undelivered.extend(signals);
        if let Some(holder) = holder(self.dir).filter(|_| !is_ready) {
            for number in self.undelivered.drain(..) {
                // It may have ended just now.
                let _ = pidfd_send_signal(&holder, stop::signal(number));
            }
        }
        Ok(is_ready)
    }
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
    /// How it ended. `None`: it was asked to stop while its finished work was
    /// verified or merged, and does that when it is supervised again.
    fn end(&mut self) -> anyhow::Result<Option<End>> {
        let pid = std::process::id().to_string();
        self.dir.write(file::ATTEMPT_PID, pid.as_bytes())?;
        if self.dir.has(file::ATTEMPT_STARTED) {
            return self.finish();
        }
        if self.stop.is_asked() {
            let why = "stopped before it began";
            return Ok(Some(End::new(Outcome::Interrupted, why)));
        }
        if let Some(place) = &self.spec.place
            && let Err(err) = place.make(self.dir, &self.spec.task.id)
        {
            let why = format!("the worktree could not be made: {}", cr_io::message(&err));
            return Ok(Some(self.failed(&why)));
        }
        let now = cr_stream::now();
        if !self.dir.write_once(file::ATTEMPT_STARTED, now.as_bytes())? {
            return self.finish();
        }
        let gates = &self.spec.gates;
        let setup = [
            (self.spec.plan_cwd()?, &gates.setup),
            (self.spec.cwd().to_owned(), &self.spec.task.setup),
        ];
        if let Some(error) = self.gate("setup", &setup)? {
            return Ok(Some(self.failed(&format!("setup: {error}"))));
        }
        if self.stop.is_asked() {
            return Ok(Some(self.failed("stopped")));
        }
        let watch = LoopWatch::start(self.dir, self.spec)?;
        if let Err(err) = pipeline::run(self.dir, self.spec, self.notes, self.stop) {
            let why = cr_io::message(&err);
            return Ok(Some(End::new(Outcome::SpawnFailed, &why)));
        }
        drop(watch);
        self.judged()
    }

    /// Runs commands of the plan; returns the output of the first that fails.
    fn gate(
        &mut self,
        name: &str,
        commands: &[(PathBuf, &Vec<String>)],
    ) -> anyhow::Result<Option<String>> {
        let env = self.spec.env();
        let tree = self.spec.place.as_ref().map(|place| &*place.dir);
        let sandbox = sandbox::of_gates(self.spec, tree.unwrap_or(self.spec.cwd()))?;
        let around = Surroundings {
            dir: self.dir,
            env: &env,
            sandbox: sandbox.as_ref(),
        };
        let commands = commands.iter();
        let commands = commands.map(|(cwd, commands)| (&**cwd, commands.as_slice()));
        let commands: Vec<Commands<'_>> = commands.collect();
        gate::run(around, (name, &commands), self.stop)
    }

    /// Brings the commits of a sandbox that was killed into the repository, and makes
    /// the worktree safe for git outside. Returns why that is not possible.
    fn not_imported(&self) -> anyhow::Result<Option<String>> {
        let Some(sandbox) = sandbox::of_attempt(self.dir.path(), self.spec)? else {
            return Ok(None);
        };
        let refused = sandbox.import().err();
        Ok(refused.map(|refused| cr_io::sanitized(&refused.to_string())))
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
    fn finish(&mut self) -> anyhow::Result<Option<End>> {
        // The agent and its supervisor end with ours, but not at once.
        pipeline::wait_for_agent(self.dir)?;
        if !self.dir.has(file::EXIT) {
            // What it has committed stays on its branch, if it can.
            self.not_imported()?;
            let why = "it was cut off, and it is not known how far it came";
            return Ok(Some(End {
                lost: true,
                ..End::new(Outcome::Incomplete, why)
            }));
        }
        pipeline::complete(self.dir)?;
        self.judged()
    }

    /// The end by the summary and, if that is good, by what must hold.
    fn judged(&mut self) -> anyhow::Result<Option<End>> {
        let mut end = judge::by_summary(self.dir, self.spec)?;
        if let Some(why) = self.not_imported()? {
            if end.is_success() {
                Outcome::Failed.as_str().clone_into(&mut end.outcome);
                end.error.clone_from(&why);
                end.why = why;
            }
            // What it has committed is nowhere else.
            end.needs_new_base = true;
        }
        let mark = self.dir.read(file::ATTEMPT_LOOPING, 4096)?;
        if let Some(why) = mark {
            Outcome::Looping.as_str().clone_into(&mut end.outcome);
            end.why = String::from_utf8_lossy(&why).into_owned();
            end.error.clone_from(&end.why);
            return Ok(Some(end));
        }
        if !end.is_success() {
            return Ok(Some(end));
        }
        // What an earlier process was stuck at.
        let _ = std::fs::remove_file(self.dir.path().join(file::ATTEMPT_STUCK));
        let proved = match &self.spec.place {
            Some(place) => merging::prove(self.dir, (self.spec, place), &end, self.stop),
            None => self.checked(&end),
        };
        let proved = proved.inspect_err(|err| {
            // The engine shows it. Without the file it knows at least that.
            let text = cr_io::message(err);
            let _ = self.dir.write(file::ATTEMPT_STUCK, text.as_bytes());
        });
        match proved {
            Ok(Proved::Good(sha)) => end.merged = sha,
            // Nothing is wrong with the work as far as it is known.
            Ok(Proved::Stopped) | Err(_) => return Ok(None),
            Ok(Proved::Finding(finding)) => {
                finding.outcome.as_str().clone_into(&mut end.outcome);
                let first = finding.error.lines().next().unwrap_or_default();
                first.trim_end_matches(':').clone_into(&mut end.why);
                end.needs_new_base = finding.needs_new_base;
                end.error = finding.error;
            }
        }
        end.ended_at = jiff::Timestamp::now();
        Ok(Some(end))
    }

    /// Checks work in a shared tree, which ended well.
    fn checked(&mut self, end: &End) -> anyhow::Result<Proved> {
        let task = &self.spec.task;
        let mut finding = judge::commits(task, !end.commits.is_empty(), end);
        if finding.is_none() {
            let outside = gate::outside(self.dir, self.spec, None)?;
            finding = outside.map(|error| (Outcome::ScopeViolation, error));
        }
        if finding.is_none() {
            let verify = [
                (self.spec.cwd().to_owned(), &task.verify),
                (self.spec.plan_cwd()?, &self.spec.gates.verify),
            ];
            let error = self.gate("verify", &verify)?;
            if error.is_some() && self.stop.is_asked() {
                return Ok(Proved::Stopped);
            }
            finding = error.map(|error| (Outcome::VerifyFailed, error));
        }
        Ok(match finding {
            Some((outcome, error)) => Proved::Finding(Finding::new(outcome, error)),
            None => Proved::Good(None),
        })
    }
}
