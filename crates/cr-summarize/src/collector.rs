//! Collects the facts of a run from its lines.

use cr_event::{Block, Content, Event, Kind, Message, Raw, TurnEnd, is_filler};
use cr_stream::{Subtype, begins_attempt};
use cr_summary::Counts;
use cr_usage::UsageMeter;
use cr_verdict::RateLimit;
use jiff::Timestamp;

use crate::background::Background;
use crate::calls::Calls;
use crate::counts::{self, Fate};
use crate::foreign::{self, Look};
use crate::own_lines::RunFacts;
use crate::session::SessionFacts;
use crate::turns::{Turns, beginning};

/// Bytes of the last text that are kept when only its beginning is shown.
const TEXT: usize = 16 << 10;

/// Everything a summary is made from.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Collector {
    /// Texts are kept whole.
    keeps_all: bool,
    /// The lines are those of a subagent's own file.
    pub(crate) is_subagent: bool,
    pub(crate) counts: Counts,
    pub(crate) session: SessionFacts,
    pub(crate) usage: UsageMeter,
    pub(crate) calls: Calls,
    pub(crate) turns: Turns,
    pub(crate) run_facts: RunFacts,
    /// Attempts that had ended when the current one began.
    pub(crate) attempts_before: usize,
    pub(crate) background: Background,
    pub(crate) api_retries: u64,
    pub(crate) compactions: u64,
    pub(crate) rate_limit: Option<RateLimit>,
    /// The last failure that the CLI reported in place of an answer.
    pub(crate) failure: Option<Failure>,
    /// The last text of the main thread.
    pub(crate) last_text: String,
    /// How a log ends, which has no results.
    pub(crate) log: LogEnd,
    /// Reading ended before the input did.
    pub(crate) is_cut: bool,
    /// The last line of the agent is cut off.
    pub(crate) is_torn: bool,
    /// A line is Claude Code's, or our own.
    pub(crate) is_known: bool,
    /// What the input looks like as long as no line is.
    pub(crate) look: Option<Look>,
    /// The main thread said something in this turn.
    has_spoken: bool,
    /// There is a message or a result of the current session.
    has_work: bool,
    /// Sessions with work before the current one.
    pub(crate) sessions_before: u64,
}

/// A failure, in the words of the CLI.
#[derive(Clone, Debug, Default)]
pub(crate) struct Failure {
    pub(crate) error: String,
    pub(crate) status: Option<u64>,
    pub(crate) text: String,
}

/// The last thing that happened in a session's log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LogEnd {
    /// A prompt, a tool at work, nothing at all.
    #[default]
    Open,
    /// The model answered.
    Answered,
    /// The model wrote a text, and the log does not say whether it was done: a
    /// call may have followed.
    Spoken,
    /// A person stopped it.
    Aborted,
    /// The CLI reported a failure.
    Failed,
}

impl Collector {
    /// Starts with nothing.
    pub(crate) fn new(keeps_all: bool) -> Self {
        Self {
            keeps_all,
            ..Self::default()
        }
    }

    /// Whether `user` lines are needed: in a log, for a question that is open,
    /// and for the time of the start. A large line is not read for the time.
    pub(crate) fn needs_users(&self, is_large: bool) -> bool {
        let is_timed = self.session.has_time() || self.session.is_timeless || is_large;
        self.session.is_log || self.calls.is_waiting() || !is_timed || !self.is_known
    }

    /// Counts a line that was not parsed.
    pub(crate) fn count(&mut self, fate: Fate) {
        counts::count(&mut self.counts, fate);
        if fate != Fate::Blank && !self.is_subagent {
            self.run_facts.follows();
            self.is_torn = false;
        }
    }

    /// Counts a line that is no whole object.
    pub(crate) fn broken(&mut self, line: &[u8]) {
        self.count(Fate::BadJson);
        self.is_torn |= line.starts_with(b"{") && !self.is_subagent;
        if !self.is_known {
            self.look
                .get_or_insert_with(|| foreign::look_of_bytes(line));
        }
    }

    /// Takes a line in.
    pub(crate) fn take(&mut self, event: &Event<'_>) {
        if !self.is_known {
            self.is_known = foreign::is_claudes(event);
            self.look = self.look.or_else(|| Some(foreign::look(event)));
        }
        if event.kind == Kind::Cr && !self.is_subagent {
            let subtype = Subtype::of(event);
            if subtype != Some(Subtype::Exit) {
                self.run_facts.follows();
            }
            self.session.at(event.at);
            if begins_attempt(event) {
                self.next_attempt();
            }
            let fate = self.run_facts.take(event);
            if subtype == Some(Subtype::Start) {
                self.usage.next_process(self.run_facts.resumes);
            }
            counts::count(&mut self.counts, fate);
            return;
        }
        if !self.is_subagent {
            if self.begins_session(event) {
                self.next_session();
            }
            self.session.line(event);
        }
        let is_used = self.event(event);
        self.count(if is_used { Fate::Used } else { Fate::Ignored });
    }

    /// Another attempt begins: tokens and cost stay counted, the end of the one
    /// before no longer decides.
    fn next_attempt(&mut self) {
        self.run_facts.begin_again();
        self.attempts_before = self.run_facts.attempts.len();
        self.forget_ending();
    }

    /// Whether a stream goes on with another session. A log may hold the
    /// history of another one.
    fn begins_session(&self, event: &Event<'_>) -> bool {
        let is_turn = matches!(event.kind, Kind::Assistant | Kind::Result)
            || (event.kind == Kind::System && event.is("init"));
        self.has_work && is_turn && !event.is_log && self.session.is_other(event)
    }

    /// The same as for an attempt.
    fn next_session(&mut self) {
        self.sessions_before += 1;
        self.session.schema_asked = false;
        self.usage.next_process(false);
        self.forget_ending();
    }

    fn forget_ending(&mut self) {
        self.has_work = false;
        self.turns.next_attempt();
        self.calls.next_attempt();
        self.background = Background::default();
        self.usage.next_attempt();
        self.rate_limit = None;
        self.failure = None;
        self.last_text.clear();
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        match event.kind {
            Kind::Assistant => self.assistant(event),
            Kind::User => self.user(event),
            Kind::StreamEvent => self.usage.piece(event, self.is_main(event)),
            _ if self.is_subagent => false,
            Kind::Result if foreign::is_claudes_result(event) => self.result(event),
            Kind::System => self.system(event),
            Kind::Control => self.calls.control(event),
            Kind::CostState => self.usage.log_total(event.line),
            Kind::RateLimit => self.rate_limit(event.line),
            Kind::Reset => {
                self.usage.cleared();
                true
            }
            _ => false,
        }
    }

    fn is_main(&self, event: &Event<'_>) -> bool {
        event.is_main() && !self.is_subagent
    }

    fn assistant(&mut self, event: &Event<'_>) -> bool {
        let said = event.message.as_ref();
        let Some(message) = said.filter(|said| **said != Message::default()) else {
            return false;
        };
        let is_main = self.is_main(event);
        self.has_spoken |= is_main;
        self.has_work |= is_main;
        if message.is_synthetic() {
            if is_main {
                self.synthetic(event, message);
            }
            return is_main;
        }
        let id = self.usage.message(event, message, is_main);
        for block in message.blocks() {
            if let Block::ToolUse(call) = block {
                self.calls.call(id, call, is_main);
            }
        }
        if is_main {
            self.failure = None;
            self.turns.is_open = self.turns.last.is_some();
            self.keep_text(message);
            self.log = log_end(message);
            if event.is_log {
                self.session.directory(event.line);
            }
        }
        true
    }

    /// A message of the CLI and not of the model: a failure, or its own answer.
    fn synthetic(&mut self, event: &Event<'_>, message: &Message<'_>) {
        if !event.is_api_error() {
            if !text(message).is_some_and(is_filler) {
                self.keep_text(message);
            }
            return;
        }
        let error = event.line.string("error").unwrap_or_default();
        let status = event.line.get("api_error_status");
        let status = status.or_else(|| event.line.get("apiErrorStatus"));
        self.log = LogEnd::Failed;
        self.failure = Some(Failure {
            error: error.into_owned(),
            status: status.and_then(Raw::u64),
            text: text(message).map_or_else(String::new, |text| text.prefix(TEXT).into_owned()),
        });
    }

    /// Bytes of a text that are kept; [`beginning`] keeps a little more.
    pub(crate) fn most(&self) -> usize {
        if self.keeps_all { usize::MAX } else { TEXT }
    }

    fn keep_text(&mut self, message: &Message<'_>) {
        if let Some(text) = text(message) {
            let most = self.most();
            self.last_text.clear();
            self.last_text.push_str(&beginning(text, most));
        }
    }

    fn user(&mut self, event: &Event<'_>) -> bool {
        let Some(message) = &event.message else {
            return false;
        };
        self.session.is_timeless |= event.at.is_none();
        let mut used = self.calls.is_waiting();
        for block in message.blocks() {
            if let Block::ToolResult(result) = block {
                self.calls.answered(result.id.bytes(), result.is_error);
            }
        }
        if event.is_log && self.is_main(event) && !event.is_synthetic {
            let start = text(message)
                .map(|text| text.prefix(64))
                .unwrap_or_default();
            self.log = match &*start {
                start if start.starts_with("[Request interrupted by user") => LogEnd::Aborted,
                // A command of the CLI and its output need no answer.
                start if start.starts_with("<local-command") => self.log,
                start if start.starts_with("<command-") => self.log,
                _ => LogEnd::Open,
            };
            self.session.directory(event.line);
            used = true;
        }
        used
    }

    fn result(&mut self, event: &Event<'_>) -> bool {
        let end = TurnEnd::new(event.line);
        let cost = self.usage.result(event, &end);
        let most = self.most();
        self.has_work = true;
        // Words of an earlier turn are not the last words of this one.
        if !self.has_spoken && end.num_turns() != Some(0) {
            self.last_text.clear();
        }
        self.has_spoken = false;
        let failure = self.failure.take().map(|failure| failure.error);
        self.turns.result(&end, cost, most);
        if let Some(last) = self.turns.last.as_mut().filter(|last| last.is_error) {
            last.assistant_error = failure.or(last.assistant_error.take());
        }
        for denial in end.denials() {
            self.calls.denied(denial);
        }
        true
    }

    fn system(&mut self, event: &Event<'_>) -> bool {
        if event.is("init") {
            if let Some(model) = event.line.get("model").and_then(Raw::text) {
                self.usage.banner(model);
            }
            self.session.banner(event.line);
        } else if event.is("api_retry") || event.is("api_error") {
            self.api_retries += 1;
        } else if event.is("turn_duration") || event.is("stop_hook_summary") {
            // A log has these after the model was done.
            if self.log == LogEnd::Spoken {
                self.log = LogEnd::Answered;
            }
        } else if event.is("permission_denied") {
            self.calls.denied(event.line);
        } else if event.is("compact_boundary") {
            self.compactions += 1;
            if self.is_main(event) {
                self.usage.compacted(event.line);
            }
        } else {
            return self.background.take(event);
        }
        true
    }

    fn rate_limit(&mut self, line: Raw<'_>) -> bool {
        let Some(info) = line.get("rate_limit_info") else {
            return false;
        };
        let resets = info.get("resetsAt").and_then(Raw::u64);
        let resets = resets.and_then(|at| i64::try_from(at).ok());
        self.rate_limit = Some(RateLimit {
            rejected: info.string("status").as_deref() == Some("rejected"),
            resets_at: resets.and_then(|at| Timestamp::from_second(at).ok()),
        });
        true
    }
}

/// The last text of a message.
fn text<'a>(message: &Message<'a>) -> Option<cr_event::Text<'a>> {
    if let Content::Text(text) = message.content {
        return Some(text);
    }
    let blocks = message.blocks().iter().rev();
    blocks.copied().find_map(|block| match block {
        Block::Text(text) => Some(text),
        _ => None,
    })
}

/// How a log ends after this message: with a call in it, or one to come, the
/// model is not done.
fn log_end(message: &Message<'_>) -> LogEnd {
    let calls = message
        .blocks()
        .iter()
        .any(|block| matches!(block, Block::ToolUse(_)));
    let goes_on = message
        .stop_reason
        .is_some_and(|reason| reason.is("tool_use") || reason.is("max_tokens"));
    if calls || goes_on || text(message).is_none() {
        LogEnd::Open
    } else if message.stop_reason.is_none() {
        LogEnd::Spoken
    } else {
        LogEnd::Answered
    }
}
