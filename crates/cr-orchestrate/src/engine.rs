//! The event loop: asks the schedule what to do, starts attempts, and watches
//! all that run until nothing is left to do.

use std::collections::BTreeMap;
use std::time::Duration;

use cr_io::Exit;
use cr_rundir::file;
use jiff::Timestamp;
use rustix::event::PollFlags;

use crate::budget;
use crate::finish::MergedWork;
use crate::layout::{Run, RunLayout};
use crate::log::Log;
use crate::observer::{Finished, Interest, Observer};
use crate::preflight;
use crate::run_budget::Funds;
use crate::schedule::{Ending, RunOptions, Schedule, Situation, TaskRecord, chains, schedule};
use crate::stop_requests::StopRequests;
use crate::task_state::{TaskState, assess};
use crate::waves::Waves;

mod attempts;
mod funds;
mod running;

use running::{Event, RunningAttempt};

/// How often a wait for a moment looks for the file that asks for a pause.
const PAUSE_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// A run under way.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) layout: RunLayout,
    pub(crate) run: Run,
    pub(crate) log: Log,
    pub(crate) stop_requests: StopRequests,
    pub(crate) options: RunOptions,
    /// The user's configuration of agents.
    pub(crate) configured: BTreeMap<&'static str, String>,
    pub(crate) observer: Box<dyn Observer>,
    tasks: Vec<TaskRecord>,
    /// See [`chains`].
    chains: Vec<usize>,
    /// The attempts that are watched, by the position of their task.
    running: BTreeMap<usize, RunningAttempt>,
    /// The first signal that was forwarded to the attempts.
    stop_signal: Option<i32>,
    /// The budget of the user's that is used up.
    budget: Option<String>,
    /// The budget of the run.
    funds: Funds,
    /// Why finished work can neither be checked nor merged.
    stuck: Option<String>,
    waves: Waves,
}

/// The parts of an engine.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) layout: RunLayout,
    pub(crate) run: Run,
    pub(crate) log: Log,
    pub(crate) stop_requests: StopRequests,
    pub(crate) options: RunOptions,
    pub(crate) observer: Box<dyn Observer>,
}

impl Engine {
    pub(crate) fn new(parts: Parts) -> anyhow::Result<Self> {
        Ok(Self {
            funds: Funds::new(parts.run.budget()),
            configured: cr_config::file_settings()?,
            layout: parts.layout,
            run: parts.run,
            log: parts.log,
            stop_requests: parts.stop_requests,
            options: parts.options,
            observer: parts.observer,
            tasks: Vec::new(),
            chains: Vec::new(),
            running: BTreeMap::new(),
            stop_signal: None,
            budget: None,
            stuck: None,
            waves: Waves::default(),
        })
    }

    /// Runs until there is nothing left to do.
    pub(crate) fn run(&mut self) -> anyhow::Result<Exit> {
        let done = self.prepare().and_then(|()| self.event_loop());
        if done.is_err() {
            self.stop_running();
        }
        let mut ending = done?;
        let mut merged = MergedWork::of(&self.run, &self.tasks)?;
        if let Some(merged) = merged.as_mut().filter(|_| ending.exit == Exit::Ok) {
            let of_run = (&self.layout, &self.run);
            ending = merged
                .finish(of_run, &mut self.stop_requests)?
                .unwrap_or(ending);
        }
        let next = (ending.exit != Exit::Ok).then(|| self.next_command(&ending));
        self.log_run(&cr_stream::Run {
            state: ending.state.into(),
            reason: ending.reason.as_str().into(),
            next: next.map(Into::into),
            merge: merged
                .as_ref()
                .and_then(|merged| merged.command.as_deref())
                .map(Into::into),
            ..cr_stream::Run::default()
        })?;
        self.observer.run_finished(&Finished {
            layout: &self.layout,
            run: &self.run,
            tasks: &self.tasks,
            merged: merged.as_ref(),
            exit: ending.exit,
            state: ending.state,
            reason: &ending.reason,
            signal: self.stop_requests.first(),
        })?;
        self.flush()?;
        Ok(ending.exit)
    }

    /// Reads the records, and clears what a new start of the run clears.
    fn prepare(&mut self) -> anyhow::Result<()> {
        for task in self.run.tasks.clone() {
            let record = self.read_record(task)?;
            let record = self.restart(record)?;
            self.show(&record)?;
            self.tasks.push(record);
        }
        self.chains = chains(self.run.tasks.iter());
        self.waves.begin(&self.tasks);
        self.observer.run_began(&self.run, &self.tasks);
        // Before any other starts: they were given their budget by an engine before.
        for at in 0..self.tasks.len() {
            if let TaskState::Open(number) = self.tasks[at].assessment.state {
                self.set_aside(at, number)?;
            }
        }
        let is_open = |record: &TaskRecord| matches!(record.assessment.state, TaskState::Open(_));
        // What runs already has been looked at. The attempts of one command line
        // begin at once.
        if self.run.settings.agent.is_some() || self.tasks.iter().any(is_open) {
            return Ok(());
        }
        preflight::check(&self.layout, &self.run, &mut self.stop_requests)
    }

    fn read_record(&self, task: crate::task::Task) -> anyhow::Result<TaskRecord> {
        let attempts = self.layout.attempts(&task.id)?;
        let settings = &self.run.settings;
        let rerun_lost = self.options.rerun_lost;
        let assessment = assess(&task, &attempts, settings, rerun_lost, Timestamp::now());
        let is_break_passed = self.layout.dir.has(&break_file(&task.id));
        Ok(TaskRecord {
            task,
            attempts,
            assessment,
            is_break_passed,
            is_suspended: false,
        })
    }

    /// A run that was stopped and is resumed retries the task that stopped it.
    fn restart(&self, record: TaskRecord) -> anyhow::Result<TaskRecord> {
        let is_wanted = match record.assessment.state {
            TaskState::StopAll(_) => true,
            TaskState::Failed | TaskState::NeedsPerson => self.options.restart_failed,
            _ => false,
        };
        if !is_wanted {
            return Ok(record);
        }
        let number = record.attempts.last_number();
        let dir = self.layout.attempt(&record.task.id, number)?;
        dir.write_once(file::ATTEMPT_AGAIN, b"")?;
        self.read_record(record.task)
    }

    fn event_loop(&mut self) -> anyhow::Result<Ending> {
        loop {
            self.forward_signals();
            self.settle_ended()?;
            self.tell_waves()?;
            let schedule = self.schedule();
            if let Some(ending) = schedule.end {
                if self.is_reached(&ending)? {
                    return Ok(ending);
                }
                continue;
            }
            if schedule.adopt.is_empty() && schedule.start.is_empty() {
                self.wait(schedule.wake_at.map(until))?;
                continue;
            }
            for at in schedule.adopt {
                self.adopt(at)?;
            }
            for at in schedule.start {
                if self.is_budget_exhausted(at) {
                    break;
                }
                self.start(at)?;
            }
        }
    }

    /// Whether a budget of the user's is used up, so that task `at` may not start.
    /// The attempts of one command line are one run, which has begun.
    fn is_budget_exhausted(&mut self, at: usize) -> bool {
        if self.run.settings.agent.is_some() {
            return false;
        }
        let milestone = self.run.settings.milestone.as_deref();
        self.budget = budget::exhausted(&self.tasks[at].task.cwd, milestone);
        self.budget.is_some()
    }

    fn schedule(&mut self) -> Schedule {
        let pause_file = self.layout.dir.path().join(file::PAUSE);
        let is_paused = self.layout.dir.has(file::PAUSE);
        let watched = (0..self.tasks.len()).map(|at| self.running.contains_key(&at));
        let watched: Vec<bool> = watched.collect();
        schedule(&Situation {
            tasks: &self.tasks,
            options: &self.options,
            watched: &watched,
            chains: &self.chains,
            pause_file: is_paused.then_some(&pause_file),
            signal: self.stop_signal,
            budget: self.budget.as_deref(),
            purse: self.purse(),
            stuck: self.stuck.as_deref(),
            now: Timestamp::now(),
        })
    }

    /// Whether the run ends so. It stops only once at each breakpoint.
    fn is_reached(&mut self, ending: &Ending) -> anyhow::Result<bool> {
        if let Some(raised) = ending.raised {
            return Ok(!self.is_raised(ending, raised)?);
        }
        let Some(at) = ending.breakpoint else {
            return Ok(true);
        };
        let record = &mut self.tasks[at];
        record.is_break_passed = true;
        let name = break_file(&record.task.id);
        self.layout.dir.write_once(&name, b"")
    }

    /// Sends the attempts what came since the last call.
    fn forward_signals(&mut self) {
        for signal in self.stop_requests.take_new() {
            self.stop_signal.get_or_insert(signal);
            for attempt in self.running.values_mut() {
                attempt.signal(signal);
            }
        }
    }

    /// Waits until something happens, or as long as `limit`.
    pub(crate) fn wait(&mut self, limit: Option<Duration>) -> anyhow::Result<()> {
        let is_stopping = self.stop_requests.first().is_some();
        let own_limit = self.observer.before_wait(is_stopping)?;
        let limit = limit.into_iter().chain(own_limit).min();
        let mut keys: Vec<(usize, Event)> = Vec::new();
        let mut interests: Vec<Interest<'_>> = Vec::new();
        for (&at, attempt) in &self.running {
            for (event, fd) in attempt.interests() {
                keys.push((at, event));
                interests.push((fd, PollFlags::IN));
            }
        }
        interests.extend(self.observer.interests());
        let came = self.stop_requests.wait(&interests, limit)?;
        drop(interests);
        let (of_attempts, of_observer) = came.split_at(keys.len());
        for ((at, event), _) in keys
            .iter()
            .zip(of_attempts)
            .filter(|(_, came)| !came.is_empty())
        {
            if let Some(attempt) = self.running.get_mut(at) {
                attempt.handle(*event)?;
            }
        }
        if !self.observer.after_wait(of_observer) {
            // Without a reader the work of the agents is of no use.
            self.stop_requests.reader_left();
        }
        Ok(())
    }

    /// Waits until the observer's reader has everything.
    fn flush(&mut self) -> anyhow::Result<()> {
        while !self.observer.is_flushed() {
            self.wait(None)?;
        }
        Ok(())
    }

    /// Ends the stream of a run that broke off.
    pub(crate) fn break_off(&mut self, line: &[u8]) {
        self.observer.broke_off(line);
        // The caller reports the error that broke it off.
        let _ = self.flush();
    }

    pub(crate) fn log_run(&mut self, line: &cr_stream::Run<'_>) -> anyhow::Result<()> {
        let bytes = self.log.write(line)?;
        self.observer.run_changed(line, &bytes);
        Ok(())
    }
}

/// How long it is until `moment`, though no longer than the next look for a
/// pause.
fn until(moment: Timestamp) -> Duration {
    let left = moment.duration_since(Timestamp::now());
    let left = Duration::try_from(left).unwrap_or_default();
    left.min(PAUSE_CHECK_INTERVAL)
}

/// The file that says that the run has stopped before task `id`.
fn break_file(id: &str) -> String {
    format!("task-{id}.break")
}
