//! The evidence that a verdict is based on.

use jiff::Timestamp;

use crate::Outcome;

/// The evidence for a verdict. A fact that is not known has its default value.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and none excludes another"
)]
pub struct Evidence<'a> {
    /// The stream has `cr/*` lines, so a missing `cr/exit` means something.
    pub supervised: bool,
    /// The `cr/exit` line; none in a bare stream, or where it is missing.
    pub exit: Option<ExitFacts<'a>>,
    /// The last result that counts.
    pub result: Option<ResultFacts<'a>>,
    /// `error` of the last synthetic assistant line (`rate_limit`, …).
    pub assistant_error: Option<&'a str>,
    /// The text of that line: what the CLI says about the failure.
    pub assistant_text: &'a str,
    /// The last `rate_limit_event`.
    pub rate_limit: Option<RateLimit>,
    /// Head and tail of the agent's standard error.
    pub stderr: &'a str,
    /// A schema was asked for, and no answer meets it.
    pub schema_missed: bool,
    /// The last call of the main thread was denied.
    pub last_call_denied: bool,
    /// The agent asked something and got no answer.
    pub question_open: bool,
    /// That question, in one line, where it is known.
    pub question: Option<&'a str>,
    /// The run was ended because nobody answered a question in time.
    pub ask_timed_out: bool,
    /// The finding of the verification, if there was one.
    pub verification: Option<Finding>,
    /// Why there is no result, where more than that is known.
    pub missing: Missing,
    /// The calls that were denied.
    pub denials: Denials<'a>,
    /// The repository was watched, and no commit was made.
    pub no_commit: bool,
    /// When the run ended: "resets 3pm" is relative to it.
    pub now: Option<Timestamp>,
}

/// Why a run has no result that counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// The stream ends without one.
    #[default]
    Result,
    /// The agent went on after the last result, and that work has none.
    WorkAfterResult,
    /// Messages of the session have no answer.
    Messages,
    /// The last of several sessions has none.
    LastSession,
    /// The last line is cut off.
    LineEnd,
    /// A log ends with a text and does not say whether the model was done.
    StopReason,
}

/// Calls that were denied.
#[derive(Clone, Debug, Default)]
pub struct Denials<'a> {
    /// How many.
    pub count: u64,
    /// Their tools, each once.
    pub tools: Vec<&'a str>,
}

/// How the agent's process ended, as its supervisor saw it.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExitFacts<'a> {
    /// Why: with `exit` and `signal` the agent ended by itself; `timeout`, `idle`,
    /// `startup`, `tool`, `turn` and `post_result` are clocks; `interrupted`,
    /// `stdout_closed`, `spawn_failed`, `guardian_died`, `internal` are ours.
    pub reason: &'a str,
    /// The agent's exit code, if it had one.
    pub exit_code: Option<i32>,
    /// The signal it died by, if it did.
    pub signal: Option<i32>,
    /// 125 to 127, if it could not be started.
    pub spawn_code: Option<u8>,
    /// The signal that stopped the supervisor.
    pub interrupted_by: Option<i32>,
    /// The length of the clock that ran out, in milliseconds, where it is known.
    pub limit_ms: Option<u64>,
}

/// The last result line.
#[derive(Clone, Copy, Debug, Default)]
pub struct ResultFacts<'a> {
    /// `is_error`.
    pub is_error: bool,
    /// `subtype`; `success` does not mean success.
    pub subtype: &'a str,
    /// `terminal_reason`.
    pub terminal_reason: Option<&'a str>,
    /// `api_error_status`: the HTTP status of the failed request.
    pub api_error_status: Option<u64>,
    /// `api_error_type` or `api_error`.
    pub api_error: Option<&'a str>,
    /// `result`, or `errors` joined by newlines.
    pub text: &'a str,
}

/// A `rate_limit_event`: the state of a subscription's window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateLimit {
    /// `status` is `rejected`: requests are refused.
    pub rejected: bool,
    /// `resetsAt`.
    pub resets_at: Option<Timestamp>,
}

/// What is wrong with a good result, as the orchestrator's verification found. It
/// reports the finding as the outcome of the attempt, in a `cr/task` line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
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

impl Finding {
    /// The finding that an attempt's outcome names, if it does.
    pub fn of(outcome: Outcome) -> Option<Self> {
        Some(match outcome {
            Outcome::NoCommit => Self::NoCommit,
            Outcome::ScopeViolation => Self::ScopeViolation,
            Outcome::VerifyFailed => Self::VerifyFailed,
            Outcome::Conflict => Self::Conflict,
            Outcome::Looping => Self::Looping,
            _ => return None,
        })
    }

    pub(crate) fn outcome(self) -> Outcome {
        match self {
            Self::NoCommit => Outcome::NoCommit,
            Self::ScopeViolation => Outcome::ScopeViolation,
            Self::VerifyFailed => Outcome::VerifyFailed,
            Self::Conflict => Outcome::Conflict,
            Self::Looping => Outcome::Looping,
        }
    }
}
