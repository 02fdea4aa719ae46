//! The files of a run of many turns, and the requests to its socket.
//!
//! `queue`, `questions` and `answers` are NDJSON and are only appended to: a
//! change is a new line with the same id. `control.sock` takes one request per
//! line and answers each with one line. Every line has a `schema`, as the state
//! files do.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// When a message is given to the agent.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// As soon as the agent takes it; it may become part of a running turn.
    #[default]
    Next,
    /// As a turn of its own, after the running one.
    Idle,
    /// At once: the running turn is interrupted.
    Now,
}

/// A line of `queue`: a message that was accepted, or a change of its state.
#[derive(Debug, Deserialize, Serialize)]
pub struct QueueLine {
    /// The id of the message, which is also the `uuid` of the agent's line.
    pub id: String,
    /// When the line was written, in UTC.
    pub at: String,
    /// The sender. Set in the first line of a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// When it is to be given to the agent. Set in the first line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Delivery>,
    /// The agent's user message, as it was accepted. Set in the first line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Box<RawValue>>,
    /// The state from here on, by the names of `cr/input`.
    pub state: String,
    /// Why it was refused, cancelled or continued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A line of `questions`: a question of the agent, or a change of one. A change
/// has only the fields that changed.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct QuestionLine {
    /// The id of the question, by its `cr/ask` line.
    pub id: String,
    /// When the line was written, in UTC.
    pub at: String,
    /// The tool that asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The kind, by the names of `cr/ask`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The subagent that asks; the main thread if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The question in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The arguments of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Box<RawValue>>,
    /// SHA-256 of the bytes of `input`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_sha256: Option<String>,
    /// The state from here on, by the names of `cr/ask`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// How it was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Who or what answered it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// What an answer allows.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The call may be made, once.
    Allow,
    /// The call, and others like it, may be made in this session.
    AllowSession,
    /// The call may not be made.
    Deny,
    /// One of the choices that the agent offered.
    Choose,
}

impl Decision {
    /// Its name in a line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::AllowSession => "allow_session",
            Self::Deny => "deny",
            Self::Choose => "choose",
        }
    }
}

/// A line of `answers`: an answer that came when no process waited for it, or
/// the note that it was given to the agent.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct AnswerLine {
    /// The id of the question, by its `cr/ask` line.
    pub id: String,
    /// When the line was written, in UTC.
    pub at: String,
    /// The tool that asked. Only a question of the same tool gets the answer.
    pub tool: String,
    /// SHA-256 of the tool's input. Only identical input gets the answer.
    pub input_sha256: String,
    /// The answer.
    pub decision: Decision,
    /// The reason of a refusal, or the choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Who or what answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The run that gave it to its agent. An answer is given once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_in: Option<String>,
}

/// What a request to `control.sock` asks for.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ControlOperation {
    /// Queue `message`.
    Send,
    /// Withdraw the message `id`, which waits.
    Cancel,
    /// Answer the question `id` with `decision`.
    Answer,
    /// List the open questions.
    Asks,
    /// Interrupt the running turn.
    Interrupt,
    /// End the background task `id`.
    StopTask,
    /// Change the model to `value`.
    SetModel,
    /// Change the permission mode to `value`.
    SetPermissionMode,
    /// Report the use of the context.
    Context,
    /// End the session.
    Stop,
}

/// A request to `control.sock`. It is flat, because a raw message cannot be read
/// inside a tagged enum.
#[derive(Debug, Deserialize, Serialize)]
pub struct ControlRequest {
    /// What is asked for.
    pub op: ControlOperation,
    /// The message, question or task. A message without one gets an id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The sender of a message or of an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// When a message is to be given to the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Delivery>,
    /// The agent's user message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Box<RawValue>>,
    /// The answer to a question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// The reason of a refusal, or the choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The new model or permission mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Of a message: a second reply follows when its turn has ended.
    #[serde(default, skip_serializing_if = "is_false")]
    pub wait: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_false(value: &bool) -> bool {
    !value
}

impl ControlRequest {
    /// A request without arguments.
    pub fn new(op: ControlOperation) -> Self {
        Self {
            op,
            id: None,
            from: None,
            when: None,
            message: None,
            decision: None,
            text: None,
            value: None,
            wait: false,
        }
    }
}

/// The `data` of a reply about a message.
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct MessageState {
    /// `queued` in the first reply; `done` or `cancelled` in the second.
    pub state: String,
    /// The number of the turn that answered it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// It was added to a turn in progress and did not begin one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folded: Option<bool>,
    /// The agent's result line of the turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Box<RawValue>>,
}

/// The `data` of the reply to `context`. What the agent does not say is null.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct ContextUse {
    /// The tokens in the context.
    #[serde(default)]
    pub tokens: Option<u64>,
    /// The size of the context.
    #[serde(default)]
    pub max_tokens: Option<u64>,
    /// The first as a percentage of the second.
    #[serde(default)]
    pub percent: Option<f64>,
    /// The model.
    #[serde(default)]
    pub model: Option<String>,
    /// The agent compacts the context when it has this many tokens.
    #[serde(default)]
    pub auto_compact_at: Option<u64>,
}

/// The `data` of the reply to `interrupt`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub struct Interrupted {
    /// The messages that wait; they make the next turn.
    #[serde(default)]
    pub still_queued: Vec<String>,
    /// The background tasks that the interrupt ended.
    #[serde(default)]
    pub stopped_tasks: Vec<String>,
}

/// The reply to a request.
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct ControlReply {
    /// Whether the request was accepted.
    pub ok: bool,
    /// The message or question that the request was about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The exit code for a tool that was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<u8>,
    /// Why it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Box<RawValue>>,
}

impl ControlReply {
    /// A reply without data.
    pub fn new(ok: bool) -> Self {
        Self {
            ok,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{parse_state, state_text};

    use super::*;

    /// Each line as its page shows it comes back as it was.
    fn round_trip<T: serde::de::DeserializeOwned + Serialize>(text: &str) {
        let line: T = parse_state(text.as_bytes()).expect("read");
        let again = state_text(&line).expect("written");
        assert_eq!(String::from_utf8(again).expect("text"), text);
    }

    #[test]
    fn a_message_is_queued_and_its_change_is_another_line() {
        round_trip::<QueueLine>(
            r#"{"schema":1,"id":"6f0e","at":"2026-11-18T09:00:00.000Z","from":"me","when":"idle","message":{"role":"user","content":"go on"},"state":"queued"}"#,
        );
        round_trip::<QueueLine>(
            r#"{"schema":1,"id":"6f0e","at":"2026-11-18T09:00:01.000Z","state":"started"}"#,
        );
    }

    #[test]
    fn an_answer_is_kept_for_the_same_tool_and_input() {
        round_trip::<AnswerLine>(
            r#"{"schema":1,"id":"q1","at":"2026-11-18T09:00:00.000Z","tool":"Bash","input_sha256":"9f86","decision":"allow_session","by":"me"}"#,
        );
    }

    #[test]
    fn requests_and_replies_are_one_object_each() {
        for text in [
            r#"{"schema":1,"op":"send","when":"now","message":{"role":"user","content":"stop that"}}"#,
            r#"{"schema":1,"op":"answer","id":"q1","decision":"deny","text":"not there"}"#,
            r#"{"schema":1,"op":"stop_task","id":"t1"}"#,
            r#"{"schema":1,"op":"set_permission_mode","value":"plan"}"#,
            r#"{"schema":1,"op":"interrupt"}"#,
            r#"{"schema":1,"op":"send","id":"6f0e","message":{"role":"user","content":"go on"},"wait":true}"#,
        ] {
            round_trip::<ControlRequest>(text);
        }
        round_trip::<ControlReply>(
            r#"{"schema":1,"ok":false,"code":66,"error":"no such message"}"#,
        );
        round_trip::<ControlReply>(
            r#"{"schema":1,"ok":true,"id":"6f0e","data":{"state":"done","turn":3,"folded":false,"result":{"type":"result"}}}"#,
        );
    }

    #[test]
    fn a_change_of_a_question_has_only_the_fields_that_changed() {
        round_trip::<QuestionLine>(
            r#"{"schema":1,"id":"q1","at":"2026-11-18T09:00:00.000Z","tool":"Bash","kind":"permission","text":"Bash: ls","input":{"command":"ls"},"input_sha256":"9f86","state":"open"}"#,
        );
        round_trip::<QuestionLine>(
            r#"{"schema":1,"id":"q1","at":"2026-11-18T09:00:01.000Z","state":"answered","answer":"allow","by":"me"}"#,
        );
    }

    #[test]
    fn a_line_of_a_newer_version_is_refused() {
        let newer = br#"{"schema":2,"op":"interrupt"}"#;
        let err = parse_state::<ControlRequest>(newer).expect_err("refused");
        assert_eq!(cr_io::exit_of(&err), cr_io::Exit::Config);
    }
}
