//! Which tasks may change the same files.

use cr_glob::Glob;

use super::{Situation, TaskRecord};
use crate::task::Task;
use crate::task_state::TaskState;

/// The tasks that are being worked on, by the files that they may change.
pub(super) struct AtWork<'a> {
    tasks: &'a [TaskRecord],
    files: Vec<(usize, Vec<Glob>)>,
}

impl<'a> AtWork<'a> {
    pub(super) fn new(situation: &Situation<'a>) -> Self {
        let mut at_work = Self {
            tasks: situation.tasks,
            files: Vec::new(),
        };
        for (at, record) in situation.tasks.iter().enumerate() {
            if matches!(record.assessment.state, TaskState::Open(_)) || situation.watched[at] {
                at_work.add(at);
            }
        }
        at_work
    }

    pub(super) fn add(&mut self, at: usize) {
        if self.has_files(at) {
            self.files.push((at, globs(&self.tasks[at].task)));
        }
    }

    fn has_files(&self, at: usize) -> bool {
        !self.tasks[at].task.files.is_empty()
    }

    /// A task at work that may change the same files as task `at`. A task without
    /// `files` is not checked.
    pub(super) fn overlap(&self, at: usize) -> Option<usize> {
        if self.files.is_empty() || !self.has_files(at) {
            return None;
        }
        let own = globs(&self.tasks[at].task);
        let meets = |others: &Vec<Glob>| {
            let both = |one: &Glob| others.iter().any(|other| one.overlaps(other));
            own.iter().any(both)
        };
        let found = self.files.iter().find(|(_, files)| meets(files));
        found.map(|(other, _)| *other)
    }
}

fn globs(task: &Task) -> Vec<Glob> {
    let files = task.files.iter();
    files.map(|file| Glob::new(file.as_bytes())).collect()
}

/// The patterns of `task` that may name a file of `other`, too.
pub(crate) fn common_files(other: &Task, task: &Task) -> Vec<String> {
    let others = globs(other);
    let meets = |file: &&String| {
        let own = Glob::new(file.as_bytes());
        others.iter().any(|other| own.overlaps(other))
    };
    task.files.iter().filter(meets).cloned().collect()
}
