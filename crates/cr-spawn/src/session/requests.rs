//! Requests: those of clients to us, and ours to the agent.

use cr_event::{Raw, Text};
use cr_rundir::{ContextUse, ControlOperation, ControlReply, ControlRequest, Interrupted};
use cr_stream::AskState;
use serde::Serialize;

use super::agent_line::Reply;
use super::clients::ClientId;
use super::inbox::Stage;
use super::message::Draft;
use super::question::Answer;
use super::{Completion, Effect, Session};
use crate::context::Context;
use cr_io::Exit;
use cr_stream::InputState;

/// The most requests that the agent has not answered, and the longest one.
const MAX_REQUESTS: usize = 100;
const MAX_BODY: usize = 4096;

/// The most stopped tasks that are remembered.
const MAX_STOPPED: usize = 1000;

/// Why a request to the agent was made.
#[derive(Debug)]
pub(super) enum Purpose {
    /// To interrupt the turn; the background agents end with it.
    Interrupt {
        client: Option<ClientId>,
        agents: Vec<String>,
    },
    /// To tell a client the use of the context.
    Context(ClientId),
    /// To withdraw a message that the agent has.
    Cancel(ClientId, String),
    /// For a client that only wants to know whether it was done.
    Plain(ClientId),
}

impl Purpose {
    /// The client that asked for it.
    fn client(&self) -> Option<ClientId> {
        match self {
            Self::Interrupt { client, .. } => *client,
            Self::Context(client) | Self::Cancel(client, _) | Self::Plain(client) => Some(*client),
        }
    }
}

/// The requests that the agent has not answered yet.
#[derive(Debug, Default)]
pub(super) struct AgentRequests {
    open: Vec<(String, Purpose)>,
    count: u64,
    /// The tasks that a client has stopped.
    stopped_tasks: Vec<String>,
}

impl AgentRequests {
    /// The line of the request `body`.
    pub(super) fn compose(&mut self, purpose: Purpose, body: &str) -> Vec<u8> {
        self.count += 1;
        let id = format!("cr-{}", self.count);
        let line = format!(
            "{{\"type\":\"control_request\",\"request_id\":\"{id}\",\"request\":{body}}}\n"
        );
        self.open.push((id, purpose));
        line.into_bytes()
    }

    fn take(&mut self, id: &str) -> Option<Purpose> {
        let index = self.open.iter().position(|(open, _)| open == id)?;
        Some(self.open.remove(index).1)
    }

    fn is_full(&self) -> bool {
        self.open.len() >= MAX_REQUESTS
    }

    fn stopped(&mut self, task: String) {
        if self.was_stopped(&task) {
            return;
        }
        if self.stopped_tasks.len() >= MAX_STOPPED {
            self.stopped_tasks.remove(0);
        }
        self.stopped_tasks.push(task);
    }

    pub(super) fn was_stopped(&self, task: &str) -> bool {
        self.stopped_tasks.iter().any(|id| id == task)
    }
}

impl Session {
    /// Serves a client.
    pub(super) fn serve(&mut self, id: ClientId, context: &Context<'_>) {
        let Some(clients) = &mut self.clients else {
            return;
        };
        let is_agent = clients.is_below(id, self.guardian);
        for request in clients.serve(id) {
            match request {
                Ok(request) => self.request(id, request, is_agent, context),
                Err(reply) => self.reply(id, &reply),
            }
        }
    }

    /// Does what a client asks for.
    fn request(
        &mut self,
        client: ClientId,
        request: ControlRequest,
        is_agent: bool,
        context: &Context<'_>,
    ) {
        use ControlOperation as Op;
        if let Some((code, why)) = self.refusal_of(request.op, is_agent) {
            return self.refuse(client, code, why);
        }
        match request.op {
            Op::Send => self.send(client, request, is_agent, context),
            Op::Cancel => self.cancel(client, request.id, context),
            Op::Answer => self.answer_of(client, request, context),
            Op::Asks => self.list_questions(client, context),
            Op::Interrupt if self.requests.is_full() => self.refuse_full(client),
            Op::Interrupt => self.interrupt(Some(client)),
            Op::StopTask => {
                let task = request.id.unwrap_or_default();
                let body = agent_body("stop_task", "task_id", &task);
                if self.forward(Purpose::Plain(client), &body) {
                    self.requests.stopped(task);
                }
            }
            Op::SetModel => {
                let body = agent_body("set_model", "model", &request.value.unwrap_or_default());
                self.forward(Purpose::Plain(client), &body);
            }
            Op::SetPermissionMode => {
                let mode = request.value.unwrap_or_default();
                let body = agent_body("set_permission_mode", "mode", &mode);
                self.forward(Purpose::Plain(client), &body);
            }
            Op::Context => {
                let body = r#"{"subtype":"get_context_usage"}"#;
                self.forward(Purpose::Context(client), body);
            }
            Op::Stop => self.stop(client),
        }
    }

    /// Why a request is refused, if it is: the exit code for the client, and the
    /// reason.
    fn refusal_of(&self, op: ControlOperation, is_agent: bool) -> Option<(Exit, &'static str)> {
        use ControlOperation as Op;
        if op == Op::Stop {
            return None;
        }
        if !self.is_interactive() {
            let text = "this run has a single prompt and takes no messages; \
                        a run with --input stream does";
            return Some((Exit::Usage, text));
        }
        // What the agent has started must not give the agent more permissions.
        if is_agent && matches!(op, Op::Answer | Op::SetPermissionMode) {
            return Some((Exit::Config, "the agent may not do this for itself"));
        }
        let is_late = self.completion.is_some() && op != Op::Asks;
        is_late.then_some((Exit::Retry, "the session is ending"))
    }

    /// Passes a request on to the agent, or refuses it. An agent that does not answer
    /// is not asked without end.
    fn forward(&mut self, purpose: Purpose, body: &str) -> bool {
        if self.requests.is_full() || body.len() > MAX_BODY {
            if let Some(client) = purpose.client() {
                self.refuse_full(client);
            }
            return false;
        }
        let line = self.requests.compose(purpose, body);
        self.effects.push_back(Effect::ToAgent(line));
        true
    }

    fn refuse_full(&mut self, client: ClientId) {
        let why = "too many requests are open, or it is too long";
        self.refuse(client, Exit::Retry, why);
    }

    /// Ends the session: by the end of its input if the agent has nothing to do, else
    /// like a signal. The same for an agent that did not end when it was told before.
    fn stop(&mut self, client: ClientId) {
        let has_work = self.turns.is_running
            || self.inbox.is_agent_busy()
            || self.tasks.is_any_open()
            || !self.questions.is_empty();
        if !self.is_interactive() || has_work || self.completion.is_some() {
            self.completion.get_or_insert(Completion::Stop);
            self.effects.push_back(Effect::Stop);
        } else {
            self.complete(Completion::Stop);
        }
        self.reply_data(client, &serde_json::Map::new());
    }

    fn send(
        &mut self,
        client: ClientId,
        request: ControlRequest,
        is_agent: bool,
        context: &Context<'_>,
    ) {
        let draft = match &request.message {
            Some(message) => Draft::of_message(message),
            None => Draft::of_text(request.text.as_deref().unwrap_or_default()),
        };
        let draft = draft.and_then(|draft| {
            let draft = Draft {
                id: request.id,
                when: request.when,
                ..draft
            };
            draft.with_valid_id()
        });
        let from = request.from.as_deref().unwrap_or("cr-send");
        // The user must see that it was not a person.
        let from = if is_agent {
            format!("agent:{from}")
        } else {
            from.to_owned()
        };
        match draft {
            Ok(draft) => self.accept_from(client, draft, &from, request.wait, context),
            Err(why) => self.refuse(client, Exit::Data, &why.0),
        }
    }

    fn cancel(&mut self, client: ClientId, id: Option<String>, context: &Context<'_>) {
        let id = id.unwrap_or_default();
        let Some(message) = self.inbox.get(&id) else {
            return self.refuse(client, Exit::NoInput, "no message with this id waits");
        };
        match message.stage {
            Stage::Waiting => {
                self.finish(&id, InputState::Cancelled, Some("cancelled"), context);
                self.reply_data(client, &serde_json::Map::new());
            }
            Stage::Sent => {
                let body = agent_body("cancel_async_message", "message_uuid", &id);
                self.forward(Purpose::Cancel(client, id), &body);
            }
            Stage::Started => {
                self.refuse(client, Exit::Data, "the agent works on it; use --interrupt");
            }
        }
    }

    fn answer_of(&mut self, client: ClientId, request: ControlRequest, context: &Context<'_>) {
        let Some(decision) = request.decision else {
            return self.refuse(client, Exit::Data, "an answer needs a decision");
        };
        let id = request.id.unwrap_or_default();
        let by = request.from.as_deref().map(cr_io::sanitized);
        let answer = Answer::new(decision, request.text, by.unwrap_or_else(|| "user".into()));
        let Some(id) = self.question_id(&id) else {
            let text = format!("{}: no such question is open", cr_io::sanitized(&id));
            return self.refuse(client, Exit::NoInput, &text);
        };
        match self.answer(&id, &answer, context) {
            Ok(()) => self.reply_data(client, &serde_json::Map::new()),
            Err(why) => self.refuse(client, Exit::Data, &why),
        }
    }

    /// The open question whose id begins with `id`, if there is only one.
    fn question_id(&self, id: &str) -> Option<String> {
        let mut fitting = self.questions.iter().filter(|it| it.id.starts_with(id));
        match (fitting.next(), fitting.next()) {
            (Some(question), None) if id.len() >= 4 => Some(question.id.clone()),
            _ => None,
        }
    }

    fn list_questions(&mut self, client: ClientId, context: &Context<'_>) {
        let asks: Vec<_> = self
            .questions
            .iter()
            .map(|question| question.ask(AskState::Open, None, context).into_owned())
            .collect();
        self.reply_data(client, &asks);
    }

    /// Takes the agent's reply to a request of ours. It also repeats the answers
    /// that we give it; those have other ids.
    pub(super) fn agent_replied(&mut self, reply: &Reply<'_>, context: &Context<'_>) {
        let Some(purpose) = self.requests.take(&reply.request_id) else {
            return;
        };
        let Some(client) = purpose.client() else {
            return;
        };
        if let Some(error) = &reply.error {
            let error = context.redactor.redact(error).into_owned();
            return self.refuse(client, Exit::Data, &error);
        }
        match purpose {
            Purpose::Interrupt { agents, .. } => {
                let queued = reply.response.and_then(|it| it.get("still_queued"));
                let queued = queued.map(Raw::items).unwrap_or_default();
                let queued = queued.into_iter().filter_map(Raw::text).map(Text::decode);
                let data = Interrupted {
                    still_queued: queued.map(std::borrow::Cow::into_owned).collect(),
                    stopped_tasks: agents,
                };
                self.reply_data(client, &data);
            }
            Purpose::Context(_) => self.reply_data(client, &context_use(reply.response)),
            Purpose::Cancel(_, id) => self.cancelled(client, &id, reply.response, context),
            Purpose::Plain(_) => self.reply_data(client, &serde_json::Map::new()),
        }
    }

    fn cancelled(
        &mut self,
        client: ClientId,
        id: &str,
        response: Option<Raw<'_>>,
        context: &Context<'_>,
    ) {
        let is_cancelled = response
            .and_then(|it| it.get("cancelled"))
            .and_then(Raw::bool);
        if is_cancelled == Some(true) {
            self.finish(id, InputState::Cancelled, Some("cancelled"), context);
            self.reply_data(client, &serde_json::Map::new());
        } else {
            self.refuse(client, Exit::Data, "the agent works on it; use --interrupt");
        }
    }

    pub(super) fn reply(&mut self, client: ClientId, reply: &ControlReply) {
        if let Some(clients) = &mut self.clients {
            clients.reply(client, reply);
        }
    }

    fn reply_data(&mut self, client: ClientId, data: &impl Serialize) {
        let reply = ControlReply {
            data: serde_json::value::to_raw_value(data).ok(),
            ..ControlReply::new(true)
        };
        self.reply(client, &reply);
    }

    pub(super) fn refuse(&mut self, client: ClientId, code: Exit, error: &str) {
        let reply = ControlReply {
            code: Some(code.code()),
            error: Some(error.to_owned()),
            ..ControlReply::new(false)
        };
        self.reply(client, &reply);
    }
}

/// A request to the agent with one argument.
fn agent_body(subtype: &str, key: &str, value: &str) -> String {
    let value = serde_json::Value::from(value);
    format!(r#"{{"subtype":"{subtype}","{key}":{value}}}"#)
}

/// The agent's own figures: those of its last call where it tells them, else its
/// estimate.
fn context_use(response: Option<Raw<'_>>) -> ContextUse {
    let Some(response) = response else {
        return ContextUse::default();
    };
    let number = |path: &[&str]| response.at(path).and_then(Raw::u64);
    let call = |key| number(&["apiUsage", key]);
    let used = call("input_tokens").map(|input| {
        let cached = call("cache_creation_input_tokens").unwrap_or(0);
        input + cached + call("cache_read_input_tokens").unwrap_or(0)
    });
    let tokens = used.or_else(|| number(&["totalTokens"]));
    let max_tokens = number(&["maxTokens"]);
    #[expect(clippy::cast_precision_loss, reason = "a percentage")]
    let percent = match (tokens, max_tokens) {
        (Some(tokens), Some(max)) if max > 0 => Some(tokens as f64 * 100.0 / max as f64),
        _ => None,
    };
    ContextUse {
        tokens,
        max_tokens,
        percent,
        model: response.string("model").map(std::borrow::Cow::into_owned),
        auto_compact_at: number(&["autoCompactThreshold"]),
    }
}
