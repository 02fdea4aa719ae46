//! The facts. Each has its texts as `S`: borrowed from a line (`&str`), or kept
//! in a [`Batch`](crate::Batch).

use cr_event::Usage;

use crate::scan::Head;

/// Tokens of one message or a total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Sent, and not from the cache.
    pub input: u64,
    /// Received.
    pub output: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Written to the cache.
    pub cache_creation: u64,
    /// The part of `cache_creation` that is kept for five minutes; `None` where
    /// the line does not say.
    pub cache_5m: Option<u64>,
    /// The part that is kept for an hour.
    pub cache_1h: Option<u64>,
}

impl Tokens {
    pub(crate) fn of(usage: Usage, is_split: bool) -> Self {
        Self {
            input: usage.input,
            output: usage.output,
            cache_read: usage.cache_read,
            cache_creation: usage.cache_creation,
            cache_5m: is_split.then_some(usage.cache_5m),
            cache_1h: is_split.then_some(usage.cache_1h),
        }
    }

    /// The larger of each count: each line of one message may know more.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self {
            input: self.input.max(other.input),
            output: self.output.max(other.output),
            cache_read: self.cache_read.max(other.cache_read),
            cache_creation: self.cache_creation.max(other.cache_creation),
            cache_5m: self.cache_5m.max(other.cache_5m),
            cache_1h: self.cache_1h.max(other.cache_1h),
        }
    }
}

/// A line of an answer of the model, with what the call used so far.
///
/// Its key is `message_id` and `request_id`. Texts that a line does not have are
/// empty.
#[expect(
    clippy::struct_excessive_bools,
    reason = "five things a line says or not"
)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MessageOf<S> {
    /// The id that all lines of the answer share; `uuid:` and the id of the line
    /// where it has none, `line:` and what the line says where that has none either; the id, `:advisor:` and a number for the model that
    /// another one asked during its answer.
    pub message_id: S,
    /// The id of the call of the API.
    pub request_id: S,
    /// The id of the line; the last one where several are one fact.
    pub uuid: S,
    /// The session; where the line does not say, that of the file's head.
    pub session_id: S,
    /// The subagent that got the answer; empty in the main thread, and where an
    /// old release does not name it.
    pub agent_id: S,
    /// The model.
    pub model: S,
    /// The directory.
    pub cwd: S,
    /// The branch that was checked out.
    pub git_branch: S,
    /// The version of the CLI.
    pub version: S,
    /// When, in milliseconds since 1970. A line that does not say it has the last
    /// time before it; `None` where there is none.
    pub at: Option<i64>,
    /// When its last line was written; `uuid` is that line's.
    pub last_at: Option<i64>,
    /// The tokens.
    pub usage: Tokens,
    /// The cost by the line's own word, which 1.0.x writes.
    pub cost_usd: Option<f64>,
    /// The call is over, and its output count final.
    pub is_final: bool,
    /// A subagent got the answer.
    pub is_sidechain: bool,
    /// The line is a copy of another session's.
    pub is_fork: bool,
    /// The call was made in the fast mode, which has prices of its own.
    pub is_fast: bool,
    /// The CLI reports an error of the API.
    pub is_api_error: bool,
}

/// A call of a tool. Its key is `tool_use_id`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolCallOf<S> {
    /// The id that its result refers to.
    pub tool_use_id: S,
    /// The tool.
    pub name: S,
    /// The message that made the call.
    pub message_id: S,
    /// Its call of the API.
    pub request_id: S,
    /// The directory.
    pub cwd: S,
    /// When, as that of a message.
    pub at: Option<i64>,
}

/// A tool failed. Its key is `tool_use_id`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolFailedOf<S> {
    /// The id of the call.
    pub tool_use_id: S,
}

/// What a session has cost so far, by the CLI's own word; the last one counts.
/// A [`ModelTotalOf`] for each model follows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SessionTotalOf<S> {
    /// The session.
    pub session_id: S,
    /// The last time before it: the line has none of its own.
    pub at: Option<i64>,
    /// Its cost.
    pub total_cost_usd: Option<f64>,
}

/// What a model has used so far in a session; the last one counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelTotalOf<S> {
    /// The session.
    pub session_id: S,
    /// The model.
    pub model: S,
    /// The last time before it.
    pub at: Option<i64>,
    /// Its tokens.
    pub usage: Tokens,
    /// Its cost.
    pub cost_usd: Option<f64>,
}

/// The history was replaced by a summary. Its key is `uuid`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompactionOf<S> {
    /// The session.
    pub session_id: S,
    /// The id of the line.
    pub uuid: S,
    /// `manual` or `auto`.
    pub trigger: S,
    /// When, in milliseconds since 1970.
    pub at: Option<i64>,
    /// Tokens of the history before.
    pub pre_tokens: Option<u64>,
    /// Tokens after.
    pub post_tokens: Option<u64>,
    /// The line is a copy of another session's.
    pub is_fork: bool,
}

/// A prompt of a person. Its key is `uuid`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnOf<S> {
    /// The session.
    pub session_id: S,
    /// The id of the line.
    pub uuid: S,
    /// When, in milliseconds since 1970.
    pub at: Option<i64>,
    /// The line is a copy of another session's.
    pub is_fork: bool,
}

/// One fact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FactOf<S> {
    /// A line of an answer.
    Message(MessageOf<S>),
    /// A call of a tool.
    ToolCall(ToolCallOf<S>),
    /// A tool failed.
    ToolFailed(ToolFailedOf<S>),
    /// The cost of a session.
    SessionTotal(SessionTotalOf<S>),
    /// The usage of a model in a session.
    ModelTotal(ModelTotalOf<S>),
    /// A compaction.
    Compaction(CompactionOf<S>),
    /// A prompt.
    Turn(TurnOf<S>),
}

/// A fact with borrowed texts.
pub type Fact<'a> = FactOf<&'a str>;
/// A line of an answer.
pub type Message<'a> = MessageOf<&'a str>;
/// A call of a tool.
pub type ToolCall<'a> = ToolCallOf<&'a str>;
/// A tool failed.
pub type ToolFailed<'a> = ToolFailedOf<&'a str>;
/// The cost of a session.
pub type SessionTotal<'a> = SessionTotalOf<&'a str>;
/// The usage of a model in a session.
pub type ModelTotal<'a> = ModelTotalOf<&'a str>;
/// A compaction.
pub type Compaction<'a> = CompactionOf<&'a str>;
/// A prompt.
pub type Turn<'a> = TurnOf<&'a str>;

/// Takes facts.
pub trait Sink {
    /// Takes one, in the order of the file.
    fn fact(&mut self, fact: Fact<'_>);

    /// Takes what the head of the file says so far, before the first fact of the
    /// line that said it.
    fn take_head(&mut self, head: &Head) {
        let _ = head;
    }
}

impl<F: FnMut(Fact<'_>)> Sink for F {
    fn fact(&mut self, fact: Fact<'_>) {
        self(fact);
    }
}

const MESSAGE_ID: usize = 0;
const REQUEST_ID: usize = 1;
const UUID: usize = 2;
const SESSION_ID: usize = 3;
const AGENT_ID: usize = 4;
const MODEL: usize = 5;
const CWD: usize = 6;
const GIT_BRANCH: usize = 7;
const VERSION: usize = 8;
const NAME: usize = 9;
/// How many there are.
pub(crate) const FIELDS: usize = 10;

impl<S> FactOf<S> {
    /// The same fact with texts of another form.
    pub fn map<T>(self, mut f: impl FnMut(S) -> T) -> FactOf<T> {
        self.map_fields(|_, text| f(text))
    }

    /// The same; `f` is also told which field it is. Fields that often have the
    /// same text have the same number, below [`FIELDS`].
    pub(crate) fn map_fields<T>(self, mut f: impl FnMut(usize, S) -> T) -> FactOf<T> {
        match self {
            Self::Message(message) => FactOf::Message(message.map_fields(f)),
            Self::ToolCall(call) => FactOf::ToolCall(ToolCallOf {
                message_id: f(MESSAGE_ID, call.message_id),
                request_id: f(REQUEST_ID, call.request_id),
                tool_use_id: f(UUID, call.tool_use_id),
                name: f(NAME, call.name),
                cwd: f(CWD, call.cwd),
                at: call.at,
            }),
            Self::ToolFailed(failed) => FactOf::ToolFailed(ToolFailedOf {
                tool_use_id: f(UUID, failed.tool_use_id),
            }),
            Self::SessionTotal(total) => FactOf::SessionTotal(SessionTotalOf {
                session_id: f(SESSION_ID, total.session_id),
                at: total.at,
                total_cost_usd: total.total_cost_usd,
            }),
            Self::ModelTotal(total) => FactOf::ModelTotal(ModelTotalOf {
                session_id: f(SESSION_ID, total.session_id),
                model: f(MODEL, total.model),
                at: total.at,
                usage: total.usage,
                cost_usd: total.cost_usd,
            }),
            Self::Compaction(compaction) => FactOf::Compaction(CompactionOf {
                session_id: f(SESSION_ID, compaction.session_id),
                uuid: f(UUID, compaction.uuid),
                trigger: f(NAME, compaction.trigger),
                at: compaction.at,
                pre_tokens: compaction.pre_tokens,
                post_tokens: compaction.post_tokens,
                is_fork: compaction.is_fork,
            }),
            Self::Turn(turn) => FactOf::Turn(TurnOf {
                session_id: f(SESSION_ID, turn.session_id),
                uuid: f(UUID, turn.uuid),
                at: turn.at,
                is_fork: turn.is_fork,
            }),
        }
    }
}

impl<S> MessageOf<S> {
    fn map_fields<T>(self, mut f: impl FnMut(usize, S) -> T) -> MessageOf<T> {
        MessageOf {
            message_id: f(MESSAGE_ID, self.message_id),
            request_id: f(REQUEST_ID, self.request_id),
            uuid: f(UUID, self.uuid),
            session_id: f(SESSION_ID, self.session_id),
            agent_id: f(AGENT_ID, self.agent_id),
            model: f(MODEL, self.model),
            cwd: f(CWD, self.cwd),
            git_branch: f(GIT_BRANCH, self.git_branch),
            version: f(VERSION, self.version),
            at: self.at,
            last_at: self.last_at,
            usage: self.usage,
            cost_usd: self.cost_usd,
            is_final: self.is_final,
            is_sidechain: self.is_sidechain,
            is_fork: self.is_fork,
            is_fast: self.is_fast,
            is_api_error: self.is_api_error,
        }
    }
}
