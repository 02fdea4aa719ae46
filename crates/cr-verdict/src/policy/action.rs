//! What the policy decides.

use std::time::Duration;

use jiff::Timestamp;

use super::Limits;

/// How to try again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RetryOptions {
    /// After this pause.
    pub after: Duration,
    /// With these limits.
    pub limits: Limits,
    /// In the same session.
    pub resume: bool,
    /// The error of the attempt before, for the agent.
    pub error_context: Option<String>,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Nothing: it is done.
    Done,
    /// Try again.
    Retry(RetryOptions),
    /// Start no task before this moment, then try again.
    Wait {
        /// The moment.
        until: Timestamp,
        /// How to try again then.
        again: RetryOptions,
    },
    /// Like [`Action::Wait`], but longer than the user allows: end the run.
    Later {
        /// The moment.
        until: Timestamp,
    },
    /// Try again in a new session with a handoff from the old one.
    FreshSession(RetryOptions),
    /// Ask a person; other tasks go on.
    NeedsHuman,
    /// Start no more tasks: every one would end the same way.
    StopAll,
    /// Do not try this task again.
    GiveUp,
}

/// An action and the sentence that explains it.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// What to do.
    pub action: Action,
    /// Why.
    pub reason: String,
}
