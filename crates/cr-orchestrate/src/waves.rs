//! The lines about waves: when each begins, and when it is over.

use std::collections::{BTreeMap, HashSet};

use cr_stream::Wave;

use crate::dry_run::cents;
use crate::report;
use crate::schedule::TaskRecord;
use crate::task_state::TaskState;

/// What was said of each wave last.
#[derive(Debug, Default)]
pub(crate) struct Waves {
    states: BTreeMap<u64, &'static str>,
}

impl Waves {
    /// Takes what `tasks` are at the start of the engine as said already.
    pub(crate) fn begin(&mut self, tasks: &[TaskRecord]) {
        let _ = self.changes(tasks, |_| false);
    }

    /// The waves that have changed. `is_running` says whether an attempt at the task at
    /// a position runs.
    pub(crate) fn changes(
        &mut self,
        tasks: &[TaskRecord],
        is_running: impl Fn(usize) -> bool,
    ) -> Vec<Wave<'static>> {
        let mut members: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (at, record) in tasks.iter().enumerate() {
            members.entry(record.task.wave).or_default().push(at);
        }
        let able = able(tasks, &is_running);
        let mut changes = Vec::new();
        for (n, members) in members {
            let records = || members.iter().map(|&at| (&tasks[at], is_running(at)));
            let can_go_on = members.iter().any(|&at| able[at]);
            let Some(state) = state(records(), can_go_on) else {
                continue;
            };
            if self.states.insert(n, state) != Some(state) {
                changes.push(wave(n, state, records()));
            }
        }
        changes
    }
}

/// For each task, whether it runs, or can still come to run: a task does not if it
/// depends on one that cannot.
fn able(tasks: &[TaskRecord], is_running: &impl Fn(usize) -> bool) -> Vec<bool> {
    let mut free = HashSet::new();
    let mut able = Vec::new();
    // A task comes after those that it depends on.
    for (at, record) in tasks.iter().enumerate() {
        let state = &record.assessment.state;
        let is_ready = matches!(state, TaskState::Ready { .. } | TaskState::Open(_));
        let mut needed = record.task.depends_on.iter();
        let has_all = needed.all(|other| free.contains(other.as_str()));
        let is_able = is_running(at) || (is_ready && has_all);
        able.push(is_able);
        if is_able || matches!(state, TaskState::Done) {
            free.insert(record.task.id.as_str());
        }
    }
    able
}

/// The state of a wave; `None` before its first attempt.
fn state<'a>(
    records: impl Iterator<Item = (&'a TaskRecord, bool)>,
    can_go_on: bool,
) -> Option<&'static str> {
    let (mut has_begun, mut all_done) = (false, true);
    for (record, is_running) in records {
        has_begun |= is_running || !record.attempts.ended.is_empty();
        all_done &= matches!(record.assessment.state, TaskState::Done);
    }
    match (has_begun, all_done) {
        (false, _) => None,
        (_, true) => Some("completed"),
        _ if can_go_on => Some("running"),
        _ => Some("incomplete"),
    }
}

fn wave<'a>(
    n: u64,
    state: &'static str,
    records: impl Iterator<Item = (&'a TaskRecord, bool)>,
) -> Wave<'static> {
    let mut counts = BTreeMap::new();
    let mut spent = None;
    for (record, is_running) in records {
        let word = if is_running {
            "running"
        } else {
            record.assessment.word(&record.attempts)
        };
        *counts.entry(word.into()).or_default() += 1;
        let cost = report::cost(&record.attempts.ended);
        spent = spent.into_iter().chain(cost).reduce(|a: f64, b| a + b);
    }
    Wave {
        n,
        state: state.into(),
        counts,
        spent: spent.map(cents),
    }
}
