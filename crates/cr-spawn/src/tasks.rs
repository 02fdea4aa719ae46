//! The background tasks of the agent: agents and shells that outlive a turn.

use cr_event::{Raw, Text};

/// The most tasks that are tracked.
const MAX_TASKS: usize = 1000;

/// What a line says about a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TaskFact {
    pub(crate) id: String,
    pub(crate) description: Option<String>,
    /// The call that started it.
    pub(crate) call: Option<String>,
    /// Whether it is an agent, and not a shell.
    pub(crate) is_agent: bool,
    /// Whether it runs in the background, where the line says so.
    pub(crate) is_background: Option<bool>,
    /// Its status, if the line is not its beginning.
    pub(crate) status: Option<String>,
}

impl TaskFact {
    /// What a `task_*` line, or an entry of the agent's list, says.
    pub(crate) fn of_line(line: Raw<'_>) -> Option<Self> {
        let text = |key: &str| line.string(key).map(std::borrow::Cow::into_owned);
        let patch = |key: &str| line.at(&["patch", key]);
        let status = patch("status").and_then(Raw::text).map(Text::decode);
        let is_background = line
            .get("is_backgrounded")
            .or_else(|| patch("is_backgrounded"));
        Some(Self {
            id: text("task_id").or_else(|| text("id"))?,
            description: text("description"),
            call: text("tool_use_id"),
            is_agent: text("task_type").is_some_and(|kind| kind.contains("agent")),
            is_background: is_background.and_then(Raw::bool),
            status: text("status").or(status.map(std::borrow::Cow::into_owned)),
        })
    }

    /// The tasks of `background_tasks_changed`.
    pub(crate) fn of_list(line: Raw<'_>) -> Vec<Self> {
        let tasks = line.get("tasks").map(Raw::items).unwrap_or_default();
        tasks.into_iter().filter_map(Self::of_line).collect()
    }
}

/// The agent that the tool call of this result has resumed: some versions tell its
/// new work nowhere else.
pub(crate) fn resumed_agent(line: Raw<'_>) -> Option<String> {
    // Results are long, and most are of other tools.
    memchr::memmem::find(line.bytes(), b"\"resumedAgentId\"")?;
    let id = line.at(&["tool_use_result", "resumedAgentId"])?;
    id.text().map(|id| id.decode().into_owned())
}

/// A task that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Task {
    fact: TaskFact,
    /// Its call has returned, so it runs in the background.
    has_returned: bool,
}

/// The tasks that run, as far as the agent tells.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    open: Vec<Task>,
    /// The agent lists its background tasks. Older versions do not.
    is_listed: bool,
}

/// How a task has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EndedTask {
    pub(crate) id: String,
    /// Somebody killed it, so that no turn reports it.
    pub(crate) is_killed: bool,
}

impl Tasks {
    /// Takes note of a task's beginning or change. Returns it if it has ended and
    /// ran in the background.
    pub(crate) fn changed(&mut self, fact: TaskFact) -> Option<EndedTask> {
        let has_ended = fact.status.as_deref().is_some_and(is_end);
        let known = self.open.iter().position(|task| task.fact.id == fact.id);
        match (known, has_ended) {
            (Some(index), true) => {
                let task = self.open.remove(index);
                let is_killed = fact.status.as_deref() == Some("killed");
                task.is_background().then_some(EndedTask {
                    id: fact.id,
                    is_killed,
                })
            }
            (Some(index), false) => {
                let task = &mut self.open[index];
                task.fact.is_background = fact.is_background.or(task.fact.is_background);
                None
            }
            // A change of an unknown task is not its beginning.
            (None, _) if fact.status.is_some() => None,
            (None, _) => {
                self.begin(fact);
                None
            }
        }
    }

    fn begin(&mut self, fact: TaskFact) {
        if self.open.len() < MAX_TASKS {
            self.open.push(Task {
                fact,
                has_returned: false,
            });
        }
    }

    /// An agent that had ended works again.
    pub(crate) fn resumed(&mut self, id: String) {
        let is_known = self.open.iter().any(|task| task.fact.id == id);
        if !is_known && !self.is_listed {
            self.begin(TaskFact {
                id,
                is_agent: true,
                is_background: Some(true),
                ..TaskFact::default()
            });
        }
    }

    /// Takes over the agent's own list of background tasks.
    pub(crate) fn listed(&mut self, tasks: Vec<TaskFact>) {
        self.is_listed = true;
        self.open.retain(|task| {
            tasks.iter().any(|listed| listed.id == task.fact.id) || !task.is_background()
        });
        for fact in tasks {
            match self.open.iter_mut().find(|task| task.fact.id == fact.id) {
                Some(task) => task.fact.is_background = Some(true),
                None => self.begin(TaskFact {
                    is_background: Some(true),
                    ..fact
                }),
            }
        }
    }

    /// A call has returned: its task goes on in the background.
    pub(crate) fn call_returned(&mut self, call: &str) {
        let of_call = |task: &&mut Task| task.fact.call.as_deref() == Some(call);
        if let Some(task) = self.open.iter_mut().find(of_call) {
            task.has_returned = true;
        }
    }

    /// A turn has ended: what is left of its foreground tasks is over.
    pub(crate) fn turn_ended(&mut self) {
        self.open.retain(Task::is_background);
    }

    /// The ids of the background agents, which an interrupt kills.
    pub(crate) fn agents(&self) -> Vec<String> {
        let agents = self.background().filter(|task| task.fact.is_agent);
        agents.map(|task| task.fact.id.clone()).collect()
    }

    /// Whether a background task runs.
    pub(crate) fn is_any_open(&self) -> bool {
        self.background().next().is_some()
    }

    fn background(&self) -> impl Iterator<Item = &Task> {
        self.open.iter().filter(|task| task.is_background())
    }
}

impl Task {
    fn is_background(&self) -> bool {
        self.fact.is_background.unwrap_or(self.has_returned)
    }
}

/// Whether a task with this status has ended.
fn is_end(status: &str) -> bool {
    ["completed", "failed", "killed", "stopped", "error"].contains(&status)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(id: &str, status: Option<&str>) -> TaskFact {
        TaskFact {
            id: id.to_owned(),
            call: Some(format!("call-{id}")),
            is_agent: id.starts_with('a'),
            status: status.map(str::to_owned),
            ..TaskFact::default()
        }
    }

    #[test]
    fn a_task_whose_call_has_returned_runs_in_the_background() {
        let mut tasks = Tasks::default();
        assert_eq!(tasks.changed(fact("a1", None)), None);
        assert!(!tasks.is_any_open());
        tasks.call_returned("call-a1");
        assert!(tasks.is_any_open());
        assert_eq!(tasks.agents(), ["a1"]);
        let ended = tasks.changed(fact("a1", Some("completed")));
        assert_eq!(
            ended.map(|task| (task.id, task.is_killed)),
            Some(("a1".into(), false))
        );
        assert!(!tasks.is_any_open());
        // The notification follows the update.
        assert_eq!(tasks.changed(fact("a1", Some("completed"))), None);
    }

    #[test]
    fn a_foreground_task_is_over_with_its_turn() {
        let mut tasks = Tasks::default();
        tasks.changed(fact("b1", None));
        tasks.turn_ended();
        assert_eq!(tasks.changed(fact("b1", Some("completed"))), None);
        assert!(!tasks.is_any_open());
    }

    #[test]
    fn an_agent_that_is_resumed_runs_again_also_where_only_the_result_tells() {
        let result = r#"{"type":"user","tool_use_result":{"success":true,"resumedAgentId":"a1"}}"#;
        let line = Raw::of(result.as_bytes()).expect("JSON");
        let mut tasks = Tasks::default();
        tasks.resumed(resumed_agent(line).expect("an agent"));
        assert_eq!(tasks.agents(), ["a1"]);
        assert!(tasks.changed(fact("a1", Some("completed"))).is_some());
        assert!(!tasks.is_any_open());
        // Where there is a list, it tells when the agent ends.
        tasks.listed(Vec::new());
        tasks.resumed("a1".to_owned());
        assert!(!tasks.is_any_open());
        let other = r#"{"type":"user","message":{"content":"\"resumedAgentId\""}}"#;
        assert_eq!(
            resumed_agent(Raw::of(other.as_bytes()).expect("JSON")),
            None
        );
    }

    #[test]
    fn the_agents_own_list_counts() {
        let mut tasks = Tasks::default();
        tasks.listed(vec![fact("a1", None), fact("b2", None)]);
        assert!(tasks.is_any_open());
        assert_eq!(tasks.agents(), ["a1"]);
        tasks.listed(vec![fact("b2", None)]);
        assert!(tasks.agents().is_empty() && tasks.is_any_open());
        tasks.listed(Vec::new());
        assert!(!tasks.is_any_open());
    }
}
