//! The policy: what to do after an attempt, and why.
//!
//! [`next`] is one function without state or clock: the attempts so far and the
//! settings in, the next action out. Asked again after a crash, it gives the same
//! answer.

mod action;
mod limits;

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::{Category, Outcome};

pub use action::{Action, Decision, RetryOptions};
pub use limits::{Clock, Limits, RanOut};

/// The longest pause between the reset of a limit and the next attempt.
const MARGIN: Duration = Duration::from_mins(1);

/// How long to wait for a limit that does not say when it resets.
const UNKNOWN_RESET: Duration = Duration::from_mins(15);

/// Characters of an error that the next attempt gets.
const CONTEXT: usize = 4000;

/// One attempt that has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// How it ended.
    pub outcome: Outcome,
    /// The class of its failure.
    pub category: Option<Category>,
    /// What the verdict asks for: one of [`crate::ACTIONS`].
    pub advice: &'static str,
    /// The clock that ended it, if one did.
    pub ran_out: Option<RanOut>,
    /// Its limits.
    pub limits: Limits,
    /// When it ended.
    pub ended_at: Timestamp,
    /// Not before this moment, if one was given.
    pub retry_at: Option<Timestamp>,
    /// It left a session that can be resumed.
    pub can_resume: bool,
    /// It resumed the session of an attempt that was cut off.
    pub resumed: bool,
    /// It could not resume a session, because there is none on disk: the attempt
    /// before was cut off too early. Nothing was done.
    pub session_missing: bool,
    /// The error, for the next attempt.
    pub error: String,
}

/// Settings of the user.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Retries of a task; waiting for the service is not counted.
    pub retries: u32,
    /// The longest wait for a limit to reset; longer ones end the run.
    pub max_wait: Option<Duration>,
    /// The pauses while the service is overloaded or out of reach; the last one
    /// is repeated.
    pub backoff: Vec<Duration>,
    /// The time after which such pauses end and the task is given up.
    pub busy_limit: Duration,
    /// A number from 0 to 1 that spreads the pauses, up to a tenth.
    pub jitter: f64,
    /// The limit of turns is not raised above this, unless it was higher before.
    pub turns_max: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            retries: 2,
            max_wait: None,
            backoff: [1, 5, 30].map(Duration::from_secs).to_vec(),
            busy_limit: Duration::from_mins(20),
            jitter: 0.0,
            turns_max: 30,
        }
    }
}

/// Decides what to do after `last`, which came after `earlier`.
pub fn next(last: &Attempt, earlier: &[Attempt], settings: &Settings) -> Decision {
    let case = Case {
        last,
        earlier,
        settings,
    };
    match case.rule() {
        Outcome::Success => decide(Action::Done, "the work is done"),
        Outcome::RateLimited => case.rate_limited(),
        Outcome::Overloaded | Outcome::Network => case.busy(),
        Outcome::Auth => decide(Action::StopAll, "not logged in: every attempt would fail"),
        Outcome::Billing => decide(Action::StopAll, "no credit: every attempt would fail"),
        Outcome::Interrupted => decide(Action::StopAll, "the run was stopped"),
        Outcome::NeedsInput => decide(Action::NeedsHuman, "a person must answer"),
        Outcome::SpawnFailed => decide(
            Action::GiveUp,
            "the agent could not be started; a retry would fail too",
        ),
        _ if last.session_missing => case.without_session(),
        _ if case.is_hopeless() => decide(
            Action::GiveUp,
            "the request was refused; a retry would be refused too",
        ),
        _ if case.counted() > settings.retries => {
            let tries = cr_io::counted(case.counted().into(), "attempt");
            let reason = format!("{} after {tries}", last.outcome.as_str());
            decide(Action::GiveUp, &reason)
        }
        Outcome::LimitTurns => case.more_turns(),
        Outcome::LimitBudget => case.more_budget(),
        Outcome::Timeout => case.more_time(),
        Outcome::Killed | Outcome::Incomplete => case.cut_off(),
        Outcome::ContextExhausted => decide(
            Action::FreshSession(case.again()),
            "the context is full: a new session takes over",
        ),
        _ => decide(
            Action::Retry(case.again()),
            "it failed: retry with the error as context",
        ),
    }
}

fn decide(action: Action, reason: &str) -> Decision {
    Decision {
        action,
        reason: reason.to_owned(),
    }
}

/// The outcome whose rule applies. For an agent that failed without a result it
/// is the verdict's reading of its standard error.
fn rule(attempt: &Attempt) -> Outcome {
    match (attempt.outcome, attempt.advice) {
        (Outcome::Failed, "wait") if attempt.category == Some(Category::RateLimit) => {
            Outcome::RateLimited
        }
        (Outcome::Failed, "wait") => Outcome::Network,
        (Outcome::Failed, "stop") => Outcome::Auth,
        (Outcome::Failed, "fresh_session") => Outcome::ContextExhausted,
        (Outcome::Failed, "retry_with_more_time") => Outcome::Timeout,
        (outcome, _) => outcome,
    }
}

/// Whether the attempt ended because of the service, not of its work.
fn is_busy(attempt: &Attempt) -> bool {
    matches!(rule(attempt), Outcome::Overloaded | Outcome::Network)
}

fn is_counted(attempt: &Attempt) -> bool {
    let is_waiting = is_busy(attempt) || rule(attempt) == Outcome::RateLimited;
    let is_nothing = attempt.session_missing || attempt.outcome == Outcome::Interrupted;
    !is_waiting && !is_nothing
}

fn later(moment: Timestamp, by: Duration) -> Timestamp {
    let by = SignedDuration::try_from(by).unwrap_or(SignedDuration::MAX);
    moment.checked_add(by).unwrap_or(Timestamp::MAX)
}

struct Case<'a> {
    last: &'a Attempt,
    earlier: &'a [Attempt],
    settings: &'a Settings,
}

impl Case<'_> {
    fn rule(&self) -> Outcome {
        rule(self.last)
    }

    /// Whether the request itself is wrong. If it resumed a session, the session
    /// may be gone, and the request is made once more without it.
    fn is_hopeless(&self) -> bool {
        let is_refused = |old: &Attempt| old.outcome == Outcome::Failed && old.advice == "fix";
        is_refused(self.last) && self.earlier.last().is_none_or(is_refused)
    }

    fn counted(&self) -> u32 {
        let all = self.earlier.iter().chain([self.last]);
        u32::try_from(all.filter(|old| is_counted(old)).count()).unwrap_or(u32::MAX)
    }

    /// The same again, with the error as context.
    fn again(&self) -> RetryOptions {
        let error = self.last.error.trim();
        let cut: String = error.chars().take(CONTEXT).collect();
        RetryOptions {
            after: Duration::ZERO,
            limits: self.last.limits,
            resume: false,
            error_context: (!cut.is_empty()).then_some(cut),
        }
    }

    /// The same again: the work itself did not fail.
    fn go_on(&self) -> RetryOptions {
        RetryOptions {
            resume: self.last.can_resume,
            error_context: None,
            ..self.again()
        }
    }

    /// The same again, in the session of the last attempt.
    fn resumed(&self) -> RetryOptions {
        RetryOptions {
            resume: self.last.can_resume,
            ..self.again()
        }
    }

    /// From the start, with the error of the attempt that did something.
    fn without_session(&self) -> Decision {
        let before = self.earlier.iter().rev().find(|old| !old.session_missing);
        let again = Case {
            last: before.unwrap_or(self.last),
            ..*self
        };
        let again = RetryOptions {
            limits: self.last.limits,
            ..again.again()
        };
        let reason = "the session was not saved yet: retry from the start";
        decide(Action::Retry(again), reason)
    }

    /// Twice the turns, once. A task that needs more than that is too large.
    fn more_turns(&self) -> Decision {
        let Some(limit) = self.last.limits.max_turns.filter(|&limit| limit > 0) else {
            return decide(Action::GiveUp, "the limit of turns cannot be raised");
        };
        if self
            .earlier
            .iter()
            .any(|old| rule(old) == Outcome::LimitTurns)
        {
            let reason =
                format!("the limit of turns, {limit}, was reached again; it is raised once");
            return decide(Action::GiveUp, &reason);
        }
        let doubled = limit.saturating_mul(2);
        let most = self.settings.turns_max;
        let raised = if limit <= most {
            doubled.min(most)
        } else {
            doubled
        };
        let mut again = self.resumed();
        again.limits.max_turns = Some(raised);
        if raised > limit {
            let reason = format!("the limit of turns goes from {limit} to {raised}");
            return decide(Action::Retry(again), &reason);
        }
        // The limit counts the turns of one process, so a session can go on with it.
        if again.resume {
            let reason =
                format!("the limit of turns is at its maximum, {limit}: resume the session");
            return decide(Action::Retry(again), &reason);
        }
        let reason = format!("the limit of turns is at its maximum, {limit}");
        decide(Action::GiveUp, &reason)
    }

    fn more_budget(&self) -> Decision {
        let Some(limit) = self.last.limits.budget_usd.filter(|&limit| limit > 0.0) else {
            return decide(Action::GiveUp, "the budget cannot be raised");
        };
        let raised = limit * 1.5;
        let mut again = self.resumed();
        again.limits.budget_usd = Some(raised);
        let reason = format!("the budget goes from ${limit} to ${raised}");
        decide(Action::Retry(again), &reason)
    }

    fn more_time(&self) -> Decision {
        let limits = self.last.limits;
        let unknown = RanOut {
            clock: Clock::Timeout,
            limit: None,
        };
        let RanOut { clock, limit } = self.last.ran_out.unwrap_or(unknown);
        let mut again = self.again();
        let limit = limit.or(limits.of(clock)).filter(|time| !time.is_zero());
        let Some(limit) = limit else {
            return decide(Action::Retry(again), "a clock ran out: retry");
        };
        let raised = limit.saturating_mul(2);
        again.limits = limits.with(clock, Some(raised));
        let (old, new) = (limit.as_secs_f64(), raised.as_secs_f64());
        let mut reason = match clock {
            Clock::Timeout => format!("the time goes from {old}s to {new}s"),
            _ => format!("--{} goes from {old}s to {new}s", clock.option()),
        };
        // The user's other limits stay as they are.
        let whole = limits.timeout.filter(|_| clock != Clock::Timeout);
        if let Some(whole) = whole.filter(|whole| *whole <= raised) {
            reason += &format!("; --timeout stays at {}s", whole.as_secs_f64());
        }
        decide(Action::Retry(again), &reason)
    }

    fn cut_off(&self) -> Decision {
        let was_resumed = self.last.resumed || self.earlier.iter().any(|old| old.resumed);
        if self.last.can_resume && !was_resumed {
            let reason = "it was cut off: resume the session";
            return decide(Action::Retry(self.resumed()), reason);
        }
        let reason = if was_resumed {
            "it was cut off again: retry from the start"
        } else {
            "it was cut off and left no session: retry from the start"
        };
        decide(Action::Retry(self.again()), reason)
    }

    fn rate_limited(&self) -> Decision {
        let before = self.earlier.iter().rev();
        let count = before.take_while(|old| rule(old) == Outcome::RateLimited);
        // A reset time in the past did not help: always pause before a retry.
        let soonest = later(self.last.ended_at, self.pause(count.count()));
        let until = match self.last.retry_at {
            Some(at) => later(at, self.margin(at)).max(soonest),
            None => later(self.last.ended_at, UNKNOWN_RESET),
        };
        let wait = until.duration_since(self.last.ended_at);
        let is_long = self
            .settings
            .max_wait
            .is_some_and(|most| Duration::try_from(wait).is_ok_and(|wait| wait > most));
        let shown = until.strftime("%Y-%m-%dT%H:%M:%SZ");
        if is_long {
            let reason = format!("the limit resets only at {shown}");
            return decide(Action::Later { until }, &reason);
        }
        let again = self.go_on();
        let reason = format!("a limit was reached: nothing starts before {shown}");
        decide(Action::Wait { until, again }, &reason)
    }

    /// The pause after a limit that resets at `at`: no longer than the wait for the
    /// reset itself, so that a limit of seconds does not cost a minute.
    fn margin(&self, at: Timestamp) -> Duration {
        let wait = Duration::try_from(at.duration_since(self.last.ended_at));
        wait.map_or(Duration::ZERO, |wait| wait.min(MARGIN))
    }

    /// The pause after `count` failures of the same kind before the last one.
    fn pause(&self, count: usize) -> Duration {
        let pauses = &self.settings.backoff;
        let pause = pauses.get(count).or(pauses.last()).copied();
        let spread = 1.0 + self.settings.jitter.clamp(0.0, 1.0) / 10.0;
        pause.unwrap_or_default().mul_f64(spread)
    }

    fn busy(&self) -> Decision {
        let before = self.earlier.iter().rev().take_while(|old| is_busy(old));
        let (mut count, mut first) = (0, self.last);
        for old in before {
            (count, first) = (count + 1, old);
        }
        let word = self.last.outcome.as_str();
        let pause = self.pause(count);
        let until = later(self.last.ended_at, pause);
        if until > later(first.ended_at, self.settings.busy_limit) {
            let minutes = self.settings.busy_limit.as_secs() / 60;
            let reason = format!("{word} for {minutes} minutes");
            return decide(Action::GiveUp, &reason);
        }
        let again = RetryOptions {
            after: pause,
            ..self.go_on()
        };
        let reason = format!("{word}: again after {:.1} s", pause.as_secs_f64());
        decide(Action::Retry(again), &reason)
    }
}
