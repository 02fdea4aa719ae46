//! Events to progress lines.

use cr_event::{Block, Content, Event, Kind, Message, Text, ToolResult, ToolUse, TurnEnd};
use cr_stream::OwnLine;
use jiff::Timestamp;

use crate::calls::{OpenCall, OpenCalls};
use crate::clock::Clock;
use crate::commit::Commit;
use crate::line::{ProgressLine, Tone, duration, elapsed, setting};
use crate::session_lines::{self, SessionLines};
use crate::{commit, failure, own_lines, system, tools, turn_end};

/// Bytes of a text that are decoded: more than is shown, so that a secret at the
/// cut is recognised.
const DECODED: usize = 800;
/// A text of at most so many characters is a detail, unless it is the last.
const SHORT_TEXT: usize = 20;
/// Commits that are remembered until git reports them.
const MOST_COMMITS: usize = 10_000;

/// Follows a stream and describes its events as progress lines.
#[derive(Debug, Default)]
pub struct ProgressTracker {
    calls: OpenCalls,
    /// The id of the current session; empty before the first banner.
    pub session: String,
    /// The main thread's last usage, unread, and the model it is of.
    context: (Vec<u8>, String),
    /// When the run began and its limit in milliseconds, until half of it is
    /// over.
    timeout: Option<(Timestamp, i64)>,
    /// The name of the turn's error, once a line has shown its text.
    error: Option<String>,
    /// The last clock that ran out, and its setting in milliseconds.
    limit: Option<(cr_stream::Clock, u64)>,
    /// The commits that a line has named.
    commits: Vec<Commit>,
    /// A text too short to show, in case it is the last.
    short_text: Option<String>,
    session_lines: SessionLines,
    lines: Vec<ProgressLine>,
}

impl ProgressTracker {
    /// The lines of an event.
    pub fn lines(&mut self, event: &Event<'_>, clock: &Clock) -> std::vec::Drain<'_, ProgressLine> {
        match event.kind {
            Kind::Assistant => self.assistant(event),
            Kind::User => self.user(event),
            Kind::Result => self.turn_end(event),
            Kind::System if event.is("init") => self.init(event),
            Kind::System => self.lines.extend(system::line(event)),
            Kind::Cr => {
                self.timeout = own_lines::timeout(event).or(self.timeout);
                self.own_line(event);
            }
            Kind::ToolProgress => self.still_running(event),
            Kind::RateLimit => self.lines.extend(system::rate_limit(event, clock)),
            _ => {}
        }
        self.half_time(clock);
        self.lines.drain(..)
    }

    /// The agent's last text, at the end of a stream that has no result.
    pub fn last_text(&mut self) -> Option<ProgressLine> {
        let text = self.short_text.take()?;
        Some(ProgressLine::new("Text", text).key(Tone::Plain))
    }

    /// Whether a tool's result that begins with `head` has no line: its call
    /// did not fail with a code and cannot have made a commit. Closes the call.
    pub fn is_silent_result(&mut self, line: &[u8]) -> bool {
        const RESULT: &[u8] =
            br#"{"type":"user","message":{"role":"user","content":[{"tool_use_id":""#;
        const FAILURE: &[u8] = br#"","type":"tool_result","content":"Exit code "#;
        let Some(rest) = line.strip_prefix(RESULT) else {
            return false;
        };
        let Some(end) = memchr::memchr2(b'"', b'\\', &rest[..rest.len().min(200)]) else {
            return false;
        };
        let id = &rest[..end];
        let Some(call) = self.calls.get(id) else {
            return self.calls.none_open();
        };
        if call.is_shell {
            let failed = rest[end..].starts_with(FAILURE);
            if failed || call.may_commit || memchr::memmem::find(line, b"gitOperation").is_some() {
                return false;
            }
            self.calls.close(id);
            // Another block of the same line may answer another command.
            return !self.calls.any_shell_open();
        }
        self.calls.close(id);
        !self.calls.any_shell_open()
    }

    fn own_line(&mut self, event: &Event<'_>) {
        let Some(line) = OwnLine::read(event) else {
            return;
        };
        match &line {
            OwnLine::Start(start) => self.session_lines.start(start, event.run_id),
            OwnLine::State(state) => self.lines.extend(self.session_lines.state(state)),
            OwnLine::Ask(ask) => self.lines.push(self.session_lines.ask(ask)),
            OwnLine::Limit(limit) => self.limit = limit.clock.known().zip(limit.limit_ms),
            OwnLine::GitEnd(git) => {
                let quiet = commit::unnamed(git, std::mem::take(&mut self.commits));
                let lines = quiet.map(|subject| ProgressLine::new("Commit", subject));
                self.lines.extend(lines.map(|line| line.key(Tone::Good)));
            }
            _ => {}
        }
        self.lines.extend(own_lines::line(&line, self.limit));
    }

    /// Warns once that half of the run's time is gone.
    fn half_time(&mut self, clock: &Clock) {
        let (Some((start, limit)), Some(now)) = (self.timeout, clock.seen()) else {
            return;
        };
        let gone = now.as_millisecond().saturating_sub(start.as_millisecond());
        if gone.saturating_mul(2) < limit {
            return;
        }
        self.timeout = None;
        let limit = setting(limit.unsigned_abs());
        let line = ProgressLine::new(
            "Clock",
            format!("half of the timeout of {limit} has passed"),
        );
        self.lines.push(line.tone(Tone::Warning));
    }

    fn init(&mut self, event: &Event<'_>) {
        let session = event.session_id.map(Text::decode).unwrap_or_default();
        let model = event.line.string("model").unwrap_or_default();
        let mode = event.line.string("permissionMode").unwrap_or_default();
        let cwd = event.line.string("cwd").unwrap_or_default();
        let text = format!("{session} | model: {model} | permissions: {mode} | cwd: {cwd}");
        let line = ProgressLine::new("Session", text);
        // Every turn begins with a banner; only the first of a session is shown.
        let is_first = self.session != *session;
        self.lines.push(if is_first { line } else { line.detail() });
        self.session = session.into_owned();
    }

    fn assistant(&mut self, event: &Event<'_>) {
        let Some(message) = &event.message else {
            return;
        };
        let depth = self.calls.depth(event);
        if depth == 0 && !message.is_synthetic() {
            self.remember(message);
            self.error = None;
        }
        if event.is_api_error() {
            self.failure(event, message, depth);
            return;
        }
        match &message.content {
            Content::Nothing => {}
            Content::Text(text) => self.text(*text, depth),
            Content::Blocks(blocks) => {
                for block in blocks {
                    if !matches!(block, Block::Text(text) if message.is_filler(*text)) {
                        self.block(block, depth, event.parent);
                    }
                }
            }
        }
    }

    /// Keeps a call's usage for the end of the turn, without an allocation.
    fn remember(&mut self, message: &Message<'_>) {
        let (usage, model) = &mut self.context;
        if let Some(raw) = message.raw_usage {
            usage.clear();
            usage.extend_from_slice(raw.bytes());
        }
        let name = message.model.map(Text::bytes).unwrap_or_default();
        if model.as_bytes() != name {
            *model = message
                .model
                .map(Text::decode)
                .unwrap_or_default()
                .into_owned();
        }
    }

    /// An error of the API, which the CLI writes as an answer of the model.
    fn failure(&mut self, event: &Event<'_>, message: &Message<'_>, depth: usize) {
        let text = message.blocks().iter().find_map(|block| match block {
            Block::Text(text) => Some(text.prefix(DECODED)),
            _ => None,
        });
        let error = event.line.string("error").unwrap_or_default();
        self.short_text = None;
        if depth == 0 {
            self.error = Some(error.clone().into_owned());
        }
        let line = ProgressLine::new("Error", text.unwrap_or(error)).key(Tone::Error);
        self.lines.push(line.under(depth));
    }

    fn block(&mut self, block: &Block<'_>, depth: usize, agent: Option<Text<'_>>) {
        match block {
            Block::Text(text) => self.text(*text, depth),
            Block::Thinking(text) => {
                let text = text.prefix(DECODED);
                let text = text.trim();
                if !text.is_empty() {
                    self.lines
                        .push(ProgressLine::new("Thinking", text).detail().under(depth));
                }
            }
            Block::ToolUse(call) => self.call(call, depth, agent),
            _ => {}
        }
    }

    fn text(&mut self, text: Text<'_>, depth: usize) {
        let text = text.prefix(DECODED);
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        let line = ProgressLine::new("Text", text).under(depth);
        let short = text.chars().nth(SHORT_TEXT).is_none();
        if depth == 0 {
            self.short_text = short.then(|| line.text.clone());
        }
        self.lines.push(if short { line.detail() } else { line });
    }

    fn call(&mut self, call: &ToolUse<'_>, depth: usize, agent: Option<Text<'_>>) {
        let mut shown = tools::describe(call);
        let command = || {
            let command = call.input?.get("command")?.text()?;
            Some(commit::may_commit(&command.prefix(64 << 10)))
        };
        let is_shell = shown.label == "Bash";
        let may_commit = is_shell && command().unwrap_or(false);
        if shown.label == "Subagent" {
            self.calls.begin_agent(call, depth + 1);
        } else if shown.label == "Message" {
            let from = agent.map_or("main", |agent| self.calls.agent_name(agent));
            shown.target = format!("{from} to {}", shown.target);
        }
        self.short_text = None;
        let open = OpenCall {
            label: shown.label.clone(),
            target: cr_io::first_chars(&shown.target, shown.most).0.to_owned(),
            is_shell,
            may_commit,
            shown_at: 0,
        };
        self.calls.open(call.id, open);
        let asks = shown.label == "Question";
        let line = ProgressLine::new(shown.label, shown.target)
            .most(shown.most)
            .under(depth);
        self.lines
            .push(if asks { line.key(Tone::Warning) } else { line });
    }

    fn user(&mut self, event: &Event<'_>) {
        let Some(message) = &event.message else {
            return;
        };
        if let Some((from, text)) = session_lines::from_peer(event) {
            let text = format!("{from} to main: {text}");
            self.lines.push(ProgressLine::new("Message", text));
            return;
        }
        let depth = self.calls.depth(event);
        let is_replay = event.is_replay();
        match &message.content {
            Content::Nothing => {}
            Content::Text(text) => self.prompt(*text, depth, is_replay),
            Content::Blocks(blocks) => {
                for block in blocks {
                    match block {
                        Block::ToolResult(result) => self.result(event, result, depth),
                        Block::Text(text) => self.prompt(*text, depth, is_replay),
                        _ => {}
                    }
                }
            }
        }
    }

    fn result(&mut self, event: &Event<'_>, result: &ToolResult<'_>, depth: usize) {
        let call = self.calls.close(result.id.bytes());
        let trusted = call.as_ref().is_some_and(|call| call.may_commit);
        let commits = commit::reported(event, result, trusted);
        if !commits.is_empty() {
            let subjects: Vec<_> = commits.iter().map(|commit| &*commit.subject).collect();
            let line = ProgressLine::new("Commit", subjects.join(", "));
            self.lines.push(line.key(Tone::Good).under(depth));
            let room = MOST_COMMITS.saturating_sub(self.commits.len());
            self.commits.extend(commits.into_iter().take(room));
        } else if result.is_error {
            self.lines.push(failure::line(call, result).under(depth));
        }
    }

    /// A text of the user: a message that the agent takes up, the prompt in a log, a
    /// reminder of the CLI, or the mark of a turn that was interrupted.
    fn prompt(&mut self, text: Text<'_>, depth: usize, is_replay: bool) {
        let text = text.prefix(DECODED);
        let text = text.trim();
        if text.starts_with("[Request interrupted by user") {
            self.lines
                .push(ProgressLine::new("Interrupted", text).key(Tone::Warning));
        } else if !text.is_empty() {
            let line = ProgressLine::new("Prompt", text).under(depth);
            self.lines
                .push(if is_replay { line } else { line.detail() });
        }
    }

    fn still_running(&mut self, event: &Event<'_>) {
        let elapsed = event.line.get("elapsed_time_seconds");
        let Some(elapsed) = elapsed.and_then(cr_event::Raw::u64) else {
            return;
        };
        let name = event.line.string("tool_name").unwrap_or_default();
        let call = event.parent.and_then(|id| self.calls.get(id.bytes()));
        let (due, target) = match call {
            // Shown at 30 s, 1 min, 2 min and so on.
            Some(call) => {
                let due = elapsed >= call.shown_at.saturating_mul(2);
                if due {
                    call.shown_at = elapsed;
                }
                (due, call.target.clone())
            }
            None => (true, String::new()),
        };
        let label = format!("{name} running {}", duration(elapsed));
        let line = ProgressLine::new(label, target);
        self.lines.push(if due { line } else { line.detail() });
    }

    fn turn_end(&mut self, event: &Event<'_>) {
        let end = TurnEnd::new(event.line);
        if end.is_empty() && self.session_lines.is_session() {
            // The result of the turn follows.
            return;
        }
        if let Some(text) = self.short_text.take().filter(|_| !end.is_error()) {
            self.lines
                .push(ProgressLine::new("Text", text).key(Tone::Plain));
        }
        let (label, tone) = if end.is_error() {
            ("Failed", Tone::Error)
        } else {
            ("Done", Tone::Good)
        };
        let mut parts = vec![turn_end::ending(&end, self.error.take().as_deref())];
        parts.extend(end.num_turns().map(|n| cr_io::counted(n, "turn")));
        parts.extend(end.number("duration_ms").map(elapsed));
        parts.extend(turn_end::cost(&end).map(|usd| format!("${usd:.4}")));
        let (usage, model) = &self.context;
        parts.extend(turn_end::context_share(&end, usage, model));
        let denied = end.denials().len();
        if denied > 0 {
            parts.push(format!("{denied} denied"));
        }
        self.lines.push(
            ProgressLine::new(label, parts.join(" | "))
                .most(400)
                .key(tone),
        );
    }
}
