//! Background agents and shells, and the turns that their end begins.

use std::io;
use std::time::{Duration, Instant};

use crate::agent::ids;
use crate::agent::input::Message;
use crate::agent::object::{Json, json, object};
use crate::agent::options::Dialect;
use crate::agent::output::Nested;
use crate::agent::session::Session;
use crate::agent::turn::Turn;

/// A background task that runs.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) id: String,
    run_id: String,
    tool_use_id: String,
    is_agent: bool,
    /// Its end begins a turn.
    wakes: bool,
    pub(crate) until: Instant,
}

/// A turn that nobody typed.
#[derive(Clone, Debug)]
pub(crate) enum Wakeup {
    /// A task has ended, with this status.
    Task(Task, &'static str),
    /// Another session has sent this message.
    Peer(Message),
}

const DESCRIPTION: &str = "background work";
const REPORT: &str = "report of the agent";

impl Task {
    fn kind(&self) -> &'static str {
        if self.is_agent {
            "local_agent"
        } else {
            "local_bash"
        }
    }

    fn nested(&self) -> Nested {
        Nested {
            tool_use_id: self.tool_use_id.clone(),
            agent_id: self.id.clone(),
            description: DESCRIPTION.to_owned(),
        }
    }

    fn summary(&self, dialect: Dialect, status: &str) -> String {
        match (self.is_agent, status, dialect) {
            (_, "stopped", _) => DESCRIPTION.to_owned(),
            (true, _, Dialect::New) => REPORT.to_owned(),
            (true, _, Dialect::Old) => format!("Agent \"{DESCRIPTION}\" finished"),
            (false, ..) => format!("Background command \"{DESCRIPTION}\" completed (exit code 0)"),
        }
    }

    /// As an entry of the list of running tasks.
    fn entry(&self) -> Json {
        let mut entry = object! {
            "task_id": self.id,
            "run_id": self.run_id,
            "task_type": self.kind(),
        };
        if self.is_agent {
            entry.put("subagent_type", "general-purpose");
        }
        entry.put("description", DESCRIPTION);
        entry.json()
    }
}

impl Wakeup {
    pub(crate) fn peer() -> Self {
        let mut message = Message::from_prompt("hello".to_owned());
        // The newer release tells its life, though nobody here has sent it.
        message.is_named = true;
        Self::Peer(message)
    }

    /// The message of another session.
    pub(crate) fn message(&self) -> Option<&Message> {
        match self {
            Self::Task(..) => None,
            Self::Peer(message) => Some(message),
        }
    }

    pub(crate) fn is_peer(&self) -> bool {
        matches!(self, Self::Peer(_))
    }

    pub(crate) fn prompt(&self) -> String {
        match self {
            Self::Task(task, status) => format!(
                "<task-notification>\n<task-id>{}</task-id>\n<status>{status}</status>\n</task-notification>",
                task.id
            ),
            Self::Peer(_) => {
                "Another Claude session sent a message:\n<agent-message from=\"peer\">\n\
                hello\n</agent-message>"
                    .to_owned()
            }
        }
    }

    pub(crate) fn answer(&self) -> String {
        match self {
            Self::Task(task, status) => format!("woken by {}: {status}", task.id),
            Self::Peer(_) => "answer to a peer".to_owned(),
        }
    }

    pub(crate) fn origin(&self, dialect: Dialect) -> Json {
        let origin = match (self, dialect) {
            (Self::Task(task, _), Dialect::New) => object! {
                "kind": "task-notification",
                "producer": "session-task",
                "runId": task.run_id,
            },
            (Self::Task(..), Dialect::Old) => object! {"kind": "task-notification"},
            (Self::Peer(_), Dialect::New) => object! {
                "kind": "peer",
                "from": "uds:/tmp/cc-socks/1.sock",
                "verifiedPeerPid": 1,
                "verifiedPeerProcStart": "1",
                "msg_id": ids::uuid(),
                "name": "peer",
                "fromMode": "bypass",
                "body": "hello",
                "verifiedLocal": true,
            },
            (Self::Peer(_), Dialect::Old) => object! {"kind": "peer", "from": "peer"},
        };
        origin.json()
    }
}

impl Session {
    pub(crate) fn has_agents(&self) -> bool {
        self.tasks.iter().any(|task| task.is_agent)
    }

    pub(crate) fn start_agent(&mut self, time: Duration, wakes: bool) -> anyhow::Result<()> {
        let input = object! {
            "description": DESCRIPTION,
            "prompt": "work",
            "subagent_type": "general-purpose",
            "run_in_background": true,
        };
        let call = self.call("Agent", input.json())?;
        let task = Task {
            id: format!("a{}", ids::hex(8)),
            run_id: ids::run_id(),
            tool_use_id: call.id.clone(),
            is_agent: true,
            wakes,
            until: Instant::now() + time,
        };
        let (id, file) = (&task.id, self.out.task_file(&task.id));
        let text =
            format!("Async agent launched successfully.\nagentId: {id}\noutput_file: {file}");
        let value = object! {
            "isAsync": true,
            "status": "async_launched",
            "agentId": id,
            "description": DESCRIPTION,
            "prompt": "work",
            "outputFile": file,
        };
        let blocks = json(&[object! {"type": "text", "text": text}.json()]);
        self.started(task, &blocks, &value.json())
    }

    pub(crate) fn start_shell(&mut self, time: Duration) -> anyhow::Result<()> {
        let input = object! {
            "command": format!("sleep {}", time.as_secs_f32()),
            "description": DESCRIPTION,
            "run_in_background": true,
        };
        let call = self.call("Bash", input.json())?;
        let task = Task {
            id: format!("b{}", ids::hex(4)),
            run_id: ids::run_id(),
            tool_use_id: call.id.clone(),
            is_agent: false,
            wakes: true,
            until: Instant::now() + time,
        };
        let text = format!("Command running in background with ID: {}.", task.id);
        let value = object! {
            "stdout": "",
            "stderr": "",
            "interrupted": false,
            "isImage": false,
            "noOutputExpected": false,
            "backgroundTaskId": task.id,
        };
        self.started(task, &json(&text), &value.json())
    }

    /// Tells that `task` has started, then the result of the call that did it.
    fn started(&mut self, task: Task, text: &Json, value: &Json) -> anyhow::Result<()> {
        let mut line = object! {"type": "system", "subtype": "task_started", "task_id": task.id};
        let is_new = self.dialect().is_new();
        if is_new {
            line.put("run_id", &task.run_id);
        }
        line.put("tool_use_id", &task.tool_use_id);
        line.put("description", DESCRIPTION);
        if task.is_agent {
            line.put("subagent_type", "general-purpose");
        }
        if is_new {
            line.put("is_backgrounded", &true);
        }
        if is_new && task.is_agent {
            line.put("spawn_depth", &1);
        }
        line.put("task_type", task.kind());
        if task.is_agent {
            line.put("prompt", "work");
        }
        let content = object! {
            "tool_use_id": task.tool_use_id,
            "type": "tool_result",
            "content": text,
        };
        let meta = object! {"id": task.tool_use_id};
        self.tasks.push(task);
        self.tell_tasks()?;
        self.out.system(line)?;
        self.tool_result(content.json(), value, &json(&[meta.json()]))?;
        self.fold()
    }

    /// The list of running tasks, which the older release does not tell.
    fn tell_tasks(&mut self) -> io::Result<()> {
        if !self.dialect().is_new() {
            return Ok(());
        }
        let tasks: Vec<Json> = self.tasks.iter().map(Task::entry).collect();
        self.out.system(object! {
            "type": "system",
            "subtype": "background_tasks_changed",
            "tasks": tasks,
        })
    }

    /// Ends one task whose time has come; tells whether there was one.
    pub(crate) fn finish_task(&mut self, now: Instant) -> anyhow::Result<bool> {
        let due = self.tasks.iter().position(|task| task.until <= now);
        let Some(task) = due.map(|at| self.tasks.remove(at)) else {
            return Ok(false);
        };
        if task.is_agent {
            self.say_nested(REPORT, &task.nested())?;
        }
        self.tell_end(&task, "completed")?;
        // In the middle of a tool the agent hears of it without a turn.
        let is_in_tool = self.turn.as_ref().is_some_and(Turn::is_in_tool);
        if task.wakes && !is_in_tool {
            self.wakeups.push_back(Wakeup::Task(task, "completed"));
        }
        self.begin()?;
        Ok(true)
    }

    /// Tells that a task has ended; the older release notifies only when the
    /// agent hears of it.
    fn tell_end(&mut self, task: &Task, status: &'static str) -> anyhow::Result<()> {
        self.tell_status(task, status)?;
        if self.dialect().is_new() {
            self.notify_of(task, status)?;
            self.tell_tasks()?;
        }
        Ok(())
    }

    fn tell_status(&mut self, task: &Task, status: &str) -> io::Result<()> {
        let status = if status == "stopped" {
            "killed"
        } else {
            status
        };
        let patch = object! {"status": status, "end_time": ids::now_ms()};
        let mut line = object! {"type": "system", "subtype": "task_updated", "task_id": task.id};
        if self.dialect().is_new() {
            line.put("run_id", &task.run_id);
        }
        line.put("patch", &patch.json());
        self.out.system(line)
    }

    fn notify_of(&mut self, task: &Task, status: &str) -> io::Result<()> {
        let dialect = self.dialect();
        let mut line = object! {
            "type": "system",
            "subtype": "task_notification",
            "task_id": task.id,
        };
        if dialect.is_new() {
            line.put("run_id", &task.run_id);
        }
        line.put("tool_use_id", &task.tool_use_id);
        line.put("status", status);
        line.put("output_file", &self.out.task_file(&task.id));
        line.put("summary", &task.summary(dialect, status));
        if task.is_agent && status == "completed" {
            if dialect.is_new() {
                line.put("summary_is_report", &true);
            }
            let usage = object! {"total_tokens": 110, "tool_uses": 0, "duration_ms": 1};
            line.put("usage", &usage.json());
        }
        self.out.system(line)
    }

    /// The notification that comes with the turn, in the older release.
    pub(crate) fn notify(&mut self, wakeup: &Wakeup) -> io::Result<()> {
        match wakeup {
            Wakeup::Task(task, status) => self.notify_of(&task.clone(), status),
            Wakeup::Peer(_) => Ok(()),
        }
    }

    /// An interrupt kills the agents, and no turn tells of it. Shells go on.
    pub(crate) fn kill_agents(&mut self) -> anyhow::Result<bool> {
        let all = std::mem::take(&mut self.tasks);
        let (agents, shells): (Vec<Task>, _) = all.into_iter().partition(|task| task.is_agent);
        self.tasks = shells;
        for task in &agents {
            self.tell_status(task, "stopped")?;
            self.notify_of(task, "stopped")?;
            self.tell_tasks()?;
        }
        Ok(!agents.is_empty())
    }

    /// Stops one task, which wakes the agent.
    pub(crate) fn stop(&mut self, task: Task) -> anyhow::Result<()> {
        self.tell_end(&task, "stopped")?;
        if task.is_agent {
            self.interrupted(Some(&task.nested()), true)?;
        }
        self.wakeups.push_back(Wakeup::Task(task, "stopped"));
        Ok(())
    }
}
