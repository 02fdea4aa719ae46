//! Collects the facts of a run from its lines.

mod results;

use cr_event::{Block, Event, Kind, Message, Origin, Raw, Usage, is_filler};
use cr_stream::{Subtype, begins_attempt};
use cr_summary::Counts;
use cr_usage::UsageMeter;
use cr_verdict::RateLimit;

use crate::agents_without_log::AgentsWithoutLog;
use crate::background::Background;
use crate::calls::Calls;
use crate::compactions::Compactions;
use crate::counts::{self, Fate};
use crate::evidence::rate_limit;
use crate::log_end::{LogEnd, text};
use crate::message_ids::MessageIds;
use crate::own_lines::RunFacts;
use crate::owners::{Owners, Share};
use crate::quota::Quota;
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
    /// The lines are those of a subagent's own file, read with its session.
    pub(crate) is_subagent: bool,
    /// All lines are those of a subagent's own file, read alone; `None` before
    /// the first message.
    is_agents_own: Option<bool>,
    /// The work of subagents is not counted.
    leaves_out_subagents: bool,
    /// Subagents that are known by `progress` lines alone.
    pub(crate) without_log: AgentsWithoutLog,
    /// Which messages are counted here.
    pub(crate) share: Share,
    pub(crate) ids: MessageIds,
    pub(crate) counts: Counts,
    pub(crate) session: SessionFacts,
    pub(crate) usage: UsageMeter,
    /// All tokens at the last result.
    tokens_before: Usage,
    pub(crate) calls: Calls,
    pub(crate) turns: Turns,
    pub(crate) run_facts: RunFacts,
    /// Attempts that had ended when the current one began.
    pub(crate) attempts_before: usize,
    pub(crate) background: Background,
    pub(crate) api_retries: u64,
    pub(crate) compactions: u64,
    pub(crate) compaction_list: Compactions,
    pub(crate) quota: Quota,
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
    /// Another summary has the beginning of the session.
    pub(crate) is_rest: bool,
    /// Which program wrote the input.
    pub(crate) origin: Origin,
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

/// Settings of the command line for collecting.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CollectOptions {
    /// Each session has a collector of its own.
    pub(crate) apart: bool,
    /// Texts are kept whole.
    pub(crate) keeps_all: bool,
    /// The work of subagents is not counted.
    pub(crate) leaves_out_subagents: bool,
}

impl Collector {
    /// Starts with nothing.
    pub(crate) fn new(options: CollectOptions, share: Share) -> Self {
        Self {
            keeps_all: options.keeps_all,
            leaves_out_subagents: options.leaves_out_subagents,
            share,
            ..Self::default()
        }
    }

    /// Whether `user` lines are needed: in a log, for a question that is open,
    /// and for the time of the start. A large line is not read for the time.
    pub(crate) fn needs_users(&self, is_large: bool) -> bool {
        let is_timed = self.session.has_time() || self.session.is_timeless || is_large;
        self.session.is_log || self.calls.is_waiting() || !is_timed || !self.origin.is_known()
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
        // A crash of the machine may leave zeros where the last bytes should be.
        let is_torn = matches!(line.first(), Some(b'{' | 0));
        self.is_torn |= is_torn && !self.is_subagent;
        self.origin.broken(line);
    }

    /// Takes a line in.
    pub(crate) fn take(&mut self, event: &Event<'_>, owners: &mut Owners) {
        self.origin.event(event);
        if self.origin.is_another() {
            return self.count(Fate::Ignored);
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
        if self.is_subagent {
            self.without_log.own_line(event);
        } else {
            if self.begins_session(event) {
                self.next_session();
            }
            self.session.line(event);
        }
        let is_used = self.event(event, owners);
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

    fn event(&mut self, event: &Event<'_>, owners: &mut Owners) -> bool {
        match event.kind {
            Kind::Assistant => self.assistant(event, owners),
            Kind::User => self.user(event),
            Kind::StreamEvent => {
                let is_main = self.is_main(event);
                self.usage.piece(event, is_main)
            }
            Kind::Other => self.progress(event, owners),
            _ if self.is_subagent => false,
            Kind::Result if cr_event::is_claudes_result(event) => self.result(event, owners),
            Kind::System => self.system(event),
            Kind::Control => self.calls.control(event) || self.usage.control_answer(event.line),
            Kind::CostState => {
                let has_total = self.usage.log_total(event.line);
                owners.close(&mut self.share, self.usage.running_total());
                has_total
            }
            Kind::RateLimit => {
                let limit = rate_limit(event.line);
                self.rate_limit = limit.or(self.rate_limit);
                self.quota.take(event.line, self.session.time_of(event));
                limit.is_some()
            }
            Kind::Reset => {
                self.usage.cleared();
                true
            }
            _ => false,
        }
    }

    /// Whether the line belongs to the thread that the summary is about: the
    /// main thread, or the subagent whose own file is read alone.
    fn is_main(&mut self, event: &Event<'_>) -> bool {
        if self.is_subagent {
            return false;
        }
        let is_from_agents = || event.is_from_agents_log();
        let is_own = *self.is_agents_own.get_or_insert_with(is_from_agents);
        event.is_main() || (is_own && event.parent.is_none())
    }

    /// A subagent's message in the log of its session. Where the subagent's own
    /// file is there too, its messages have the same ids and count once.
    fn progress(&mut self, event: &Event<'_>, owners: &mut Owners) -> bool {
        let Some(carried) = event.carried().filter(|_| !self.leaves_out_subagents) else {
            return false;
        };
        if carried.kind != Kind::Assistant {
            return false;
        }
        self.without_log.carried(event.carried_agent());
        self.assistant(&carried, owners)
    }

    fn assistant(&mut self, event: &Event<'_>, owners: &mut Owners) -> bool {
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
        let is_copy = owners.is_copy(&mut self.share, event, message);
        let id = self.usage.message(event, message, is_main, is_copy);
        for block in message.blocks() {
            if let Block::ToolUse(call) = block {
                self.calls.call(id, call, is_main, is_copy);
            }
        }
        if is_main {
            self.ids.line(event, message);
            self.failure = None;
            if self.turns.begin() {
                // The words of the last turn are no answer of this one.
                self.last_text.clear();
            }
            self.keep_text(message);
            self.log = LogEnd::of_message(message);
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
            self.log = self.log.after_prompt(message);
            self.session.directory(event.line);
            used = true;
        }
        used
    }

    fn system(&mut self, event: &Event<'_>) -> bool {
        if event.is("init") {
            if let Some(model) = event.line.get("model").and_then(Raw::text) {
                self.usage.banner(model);
            }
            self.session.banner(event);
        } else if event.is("api_retry") || event.is("api_error") {
            self.api_retries += 1;
        } else if event.is("turn_duration") || event.is("stop_hook_summary") {
            self.log = self.log.after_turn();
        } else if event.is("permission_denied") {
            self.calls.denied(event.line);
        } else if event.is("compact_boundary") {
            self.compactions += 1;
            if self.is_main(event) {
                self.usage.compacted(event.line);
                let at = self.session.time_of(event);
                self.compaction_list.take(event.line, at);
            }
        } else {
            return self.background.take(event);
        }
        true
    }
}
