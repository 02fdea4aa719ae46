//! `--format json`: one flat row per event, the same for both dialects.
//!
//! A tool's row comes with its result, because the row has its success and its
//! duration. Calls that are open at the end get their rows then.

use std::borrow::Cow;
use std::collections::HashMap;

use cr_event::{Block, Content, Event, Kind, Message, Text, ToolUse, TurnEnd, Usage};
use cr_io::Redactor;
use cr_usage::{RecentMap, key};
use jiff::Timestamp;
use serde::Serialize;

use crate::calls::OpenCalls;
use crate::tracker::cost;
use crate::{commit, tools};

/// One row; every field is always there.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Row {
    at: Option<Timestamp>,
    session_id: Option<String>,
    run_id: Option<String>,
    /// The agent's description or id; null on the main thread.
    agent: Option<String>,
    depth: usize,
    turn: u64,
    kind: Cow<'static, str>,
    tool: Option<String>,
    target: Option<String>,
    text: Option<String>,
    ok: Option<bool>,
    duration_ms: Option<i64>,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cost_usd: Option<f64>,
    /// The name of the input, where there are several.
    pub file: Option<String>,
    line: u64,
}

/// Follows a stream and makes rows of its events.
#[derive(Debug, Default)]
pub struct RowBuilder {
    calls: OpenCalls,
    /// Agents by the call that began them.
    agents: HashMap<Vec<u8>, String>,
    open: Vec<(Vec<u8>, Row, bool)>,
    session: Option<String>,
    run: Option<String>,
    turn: u64,
    /// The messages whose tokens are on a row.
    counted: RecentMap<()>,
    ready: Vec<Row>,
}

/// Open calls that are kept until their result comes.
const MOST: usize = 10_000;

impl RowBuilder {
    /// The rows that an event completes.
    pub fn rows(
        &mut self,
        event: &Event<'_>,
        at: Option<Timestamp>,
        line: u64,
    ) -> std::vec::Drain<'_, Row> {
        if let Some(session) = event.session_id {
            self.session = Some(session.decode().into_owned());
        }
        if let Some(run) = event.run_id.filter(|_| event.kind == Kind::Cr) {
            self.run = Some(run.decode().into_owned());
        }
        let row = self.row(event, at, line);
        match event.kind {
            Kind::Assistant | Kind::User => self.message(event, &row),
            Kind::Result => self.turn_end(event, row),
            Kind::System if event.is("init") => {
                self.turn += 1;
                let model = event.line.string("model").map(Cow::into_owned);
                self.ready.push(Row {
                    kind: "init".into(),
                    target: model,
                    ..row
                });
            }
            Kind::System | Kind::Cr | Kind::RateLimit | Kind::Reset | Kind::ToolProgress => {
                self.plain(event, row);
            }
            _ => {}
        }
        self.ready.drain(..)
    }

    /// The calls whose result never came.
    pub fn unfinished(&mut self) -> Vec<Row> {
        self.open.drain(..).map(|(_, row, _)| row).collect()
    }

    fn row(&self, event: &Event<'_>, at: Option<Timestamp>, line: u64) -> Row {
        let agent = event.parent.map(|parent| {
            let known = self.agents.get(parent.bytes()).cloned();
            known.unwrap_or_else(|| parent.decode().into_owned())
        });
        let agent = agent.or_else(|| {
            let id = event.line.string("agentId").filter(|_| event.is_sidechain);
            id.map(Cow::into_owned)
        });
        Row {
            at,
            session_id: self.session.clone(),
            run_id: self.run.clone(),
            agent,
            depth: self.calls.depth(event),
            turn: self.turn,
            line,
            ..Row::default()
        }
    }

    fn message(&mut self, event: &Event<'_>, row: &Row) {
        let Some(message) = &event.message else {
            return;
        };
        let usage = self.first_usage(message);
        // Before a message is over, its output is a guess.
        let is_final = message.stop_reason.is_some();
        let usage = usage.map(|usage| (usage, is_final));
        let by = if event.kind == Kind::Assistant {
            "text"
        } else {
            "prompt"
        };
        if let Content::Text(text) = message.content {
            self.push_text(by, text, row, usage);
        }
        for (i, block) in message.blocks().iter().enumerate() {
            // Only a message's first row has its tokens, so that they can be summed.
            let usage = usage.filter(|_| i == 0);
            match block {
                Block::Text(text) => {
                    let failed = message.is_synthetic() && event.line.get("error").is_some();
                    self.push_text(if failed { "error" } else { by }, *text, row, usage);
                }
                Block::Thinking(text) => self.push_text("thinking", *text, row, usage),
                Block::ToolUse(call) => self.call(call, row, usage),
                Block::ToolResult(result) => self.result(event, result, row),
                _ => {}
            }
        }
    }

    /// The usage of a message, on the first of its lines.
    fn first_usage(&mut self, message: &Message<'_>) -> Option<Usage> {
        let id = key(&[message.id?.bytes()]);
        if message.is_synthetic() || self.counted.has(id) {
            return None;
        }
        self.counted.insert(id, ());
        message.usage()
    }

    fn push_text(
        &mut self,
        kind: &'static str,
        text: Text<'_>,
        row: &Row,
        usage: Option<(Usage, bool)>,
    ) {
        let text = Some(text.decode().into_owned());
        let row = Row {
            kind: kind.into(),
            text,
            ..row.clone()
        };
        self.ready.push(row.with(usage));
    }

    fn call(&mut self, call: &ToolUse<'_>, row: &Row, usage: Option<(Usage, bool)>) {
        let shown = tools::describe(call);
        if shown.label == "Subagent" {
            self.calls.begin_agent(call.id, row.depth + 1);
            if self.agents.len() == MOST {
                self.agents.clear();
            }
            self.agents
                .insert(call.id.bytes().to_vec(), shown.target.clone());
        }
        let command = call.input.and_then(|input| input.string("command"));
        let row = Row {
            kind: "tool".into(),
            tool: Some(call.name.decode().into_owned()),
            target: Some(shown.target),
            ..row.clone()
        };
        let may_commit = command.is_some_and(|command| commit::may_commit(&command));
        if self.open.len() == MOST {
            let (_, oldest, _) = self.open.remove(0);
            self.ready.push(oldest);
        }
        self.open
            .push((call.id.bytes().to_vec(), row.with(usage), may_commit));
    }

    fn result(&mut self, event: &Event<'_>, result: &cr_event::ToolResult<'_>, row: &Row) {
        let open = self
            .open
            .iter()
            .position(|(id, ..)| id == result.id.bytes());
        let (call, may_commit) = match open {
            Some(at) => {
                let (_, call, may_commit) = self.open.remove(at);
                (call, may_commit)
            }
            None => (
                Row {
                    kind: "tool".into(),
                    ..row.clone()
                },
                false,
            ),
        };
        let took = row
            .at
            .zip(call.at)
            .map(|(end, start)| end.as_millisecond().saturating_sub(start.as_millisecond()));
        self.ready.push(Row {
            ok: Some(!result.is_error),
            duration_ms: took,
            ..call
        });
        for subject in commit::reported(event, result, may_commit) {
            let row = Row {
                kind: "commit".into(),
                text: Some(subject),
                ok: Some(true),
                ..row.clone()
            };
            self.ready.push(row);
        }
    }

    fn turn_end(&mut self, event: &Event<'_>, row: Row) {
        let end = TurnEnd::new(event.line);
        let duration = end
            .number("duration_ms")
            .and_then(|ms| i64::try_from(ms).ok());
        let row = Row {
            kind: "result".into(),
            target: Some(end.subtype().into_owned()),
            text: end.text().map(|text| text.decode().into_owned()),
            ok: Some(!end.is_error()),
            duration_ms: duration,
            cost_usd: cost(&end).map(cr_usage::rounded),
            ..row
        };
        // Without tokens: the rows of the messages have them already.
        self.ready.push(row);
    }

    /// The row of any other event.
    fn plain(&mut self, event: &Event<'_>, row: Row) {
        let subtype = event.subtype.map(Text::decode);
        let kind = match (event.kind, subtype) {
            (Kind::System, Some(subtype)) => Cow::Owned(subtype.into_owned()),
            (Kind::Cr, Some(subtype)) => Cow::Owned(format!("cr/{subtype}")),
            _ => Cow::Owned(event.name.decode().into_owned()),
        };
        let text = [
            "message",
            "content",
            "summary",
            "description",
            "error",
            "reason",
            "line",
        ];
        let text = text.iter().find_map(|key| event.line.string(key));
        let tool = event.line.string("tool_name").map(Cow::into_owned);
        self.ready.push(Row {
            kind,
            tool,
            text: text.map(Cow::into_owned),
            ..row
        });
    }
}

impl Row {
    /// Masks what looks like a secret.
    pub fn redact(&mut self, redactor: &Redactor) {
        for text in [&mut self.text, &mut self.target, &mut self.agent] {
            if let Some(text) = text
                && let Cow::Owned(masked) = redactor.redact(text)
            {
                *text = masked;
            }
        }
    }

    fn with(mut self, usage: Option<(Usage, bool)>) -> Self {
        self.input_tokens = usage.map(|(usage, _)| usage.context());
        self.output_tokens = usage
            .filter(|(_, is_final)| *is_final)
            .map(|(usage, _)| usage.output);
        self
    }
}
