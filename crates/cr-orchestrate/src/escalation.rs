//! `--models`: when the retries with one model are used up, the next model.

use cr_verdict::Outcome;
use cr_verdict::policy::RetryOptions;

use crate::attempt::Ended;
use crate::layout::Settings;
use crate::prompt::NextAttempt;
use crate::task::Task;

/// How much more an attempt with the next model may cost.
const BUDGET_FACTOR: f64 = 1.5;

/// The attempts with the model of the last one.
pub(crate) fn of_last_model(history: &[Ended]) -> &[Ended] {
    let last = history.last().map(|last| &last.spec.model);
    let other = history
        .iter()
        .rposition(|old| Some(&old.spec.model) != last);
    &history[other.map_or(0, |at| at + 1)..]
}

/// The next attempt after `last`, with the next model, and why; `None` if there is no
/// other model, or if it would fail in the same way.
pub(crate) fn next(
    task: &Task,
    last: &Ended,
    settings: &Settings,
) -> Option<(NextAttempt, String)> {
    if !can_help(last) {
        return None;
    }
    let before = last.spec.model.as_ref().or(task.model.as_ref());
    let models = &settings.models;
    let at = models.iter().position(|model| Some(model) == before);
    let model = models.get(at.map_or(0, |at| at + 1))?;
    let mut limits = last.spec.limits;
    limits.budget_usd = limits.budget_usd.map(|usd| usd * BUDGET_FACTOR);
    let error = last.end.error.trim();
    let again = RetryOptions {
        limits: limits.into(),
        error_context: (!error.is_empty()).then(|| error.to_owned()),
        ..RetryOptions::default()
    };
    let next = NextAttempt {
        again: Some(again),
        model: Some(model.clone()),
        ..NextAttempt::default()
    };
    let outcome = &last.end.outcome;
    let budget = limits.budget_usd;
    let budget = budget.map_or_else(String::new, |usd| format!(", with a budget of ${usd}"));
    Some((
        next,
        format!("{outcome}: the next model is {model}{budget}"),
    ))
}

/// Whether a better model may do what this attempt did not.
fn can_help(last: &Ended) -> bool {
    match last.end.outcome() {
        // The request itself was refused.
        Outcome::Failed => last.end.action != "fix",
        Outcome::Timeout
        | Outcome::LimitTurns
        | Outcome::LimitBudget
        | Outcome::ContextExhausted
        | Outcome::Killed
        | Outcome::Incomplete
        | Outcome::NoAnswer
        | Outcome::NoCommit
        | Outcome::ScopeViolation
        | Outcome::VerifyFailed
        | Outcome::Conflict
        | Outcome::Looping => true,
        _ => false,
    }
}
