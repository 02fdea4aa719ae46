//! The agent's own list of tasks. `TodoWrite` writes all of it; other releases
//! have `TaskCreate` and `TaskUpdate` for one task.

use cr_event::{Event, Raw, Text, ToolResult, ToolUse};

use crate::quote::cut;

/// Open tasks that are kept, and calls that change them.
const MOST: usize = 50;
/// Bytes of a task that are decoded, and kept: a secret at the cut is recognised.
const DECODED: usize = 2 << 10;
const KEPT: usize = 400;

/// A task that is not completed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Todo {
    /// The task.
    pub task: String,
    /// Whether the agent is at it.
    pub in_progress: bool,
    /// Its id, where it has one.
    id: String,
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
    /// Changes by calls that have no result yet.
    next: Vec<(u64, Change)>,
}

/// What a call does to the list.
#[derive(Debug)]
enum Change {
    Write(Vec<Todo>),
    Create(Todo),
    Update {
        id: String,
        task: Option<String>,
        status: String,
    },
}

impl Todos {
    /// Takes the call with this number, if it is about the list.
    pub(crate) fn call(&mut self, call: &ToolUse<'_>, number: u64, mask: impl Fn(&str) -> String) {
        let text = |text: Text<'_>| cut(&mask(&text.prefix(DECODED)), KEPT);
        let Some(change) = Change::of(call, text) else {
            return;
        };
        if self.next.len() == MOST {
            self.next.remove(0);
        }
        self.next.push((number, change));
    }

    /// The call has its result.
    pub(crate) fn end(&mut self, number: u64, event: &Event<'_>, result: &ToolResult<'_>) {
        let Some(at) = self.next.iter().position(|(call, _)| *call == number) else {
            return;
        };
        let (_, mut change) = self.next.remove(at);
        if result.is_error {
            return;
        }
        if let Change::Create(todo) = &mut change {
            todo.id = id_of_new(event, result);
        }
        self.apply(change);
    }

    fn apply(&mut self, change: Change) {
        match change {
            Change::Write(open) => self.open = open,
            Change::Create(todo) => {
                if self.open.len() == MOST {
                    self.open.remove(0);
                }
                self.open.push(todo);
            }
            Change::Update { id, task, status } => {
                let is_over = matches!(&*status, "completed" | "deleted");
                self.open.retain(|todo| todo.id != id || !is_over);
                if let Some(todo) = self.open.iter_mut().find(|todo| todo.id == id) {
                    let is_named = !status.is_empty();
                    todo.in_progress = (todo.in_progress && !is_named) || status == "in_progress";
                    todo.task = task.unwrap_or_else(|| todo.task.clone());
                }
            }
        }
    }

    /// The open tasks. A call without a result says what the agent wants.
    pub(crate) fn all(mut self) -> Vec<Todo> {
        for (_, change) in std::mem::take(&mut self.next) {
            self.apply(change);
        }
        self.open
    }
}

impl Change {
    fn of(call: &ToolUse<'_>, text: impl Fn(Text<'_>) -> String) -> Option<Self> {
        let input = call.input?;
        let field = |key| input.get(key).and_then(Raw::text);
        if call.name.is("TodoWrite") {
            let items = input.get("todos")?.items().into_iter();
            let open = items.filter_map(|item| item_of(item, &text));
            return Some(Self::Write(open.take(MOST).collect()));
        }
        if call.name.is("TaskCreate") {
            return Some(Self::Create(Todo {
                task: text(field("subject")?),
                in_progress: false,
                id: String::new(),
            }));
        }
        let is_update = call.name.is("TaskUpdate");
        let id = input.get("taskId").filter(|_| is_update)?;
        Some(Self::Update {
            id: id_text(id),
            task: field("subject").map(text),
            status: field("status").map_or_else(String::new, short),
        })
    }
}

/// An open task of a `TodoWrite`.
fn item_of(item: Raw<'_>, text: impl Fn(Text<'_>) -> String) -> Option<Todo> {
    let field = |key| item.get(key).and_then(Raw::text);
    let is = |state: &str| field("status").is_some_and(|status| status.is(state));
    let task = field("content").or_else(|| field("activeForm"))?;
    (!is("completed")).then(|| Todo {
        task: text(task),
        in_progress: is("in_progress"),
        id: String::new(),
    })
}

/// The id of the task that a `TaskCreate` made: a field, or in `Task #1 created`.
fn id_of_new(event: &Event<'_>, result: &ToolResult<'_>) -> String {
    let made = event.tool_result.and_then(|twin| twin.at(&["task", "id"]));
    if let Some(id) = made {
        return id_text(id);
    }
    let text = cr_progress::result_text(result, 64).unwrap_or_default();
    let number = text
        .strip_prefix("Task #")
        .and_then(|it| it.split(' ').next());
    number.unwrap_or_default().to_owned()
}

/// An id, which is a string or a number.
fn id_text(id: Raw<'_>) -> String {
    let number = || id.u64().map_or_else(String::new, |id| id.to_string());
    id.text().map_or_else(number, short)
}

fn short(text: Text<'_>) -> String {
    text.prefix(100).into_owned()
}
