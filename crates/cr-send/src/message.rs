//! Messages, as the user gives them.

use std::borrow::Cow;
use std::io::Read;

use anyhow::{Context, anyhow};
use cr_io::{Exit, Line, Lines, MAX_LINE};
use cr_rundir::Delivery;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::args::usage;
use crate::uuid;

/// A message, before it has a sender.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) id: String,
    pub(crate) when: Option<Delivery>,
    /// The agent's user message.
    pub(crate) body: Box<RawValue>,
}

#[derive(Serialize)]
struct UserMessage<'a> {
    role: &'a str,
    content: &'a str,
}

/// A line of `--json`, in either form.
#[derive(Deserialize)]
struct JsonMessage<'a> {
    #[serde(default, borrow)]
    text: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    message: Option<&'a RawValue>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    uuid: Option<String>,
    #[serde(default)]
    when: Option<Delivery>,
}

/// What a user message of the agent must have.
#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(borrow)]
    content: &'a RawValue,
}

impl Message {
    /// A message of plain text.
    pub(crate) fn of_text(text: &str, id: Option<&str>) -> anyhow::Result<Self> {
        if text.trim().is_empty() {
            return Err(usage("the message is empty"));
        }
        Ok(Self {
            id: made(id)?,
            when: None,
            body: body(text)?,
        })
    }

    /// A message from a line of JSON.
    fn of_json(line: &[u8]) -> anyhow::Result<Self> {
        let message: JsonMessage<'_> =
            serde_json::from_slice(line).map_err(|err| describe(&err))?;
        let given = message.id.as_deref().or(message.uuid.as_deref());
        let id = given.map(uuid::parse).transpose();
        let id = id.map_err(|err| anyhow!("id: {err}"))?;
        let body = match (&message.text, message.message) {
            (Some(text), None) if text.trim().is_empty() => {
                return Err(anyhow!("the text is empty"));
            }
            (Some(text), None) => body(text)?,
            (None, Some(message)) => checked(message)?,
            (Some(_), Some(_)) => return Err(anyhow!("both a text and a message")),
            (None, None) => return Err(anyhow!("neither a text nor a message")),
        };
        Ok(Self {
            id: made(id.as_deref())?,
            when: message.when,
            body,
        })
    }
}

fn made(id: Option<&str>) -> anyhow::Result<String> {
    match id {
        Some(id) => Ok(id.to_owned()),
        None => uuid::random()
            .context("no random bytes")
            .context(Exit::Tool),
    }
}

fn body(content: &str) -> anyhow::Result<Box<RawValue>> {
    let role = "user";
    Ok(to_raw_value(&UserMessage { role, content })?)
}

/// The agent's own form, if the agent would take it: another form would end it.
fn checked(message: &RawValue) -> anyhow::Result<Box<RawValue>> {
    let parts: Body<'_> = serde_json::from_str(message.get()).map_err(|err| describe(&err))?;
    if parts.role != "user" {
        return Err(anyhow!("message: the role is not user"));
    }
    let content = parts.content.get();
    let is_empty = matches!(content, "\"\"" | "[]");
    if is_empty || !content.starts_with(['"', '[']) {
        return Err(anyhow!(
            "message: the content is no text and no list of blocks"
        ));
    }
    Ok(message.to_owned())
}

/// The cause without serde's "at line 1", which would only mislead.
fn describe(err: &serde_json::Error) -> anyhow::Error {
    let text = err.to_string();
    let cause = text.split(" at line ").next().unwrap_or_default();
    anyhow!("column {}: {cause}", err.column())
}

/// All of `input` as one text.
pub(crate) fn read_text(input: impl Read) -> anyhow::Result<String> {
    let most = u64::try_from(MAX_LINE)?;
    let mut bytes = Vec::new();
    let read = input.take(most + 1).read_to_end(&mut bytes);
    read.context("standard input")?;
    if bytes.len() > MAX_LINE {
        return Err(bad(anyhow!("longer than {MAX_LINE} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| bad(anyhow!("it is not UTF-8")))
}

/// The messages in lines of JSON.
pub(crate) struct JsonMessages<R> {
    lines: Lines<R>,
}

impl<R: Read> JsonMessages<R> {
    pub(crate) fn new(input: R) -> Self {
        let lines = Lines::new(input);
        Self { lines }
    }

    /// The next message. Blank lines are skipped; one that is no message is an
    /// error (65) with its number.
    pub(crate) fn next(&mut self) -> anyhow::Result<Option<Message>> {
        loop {
            let number = self.lines.number() + 1;
            let Some(line) = line(&mut self.lines)? else {
                return Ok(None);
            };
            if line.trim_ascii().is_empty() {
                continue;
            }
            let message = Message::of_json(&line);
            let message = message.with_context(|| format!("line {number}"));
            return message.map(Some).map_err(bad);
        }
    }
}

/// The next line.
fn line<R: Read>(lines: &mut Lines<R>) -> anyhow::Result<Option<Vec<u8>>> {
    match lines.next().context("standard input")? {
        None => return Ok(None),
        Some(Line::Whole(line) | Line::Torn(line)) => return Ok(Some(line.to_vec())),
        Some(Line::Long(_)) => {}
    }
    let number = lines.number();
    match lines.whole().context("standard input")? {
        Some(Line::Whole(line) | Line::Torn(line) | Line::Long(line)) => Ok(Some(line.to_vec())),
        None => Err(bad(anyhow!("line {number}: longer than {MAX_LINE} bytes"))),
    }
}

fn bad(err: anyhow::Error) -> anyhow::Error {
    err.context("standard input").context(Exit::Data)
}
