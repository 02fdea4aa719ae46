//! Events to notes: what a person would say happened.

use cr_event::{Block, Content, Event, Kind, Message, Text, ToolResult, ToolUse, TurnEnd};

use cr_usage::{is_window_of, percent_used};
use jiff::Timestamp;

use crate::clock::Clock;
use crate::note::{Note, Tone, duration};
use crate::thread::{OpenCall, Threads};
use crate::{commit, ours, system, tools};

/// Bytes of words that are decoded: enough to show, and to see a secret that
/// the cut would fall into.
const DECODED: usize = 800;
/// Words no longer than this are chatter, unless they are the last.
const CHATTER: usize = 20;

/// Follows a stream and says what happens in it.
#[derive(Debug, Default)]
pub struct Narrator {
    threads: Threads,
    /// The id of the current session; empty before the first banner.
    pub session: String,
    /// The main thread's last usage, unread, and the model it is of.
    context: (Vec<u8>, String),
    /// When the run began and the milliseconds it has, until half of them are
    /// gone.
    timeout: Option<(Timestamp, i64)>,
    /// Whether the turn's error was told already, by a line of its own.
    told: bool,
    /// Words too short to show, in case they are the last.
    chatter: Option<String>,
    notes: Vec<Note>,
}

impl Narrator {
    /// What there is to say of an event.
    pub fn notes(&mut self, event: &Event<'_>, clock: &Clock) -> std::vec::Drain<'_, Note> {
        match event.kind {
            Kind::Assistant => self.assistant(event),
            Kind::User => self.user(event),
            Kind::Result => self.turn_end(event),
            Kind::System if event.is("init") => self.init(event),
            Kind::System => self.notes.extend(system::note(event)),
            Kind::Cr => {
                self.timeout = ours::timeout(event).or(self.timeout);
                self.notes.extend(ours::note(event));
            }
            Kind::ToolProgress => self.still_running(event),
            Kind::RateLimit => self.notes.extend(system::rate_limit(event, clock)),
            _ => {}
        }
        self.half_time(clock);
        self.notes.drain(..)
    }

    /// The agent's last words, at the end of a stream that has no result.
    pub fn last_words(&mut self) -> Option<Note> {
        let words = self.chatter.take()?;
        Some(Note::new("Text", words).key(Tone::Plain))
    }

    /// Whether a tool's result that begins with `head` needs no reading: its
    /// call cannot have made a commit. Closes the call.
    pub fn is_idle_result(&mut self, line: &[u8]) -> bool {
        const RESULT: &[u8] =
            br#"{"type":"user","message":{"role":"user","content":[{"tool_use_id":""#;
        let Some(rest) = line.strip_prefix(RESULT) else {
            return false;
        };
        let Some(end) = memchr::memchr2(b'"', b'\\', &rest[..rest.len().min(200)]) else {
            return false;
        };
        let id = &rest[..end];
        let Some(call) = self.threads.get(id) else {
            return self.threads.none_open();
        };
        if call.is_shell {
            let reports = call.may_commit || memchr::memmem::find(line, b"gitOperation").is_some();
            if reports {
                return false;
            }
            self.threads.close(id);
            // Another block of the same line may answer another command.
            return !self.threads.any_shell_open();
        }
        self.threads.close(id);
        !self.threads.any_shell_open()
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
        let limit = duration(limit.unsigned_abs() / 1000);
        let note = Note::new("Clock", format!("half of the timeout of {limit} is gone"));
        self.notes.push(note.tone(Tone::Warning));
    }

    fn init(&mut self, event: &Event<'_>) {
        let session = event.session_id.map(Text::decode).unwrap_or_default();
        let model = event.line.string("model").unwrap_or_default();
        let mode = event.line.string("permissionMode").unwrap_or_default();
        let cwd = event.line.string("cwd").unwrap_or_default();
        let text = format!("{session} | model: {model} | permissions: {mode} | cwd: {cwd}");
        let note = Note::new("Session", text);
        // Every turn begins with one; only the first of a session is news.
        let news = self.session != *session;
        self.notes.push(if news { note } else { note.detail() });
        self.session = session.into_owned();
    }

    fn assistant(&mut self, event: &Event<'_>) {
        let Some(message) = &event.message else {
            return;
        };
        let depth = self.threads.depth(event);
        if depth == 0 && !message.is_synthetic() {
            self.remember(message);
            self.told = false;
        }
        if message.is_synthetic() && event.line.get("error").is_some() {
            self.failure(event, message, depth);
            return;
        }
        match &message.content {
            Content::Nothing => {}
            Content::Text(words) => self.words(*words, depth),
            Content::Blocks(blocks) => {
                for block in blocks {
                    self.block(block, depth);
                }
            }
        }
    }

    /// Keeps a call's usage for the end of the turn; there is room already.
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

    /// An error of the API, which the CLI dresses up as an answer.
    fn failure(&mut self, event: &Event<'_>, message: &Message<'_>, depth: usize) {
        let words = message.blocks().iter().find_map(|block| match block {
            Block::Text(text) => Some(text.prefix(DECODED)),
            _ => None,
        });
        let error = event.line.string("error").unwrap_or_default();
        self.chatter = None;
        self.told |= depth == 0;
        let note = Note::new("Error", words.unwrap_or(error)).key(Tone::Error);
        self.notes.push(note.under(depth));
    }

    fn block(&mut self, block: &Block<'_>, depth: usize) {
        match block {
            Block::Text(words) => self.words(*words, depth),
            Block::Thinking(words) => {
                let words = words.prefix(DECODED);
                let text = words.trim();
                if !text.is_empty() {
                    self.notes
                        .push(Note::new("Thinking", text).detail().under(depth));
                }
            }
            Block::ToolUse(call) => self.call(call, depth),
            _ => {}
        }
    }

    fn words(&mut self, words: Text<'_>, depth: usize) {
        let words = words.prefix(DECODED);
        let words = words.trim();
        if words.is_empty() {
            return;
        }
        let note = Note::new("Text", words).under(depth);
        let short = words.chars().nth(CHATTER).is_none();
        if depth == 0 {
            self.chatter = short.then(|| note.text.clone());
        }
        self.notes.push(if short { note.detail() } else { note });
    }

    fn call(&mut self, call: &ToolUse<'_>, depth: usize) {
        let shown = tools::describe(call);
        let command = || {
            let command = call.input?.get("command")?.text()?;
            Some(commit::may_commit(&command.prefix(64 << 10)))
        };
        let is_shell = shown.label == "Bash";
        let may_commit = is_shell && command().unwrap_or(false);
        if shown.label == "Subagent" {
            self.threads.begin_agent(call.id, depth + 1);
        }
        self.chatter = None;
        let open = OpenCall {
            label: shown.label.clone(),
            target: cr_io::first_chars(&shown.target, shown.most).0.to_owned(),
            is_shell,
            may_commit,
            said_running: 0,
        };
        self.threads.open(call.id, open);
        let asks = shown.label == "Question";
        let note = Note::new(shown.label, shown.target)
            .most(shown.most)
            .under(depth);
        self.notes
            .push(if asks { note.key(Tone::Warning) } else { note });
    }

    fn user(&mut self, event: &Event<'_>) {
        let Some(message) = &event.message else {
            return;
        };
        let depth = self.threads.depth(event);
        match &message.content {
            Content::Nothing => {}
            Content::Text(words) => self.prompt(*words, depth),
            Content::Blocks(blocks) => {
                for block in blocks {
                    match block {
                        Block::ToolResult(result) => self.result(event, result, depth),
                        Block::Text(words) => self.prompt(*words, depth),
                        _ => {}
                    }
                }
            }
        }
    }

    fn result(&mut self, event: &Event<'_>, result: &ToolResult<'_>, depth: usize) {
        let call = self.threads.close(result.id.bytes());
        let trusted = call.as_ref().is_some_and(|call| call.may_commit);
        let commits = commit::reported(event, result, trusted);
        if !commits.is_empty() {
            let note = Note::new("Commit", commits.join(", "));
            self.notes.push(note.key(Tone::Good).under(depth));
        } else if result.is_error {
            let call = call.map(|call| format!("{}: {}", call.label, call.target));
            let note = Note::new("Failed", call.unwrap_or_default());
            self.notes
                .push(note.detail().tone(Tone::Warning).under(depth));
        }
    }

    /// Words that nobody typed now: the prompt in a log, a nudge, a note that a
    /// turn was interrupted.
    fn prompt(&mut self, words: Text<'_>, depth: usize) {
        let words = words.prefix(DECODED);
        let words = words.trim();
        if words.starts_with("[Request interrupted by user") {
            self.notes
                .push(Note::new("Interrupted", words).key(Tone::Warning));
        } else if !words.is_empty() {
            let note = Note::new("Prompt", words);
            self.notes.push(note.detail().under(depth));
        }
    }

    fn still_running(&mut self, event: &Event<'_>) {
        let elapsed = event.line.get("elapsed_time_seconds");
        let Some(elapsed) = elapsed.and_then(cr_event::Raw::u64) else {
            return;
        };
        let name = event.line.string("tool_name").unwrap_or_default();
        let call = event.parent.and_then(|id| self.threads.get(id.bytes()));
        let (due, target) = match call {
            // Said at 30 s, 1 min, 2 min …: often enough to know it lives.
            Some(call) => {
                let due = elapsed >= call.said_running.saturating_mul(2);
                if due {
                    call.said_running = elapsed;
                }
                (due, call.target.clone())
            }
            None => (true, String::new()),
        };
        let label = format!("{name} running {}", duration(elapsed));
        let note = Note::new(label, target);
        self.notes.push(if due { note } else { note.detail() });
    }

    fn turn_end(&mut self, event: &Event<'_>) {
        let end = TurnEnd::new(event.line);
        if let Some(words) = self.chatter.take().filter(|_| !end.is_error()) {
            self.notes.push(Note::new("Text", words).key(Tone::Plain));
        }
        let (label, tone) = if end.is_error() {
            ("Failed", Tone::Error)
        } else {
            ("Done", Tone::Good)
        };
        let mut parts = vec![how(&end, std::mem::take(&mut self.told))];
        parts.extend(
            end.num_turns()
                .map(|n| format!("{n} turn{}", if n == 1 { "" } else { "s" })),
        );
        parts.extend(end.number("duration_ms").map(|ms| duration(ms / 1000)));
        parts.extend(cost(&end).map(|usd| format!("${usd:.4}")));
        parts.extend(self.context_share(&end));
        let denied = end.denials().len();
        if denied > 0 {
            parts.push(format!("{denied} denied"));
        }
        self.notes
            .push(Note::new(label, parts.join(" | ")).most(400).key(tone));
    }

    /// `context 31% of 200000`, once the size of the window is known.
    fn context_share(&self, end: &TurnEnd<'_>) -> Option<String> {
        let (usage, model) = &self.context;
        let used = cr_event::Usage::of(cr_event::Raw::of(usage)?).context();
        let models = end.model_usage()?;
        let named = |m: &&cr_event::ModelUsage<'_>| is_window_of(&m.model.decode(), model);
        let window = models.iter().find(named)?.context_window?;
        let percent = percent_used(used, window)?;
        Some(format!("context {percent}% of {window}"))
    }
}

/// How a turn ended, in the words of its fields; the error itself only if it
/// was not told.
fn how(end: &TurnEnd<'_>, told: bool) -> String {
    let subtype = end.subtype();
    if !end.is_error() {
        return subtype.into_owned();
    }
    let reason = end
        .string("terminal_reason")
        .filter(|reason| reason != "completed");
    let kind = if subtype == "success" {
        reason.unwrap_or_default()
    } else {
        subtype
    };
    let said = end.errors().first().map(|error| error.clone().into_owned());
    let said = said.or_else(|| Some(end.text()?.prefix(200).into_owned()));
    let said = said.filter(|_| !told).unwrap_or_default().trim().to_owned();
    match (kind.is_empty(), said.is_empty()) {
        (_, true) => kind.into_owned(),
        (true, _) => said,
        _ => format!("{kind}: {said}"),
    }
}

/// What the turn cost: since the last result where the CLI says so.
pub(crate) fn cost(end: &TurnEnd<'_>) -> Option<f64> {
    cr_usage::since_last_result(end).or_else(|| end.total_cost_usd())
}
