//! The state of a task, by the records of its attempts alone: a reader after a
//! crash comes to the same answer.

use cr_verdict::Outcome;
use cr_verdict::policy::{self, Action, Attempt, RetryOptions};
use jiff::{SignedDuration, Timestamp};

use crate::attempt::{Ended, Limits};
use crate::escalation;
use crate::layout::{Attempts, Settings};
use crate::prompt::NextAttempt;
use crate::task::Task;

/// The state of a task.
#[derive(Clone, Debug)]
pub(crate) enum TaskState {
    /// It can be started.
    Ready {
        next: Box<NextAttempt>,
        not_before: Option<Timestamp>,
        /// Until then no other task may start either: a limit of the account
        /// was reached.
        holds_all: bool,
    },
    /// The attempt of this number is recorded, and its end is not.
    Open(u32),
    Done,
    Failed,
    NeedsPerson,
    /// It is not known what its last attempt did.
    Lost,
    /// All tasks must wait longer than the run may.
    Later,
    /// No other task may start.
    StopAll(Outcome),
}

/// A state and the sentence that explains it.
#[derive(Clone, Debug)]
pub(crate) struct Assessment {
    pub(crate) state: TaskState,
    pub(crate) reason: String,
}

impl Assessment {
    fn new(state: TaskState, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self { state, reason }
    }

    /// The word in the task's status file.
    pub(crate) fn word(&self, attempts: &Attempts) -> &'static str {
        let last = attempts.ended.last().map(|last| last.end.outcome());
        match self.state {
            TaskState::Ready { .. } if last.is_none() => "pending",
            TaskState::Ready { .. } => "retrying",
            TaskState::Open(_) => "running",
            TaskState::Done => "completed",
            TaskState::Failed if last == Some(Outcome::Timeout) => "timed_out",
            TaskState::Failed => "failed",
            TaskState::NeedsPerson => "needs-human",
            TaskState::Lost => "lost",
            TaskState::Later => "waiting",
            TaskState::StopAll(_) => "stopped",
        }
    }
}

/// Assesses `task` at the moment `now`.
pub(crate) fn assess(
    task: &Task,
    attempts: &Attempts,
    settings: &Settings,
    rerun_lost: bool,
    now: Timestamp,
) -> Assessment {
    if let Some(number) = attempts.open {
        return Assessment::new(TaskState::Open(number), "it was started");
    }
    let Some(last) = attempts.ended.last() else {
        return ready(NextAttempt::default(), "it can start");
    };
    if last.end.is_success() {
        return Assessment::new(TaskState::Done, "the work is done");
    }
    if let Some(said) = &last.again {
        return begin_again(last, said);
    }
    let history = current(task, &attempts.ended);
    let Some((last, earlier)) = escalation::of_last_model(history).split_last() else {
        return ready(NextAttempt::default(), "it has changed");
    };
    // What an attempt did in a worktree of its own is of no consequence.
    let is_harmless = task.idempotent || last.spec.place.is_some();
    if last.end.lost && !is_harmless && !rerun_lost {
        let reason = format!("{}: --rerun-lost, or --again {}", last.end.why, task.id);
        return Assessment::new(TaskState::Lost, reason);
    }
    by_policy(task, last, earlier, settings, now)
}

/// The attempts that count: those at this very task, after the last request to
/// begin again.
fn current<'a>(task: &Task, ended: &'a [Ended]) -> &'a [Ended] {
    let is_cut = |old: &Ended| old.again.is_some() || old.spec.task != *task;
    let from = ended.iter().rposition(is_cut).map_or(0, |at| at + 1);
    &ended[from..]
}

/// It may start now.
fn ready(next: NextAttempt, reason: &str) -> Assessment {
    ready_at(next, None, false, reason)
}

fn ready_at(
    next: NextAttempt,
    not_before: Option<Timestamp>,
    holds_all: bool,
    reason: &str,
) -> Assessment {
    let state = TaskState::Ready {
        next: Box::new(next),
        not_before,
        holds_all,
    };
    Assessment::new(state, reason)
}

/// A person asked to try again. An attempt that was only interrupted continues.
fn begin_again(last: &Ended, answer: &str) -> Assessment {
    let goes_on = matches!(
        last.end.outcome(),
        Outcome::Interrupted | Outcome::Auth | Outcome::Billing | Outcome::NeedsInput
    );
    let resume = goes_on && last.end.session.is_some();
    let error = (!goes_on).then(|| last.end.error.clone());
    let again = RetryOptions {
        limits: last.spec.limits.into(),
        resume,
        error_context: error,
        ..RetryOptions::default()
    };
    let next = NextAttempt {
        again: Some(again),
        is_handoff: false,
        model: last.spec.model.clone(),
        answer: Some(answer.trim().to_owned()).filter(|answer| !answer.is_empty()),
    };
    ready(next, "a person asked to try again")
}

fn by_policy(
    task: &Task,
    last: &Ended,
    earlier: &[Ended],
    settings: &Settings,
    now: Timestamp,
) -> Assessment {
    let next_model = || escalation::next(task, last, settings);
    if last.end.outcome() == Outcome::Looping
        && let Some((next, reason)) = next_model()
    {
        return ready(next, &reason);
    }
    let facts = last.facts();
    let policy = settings.policy(task, jitter(&facts));
    let earlier: Vec<Attempt> = earlier.iter().map(Ended::facts).collect();
    let decision = policy::next(&facts, &earlier, &policy);
    let with = |again: RetryOptions, is_handoff| NextAttempt {
        again: Some(again),
        is_handoff,
        model: last.spec.model.clone(),
        answer: None,
    };
    let after = |again: &RetryOptions| {
        let pause = SignedDuration::try_from(again.after).ok()?;
        (!pause.is_zero()).then(|| facts.ended_at.checked_add(pause).ok())?
    };
    let reason = decision.reason.as_str();
    match decision.action {
        Action::Done => Assessment::new(TaskState::Done, reason),
        Action::Retry(again) => {
            let at = after(&again);
            ready_at(with(again, false), at, false, reason)
        }
        Action::Wait { until, again } => ready_at(with(again, false), Some(until), true, reason),
        Action::FreshSession(again) => ready(with(again, true), reason),
        Action::Later { until } if until <= now => {
            ready(with(same_again(&facts), false), "the limit has reset")
        }
        Action::Later { .. } => Assessment::new(TaskState::Later, reason),
        Action::NeedsHuman => Assessment::new(TaskState::NeedsPerson, reason),
        Action::StopAll => Assessment::new(TaskState::StopAll(facts.outcome), reason),
        Action::GiveUp => match next_model() {
            Some((next, reason)) => ready(next, &reason),
            None => Assessment::new(TaskState::Failed, reason),
        },
    }
}

/// The same again: nothing was wrong with the attempt.
fn same_again(facts: &Attempt) -> RetryOptions {
    RetryOptions {
        limits: facts.limits,
        resume: facts.can_resume,
        ..RetryOptions::default()
    }
}

/// A number from 0 to 1: different for every attempt, and the same whenever it is
/// asked for.
fn jitter(attempt: &Attempt) -> f64 {
    f64::from(attempt.ended_at.subsec_nanosecond().rem_euclid(997_000)) / 997_000.0
}

/// The limits of the next attempt.
pub(crate) fn limits(task: &Task, next: &NextAttempt) -> Limits {
    match &next.again {
        Some(again) => again.limits.into(),
        None => Limits::first(task),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attempt::{End, Spec};

    const NOW: Timestamp = Timestamp::constant(1_800_000_000, 0);

    fn seconds(count: i64) -> SignedDuration {
        SignedDuration::from_secs(count)
    }

    fn ended(outcome: Outcome, change: impl FnOnce(&mut Ended)) -> Ended {
        let end = End {
            ended_at: NOW,
            ..End::new(outcome, "why")
        };
        let mut ended = Ended {
            spec: Spec {
                number: 1,
                ..Spec::default()
            },
            end,
            again: None,
        };
        change(&mut ended);
        ended
    }

    fn assessed(ended: &[Ended], rerun_lost: bool, now: Timestamp) -> TaskState {
        let attempts = Attempts {
            ended: ended.to_vec(),
            open: None,
        };
        let settings = Settings {
            max_wait: Some(3600.0),
            ..Settings::default()
        };
        assess(&Task::default(), &attempts, &settings, rerun_lost, now).state
    }

    #[test]
    fn the_end_of_the_last_attempt_decides() {
        let state = |outcome| assessed(&[ended(outcome, |_| {})], false, NOW);
        assert!(matches!(state(Outcome::Success), TaskState::Done));
        assert!(matches!(state(Outcome::SpawnFailed), TaskState::Failed));
        assert!(matches!(state(Outcome::NeedsInput), TaskState::NeedsPerson));
        assert!(matches!(
            state(Outcome::Auth),
            TaskState::StopAll(Outcome::Auth)
        ));
        let attempts = Attempts {
            ended: vec![ended(Outcome::Failed, |_| {})],
            open: Some(2),
        };
        let state = assess(
            &Task::default(),
            &attempts,
            &Settings::default(),
            false,
            NOW,
        );
        assert!(matches!(state.state, TaskState::Open(2)));
    }

    #[test]
    fn a_pause_is_the_tasks_own_and_a_limit_is_everybodys() {
        let busy = ended(Outcome::Overloaded, |_| {});
        let limited = ended(Outcome::RateLimited, |old| {
            old.end.retry_at = Some(NOW + seconds(600));
        });
        // (attempts, seconds until the next one, whether all tasks wait)
        let cases = [
            (vec![busy.clone()], 1, false),
            (vec![busy.clone(), busy], 5, false),
            (vec![limited], 660, true),
        ];
        for (attempts, pause, all) in cases {
            let state = assessed(&attempts, false, NOW);
            let TaskState::Ready {
                not_before,
                holds_all,
                ..
            } = state
            else {
                unreachable!("{state:?}");
            };
            let moment = not_before.expect("a moment").duration_since(NOW).as_secs();
            assert_eq!((moment, holds_all), (pause, all), "{attempts:?}");
        }
    }

    #[test]
    fn a_limit_beyond_the_longest_wait_is_for_later() {
        let limited = ended(Outcome::RateLimited, |old| {
            old.end.retry_at = Some(NOW + seconds(7200));
        });
        let attempts = [limited];
        assert!(matches!(assessed(&attempts, false, NOW), TaskState::Later));
        let then = NOW + seconds(7300);
        let state = assessed(&attempts, false, then);
        assert!(matches!(
            state,
            TaskState::Ready {
                not_before: None,
                ..
            }
        ));
    }

    #[test]
    fn a_lost_attempt_is_tried_again_only_on_request() {
        let lost = ended(Outcome::Incomplete, |old| old.end.lost = true);
        let attempts = [lost.clone()];
        assert!(matches!(assessed(&attempts, false, NOW), TaskState::Lost));
        let state = assessed(&attempts, true, NOW);
        assert!(matches!(state, TaskState::Ready { .. }));
        let again = Ended {
            again: Some(String::new()),
            ..lost
        };
        let state = assessed(&[again], false, NOW);
        assert!(matches!(state, TaskState::Ready { .. }));
    }
}
