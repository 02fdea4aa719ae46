//! Where a task stands, by the record of its attempts and nothing else: whoever
//! reads it after a crash comes to the same answer.

use cr_verdict::Outcome;
use cr_verdict::policy::{self, Action, Again, Attempt};
use jiff::{SignedDuration, Timestamp};

use crate::attempt::{Ended, Limits};
use crate::layout::{Attempts, Settings};
use crate::prompt::Beginning;
use crate::task::Task;

/// Where a task stands.
#[derive(Clone, Debug)]
pub(crate) enum TaskState {
    /// It can be started, though not before `at`.
    Ready {
        beginning: Box<Beginning>,
        at: Option<Timestamp>,
    },
    /// An attempt was asked for, and its end is not known.
    Open(u32),
    Done,
    Failed,
    NeedsHuman,
    /// Nobody knows what its last attempt did.
    Lost,
    /// Everything waits, and longer than the run may.
    Later,
    /// Nothing else may be started.
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
            TaskState::NeedsHuman => "needs-human",
            TaskState::Lost => "lost",
            TaskState::Later => "waiting",
            TaskState::StopAll(_) => "stopped",
        }
    }
}

/// Says where `task` stands.
pub(crate) fn assess(
    task: &Task,
    attempts: &Attempts,
    settings: &Settings,
    rerun_lost: bool,
) -> Assessment {
    if let Some(number) = attempts.open {
        return Assessment::new(TaskState::Open(number), "it was started");
    }
    let Some(last) = attempts.ended.last() else {
        return ready(Beginning::default(), None, "nothing stands in its way");
    };
    if last.end.is_success() {
        return Assessment::new(TaskState::Done, "the work is done");
    }
    if let Some(said) = &last.again {
        return begin_again(last, said);
    }
    let history = current(task, &attempts.ended);
    let Some((last, earlier)) = history.split_last() else {
        return ready(Beginning::default(), None, "the task has changed");
    };
    if last.end.lost && !task.idempotent && !rerun_lost {
        let reason = format!("{}: --rerun-lost, or --again {}", last.end.why, task.id);
        return Assessment::new(TaskState::Lost, reason);
    }
    by_policy(task, last, earlier, settings)
}

/// The attempts that count: those at this very task, after the last time that
/// somebody asked to begin again.
fn current<'a>(task: &Task, ended: &'a [Ended]) -> &'a [Ended] {
    let is_cut = |old: &Ended| old.again.is_some() || old.spec.task != *task;
    let from = ended.iter().rposition(is_cut).map_or(0, |at| at + 1);
    &ended[from..]
}

fn ready(beginning: Beginning, at: Option<Timestamp>, reason: &str) -> Assessment {
    let beginning = Box::new(beginning);
    Assessment::new(TaskState::Ready { beginning, at }, reason)
}

/// Somebody asked to try again; who was only interrupted goes on.
fn begin_again(last: &Ended, said: &str) -> Assessment {
    let goes_on = matches!(
        last.end.outcome(),
        Outcome::Interrupted | Outcome::Auth | Outcome::Billing | Outcome::NeedsInput
    );
    let resume = goes_on && last.end.session.is_some();
    let error = (!goes_on).then(|| last.end.error.clone());
    let again = Again {
        limits: last.spec.limits.into(),
        resume,
        error_context: error,
        ..Again::default()
    };
    let beginning = Beginning {
        again: Some(again),
        is_handoff: false,
        said: Some(said.trim().to_owned()).filter(|said| !said.is_empty()),
    };
    ready(beginning, None, "somebody asked to try again")
}

fn by_policy(task: &Task, last: &Ended, earlier: &[Ended], settings: &Settings) -> Assessment {
    let facts = last.facts();
    let earlier: Vec<Attempt> = earlier.iter().map(Ended::facts).collect();
    // Different for every attempt, and the same whenever it is asked for.
    let jitter = f64::from(facts.ended_at.subsec_nanosecond().rem_euclid(997_000)) / 997_000.0;
    let settings = settings.policy(task, jitter);
    let decision = policy::next(&facts, &earlier, &settings);
    let begin = |again: Again, is_handoff| Beginning {
        again: Some(again),
        is_handoff,
        said: None,
    };
    let after = |again: &Again| {
        let pause = SignedDuration::try_from(again.after).ok()?;
        (!pause.is_zero()).then(|| facts.ended_at.checked_add(pause).ok())?
    };
    let reason = decision.reason.as_str();
    match decision.action {
        Action::Done => Assessment::new(TaskState::Done, reason),
        Action::Retry(again) => {
            let at = after(&again);
            ready(begin(again, false), at, reason)
        }
        Action::Wait { until, again } => ready(begin(again, false), Some(until), reason),
        Action::FreshSession(again) => ready(begin(again, true), None, reason),
        Action::Later { until } if until <= Timestamp::now() => {
            let again = Again {
                limits: facts.limits,
                resume: facts.can_resume,
                ..Again::default()
            };
            ready(begin(again, false), None, "the limit has reset")
        }
        Action::Later { .. } => Assessment::new(TaskState::Later, reason),
        Action::NeedsHuman => Assessment::new(TaskState::NeedsHuman, reason),
        Action::StopAll => Assessment::new(TaskState::StopAll(facts.outcome), reason),
        Action::GiveUp => Assessment::new(TaskState::Failed, reason),
    }
}

/// The limits of the next attempt.
pub(crate) fn limits(task: &Task, beginning: &Beginning) -> Limits {
    match &beginning.again {
        Some(again) => again.limits.into(),
        None => Limits::first(task),
    }
}
