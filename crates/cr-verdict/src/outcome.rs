//! The names and exit codes of a verdict.

use jiff::Timestamp;

/// How a run ended, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Done.
    Success,
    /// The agent could not be started.
    SpawnFailed,
    /// A person, or a signal to us, stopped it.
    Interrupted,
    /// A clock ran out before a result.
    Timeout,
    /// The limit of turns was reached.
    LimitTurns,
    /// The limit of money was reached.
    LimitBudget,
    /// The account's rate or usage limit was reached.
    RateLimited,
    /// The service is overloaded, or failed on its side.
    Overloaded,
    /// The service could not be reached.
    Network,
    /// The conversation no longer fits the model's context.
    ContextExhausted,
    /// Not logged in, or refused.
    Auth,
    /// No credit.
    Billing,
    /// It failed otherwise.
    Failed,
    /// The agent died by a signal that was not ours.
    Killed,
    /// The stream ends without a result.
    Incomplete,
    /// A schema was asked for and not met.
    NoAnswer,
    /// A person must answer or permit something.
    NeedsInput,
    /// A commit was required, and there is none.
    NoCommit,
    /// Files outside the task's scope were changed.
    ScopeViolation,
    /// The check failed.
    VerifyFailed,
    /// The work does not merge.
    Conflict,
    /// Many turns without progress.
    Looping,
}

impl Outcome {
    /// Every outcome.
    pub const ALL: [Self; 22] = [
        Self::Success,
        Self::SpawnFailed,
        Self::Interrupted,
        Self::Timeout,
        Self::LimitTurns,
        Self::LimitBudget,
        Self::RateLimited,
        Self::Overloaded,
        Self::Network,
        Self::ContextExhausted,
        Self::Auth,
        Self::Billing,
        Self::Failed,
        Self::Killed,
        Self::Incomplete,
        Self::NoAnswer,
        Self::NeedsInput,
        Self::NoCommit,
        Self::ScopeViolation,
        Self::VerifyFailed,
        Self::Conflict,
        Self::Looping,
    ];

    /// The outcome that a summary calls `word`.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|outcome| outcome.as_str() == word)
    }

    /// The word used in summaries.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::SpawnFailed => "spawn_failed",
            Self::Interrupted => "interrupted",
            Self::Timeout => "timeout",
            Self::LimitTurns => "limit_turns",
            Self::LimitBudget => "limit_budget",
            Self::RateLimited => "rate_limited",
            Self::Overloaded => "overloaded",
            Self::Network => "network",
            Self::ContextExhausted => "context_exhausted",
            Self::Auth => "auth",
            Self::Billing => "billing",
            Self::Failed => "failed",
            Self::Killed => "killed",
            Self::Incomplete => "incomplete",
            Self::NoAnswer => "no_answer",
            Self::NeedsInput => "needs_input",
            Self::NoCommit => "no_commit",
            Self::ScopeViolation => "scope_violation",
            Self::VerifyFailed => "verify_failed",
            Self::Conflict => "conflict",
            Self::Looping => "looping",
        }
    }
}

/// The five classes of failure that retry policies are written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Category {
    /// The service refuses requests for a while.
    RateLimit,
    /// The service cannot be reached.
    Network,
    /// It took too long.
    Timeout,
    /// The request is wrong, so a retry does not help.
    Validation,
    /// Anything else.
    Logic,
}

impl Category {
    /// Every category.
    pub const ALL: [Self; 5] = [
        Self::RateLimit,
        Self::Network,
        Self::Timeout,
        Self::Validation,
        Self::Logic,
    ];

    /// The category that a summary calls `word`.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|category| category.as_str() == word)
    }

    /// The word used in summaries.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RateLimit => "rate-limit",
            Self::Network => "network",
            Self::Timeout => "timeout",
            Self::Validation => "validation",
            Self::Logic => "logic",
        }
    }
}

/// Every value of [`Retry::action`].
///
/// * `none`: nothing to do, or nothing without a person
/// * `retry`: run it again, with the error as context
/// * `retry_with_more_turns`, `retry_with_more_budget`, `retry_with_more_time`
/// * `wait`: run it again at [`Retry::at`], or after a growing pause where that
///   is unknown; not counted as an attempt
/// * `resume`: resume the session, once
/// * `fresh_session`: start a new session with a handoff; resuming cannot work
/// * `fix`: the command or its configuration is wrong; a retry fails again
/// * `look`: the evidence contradicts itself; a person should read it
/// * `ask`: a person must answer or permit something
/// * `stop`: every run of this account would fail; a person must act
pub const ACTIONS: [&str; 12] = [
    "none",
    "retry",
    "retry_with_more_turns",
    "retry_with_more_budget",
    "retry_with_more_time",
    "wait",
    "resume",
    "fresh_session",
    "fix",
    "look",
    "ask",
    "stop",
];

/// Whether and how to try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// The run may be repeated (`retry…`, `wait`, `resume`). False where
    /// something else must change first: session, command, account, an answer.
    pub retryable: bool,
    /// What to do: one of [`ACTIONS`].
    pub action: &'static str,
    /// Not before this moment.
    pub at: Option<Timestamp>,
}

impl Retry {
    /// `action`, at once.
    pub(crate) fn now(action: &'static str) -> Self {
        let retryable = action.starts_with("retry") || matches!(action, "wait" | "resume");
        Self {
            retryable,
            action,
            at: None,
        }
    }

    /// `wait` until `at`, if that is known.
    pub(crate) fn wait(at: Option<Timestamp>) -> Self {
        Self {
            at,
            ..Self::now("wait")
        }
    }
}

/// How a run ended, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// How it ended.
    pub outcome: Outcome,
    /// The exit code that says so.
    pub code: u8,
    /// The class of failure; none for a success and an interruption.
    pub category: Option<Category>,
    /// There is no result, or the end of the stream is missing.
    pub incomplete: bool,
    /// A clock, a signal or the supervisor ended the agent.
    pub killed: bool,
    /// One sentence: why this verdict.
    pub why: String,
    /// One sentence: what to do next.
    pub next: String,
    /// The same for a program.
    pub retry: Retry,
}
