//! One attempt, in a process apart: it outlives whoever asked for it.
//!
//! Everything is decided under the attempt's lock. A second process for the same
//! attempt waits for the first and then finds that there is nothing left to do,
//! so that adopting an attempt is the same as starting it.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use anyhow::Context;
use cr_io::{Exit, Redactor};
use cr_rundir::RunDir;
use cr_verdict::Outcome;

use crate::attempt::{End, Spec, read_json};
use crate::stop::{Stop, Target};
use crate::{gate, judge, pipeline};

/// Runs the attempt at `path`, or waits for whoever does. The end of process
/// `watch_pid` is a SIGTERM to us.
pub(crate) fn run(path: &Path, watch_pid: Option<i32>) -> anyhow::Result<Exit> {
    let stop = Stop::listen(watch_pid)?;
    // Whoever asked waits for this before it signals us, if it is still there.
    let _ = io::stdout()
        .write_all(b"\n")
        .and_then(|()| io::stdout().flush());
    let dir = RunDir::at(path)?;
    let spec: Spec = read_json(&path.join("attempt.json"))?
        .with_context(|| format!("{}: no attempt", path.display()))
        .context(Exit::NoInput)?;
    let lock = dir.create_file("attempt.lock")?;
    stop.hand_to(Some(Target::Holder(path.join("attempt.pid"))));
    lock.lock()?;
    stop.hand_to(None);
    if dir.has("end.json") {
        return Ok(Exit::Ok);
    }
    let notes = File::options()
        .create(true)
        .append(true)
        .open(path.join("attempt.stderr"))?;
    let attempt = Attempt {
        dir: &dir,
        spec: &spec,
        notes: &notes,
        stop: &stop,
    };
    let mut end = attempt.end()?;
    let redactor = Redactor::from_env();
    let texts = [&mut end.why, &mut end.error].into_iter();
    // The rest of it comes from a summary, which has been through this.
    for text in texts.chain(&mut end.question) {
        *text = redactor.redact(text).into_owned();
    }
    dir.write_once("end.json", &serde_json::to_vec(&end)?)?;
    Ok(Exit::Ok)
}

struct Attempt<'a> {
    dir: &'a RunDir,
    spec: &'a Spec,
    notes: &'a File,
    stop: &'a Stop,
}

impl Attempt<'_> {
    fn end(&self) -> anyhow::Result<End> {
        let pid = std::process::id().to_string();
        self.dir.write("attempt.pid", pid.as_bytes())?;
        if self.dir.has("attempt.started") {
            return self.make_up();
        }
        if self.stop.is_asked() {
            return Ok(End::new(Outcome::Interrupted, "stopped before it began"));
        }
        let now = cr_rundir::now();
        if !self.dir.write_once("attempt.started", now.as_bytes())? {
            return self.make_up();
        }
        let task = &self.spec.task;
        let setup = ("setup", task.setup.as_slice());
        if let Some(error) = gate::run(self.dir, task, setup, self.stop)? {
            return Ok(self.failed(&format!("setup: {error}")));
        }
        if self.stop.is_asked() {
            return Ok(self.failed("stopped"));
        }
        if let Err(err) = pipeline::run(self.dir, self.spec, self.notes, self.stop) {
            let why = cr_io::message(&err);
            return Ok(End::new(Outcome::SpawnFailed, &why));
        }
        self.judged()
    }

    /// A failure, unless it is one because we were told to stop.
    fn failed(&self, why: &str) -> End {
        let outcome = if self.stop.is_asked() {
            Outcome::Interrupted
        } else {
            Outcome::Failed
        };
        End::new(outcome, why)
    }

    /// Ends an attempt whose first supervisor is gone.
    fn make_up(&self) -> anyhow::Result<End> {
        // The agent's own supervisor goes when ours does, but not at once.
        if let Ok(lock) = File::open(self.dir.path().join("lock")) {
            lock.lock()?;
        }
        if !self.dir.has("exit.json") {
            let why = "it was cut off, and nobody knows how far it came";
            return Ok(End {
                lost: true,
                ..End::new(Outcome::Incomplete, why)
            });
        }
        if !self.dir.has("summary.json") {
            pipeline::sum_up(self.dir, self.notes)?;
        }
        self.judged()
    }

    /// The end by the summary and, if that is good, by what must hold.
    fn judged(&self) -> anyhow::Result<End> {
        let mut end = judge::by_summary(self.dir, self.spec);
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
    fn finding(&self, end: &End) -> anyhow::Result<Option<(Outcome, String)>> {
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
