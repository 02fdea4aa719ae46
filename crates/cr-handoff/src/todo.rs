//! The agent's own list of tasks, by its last `TodoWrite`.

use cr_event::{Raw, ToolUse};

/// Open tasks that are kept.
const MOST: usize = 50;
/// Bytes of a task.
const TASK: usize = 400;

/// A task that is not completed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Todo {
    /// The task.
    pub task: String,
    /// Whether the agent is at it.
    pub in_progress: bool,
}

impl Todo {
    pub(crate) fn line(&self) -> String {
        let state = if self.in_progress {
            "in progress"
        } else {
            "pending"
        };
        format!("{state}: {}", self.task)
    }
}

/// The list so far.
#[derive(Debug, Default)]
pub(crate) struct Todos {
    open: Vec<Todo>,
    /// A list whose call has no result yet.
    next: Option<(u64, Vec<Todo>)>,
}

impl Todos {
    /// The call with this number writes the list.
    pub(crate) fn call(&mut self, call: &ToolUse<'_>, number: u64, mask: impl Fn(&str) -> String) {
        let Some(list) = call.input.and_then(|input| input.get("todos")) else {
            return;
        };
        let mut open = Vec::new();
        for item in list.items() {
            let text = |key| item.get(key).and_then(Raw::text);
            let status = text("status");
            let is = |state: &str| status.is_some_and(|status| status.is(state));
            let task = text("content").or_else(|| text("activeForm"));
            if let Some(task) = task.filter(|_| !is("completed") && open.len() < MOST) {
                open.push(Todo {
                    task: mask(&task.prefix(TASK)),
                    in_progress: is("in_progress"),
                });
            }
        }
        self.next = Some((number, open));
    }

    /// The call has its result.
    pub(crate) fn end(&mut self, number: u64, is_error: bool) {
        let next = self.next.take_if(|(call, _)| *call == number);
        if let Some((_, open)) = next.filter(|_| !is_error) {
            self.open = open;
        }
    }

    /// The open tasks.
    pub(crate) fn all(self) -> Vec<Todo> {
        self.next.map_or(self.open, |(_, open)| open)
    }
}
