//! The loop: where every task stands, what to do next, until nothing is left.

use std::collections::BTreeMap;
use std::io::Read;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, anyhow};
use cr_io::Exit;
use cr_rundir::RunId;
use cr_verdict::Outcome;
use jiff::Timestamp;
use rustix::process::{Pid, PidfdFlags, pidfd_open, pidfd_send_signal};

use crate::attempt::{Ended, Spec};
use crate::layout::{Attempts, Run, RunLayout};
use crate::log::{Log, TaskLine};
use crate::pipeline::{self, PROMPT};
use crate::prompt::{self, Beginning};
use crate::relay::Relay;
use crate::report;
use crate::retry;
use crate::signals::Signals;
use crate::stop;
use crate::task::Task;
use crate::task_state::{Assessment, TaskState, assess, limits};

mod passing;
mod telling;

/// How often a wait looks whether somebody wants a pause.
const GLANCE: Duration = Duration::from_secs(1);

/// A run under way.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) layout: RunLayout,
    pub(crate) run: Run,
    pub(crate) log: Log,
    pub(crate) watch: Signals,
    pub(crate) options: RunOptions,
    /// What the user's configuration says of agents.
    pub(crate) configured: BTreeMap<&'static str, String>,
    /// The attempts as one stream, on standard output, if that is wanted.
    pub(crate) stream: Option<Relay>,
}

/// What holds for this start of a run only.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunOptions {
    /// How many tasks are run, from the first.
    pub(crate) range: usize,
    pub(crate) breaks: Vec<String>,
    pub(crate) halt: bool,
    pub(crate) rerun_lost: bool,
}

/// A task and what is known of it.
#[derive(Debug)]
pub(crate) struct TaskRecord {
    pub(crate) task: Task,
    pub(crate) attempts: Attempts,
    pub(crate) assessment: Assessment,
}

/// What to do next.
#[derive(Debug)]
enum Step {
    Start(usize, Box<Beginning>),
    Adopt(usize, u32),
    Hold(Timestamp),
    End(Exit, &'static str, String),
    Nothing,
}

impl Engine {
    /// Runs until there is nothing left to do.
    pub(crate) fn go(&mut self) -> anyhow::Result<Exit> {
        let mut known = self.look_at_all()?;
        self.clear_stops(&mut known)?;
        for one in &known {
            self.show(one)?;
        }
        let exit = self.steps(&mut known)?;
        if self.stream.is_some() {
            self.last_word(&known)?;
            return Ok(exit);
        }
        report::write(&self.layout, &self.run, &known)?;
        let path = self.layout.dir.path().join("report.md");
        self.log.say(&format!("report: {}", path.display()));
        Ok(exit)
    }

    fn steps(&mut self, known: &mut [TaskRecord]) -> anyhow::Result<Exit> {
        loop {
            if let Some(signal) = self.watch.signal() {
                let code = u8::try_from(signal + 128).unwrap_or(u8::MAX);
                return self.end(Exit::Code(code), "stopped", "by a signal");
            }
            match self.next(known)? {
                Step::Start(at, beginning) => {
                    let number = self.ask(&known[at], &beginning)?;
                    self.attempt(&mut known[at], number)?;
                }
                Step::Adopt(at, number) => self.attempt(&mut known[at], number)?,
                Step::Hold(until) => self.hold(until)?,
                Step::End(exit, state, reason) => return self.end(exit, state, &reason),
                Step::Nothing => break,
            }
        }
        let (exit, reason) = self.verdict(known);
        self.end(exit, "ended", &reason)
    }

    fn look_at_all(&self) -> anyhow::Result<Vec<TaskRecord>> {
        let tasks = self.run.tasks.iter();
        tasks.map(|task| self.look(task.clone())).collect()
    }

    fn look(&self, task: Task) -> anyhow::Result<TaskRecord> {
        let attempts = self.layout.attempts(&task.id)?;
        let settings = &self.run.settings;
        let assessment = assess(&task, &attempts, settings, self.options.rerun_lost);
        Ok(TaskRecord {
            task,
            attempts,
            assessment,
        })
    }

    /// Whoever starts a run again that was stopped wants it to go on; of one task
    /// alone, also after it was given up, as there is nothing else to go on with.
    fn clear_stops(&self, known: &mut [TaskRecord]) -> anyhow::Result<()> {
        for one in known {
            let is_wanted = match one.assessment.state {
                TaskState::StopAll(_) => true,
                TaskState::Failed | TaskState::NeedsHuman => self.stream.is_some(),
                _ => false,
            };
            if is_wanted {
                let number = last_number(&one.attempts);
                let dir = self.layout.attempt(&one.task.id, number)?;
                dir.write_once("again", b"")?;
                *one = self.look(one.task.clone())?;
            }
        }
        Ok(())
    }

    fn next(&self, known: &[TaskRecord]) -> anyhow::Result<Step> {
        let mut hold = None;
        for (at, one) in known.iter().enumerate() {
            match &one.assessment.state {
                TaskState::Open(number) => return Ok(Step::Adopt(at, *number)),
                TaskState::StopAll(outcome) => {
                    return Ok(stopped(*outcome, &one.assessment.reason));
                }
                TaskState::Later => {
                    let reason = one.assessment.reason.clone();
                    return Ok(Step::End(Exit::Retry, "later", reason));
                }
                TaskState::Ready { at: moment, .. } => hold = hold.max(*moment),
                _ => {}
            }
        }
        let has_failed = |one: &TaskRecord| matches!(one.assessment.state, TaskState::Failed);
        if self.options.halt && known.iter().any(has_failed) {
            return Ok(Step::Nothing);
        }
        let range = &known[..self.options.range.min(known.len())];
        let found = range.iter().position(|one| is_startable(one, known));
        let Some(at) = found else {
            return Ok(Step::Nothing);
        };
        if self.layout.dir.has("PAUSE") {
            let path = self.layout.dir.path().join("PAUSE");
            let reason = format!("{} is there", path.display());
            return Ok(Step::End(Exit::Retry, "paused", reason));
        }
        if let Some(until) = hold.filter(|&until| until > Timestamp::now()) {
            return Ok(Step::Hold(until));
        }
        self.start(at, &known[at])
    }

    /// Starts task `at`, unless somebody wants to look first.
    fn start(&self, at: usize, one: &TaskRecord) -> anyhow::Result<Step> {
        let task = &one.task;
        let is_break = task.breakpoint || self.options.breaks.contains(&task.id);
        if is_break && one.attempts.ended.is_empty() {
            let name = format!("task-{}.break", task.id);
            if self.layout.dir.write_once(&name, b"")? {
                let reason = format!("before {}", task.id);
                return Ok(Step::End(Exit::Code(4), "breakpoint", reason));
            }
        }
        match &one.assessment.state {
            TaskState::Ready { beginning, .. } => Ok(Step::Start(at, beginning.clone())),
            _ => Ok(Step::Nothing),
        }
    }

    /// Waits until `until`, or for a signal; looks up now and then.
    fn hold(&mut self, until: Timestamp) -> anyhow::Result<()> {
        let left = until.duration_since(Timestamp::now());
        let left = Duration::try_from(left).unwrap_or_default();
        self.wait(None, Some(left.min(GLANCE)))?;
        Ok(())
    }

    /// Puts on record what the next attempt at a task is asked; returns its
    /// number.
    fn ask(&self, one: &TaskRecord, beginning: &Beginning) -> anyhow::Result<u32> {
        let task = &one.task;
        let last = one.attempts.ended.last();
        let number = last_number(&one.attempts) + 1;
        let resume = beginning.again.as_ref().is_some_and(|again| again.resume);
        let session = last.and_then(|last| last.end.session.clone());
        let was_cut = last.is_some_and(|last| {
            matches!(last.end.outcome(), Outcome::Killed | Outcome::Incomplete)
        });
        let flags = match &self.run.settings.words {
            Some(words) => retry::words(words, number, resume, beginning.is_handoff),
            None => pipeline::flags(task, &self.configured),
        };
        // The attempts of one run bear its name.
        let run_id = match self.stream {
            Some(_) => self.run.id.clone(),
            None => RunId::new().to_string(),
        };
        let spec = Spec {
            run_id,
            number,
            task: task.clone(),
            limits: limits(task, beginning),
            resume: session.filter(|_| resume),
            resumed: resume && was_cut,
            sprint: self.run.settings.sprint,
            scope_from: last.and_then(scope_from),
            flags,
            is_command_line: self.run.settings.words.is_some(),
        };
        let text = prompt::prompt(task, beginning, last, spec.sprint);
        let dir = self.layout.attempt(&task.id, number)?;
        dir.write(PROMPT, text.as_bytes())?;
        self.layout.note(&task.id, "prompt", &text);
        dir.write_once("attempt.json", &serde_json::to_vec(&spec)?)?;
        Ok(number)
    }

    /// Runs attempt `number`, or waits for it, and takes down how it ended.
    fn attempt(&mut self, one: &mut TaskRecord, number: u32) -> anyhow::Result<()> {
        let id = one.task.id.clone();
        let is_adopted = matches!(one.assessment.state, TaskState::Open(_));
        let reason = if is_adopted {
            "it was started before".to_owned()
        } else {
            one.assessment.reason.clone()
        };
        self.layout.note(&id, "status", "running\n");
        let now = format!("{}\n", cr_rundir::now());
        self.layout.note(&id, "start", &now);
        report::stream(&self.layout, &id, number);
        let path = self.layout.attempt_path(&id, number);
        let line = self.log.task(&TaskLine {
            id: &id,
            attempt: number,
            state: if is_adopted { "adopted" } else { "running" },
            reason: &reason,
            run_dir: Some(&path),
            ..TaskLine::default()
        })?;
        self.pass_on(&line);
        self.follow(&path, number == 1)?;
        // Once more, should the first one have died on the way.
        for _ in 0..2 {
            if !path.join("end.json").exists() {
                self.supervise(&id, &path)?;
            }
        }
        if !path.join("end.json").exists() {
            let text = format!("{}: the attempt left no end", path.display());
            return Err(anyhow!(text).context(Exit::Io));
        }
        self.drain()?;
        *one = self.look(one.task.clone())?;
        self.tell(one, number)?;
        self.show(one)
    }

    fn supervise(&mut self, id: &str, path: &Path) -> anyhow::Result<()> {
        let program = std::env::current_exe()?;
        let notes = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(path.join("attempt.stderr"))?;
        let mut command = Command::new(program);
        command.arg("attempt").arg(path);
        if self.stream.is_some() {
            // Whoever waits for the stream waits for the agent no longer than that.
            command.arg(format!("--watch-pid={}", std::process::id()));
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(notes);
        cr_sys::in_own_session(&mut command, None);
        let mut child = command.spawn().context("start an attempt")?;
        let process = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
        self.layout.note(id, "pid", &format!("{}\n", child.id()));
        // A signal before it listens would end it, and not what it is about.
        if let Some(mut ready) = child.stdout.take() {
            let _ = ready.read(&mut [0]);
        }
        loop {
            for signal in self.watch.news().into_iter().map(stop::signal) {
                // It may have ended just now.
                let _ = pidfd_send_signal(&process, signal);
            }
            if self.wait(Some(process.as_fd()), None)? {
                break;
            }
        }
        child.wait()?;
        Ok(())
    }
}

fn last_number(attempts: &Attempts) -> u32 {
    u32::try_from(attempts.ended.len()).unwrap_or(u32::MAX)
}

/// Where the scope of the attempt after `last` is measured from.
fn scope_from(last: &Ended) -> Option<u32> {
    let is_outside = last.end.outcome() == Outcome::ScopeViolation && last.again.is_none();
    is_outside.then(|| last.spec.scope_from.unwrap_or(last.spec.number))
}

/// Whether nothing of the plan stands in the way of `one`.
fn is_startable(one: &TaskRecord, known: &[TaskRecord]) -> bool {
    matches!(one.assessment.state, TaskState::Ready { .. }) && waits_for(one, known).is_none()
}

/// The first task that must be done before `one`, and is not.
pub(crate) fn waits_for<'a>(one: &TaskRecord, known: &'a [TaskRecord]) -> Option<&'a TaskRecord> {
    known.iter().find(|other| {
        let is_before =
            other.task.wave < one.task.wave || one.task.depends_on.contains(&other.task.id);
        is_before && !matches!(other.assessment.state, TaskState::Done)
    })
}

/// The end of a run that must not go on.
fn stopped(outcome: Outcome, reason: &str) -> Step {
    let code = if outcome == Outcome::Interrupted {
        143
    } else {
        77
    };
    Step::End(Exit::Code(code), "stopped", reason.to_owned())
}
