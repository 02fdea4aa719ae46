//! `--format json`: one flat row per event, the same for both dialects.
//!
//! A tool's row comes with its result, because the row has its success and its
//! duration. Calls that are open at the end get their rows then.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use cr_event::{Block, Content, Event, Kind, Message, Text, ToolResult, ToolUse, TurnEnd, Usage};
use cr_usage::{RecentMap, key};
use jiff::Timestamp;

use crate::calls::OpenCalls;
use crate::clock::Clock;
use crate::open_rows::{OpenRow, OpenRows};
use crate::row::Row;
use crate::turn_end::cost;
use crate::{commit, failure, own_rows, session_lines, tools};

/// Follows a stream and makes rows of its events.
#[derive(Debug, Default)]
pub struct RowBuilder {
    calls: OpenCalls,
    /// Agents by the call that began them.
    agents: HashMap<Vec<u8>, String>,
    open: OpenRows,
    session: Option<Rc<str>>,
    run: Option<Rc<str>>,
    /// The model of the last message.
    model: Option<Rc<str>>,
    turn: u64,
    /// The messages whose tokens are on a row.
    counted: RecentMap<()>,
    ready: Vec<Row>,
}

/// Agents that are remembered by their names.
const MOST: usize = 10_000;

impl RowBuilder {
    /// The rows that an event completes; the clock has seen its time.
    pub fn rows(
        &mut self,
        event: &Event<'_>,
        clock: &Clock,
        line: u64,
    ) -> std::vec::Drain<'_, Row> {
        if let Some(session) = event.session_id {
            share(&mut self.session, session);
        }
        if let Some(run) = event.run_id.filter(|_| event.kind == Kind::Cr) {
            share(&mut self.run, run);
        }
        let row = self.row(event, clock.event(), line);
        match event.kind {
            Kind::Assistant | Kind::User => self.message(event, row, clock.own()),
            Kind::Result => self.turn_end(event, row),
            Kind::System if event.is("init") => {
                self.turn += 1;
                let model = event.line.string("model");
                self.ready.push(Row {
                    kind: "init".into(),
                    target: model.as_deref().map(str::to_owned),
                    model: model.map(Rc::from),
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
    pub fn unfinished(&mut self) -> impl Iterator<Item = Row> + use<> {
        self.open.drain()
    }

    fn row(&self, event: &Event<'_>, at: Option<Timestamp>, line: u64) -> Row {
        let agent = event.parent.map(|parent| {
            let known = self.agents.get(parent.bytes()).cloned();
            known.unwrap_or_else(|| parent.decode().into_owned())
        });
        let agent = agent.or_else(|| {
            // To look for a field costs a walk over the line.
            let line = event.is_sidechain.then_some(event.line)?;
            line.string("agentId").map(Cow::into_owned)
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

    fn message(&mut self, event: &Event<'_>, row: Row, own_time: Option<Timestamp>) {
        let Some(message) = &event.message else {
            return;
        };
        if let Some((from, text)) = session_lines::from_peer(event) {
            self.ready.push(Row {
                kind: "peer".into(),
                target: Some(from),
                text: Some(text),
                ..row
            });
            return;
        }
        let row = &Row {
            model: self.model_of(message),
            ..row
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
                Block::Text(text) if message.is_filler(*text) => {}
                Block::Text(text) => {
                    let failed = event.is_api_error();
                    self.push_text(if failed { "error" } else { by }, *text, row, usage);
                }
                Block::Thinking(text) => self.push_text("thinking", *text, row, usage),
                Block::ToolUse(call) => self.call(call, row.clone().with(usage), own_time),
                Block::ToolResult(result) => self.result(event, result, row, own_time),
                _ => {}
            }
        }
    }

    /// The model of a message; the agent's own messages have none.
    fn model_of(&mut self, message: &Message<'_>) -> Option<Rc<str>> {
        let model = message.model.filter(|_| !message.is_synthetic())?;
        share(&mut self.model, model);
        self.model.clone()
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

    fn call(&mut self, call: &ToolUse<'_>, row: Row, called_at: Option<Timestamp>) {
        let shown = tools::describe(call);
        if shown.label == "Subagent" {
            self.calls.begin_agent(call, row.depth + 1);
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
            tool_use_id: Some(call.id.decode().into_owned()),
            target: Some(shown.target),
            ..row
        };
        let open = OpenRow {
            row,
            called_at,
            may_commit: command.is_some_and(|command| commit::may_commit(&command)),
        };
        self.ready.extend(self.open.open(call.id.bytes(), open));
    }

    fn result(
        &mut self,
        event: &Event<'_>,
        result: &ToolResult<'_>,
        row: &Row,
        ended_at: Option<Timestamp>,
    ) {
        let id = || Some(result.id.decode().into_owned());
        let open = self.open.close(result.id.bytes());
        let call = open.unwrap_or_else(|| OpenRow {
            row: Row {
                kind: "tool".into(),
                tool_use_id: id(),
                ..row.clone()
            },
            called_at: None,
            may_commit: false,
        });
        // The time of another line would say nothing of this call.
        let took = ended_at
            .zip(call.called_at)
            .map(|(end, start)| end.as_millisecond().saturating_sub(start.as_millisecond()));
        let error = result
            .is_error
            .then(|| failure::text(result, usize::MAX))
            .flatten();
        self.ready.push(Row {
            ok: Some(!result.is_error),
            duration_ms: took.and_then(|ms| u64::try_from(ms).ok()),
            exit_code: error.as_deref().and_then(failure::exit_code),
            error: error.map(Cow::into_owned),
            ..call.row
        });
        for commit in commit::reported(event, result, call.may_commit) {
            let row = Row {
                kind: "commit".into(),
                tool_use_id: id(),
                text: Some(commit.subject),
                ok: Some(true),
                ..row.clone()
            };
            self.ready.push(row);
        }
    }

    fn turn_end(&mut self, event: &Event<'_>, row: Row) {
        let end = TurnEnd::new(event.line);
        let row = Row {
            kind: "result".into(),
            target: Some(end.subtype().into_owned()),
            text: end.text().map(|text| text.decode().into_owned()),
            ok: Some(!end.is_error()),
            duration_ms: end.number("duration_ms"),
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
        let id = event.line.string("tool_use_id").map(Cow::into_owned);
        let row = Row {
            kind,
            tool,
            tool_use_id: id,
            text: text.map(Cow::into_owned),
            ..row
        };
        self.ready.push(match event.kind {
            Kind::Cr => own_rows::fill(event, row),
            _ => row,
        });
    }
}

/// Sets a text that rows share, unless it is the same as before.
fn share(shared: &mut Option<Rc<str>>, text: Text<'_>) {
    if !shared.as_deref().is_some_and(|known| text.is(known)) {
        *shared = Some(text.decode().into());
    }
}
