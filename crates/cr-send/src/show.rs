//! Prints replies. The text of an agent is shown with its controls escaped and
//! its secrets masked.

use std::borrow::Cow;
use std::io::Write;

use anyhow::Context;
use cr_event::{Raw, Text, TurnEnd};
use cr_io::{Exit, Out, Redactor, is_hidden, sanitize, sanitized, visible_json};
use cr_rundir::{
    ContextUse, ControlOperation, ControlReply, Interrupted, MessageState, QuestionLine,
};
use cr_verdict::{Verdict, judge_turn};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::args::{Args, Output};

/// Standard output, and what the command line says about it.
pub(crate) struct Shown<W> {
    out: Out<W>,
    redactor: Redactor,
    /// Print whole replies.
    is_json: bool,
    /// Print the data of a reply.
    is_data: bool,
    /// Print the final text and not the ids.
    is_waiting: bool,
}

/// The fields of a question that a person needs.
#[derive(Deserialize)]
struct Asked<'a> {
    #[serde(default, borrow)]
    id: Cow<'a, str>,
    #[serde(default, borrow)]
    kind: Cow<'a, str>,
    #[serde(default)]
    tool: Option<String>,
    #[serde(default)]
    agent: Option<String>,
    #[serde(default, borrow)]
    text: Cow<'a, str>,
}

impl<W: Write> Shown<W> {
    pub(crate) fn new(out: Out<W>, args: &Args) -> Self {
        Self {
            out,
            redactor: Redactor::from_env(),
            is_json: args.output == Output::Json,
            is_data: args.json,
            is_waiting: args.wait,
        }
    }

    /// Prints the id of a message that was stored; with --wait only its final
    /// text is wanted.
    pub(crate) fn queued(&mut self, id: &str, reply: &ControlReply) -> anyhow::Result<()> {
        if self.is_json {
            return self.json(reply);
        }
        if self.is_waiting {
            return Ok(());
        }
        self.out.line(sanitized(id).as_bytes())?;
        self.out.flush()
    }

    /// Prints the final text of a turn; returns the verdict on it.
    pub(crate) fn turn(
        &mut self,
        reply: &ControlReply,
        state: &MessageState,
    ) -> anyhow::Result<Verdict> {
        let line = state.result.as_ref().map(|line| line.get().as_bytes());
        let end = line.and_then(Raw::of).map(TurnEnd::new);
        if self.is_json {
            self.json(reply)?;
        } else if let Some(text) = end.as_ref().and_then(TurnEnd::text) {
            self.text(&Text::decode(text))?;
        }
        Ok(judge_turn(end.as_ref(), Timestamp::now()))
    }

    /// Prints the reply to a request that is no message.
    pub(crate) fn reply(
        &mut self,
        op: ControlOperation,
        reply: &ControlReply,
    ) -> anyhow::Result<Exit> {
        let data = reply.data.as_ref().map(|data| data.get());
        match op {
            _ if self.is_json => self.json(reply)?,
            ControlOperation::Asks => self.asks(data.unwrap_or("[]"))?,
            _ if self.is_data => self.raw(data.unwrap_or("{}"))?,
            ControlOperation::Context => self.context(&parsed(data)?)?,
            ControlOperation::Interrupt => self.interrupted(&parsed(data)?)?,
            _ => {}
        }
        Ok(Exit::Ok)
    }

    /// Prints the questions that a run left open.
    pub(crate) fn questions(&mut self, open: &[QuestionLine]) -> anyhow::Result<Exit> {
        for asked in open {
            self.question(&serde_json::to_string(asked)?)?;
        }
        Ok(Exit::Ok)
    }

    fn asks(&mut self, data: &str) -> anyhow::Result<()> {
        let questions: Vec<&RawValue> = parsed(Some(data))?;
        questions
            .into_iter()
            .try_for_each(|question| self.question(question.get()))
    }

    fn question(&mut self, json: &str) -> anyhow::Result<()> {
        if self.is_json || self.is_data {
            return self.raw(json);
        }
        let asked: Asked<'_> = parsed(Some(json))?;
        let mut line = format!("{} {}", asked.id, asked.kind);
        for word in asked.tool.iter().chain(&asked.agent) {
            line.push(' ');
            line.push_str(word);
        }
        self.line(&format!("{line}: {}", asked.text))
    }

    fn context(&mut self, used: &ContextUse) -> anyhow::Result<()> {
        let number = |number: Option<u64>| number.map_or("unknown".to_owned(), |n| n.to_string());
        let percent = used
            .percent
            .map_or("unknown".to_owned(), |x| format!("{x:.1}%"));
        let mut line = format!(
            "context {percent}: {} of {} tokens",
            number(used.tokens),
            number(used.max_tokens)
        );
        if let Some(model) = &used.model {
            line.push_str(&format!(", model {model}"));
        }
        if let Some(at) = used.auto_compact_at {
            line.push_str(&format!(", compacts at {at}"));
        }
        self.line(&line)
    }

    fn interrupted(&mut self, data: &Interrupted) -> anyhow::Result<()> {
        for id in &data.still_queued {
            self.line(&format!("queued {id}"))?;
        }
        for id in &data.stopped_tasks {
            self.line(&format!("stopped {id}"))?;
        }
        Ok(())
    }

    /// Prints one line for a person.
    fn line(&mut self, text: &str) -> anyhow::Result<()> {
        let text = sanitized(&self.redactor.redact(text));
        self.out.line(text.as_bytes())?;
        self.out.flush()
    }

    /// Prints a text with its line ends and tabs; all else that acts on a
    /// terminal is escaped.
    fn text(&mut self, text: &str) -> anyhow::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        let text = self.redactor.redact(text);
        let is_kept = |c: char| c == '\n' || c == '\t';
        let mut safe = String::with_capacity(text.len());
        for part in text.split_inclusive(|c: char| is_hidden(c)) {
            let end = part.chars().next_back().filter(|&c| is_kept(c));
            sanitize(part.strip_suffix(is_kept).unwrap_or(part), &mut safe);
            safe.extend(end);
        }
        self.out.line(safe.trim_end_matches('\n').as_bytes())?;
        self.out.flush()
    }

    fn json(&mut self, value: &impl Serialize) -> anyhow::Result<()> {
        let text = String::from_utf8(cr_rundir::state_text(value)?)?;
        self.raw(&text)
    }

    /// Prints JSON that was read from one line.
    fn raw(&mut self, json: &str) -> anyhow::Result<()> {
        // Between its tokens JSON may hold a carriage return; inside a string it
        // cannot.
        let json = json.replace('\r', " ");
        let json = self.redactor.redact(&json);
        self.out.line(visible_json(&json).as_bytes())?;
        self.out.flush()
    }
}

fn parsed<'a, T: Deserialize<'a>>(data: Option<&'a str>) -> anyhow::Result<T> {
    serde_json::from_str(data.unwrap_or("{}"))
        .context("the reply cannot be read")
        .context(Exit::Data)
}
