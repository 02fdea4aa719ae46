//! What a run would do if every task was done at once and took as long as it
//! should: the engine's own schedule, with a clock that is only a number.

use std::collections::HashMap;

use jiff::Timestamp;

use crate::layout::Attempts;
use crate::prompt::NextAttempt;
use crate::run_budget::Purse;
use crate::schedule::{RunOptions, Situation, TaskRecord, chains, common_files, schedule};
use crate::task::Task;
use crate::task_state::{Assessment, TaskState};

/// When a task would run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Planned {
    /// Its place in the order of starts, from 1.
    pub(crate) order: usize,
    /// From 1.
    pub(crate) slot: usize,
    /// Seconds since the start of the run.
    pub(crate) start: f64,
    pub(crate) end: f64,
}

/// Two tasks that may change the same files and that nothing else keeps apart.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Conflict {
    /// The one that would start first.
    pub(crate) first: usize,
    pub(crate) second: usize,
    /// The patterns of the second that meet one of the first.
    pub(crate) files: Vec<String>,
}

/// The forecast of a run.
#[derive(Debug)]
pub(crate) struct Forecast {
    /// For each task, when it would run; `None` if it is done already or cannot run.
    pub(crate) planned: Vec<Option<Planned>>,
    pub(crate) conflicts: Vec<Conflict>,
    /// Whether every task that would run says how long it takes.
    pub(crate) is_timed: bool,
}

/// What the forecast of `tasks` is, of which some are done already.
pub(crate) fn forecast(tasks: &[Task], done: &[bool], slots: usize, range: usize) -> Forecast {
    let planned = simulate(tasks, done, slots, range);
    let would_run = |at: &usize| planned[*at].is_some();
    let is_timed = (0..tasks.len())
        .filter(would_run)
        .all(|at| tasks[at].estimate.is_some());
    let conflicts = conflicts(tasks, &planned);
    Forecast {
        planned,
        conflicts,
        is_timed,
    }
}

impl Forecast {
    /// How long the run takes, in seconds, if that is known.
    pub(crate) fn duration(&self) -> Option<f64> {
        let ends = self.planned.iter().flatten().map(|planned| planned.end);
        self.is_timed.then(|| ends.fold(0.0, f64::max))
    }
}

impl RunOptions {
    /// Without any stop on the way.
    fn plain(slots: usize, range: usize) -> Self {
        Self {
            slots,
            range,
            ..Self::default()
        }
    }
}

/// A task of the plan as the engine sees it before its first attempt.
fn record((task, is_done): (&Task, &bool)) -> TaskRecord {
    let state = if *is_done {
        TaskState::Done
    } else {
        TaskState::Ready {
            next: Box::new(NextAttempt::default()),
            not_before: None,
            holds_all: false,
        }
    };
    TaskRecord {
        task: task.clone(),
        attempts: Attempts::default(),
        assessment: Assessment {
            state,
            reason: String::new(),
        },
        // A run that stops at a breakpoint goes on after it.
        is_break_passed: true,
        is_suspended: false,
    }
}

fn simulate(tasks: &[Task], done: &[bool], slots: usize, range: usize) -> Vec<Option<Planned>> {
    let records = tasks.iter().zip(done).map(record);
    let mut records: Vec<TaskRecord> = records.collect();
    let options = RunOptions::plain(slots, range);
    let chains = chains(tasks.iter());
    let mut planned = vec![None; tasks.len()];
    let mut watched = vec![false; tasks.len()];
    let mut slot_ends: Vec<Option<usize>> = vec![None; slots];
    let (mut now, mut count) = (0.0, 0);
    loop {
        let started = schedule(&Situation {
            tasks: &records,
            options: &options,
            watched: &watched,
            chains: &chains,
            pause_file: None,
            signal: None,
            budget: None,
            purse: Purse::default(),
            stuck: None,
            now: Timestamp::UNIX_EPOCH,
        });
        for at in started.start {
            let Some(slot) = slot_ends.iter().position(Option::is_none) else {
                break;
            };
            count += 1;
            planned[at] = Some(Planned {
                order: count,
                slot: slot + 1,
                start: now,
                end: now + tasks[at].estimate.unwrap_or(1.0),
            });
            records[at].assessment.state = TaskState::Open(1);
            (slot_ends[slot], watched[at]) = (Some(at), true);
        }
        // The next end frees a slot, and perhaps what waits for that task.
        let Some((end, first)) = next_end(&slot_ends, &planned) else {
            return planned;
        };
        now = end;
        records[first].assessment.state = TaskState::Done;
        watched[first] = false;
        let freed = slot_ends.iter_mut().filter(|slot| **slot == Some(first));
        freed.for_each(|slot| *slot = None);
    }
}

/// The moment of the next end, and the task that ends.
fn next_end(slots: &[Option<usize>], planned: &[Option<Planned>]) -> Option<(f64, usize)> {
    let running = slots.iter().flatten();
    let ends = running.filter_map(|&at| Some((planned[at]?.end, at)));
    ends.min_by(|one, other| one.0.total_cmp(&other.0))
}

/// The conflicts of a plan, in the order in which they would come.
fn conflicts(tasks: &[Task], planned: &[Option<Planned>]) -> Vec<Conflict> {
    let order = |at: usize| planned[at].map(|task| task.order);
    let mut sorted: Vec<usize> = (0..tasks.len()).filter(|&at| order(at).is_some()).collect();
    sorted.sort_by_key(|&at| order(at));
    let ordered = Orders::new(tasks);
    let mut found = Vec::new();
    for (place, &second) in sorted.iter().enumerate() {
        for &first in &sorted[..place] {
            if tasks[first].wave != tasks[second].wave || ordered.is_before(first, second) {
                continue;
            }
            let files = common_files(&tasks[first], &tasks[second]);
            if !files.is_empty() {
                found.push(Conflict {
                    first,
                    second,
                    files,
                });
            }
        }
    }
    found
}

/// Which task must be done before which, by their dependencies.
#[derive(Debug)]
struct Orders {
    /// For each task a bit for each task that must be done before it.
    before: Vec<Vec<u64>>,
}

impl Orders {
    fn new(tasks: &[Task]) -> Self {
        let places: HashMap<&str, usize> = tasks
            .iter()
            .enumerate()
            .map(|(at, task)| (task.id.as_str(), at))
            .collect();
        let mut before = vec![vec![0; tasks.len().div_ceil(64)]; tasks.len()];
        // A task comes after those that it depends on.
        for (later, task) in tasks.iter().enumerate() {
            for earlier in task
                .depends_on
                .iter()
                .filter_map(|id| places.get(id.as_str()))
            {
                let mut bits = before[*earlier].clone();
                bits[earlier / 64] |= 1 << (earlier % 64);
                for (own, other) in before[later].iter_mut().zip(bits) {
                    *own |= other;
                }
            }
        }
        Self { before }
    }

    fn is_before(&self, earlier: usize, later: usize) -> bool {
        self.before[later][earlier / 64] & (1 << (earlier % 64)) != 0
    }
}
