//! What may start now, what waits, and whether the run ends: a function of the
//! plan, the options, the records of the attempts and the time.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use cr_io::Exit;
use cr_verdict::Outcome;
use jiff::Timestamp;

use crate::attempt::Limits;
use crate::exit_order::ranked;
use crate::layout::Attempts;
use crate::run_budget::{Purse, Refusal, RunBudget};
use crate::task::Task;
use crate::task_state::{Assessment, TaskState, limits};

mod at_work;

use at_work::AtWork;
pub(crate) use at_work::common_files;

/// A task and what is recorded of it.
#[derive(Clone, Debug)]
pub(crate) struct TaskRecord {
    pub(crate) task: Task,
    pub(crate) attempts: Attempts,
    pub(crate) assessment: Assessment,
    /// The run has already stopped before this task.
    pub(crate) is_break_passed: bool,
    /// Its open attempt is left for the next start of the run.
    pub(crate) is_suspended: bool,
}

impl TaskRecord {
    /// The limits of the next attempt, if the task can be started.
    pub(crate) fn next_limits(&self) -> Option<Limits> {
        match &self.assessment.state {
            TaskState::Ready { next, .. } => Some(limits(&self.task, next)),
            _ => None,
        }
    }
}

/// Options of this start of a run. They are not recorded.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(Clone, Debug, Default)]
pub(crate) struct RunOptions {
    /// How many tasks may run at the same time.
    pub(crate) slots: usize,
    /// How many tasks are run, from the first.
    pub(crate) range: usize,
    pub(crate) breaks: Vec<String>,
    pub(crate) halt: bool,
    pub(crate) rerun_lost: bool,
    /// A task that was given up before is tried again.
    pub(crate) restart_failed: bool,
    /// Attempts end when the engine does, also when it is killed.
    pub(crate) attempts_die_with_engine: bool,
}

/// Everything that a schedule depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Situation<'a> {
    /// In the order in which they start.
    pub(crate) tasks: &'a [TaskRecord],
    pub(crate) options: &'a RunOptions,
    /// For each task, whether its attempt is watched.
    pub(crate) watched: &'a [bool],
    /// For each task, how many tasks must run one after the other once it is done;
    /// see [`chains`].
    pub(crate) chains: &'a [usize],
    /// The file that asks for a pause, if it exists.
    pub(crate) pause_file: Option<&'a Path>,
    /// The signal that asked the run to stop.
    pub(crate) signal: Option<i32>,
    /// Why no attempt may start: a budget of the user's is used up.
    pub(crate) budget: Option<&'a str>,
    /// What attempts may use.
    pub(crate) purse: Purse,
    /// Why finished work can neither be checked nor merged.
    pub(crate) stuck: Option<&'a str>,
    pub(crate) now: Timestamp,
}

/// What to do now.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Schedule {
    /// Tasks whose open attempt must be watched.
    pub(crate) adopt: Vec<usize>,
    /// Tasks that get a new attempt.
    pub(crate) start: Vec<usize>,
    /// When to ask again, if nothing happens before.
    pub(crate) wake_at: Option<Timestamp>,
    /// The run is over.
    pub(crate) end: Option<Ending>,
}

/// How a run ends.
#[derive(Debug, PartialEq)]
pub(crate) struct Ending {
    pub(crate) exit: Exit,
    /// The word for it in the records.
    pub(crate) state: &'static str,
    pub(crate) reason: String,
    /// The task that the run stopped before.
    pub(crate) breakpoint: Option<usize>,
    /// The budget of the run with which it would go on.
    pub(crate) raised: Option<RunBudget>,
}

impl Ending {
    pub(crate) fn new(exit: Exit, state: &'static str, reason: impl Into<String>) -> Self {
        Self {
            exit,
            state,
            reason: reason.into(),
            breakpoint: None,
            raised: None,
        }
    }
}

/// Says what to do now.
pub(crate) fn schedule(situation: &Situation<'_>) -> Schedule {
    let is_open = |at: &usize| {
        let record = &situation.tasks[*at];
        let is_open = matches!(record.assessment.state, TaskState::Open(_));
        is_open && !situation.watched[*at] && !record.is_suspended
    };
    // An attempt that was started is watched, whatever else is wanted: it holds
    // a slot, and a run does not end before it.
    let adopt: Vec<usize> = (0..situation.tasks.len()).filter(is_open).collect();
    let busy = adopt.len() + situation.watched.iter().filter(|&&is| is).count();
    let mut schedule = match stop(situation) {
        Some(ending) => Schedule {
            end: Some(ending),
            ..Schedule::default()
        },
        None => starts(situation, busy),
    };
    schedule.end = schedule.end.filter(|_| busy == 0);
    schedule.end = schedule.end.map(|ending| ranked(ending, situation));
    Schedule { adopt, ..schedule }
}

/// Why no task may start any more, if that is so.
fn stop(situation: &Situation<'_>) -> Option<Ending> {
    if let Some(signal) = situation.signal {
        let code = u8::try_from(signal.saturating_add(128)).unwrap_or(u8::MAX);
        return Some(Ending::new(Exit::Code(code), "stopped", "by a signal"));
    }
    if let Some(reason) = situation.stuck {
        return Some(Ending::new(Exit::Retry, "later", reason));
    }
    if let Some(reason) = situation.budget {
        return Some(Ending::new(Exit::Code(3), "stopped", reason));
    }
    let assessments = situation.tasks.iter().map(|record| &record.assessment);
    let mut has_failed = false;
    for Assessment { state, reason } in assessments {
        match state {
            TaskState::StopAll(Outcome::Interrupted) => {
                return Some(Ending::new(Exit::Code(143), "stopped", reason));
            }
            TaskState::StopAll(_) => return Some(Ending::new(Exit::Code(77), "stopped", reason)),
            TaskState::Later => return Some(Ending::new(Exit::Retry, "later", reason)),
            TaskState::Failed => has_failed = true,
            _ => {}
        }
    }
    (situation.options.halt && has_failed).then(|| finished(situation))
}

/// What may start in the slots that `busy` attempts leave.
fn starts(situation: &Situation<'_>, busy: usize) -> Schedule {
    let mut schedule = Schedule::default();
    let ready = startable(situation);
    if ready.is_empty() {
        schedule.end = Some(finished(situation));
        return schedule;
    }
    if let Some(file) = situation.pause_file {
        let reason = format!("{} is there", file.display());
        schedule.end = Some(Ending::new(Exit::Retry, "paused", reason));
        return schedule;
    }
    if let Some(until) = hold(situation.tasks).filter(|&until| until > situation.now) {
        schedule.wake_at = Some(until);
        return schedule;
    }
    let free = situation.options.slots.saturating_sub(busy);
    let mut at_work = AtWork::new(situation);
    let (mut purse, mut refused) = (situation.purse, None);
    for (at, not_before) in ready {
        if schedule.start.len() >= free {
            break;
        }
        if at_work.overlap(at).is_some() {
            // The end of the other task is the time to ask again.
            continue;
        }
        if let Some(moment) = not_before.filter(|&moment| moment > situation.now) {
            let before = schedule.wake_at.into_iter();
            schedule.wake_at = before.chain([moment]).min();
        } else if is_breakpoint(situation, at) {
            // Nothing after it starts before the run has stopped there.
            if schedule.start.is_empty() && schedule.wake_at.is_none() {
                schedule.end = Some(breakpoint(situation, at));
            }
            break;
        } else if purse.take(&situation.tasks[at]).is_ok() {
            at_work.add(at);
            schedule.start.push(at);
        } else {
            // A task that needs less may still start.
            refused.get_or_insert(at);
        }
    }
    if schedule.start.is_empty() && schedule.wake_at.is_none() {
        let refused = refused.and_then(|at| purse.refusal(&situation.tasks[at]));
        schedule.end = schedule.end.or(refused.map(unaffordable));
    }
    schedule
}

/// The end of a run that may not use more.
fn unaffordable(refusal: Refusal) -> Ending {
    Ending {
        raised: Some(refusal.raised),
        ..Ending::new(Exit::Code(3), "stopped", refusal.reason)
    }
}

/// For each task, how many tasks must run one after the other once it is done: the
/// longest chain of tasks that depend on it. `tasks` are in the order in which they
/// start.
pub(crate) fn chains<'a>(tasks: impl Iterator<Item = &'a Task>) -> Vec<usize> {
    let tasks: Vec<&Task> = tasks.collect();
    let at: HashMap<&str, usize> = tasks
        .iter()
        .enumerate()
        .map(|(at, task)| (task.id.as_str(), at))
        .collect();
    let mut chains = vec![0; tasks.len()];
    // A task comes after those that it depends on.
    for (later, task) in tasks.iter().enumerate().rev() {
        for other in &task.depends_on {
            if let Some(&earlier) = at.get(other.as_str()) {
                chains[earlier] = chains[earlier].max(chains[later] + 1);
            }
        }
    }
    chains
}

/// The tasks that nothing of the plan holds up, and when each may start.
fn startable(situation: &Situation<'_>) -> Vec<(usize, Option<Timestamp>)> {
    let tasks = situation.tasks;
    let is_done = |record: &&TaskRecord| matches!(record.assessment.state, TaskState::Done);
    let done: HashSet<&str> = tasks
        .iter()
        .filter(is_done)
        .map(|record| record.task.id.as_str())
        .collect();
    let unfinished = tasks.iter().filter(|record| !is_done(record));
    let wave = unfinished.map(|record| record.task.wave).min().unwrap_or(0);
    let range = situation.options.range.min(tasks.len());
    let ready = tasks[..range]
        .iter()
        .enumerate()
        .filter_map(|(at, record)| {
            let TaskState::Ready { not_before, .. } = record.assessment.state else {
                return None;
            };
            let mut needed = record.task.depends_on.iter();
            let is_free =
                record.task.wave <= wave && needed.all(|other| done.contains(other.as_str()));
            (is_free && !situation.watched[at]).then_some((at, not_before))
        });
    let mut ready: Vec<(usize, Option<Timestamp>)> = ready.collect();
    if situation.options.slots > 1 {
        // The longest chain first, or the run ends with one slot at work. One slot
        // keeps the order of the plan.
        ready.sort_by_key(|&(at, _)| std::cmp::Reverse(situation.chains[at]));
    }
    ready
}

/// Until when no task at all may start.
fn hold(tasks: &[TaskRecord]) -> Option<Timestamp> {
    let holds = tasks.iter().map(|record| match record.assessment.state {
        TaskState::Ready {
            not_before,
            holds_all: true,
            ..
        } => not_before,
        _ => None,
    });
    holds.max().flatten()
}

/// Whether the run stops before task `at`.
fn is_breakpoint(situation: &Situation<'_>, at: usize) -> bool {
    let record = &situation.tasks[at];
    let is_wanted = record.task.breakpoint || situation.options.breaks.contains(&record.task.id);
    is_wanted && record.attempts.ended.is_empty() && !record.is_break_passed
}

fn breakpoint(situation: &Situation<'_>, at: usize) -> Ending {
    let reason = format!("before {}", situation.tasks[at].task.id);
    Ending {
        breakpoint: Some(at),
        ..Ending::new(Exit::Code(4), "breakpoint", reason)
    }
}

/// The end of a run in which nothing is left to do, and its verdict.
fn finished(situation: &Situation<'_>) -> Ending {
    let range = &situation.tasks[..situation.options.range.min(situation.tasks.len())];
    let count = |of: fn(&TaskState) -> bool| {
        let states = range.iter().map(|record| &record.assessment.state);
        states.filter(|state| of(state)).count()
    };
    let done = count(|state| matches!(state, TaskState::Done));
    let failed = count(|state| matches!(state, TaskState::Failed));
    let asking = count(|state| matches!(state, TaskState::NeedsPerson | TaskState::Lost));
    let left = range.len() - done - failed - asking;
    let reason =
        format!("{done} done, {failed} failed, {asking} need a person, {left} not started");
    let exit = match (asking, failed + left) {
        (0, 0) => Exit::Ok,
        (0, _) => Exit::No,
        _ => Exit::Code(4),
    };
    Ending::new(exit, "ended", reason)
}

/// The first task that must be done before `record`, and is not.
pub(crate) fn waits_for<'a>(
    record: &TaskRecord,
    tasks: &'a [TaskRecord],
) -> Option<&'a TaskRecord> {
    tasks.iter().find(|other| {
        let is_before =
            other.task.wave < record.task.wave || record.task.depends_on.contains(&other.task.id);
        is_before && !matches!(other.assessment.state, TaskState::Done)
    })
}

#[cfg(test)]
#[path = "schedule_tests.rs"]
mod tests;
