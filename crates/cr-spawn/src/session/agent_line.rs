//! What a line of the agent says about its session.

use cr_event::{Block, Event, Kind, Raw, Text, TurnEnd};

use crate::tasks::{TaskFact, resumed_agent};

/// One fact of a line.
#[derive(Debug)]
pub(crate) enum Fact<'a> {
    /// A turn begins (`init`).
    TurnBegan,
    /// The main thread said something or called a tool.
    Spoke,
    /// A turn has ended.
    TurnEnded(TurnEnd<'a>),
    /// The agent has nothing to do.
    Idle,
    /// The agent is at work, or waits for an answer.
    Busy,
    /// The life of a message, in the agent's words: queued, started, completed,
    /// cancelled. Older versions do not tell it.
    Lifecycle {
        /// The message.
        id: String,
        /// The state.
        state: String,
    },
    /// A message of ours, as the agent takes it up.
    Replayed(String),
    /// The message of another agent or session.
    PeerMessage,
    /// A task of the agent: started, changed or reported.
    Task(TaskFact),
    /// The background tasks that run now, all of them.
    TaskList(Vec<TaskFact>),
    /// A tool call has returned.
    CallReturned(String),
    /// A message to an agent that had ended: it works again.
    AgentResumed(String),
    /// A question; the value is its request.
    Question(Raw<'a>),
    /// The agent no longer waits for the answer to this question.
    Withdrawn(String),
    /// The reply to a request of ours.
    Reply(Reply<'a>),
}

/// The reply to a control request.
#[derive(Debug)]
pub(crate) struct Reply<'a> {
    pub(crate) request_id: String,
    /// What the agent replied; `None` if it gave nothing.
    pub(crate) response: Option<Raw<'a>>,
    /// Why it refused.
    pub(crate) error: Option<String>,
}

/// The facts of `line`, in order.
pub(crate) fn facts(line: &[u8]) -> Vec<Fact<'_>> {
    // Parts of a message are many and say nothing here.
    if Kind::of_head(line) == Some(Kind::StreamEvent) {
        return Vec::new();
    }
    let Ok(event) = Event::parse(line) else {
        return Vec::new();
    };
    match event.kind {
        Kind::System => of_system(&event).into_iter().collect(),
        Kind::Assistant if event.is_main() => vec![Fact::Spoke],
        Kind::User => of_user(&event),
        Kind::Result => vec![Fact::TurnEnded(TurnEnd::new(event.line))],
        Kind::Control => of_control(&event).into_iter().collect(),
        Kind::Other if event.name.is("command_lifecycle") => {
            lifecycle(event.line).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

fn lifecycle(line: Raw<'_>) -> Option<Fact<'_>> {
    Some(Fact::Lifecycle {
        id: line.string("command_uuid")?.into_owned(),
        state: line.string("state")?.into_owned(),
    })
}

fn of_system<'a>(event: &Event<'a>) -> Option<Fact<'a>> {
    let line = event.line;
    let subtype = event.subtype.map(Text::decode)?;
    Some(match &*subtype {
        "init" => Fact::TurnBegan,
        "session_state_changed" => match &*line.string("state")? {
            "idle" => Fact::Idle,
            _ => Fact::Busy,
        },
        "task_started" | "task_updated" | "task_notification" => {
            Fact::Task(TaskFact::of_line(line)?)
        }
        "background_tasks_changed" => Fact::TaskList(TaskFact::of_list(line)),
        _ => return None,
    })
}

fn of_user<'a>(event: &Event<'a>) -> Vec<Fact<'a>> {
    if event.is_replay() {
        let origin = event.line.at(&["origin", "kind"]).and_then(Raw::text);
        if origin.is_some_and(|kind| kind.is("peer")) {
            return vec![Fact::PeerMessage];
        }
        let id = event.line.string("uuid");
        return id
            .into_iter()
            .map(|id| Fact::Replayed(id.into_owned()))
            .collect();
    }
    let blocks = event.message.as_ref().map(cr_event::Message::blocks);
    let results = blocks
        .unwrap_or_default()
        .iter()
        .filter_map(|block| match block {
            Block::ToolResult(result) => Some(Fact::CallReturned(result.id.decode().into_owned())),
            _ => None,
        });
    let resumed = resumed_agent(event.line).map(Fact::AgentResumed);
    results.chain(resumed).collect()
}

fn of_control<'a>(event: &Event<'a>) -> Option<Fact<'a>> {
    let line = event.line;
    if event.name.is("control_request") {
        let request = line.get("request")?;
        let asks = request
            .string("subtype")
            .is_some_and(|kind| kind == "can_use_tool");
        return asks.then_some(Fact::Question(line));
    }
    if event.name.is("control_cancel_request") {
        return Some(Fact::Withdrawn(line.string("request_id")?.into_owned()));
    }
    let response = line.get("response")?;
    let is_error = response
        .string("subtype")
        .is_some_and(|kind| kind == "error");
    let error = response.string("error").map(std::borrow::Cow::into_owned);
    Some(Fact::Reply(Reply {
        request_id: response.string("request_id")?.into_owned(),
        response: response.get("response"),
        error: is_error.then(|| error.unwrap_or_else(|| "refused".to_owned())),
    }))
}
