//! The lines on standard input, and those that end the CLI.

use serde::Deserialize;

use crate::agent::ids;
use crate::agent::object::{Json, json};
use crate::agent::options::Dialect;

/// When a message wants to be taken up.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Priority {
    /// The running turn is ended for it.
    Now,
    /// A turn of its own.
    Later,
    /// Folded into the running turn.
    #[default]
    #[serde(other)]
    Next,
}

/// A message of the user.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) uuid: String,
    /// The sender chose the uuid. Only then does the CLI report on the message.
    pub(crate) is_named: bool,
    pub(crate) content: Json,
    pub(crate) text: String,
    pub(crate) priority: Priority,
    pub(crate) at: String,
}

/// A line of input.
#[derive(Debug)]
pub(crate) enum Line {
    Message(Message),
    Request(Request),
    /// The answer to a request of ours, and the line itself.
    Response(Response, String),
    Ignored,
    /// The CLI writes this and ends.
    Fatal(String),
}

/// A control request.
#[derive(Debug, Deserialize)]
pub(crate) struct Request {
    pub(crate) request_id: String,
    pub(crate) request: Asked,
}

/// What a control request asks for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Asked {
    pub(crate) subtype: String,
    pub(crate) cancel_queued: bool,
    pub(crate) message_uuid: String,
    pub(crate) task_id: String,
    pub(crate) model: String,
    pub(crate) mode: String,
}

/// The answer to a question.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Response {
    pub(crate) request_id: String,
    pub(crate) response: Option<Decision>,
}

/// Whether the tool may run.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Decision {
    pub(crate) behavior: String,
    pub(crate) message: String,
    pub(crate) interrupt: bool,
    pub(crate) updated_input: Option<Json>,
    pub(crate) updated_permissions: Vec<Update>,
}

/// A change of the permissions.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Update {
    pub(crate) r#type: String,
    pub(crate) mode: String,
    pub(crate) rules: Vec<Rule>,
}

/// A tool and what it may do.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Rule {
    pub(crate) tool_name: String,
    pub(crate) rule_content: Option<String>,
}

#[derive(Deserialize)]
struct Kind {
    r#type: Option<String>,
}

#[derive(Deserialize)]
struct User {
    message: Option<Body>,
    uuid: Option<String>,
    #[serde(default)]
    priority: Priority,
}

#[derive(Deserialize)]
struct Body {
    role: Option<String>,
    content: Option<Json>,
}

#[derive(Deserialize)]
struct Answer {
    response: Response,
}

/// Reads one line.
pub(crate) fn read(line: &str, dialect: Dialect) -> Line {
    // The older one parses a line of blanks, and fails.
    let is_blank = line.is_empty() || (dialect.is_new() && line.trim().is_empty());
    if is_blank {
        return Line::Ignored;
    }
    if line.trim() == "null" {
        return Line::Fatal(unreadable(line, "TypeError", dialect));
    }
    let Ok(value) = serde_json::from_str::<Json>(line) else {
        return Line::Fatal(unreadable(line, "SyntaxError", dialect));
    };
    // A value that is no object has no type, and is ignored.
    let kind = serde_json::from_str::<Kind>(value.get()).ok();
    let ignored = Line::Ignored;
    match kind.and_then(|kind| kind.r#type).as_deref() {
        Some("user") => message(line),
        Some("control_request") => serde_json::from_str(line).map_or(ignored, Line::Request),
        Some("control_response") => serde_json::from_str(line).map_or(ignored, |it: Answer| {
            Line::Response(it.response, line.to_owned())
        }),
        _ => ignored,
    }
}

fn unreadable(line: &str, error: &str, dialect: Dialect) -> String {
    let prefix = "Error parsing streaming input line";
    if dialect.is_new() {
        let count = line.chars().count();
        format!("{prefix} (type=unknown, {count} chars): {error}")
    } else {
        format!("{prefix}: {line}: {error}")
    }
}

fn message(line: &str) -> Line {
    let user = serde_json::from_str::<User>(line).ok();
    let body = user.as_ref().and_then(|user| user.message.as_ref());
    let role = body.and_then(|body| body.role.as_deref());
    if role != Some("user") {
        let role = role.unwrap_or("undefined");
        return Line::Fatal(format!("Error: Expected message role 'user', got '{role}'"));
    }
    let content = body.and_then(|body| body.content.clone());
    let content = content.unwrap_or_else(|| json(""));
    let (uuid, priority) = user.map_or((None, Priority::Next), |it| (it.uuid, it.priority));
    Line::Message(Message {
        is_named: uuid.is_some(),
        uuid: uuid.unwrap_or_else(ids::uuid),
        text: text_of(&content),
        content,
        priority,
        at: ids::now(),
    })
}

/// The text of a message: a string, or blocks.
fn text_of(content: &Json) -> String {
    #[derive(Deserialize)]
    struct Block {
        #[serde(default)]
        text: String,
    }
    if let Ok(text) = serde_json::from_str(content.get()) {
        return text;
    }
    let blocks: Vec<Block> = serde_json::from_str(content.get()).unwrap_or_default();
    let texts: Vec<String> = blocks.into_iter().map(|block| block.text).collect();
    texts.join("\n")
}

impl Message {
    /// The whole of standard input as one message.
    pub(crate) fn from_prompt(text: String) -> Self {
        Self {
            uuid: ids::uuid(),
            is_named: false,
            content: json(&text),
            text,
            priority: Priority::Next,
            at: ids::now(),
        }
    }
}
