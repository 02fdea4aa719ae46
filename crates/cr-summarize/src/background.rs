//! Background work that is open at the end.

use cr_event::{Event, Raw, Text};
use cr_summary::BackgroundTask;

/// Tasks that are remembered.
const TASKS: usize = 1000;

/// The tasks that are open.
#[derive(Debug, Default)]
pub(crate) struct Background {
    pub(crate) open: Vec<BackgroundTask>,
}

impl Background {
    /// Takes a `system` line about tasks; returns whether it was one.
    pub(crate) fn take(&mut self, event: &Event<'_>) -> bool {
        let line = event.line;
        if event.is("background_tasks_changed") {
            let tasks = line.get("tasks").map(Raw::items).unwrap_or_default();
            self.open = tasks.into_iter().filter_map(task).take(TASKS).collect();
        } else if event.is("task_started") {
            if is_true(line.get("is_backgrounded")) {
                self.add(task(line));
            }
        } else if event.is("task_updated") {
            if is_true(line.at(&["patch", "is_backgrounded"])) {
                self.add(task(line));
            }
        } else if event.is("task_notification") {
            let id = line.get("task_id").and_then(Raw::text).unwrap_or_default();
            self.open.retain(|task| !id.is(&task.task_id));
        } else {
            return false;
        }
        true
    }

    fn add(&mut self, task: Option<BackgroundTask>) {
        let Some(task) = task else {
            return;
        };
        let known = self.open.iter().any(|known| known.task_id == task.task_id);
        if !known && self.open.len() < TASKS {
            self.open.push(task);
        }
    }
}

fn is_true(value: Option<Raw<'_>>) -> bool {
    value.and_then(Raw::bool) == Some(true)
}

fn task(line: Raw<'_>) -> Option<BackgroundTask> {
    let text = |key| line.get(key).and_then(Raw::text);
    let short = |text: Text<'_>| text.prefix(200).into_owned();
    Some(BackgroundTask {
        task_id: short(text("task_id")?),
        task_type: text("task_type").map(short),
        description: text("description").map(short),
    })
}
