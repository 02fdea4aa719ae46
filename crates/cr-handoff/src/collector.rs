//! Takes the lines of a session in.

mod own_lines;

use std::collections::BTreeMap;

use cr_event::{Block, Content, Event, Kind, Message, Raw, Text, ToolResult, ToolUse, TurnEnd};
use cr_io::Redactor;
use cr_usage::{RecentMap, key};

use crate::call::{Call, Deed};
use crate::commands::{Commands, Outcome};
use crate::commits::Commits;
use crate::files::Files;
use crate::handoff::{Dropped, Handoff, handed_goal};
use crate::open::{Failures, OpenItem, OpenKind, Questions};
use crate::prompt::{Said, said};
use crate::quote::{abridge, cut};
use crate::todo::Todos;

/// Bytes of a goal and of last words that are kept.
const TEXT: usize = 16 << 10;
/// Bytes of a result in which the first line of an error is looked for.
const ERROR_HEAD: usize = 4 << 10;
/// Bytes of an error or a question that are kept.
const LINE: usize = 400;
/// Calls without a result that are remembered.
const OPEN_CALLS: usize = 1000;

/// Collects the facts of a session from its lines.
#[derive(Debug)]
pub struct Collector {
    redactor: Redactor,
    /// The goal that the caller gave.
    given: Option<String>,
    goal: Option<String>,
    /// A command of the CLI that was given before any prompt.
    command: Option<String>,
    latest: Option<String>,
    last_words: String,
    commits: Commits,
    files: Files,
    commands: Commands,
    failures: Failures,
    questions: Questions,
    todos: Todos,
    /// Why the session ended, as long as it does not go on.
    ending: Option<String>,
    /// Calls so far.
    calls: u64,
    /// The number of a call and its message, by the id of the call.
    numbers: RecentMap<(u64, u64)>,
    open: BTreeMap<u64, Call>,
    /// All lines are those of a subagent's own log; `None` before the first
    /// message.
    is_agents_own: Option<bool>,
}

impl Default for Collector {
    fn default() -> Self {
        Self::new(Redactor::from_env())
    }
}

impl Collector {
    /// Starts with nothing; `redactor` masks what is kept.
    pub fn new(redactor: Redactor) -> Self {
        Self {
            redactor,
            given: None,
            goal: None,
            command: None,
            latest: None,
            last_words: String::new(),
            commits: Commits::default(),
            files: Files::default(),
            commands: Commands::default(),
            failures: Failures::default(),
            questions: Questions::default(),
            todos: Todos::default(),
            ending: None,
            calls: 0,
            numbers: RecentMap::default(),
            open: BTreeMap::new(),
            is_agents_own: None,
        }
    }

    /// Uses `goal` in place of the first prompt.
    pub fn goal(&mut self, goal: &str) {
        self.given = Some(self.kept(goal.trim())).filter(|goal| !goal.is_empty());
    }

    /// Takes a line. One that is no event is ignored.
    pub fn line(&mut self, line: &[u8]) {
        if Kind::of_head(line) == Some(Kind::StreamEvent) {
            return;
        }
        if let Ok(event) = Event::parse(line) {
            self.event(&event);
        }
    }

    /// Takes a line that is parsed.
    pub fn event(&mut self, event: &Event<'_>) {
        match event.kind {
            Kind::Assistant => self.assistant(event),
            Kind::User => self.user(event),
            Kind::Result if cr_event::is_claudes_result(event) => self.turn_end(event),
            Kind::System if event.is("permission_denied") => self.denied(event.line),
            Kind::Cr => self.own_line(event),
            Kind::Reset => self.reset(),
            Kind::Other => {
                // What a carried line carries is not looked at: a line may nest
                // deeper than the stack.
                let carried = event.carried();
                match carried.as_ref().map(|carried| carried.kind) {
                    Some(Kind::Assistant) => carried.iter().for_each(|it| self.assistant(it)),
                    Some(Kind::User) => carried.iter().for_each(|it| self.user(it)),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// What is known at the end.
    pub fn finish(mut self) -> Handoff {
        for call in std::mem::take(&mut self.open).into_values() {
            if !self.questions.is_about(&call.tool) {
                let kind = OpenKind::NoResult;
                self.failures.fail(call, kind, String::new());
            }
        }
        let dropped = Dropped {
            commits: self.commits.dropped,
            changed: self.files.dropped.0,
            read: self.files.dropped.1,
            commands: self.commands.dropped,
            open: self.failures.dropped,
        };
        let mut open = self.failures.all();
        open.extend(self.questions.all());
        open.extend(self.ending.map(|error| OpenItem {
            kind: OpenKind::Ended,
            what: error,
            error: String::new(),
            times: 1,
        }));
        let goal = self.given.or(self.goal).or(self.command);
        Handoff {
            latest: self.latest.filter(|latest| goal.as_ref() != Some(latest)),
            goal,
            commits: self.commits.commits,
            files: self.files.sorted(),
            commands: self.commands.all(),
            open,
            todos: self.todos.all(),
            last_words: Some(self.last_words).filter(|text| !text.is_empty()),
            dropped,
        }
    }

    /// `text` without secrets, short enough to be kept.
    fn kept(&self, text: &str) -> String {
        abridge(&self.redactor.redact(text), TEXT)
    }

    /// The same for one line.
    fn kept_line(&self, text: &str) -> String {
        cut(&self.redactor.redact(text), LINE)
    }

    /// Whether the line belongs to the main thread, or to the subagent whose own
    /// log is read alone.
    fn is_main(&mut self, event: &Event<'_>) -> bool {
        let is_own = || event.is_from_agents_log();
        let is_own = *self.is_agents_own.get_or_insert_with(is_own);
        event.is_main() || (is_own && event.parent.is_none())
    }

    /// The conversation is cleared: what was done stays, what was wanted does not.
    fn reset(&mut self) {
        (self.goal, self.latest, self.command) = (None, None, None);
        self.last_words.clear();
        self.todos = Todos::default();
        self.failures.clear();
        self.questions.clear();
        self.ending = None;
    }

    fn assistant(&mut self, event: &Event<'_>) {
        let Some(message) = &event.message else {
            return;
        };
        let is_main = self.is_main(event);
        if message.is_synthetic() {
            if is_main && event.is_api_error() {
                let text = last_text(message).map(|text| text.prefix(ERROR_HEAD));
                let text = text.or_else(|| event.line.string("error"));
                self.ending = Some(self.kept_line(&text.unwrap_or_default()));
            }
            return;
        }
        if is_main {
            self.ending = None;
            if let Some(text) = last_text(message) {
                let text = text.decode();
                let text = text.trim();
                if !text.is_empty() {
                    self.last_words = self.kept(text);
                }
            }
        }
        let id = key(&[message.id.map(Text::bytes).unwrap_or_default()]);
        for block in message.blocks() {
            if let Block::ToolUse(call) = block {
                self.call(call, id, is_main);
            }
        }
    }

    fn call(&mut self, tool: &ToolUse<'_>, message: u64, is_main: bool) {
        let id = key(&[tool.id.bytes()]);
        let known = self.numbers.get_mut(id).map(|it| *it);
        // A message may come again, with the same calls.
        if known.is_some_and(|(_, before)| before == message) && !tool.id.bytes().is_empty() {
            return;
        }
        self.calls += 1;
        let number = self.calls;
        self.numbers.insert(id, (number, message));
        let redactor = &self.redactor;
        let mask = |text: &str| redactor.redact(text).into_owned();
        let call = Call::new(tool, number, mask);
        if let Deed::Shell { .. } = call.deed {
            self.commands.call(&call.target, call.key, number);
        }
        if is_main {
            self.todos.call(tool, number, mask);
        }
        self.open.insert(number, call);
        if self.open.len() > OPEN_CALLS {
            self.open.pop_first();
        }
    }

    fn user(&mut self, event: &Event<'_>) {
        let Some(message) = &event.message else {
            return;
        };
        for block in message.blocks() {
            if let Block::ToolResult(result) = block {
                self.result(event, result);
            }
        }
        if !self.is_main(event) {
            return;
        }
        match said(event, message) {
            Said::Prompt(text) => {
                let goal = || handed_goal(&text).map(|goal| self.kept(&goal));
                let handed = self.goal.is_none().then(goal).flatten();
                let text = handed.unwrap_or_else(|| self.kept(&text));
                match self.goal {
                    None => self.goal = Some(text),
                    Some(_) => self.latest = Some(text),
                }
            }
            Said::Command(text) => {
                let text = self.kept(&text);
                self.command.get_or_insert(text);
            }
            Said::Interrupted => self.ending = Some("interrupted by the user".to_owned()),
            Said::Nothing => {}
        }
    }

    fn result(&mut self, event: &Event<'_>, result: &ToolResult<'_>) {
        let id = key(&[result.id.bytes()]);
        let number = self.numbers.get_mut(id).map(|(number, _)| *number);
        let Some(call) = number.and_then(|number| self.open.remove(&number)) else {
            return;
        };
        self.todos.end(call.number, event, result);
        if result.is_error {
            self.failed(call, result);
            return;
        }
        self.failures.succeed(&call);
        match call.deed {
            Deed::File(access) => self.files.touch(&call.target, access, call.number),
            Deed::Shell { may_commit } => {
                for commit in cr_progress::reported(event, result, may_commit) {
                    let subject = self.redactor.redact(&commit.subject);
                    self.commits.add(&commit.sha, &subject);
                }
                let twin = event.tool_result;
                let task = twin.and_then(|twin| twin.get("backgroundTaskId")?.text());
                let outcome = task.map_or(Outcome::Ok, |_| Outcome::Background);
                self.commands.end(call.number, outcome);
            }
            Deed::Question | Deed::Other => {}
        }
    }

    fn failed(&mut self, call: Call, result: &ToolResult<'_>) {
        let text = cr_progress::result_text(result, ERROR_HEAD).unwrap_or_default();
        let code = cr_progress::exit_code(&text);
        let error = self.kept_line(cr_progress::first_line(&text));
        if let Deed::Shell { .. } = call.deed {
            let error = error.clone();
            let outcome = Outcome::Failed { code, error };
            self.commands.end(call.number, outcome);
        }
        self.failures.fail(call, OpenKind::Failed(code), error);
    }

    /// Takes the line that announces a denial, or an entry of a result's list.
    fn denied(&mut self, denial: Raw<'_>) {
        let text = |key| denial.get(key).and_then(Raw::text);
        let id = text("tool_use_id").unwrap_or_default();
        let known = self.numbers.get_mut(key(&[id.bytes()])).map(|it| it.0);
        if let Some(number) = known {
            if let Some(call) = self.open.get_mut(&number) {
                call.is_denied = true;
            } else {
                self.failures.deny(number);
            }
            return;
        }
        let Some(name) = text("tool_name") else {
            return;
        };
        let input = denial.get("tool_input");
        let tool = ToolUse { id, name, input };
        self.calls += 1;
        self.numbers.insert(key(&[id.bytes()]), (self.calls, 0));
        let redactor = &self.redactor;
        let mask = |text: &str| redactor.redact(text).into_owned();
        let call = Call::new(&tool, self.calls, mask);
        self.failures.fail(call, OpenKind::Denied, String::new());
    }

    fn turn_end(&mut self, event: &Event<'_>) {
        let end = TurnEnd::new(event.line);
        for denial in end.denials() {
            self.denied(denial);
        }
        if end.is_error() {
            let text = end.text().map(|text| text.prefix(ERROR_HEAD));
            let text = text.filter(|text| !text.trim().is_empty());
            let text = text.unwrap_or_else(|| end.subtype());
            let text = self.kept_line(cr_progress::first_line(&text));
            self.ending.get_or_insert(text);
            return;
        }
        // The object of `--output-format json` is the only line of its run.
        let text = end.text().map(Text::decode).unwrap_or_default();
        if self.last_words.is_empty() && end.num_turns() != Some(0) {
            self.last_words = self.kept(text.trim());
        }
    }
}

/// The last text of a message.
fn last_text<'a>(message: &Message<'a>) -> Option<Text<'a>> {
    if let Content::Text(text) = message.content {
        return Some(text);
    }
    let blocks = message.blocks().iter().rev();
    blocks.copied().find_map(|block| match block {
        Block::Text(text) => Some(text),
        _ => None,
    })
}
