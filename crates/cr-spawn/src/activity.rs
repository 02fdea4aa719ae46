//! What the agent is doing, according to its lines.
//!
//! Silence by itself means nothing: a model may think for minutes and a tool may
//! build for an hour. So the clocks depend on what the agent waits for.

use std::time::Instant;

use cr_event::{Block, Event, Kind, Raw, Text, TurnEnd};

use crate::record::millis;
use crate::tasks::{TaskFact, Tasks, resumed_agent};
use cr_stream::{AgentActivity, Doing};

/// The most characters of a tool's target that are kept.
const MAX_TARGET: usize = 200;

/// The most open calls that are tracked.
const MAX_CALLS: usize = 1000;

/// Everything the clocks need to know.
#[derive(Debug)]
pub(crate) struct Activity {
    /// When the agent was started, later by the time that does not count.
    pub(crate) started: Instant,
    /// When the last line came.
    pub(crate) last_line: Instant,
    /// Whether there was one.
    pub(crate) has_spoken: bool,
    /// The agent continues a session.
    pub(crate) is_resumed: bool,
    /// The model has said something.
    has_answered: bool,
    /// Since when the current turn runs.
    pub(crate) turn_since: Option<Instant>,
    /// Turns begun.
    pub(crate) turns: u64,
    /// When the last result came, unless a turn has begun since.
    pub(crate) result_at: Option<Instant>,
    /// Whether the last result is an error, if there was one at all.
    pub(crate) result_is_error: Option<bool>,
    calls: Vec<Call>,
    tasks: Tasks,
}

/// A tool call that is not answered yet.
#[derive(Debug)]
struct Call {
    id: String,
    name: String,
    target: Option<String>,
    since: Instant,
    /// Its clock starts anew with every line of the subagent it runs.
    reset: Instant,
}

/// The call that has been silent longest.
#[derive(Debug)]
pub(crate) struct Longest {
    pub(crate) reset: Instant,
}

impl Activity {
    /// Nothing has happened yet.
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            started: now,
            last_line: now,
            has_spoken: false,
            is_resumed: false,
            has_answered: false,
            turn_since: None,
            turns: 0,
            result_at: None,
            result_is_error: None,
            calls: Vec::new(),
            tasks: Tasks::default(),
        }
    }

    /// Takes note of a line that cannot be parsed.
    pub(crate) fn sign_of_life(&mut self, now: Instant) {
        self.last_line = now;
        self.has_spoken = true;
    }

    /// Takes note of a line.
    pub(crate) fn line(&mut self, line: &[u8], now: Instant) {
        self.sign_of_life(now);
        // Parts of a message are many and change nothing.
        if Kind::of_head(line) == Some(Kind::StreamEvent) {
            return;
        }
        let Ok(event) = Event::parse(line) else {
            return;
        };
        if let Some(parent) = event.parent {
            let parent = parent.decode();
            for call in self.calls.iter_mut().filter(|call| call.id == parent) {
                call.reset = now;
            }
        }
        let had_background = self.has_background();
        match event.kind {
            Kind::Assistant | Kind::User => self.message(&event, now),
            Kind::Result => self.result(&TurnEnd::new(event.line), now),
            Kind::System => self.system(&event, now),
            _ => {}
        }
        if had_background && !self.has_background() {
            // The turn that reports it has its own time to begin.
            self.result_at = self.result_at.map(|_| now);
        }
    }

    fn message(&mut self, event: &Event<'_>, now: Instant) {
        let Some(message) = &event.message else {
            return;
        };
        if event.kind == Kind::Assistant && event.parent.is_none() {
            // A turn may begin without being announced.
            self.has_answered = true;
            self.result_at = None;
        }
        if event.kind == Kind::User
            && let Some(id) = resumed_agent(event.line)
        {
            self.tasks.resumed(id);
        }
        for block in message.blocks() {
            match block {
                Block::ToolUse(call) if self.calls.len() < MAX_CALLS => {
                    self.begin_turn(now);
                    self.calls.push(Call {
                        id: call.id.decode().into_owned(),
                        name: call.name.prefix(MAX_TARGET).into_owned(),
                        target: call.input.and_then(target),
                        since: now,
                        reset: now,
                    });
                }
                Block::ToolResult(result) => {
                    let id = result.id.decode();
                    self.calls.retain(|call| call.id != id);
                    self.tasks.call_returned(&id);
                }
                _ => {}
            }
        }
    }

    fn result(&mut self, end: &TurnEnd<'_>, now: Instant) {
        // Some releases begin a resumed session with an empty result.
        let is_early = self.is_resumed && !self.has_answered && !end.is_error();
        self.result_at = (!is_early).then_some(now);
        self.result_is_error = Some(end.is_error());
        self.turn_since = None;
        self.calls.clear();
        self.tasks.turn_ended();
    }

    fn system(&mut self, event: &Event<'_>, now: Instant) {
        let subtype = event.subtype.map(Text::decode).unwrap_or_default();
        match &*subtype {
            "init" => {
                self.result_at = None;
                self.begin_turn(now);
            }
            "background_tasks_changed" => self.tasks.listed(TaskFact::of_list(event.line)),
            "task_started" | "task_updated" | "task_notification" => {
                if let Some(fact) = TaskFact::of_line(event.line) {
                    self.tasks.changed(fact);
                }
            }
            _ => {}
        }
    }

    fn begin_turn(&mut self, now: Instant) {
        if self.turn_since.is_none() {
            self.turn_since = Some(now);
            self.turns += 1;
        }
    }

    /// Whether background tasks are known to run.
    pub(crate) fn has_background(&self) -> bool {
        self.tasks.is_any_open()
    }

    /// The open call whose clock has run longest.
    pub(crate) fn longest(&self) -> Option<Longest> {
        let reset = self.calls.iter().map(|call| call.reset).min()?;
        Some(Longest { reset })
    }

    /// What the agent waits for.
    pub(crate) fn doing(&self, now: Instant) -> Doing<'static> {
        let since = |at: Instant| millis(now.saturating_duration_since(at));
        let plain = |what: AgentActivity, at| Doing {
            what: what.into(),
            tool: None,
            tool_use_id: None,
            target: None,
            since_ms: since(at),
        };
        if let Some(call) = self.calls.iter().min_by_key(|call| call.reset) {
            return Doing {
                what: AgentActivity::Tool.into(),
                tool: Some(call.name.clone().into()),
                tool_use_id: Some(call.id.clone().into()),
                target: call.target.clone().map(Into::into),
                since_ms: since(call.since),
            };
        }
        match self.result_at {
            Some(at) if self.has_background() => plain(AgentActivity::Background, at),
            Some(at) => plain(AgentActivity::AfterResult, at),
            None if self.has_spoken => plain(AgentActivity::Model, self.last_line),
            None => plain(AgentActivity::Starting, self.started),
        }
    }

    /// Moves all times by time that does not count.
    pub(crate) fn shift(&mut self, by: std::time::Duration) {
        self.started += by;
        self.last_line += by;
        let times = self.calls.iter_mut();
        times.for_each(|call| {
            call.since += by;
            call.reset += by;
        });
        for time in [&mut self.turn_since, &mut self.result_at]
            .into_iter()
            .flatten()
        {
            *time += by;
        }
    }
}

/// The target of a call: its command, its file, its question.
pub(crate) fn target(input: Raw<'_>) -> Option<String> {
    const KEYS: [&str; 8] = [
        "command",
        "file_path",
        "notebook_path",
        "pattern",
        "url",
        "query",
        "description",
        "prompt",
    ];
    let text = KEYS
        .iter()
        .find_map(|key| input.get(key).and_then(Raw::text))?;
    Some(
        cr_io::first_chars(&text.prefix(4 * MAX_TARGET), MAX_TARGET)
            .0
            .to_owned(),
    )
}
