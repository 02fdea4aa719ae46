//! The budget of a whole run: what the attempts may use together.
//!
//! What an attempt may still use is set aside as long as it runs, so that the
//! attempts of several slots cannot use the same money. All of it is counted from
//! the records, so a run that was killed and is resumed counts the same.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::attempt::Ended;
use crate::schedule::TaskRecord;
use crate::task::Task;

/// What fractions of a dollar do not matter: sums of binary fractions are not exact.
const EPSILON: f64 = 1e-9;

/// Less than this is nothing to give to an attempt without a budget of its own.
const LEAST: f64 = 0.01;

/// The default budget, by the sum of the tasks' budgets.
const DEFAULT_FACTOR: f64 = 1.5;

/// The budget of a run.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RunBudget {
    /// US dollars.
    Usd(f64),
    /// Tokens of every kind.
    Tokens(f64),
    /// Per cent of the account's window of five hours, whoever used them.
    Quota(f64),
}

/// Reads a budget: `5`, `$5`, `2Mtokens`, `80%`.
pub(crate) fn parse(text: &str) -> Result<RunBudget, String> {
    let wrong = || format!("`{text}` is not an amount such as 5, 2000000tokens, 2Mtokens or 80%");
    let number = |digits: &str| {
        let number: f64 = digits.trim().parse().map_err(|_| wrong())?;
        let is_amount = number.is_finite() && number > 0.0;
        is_amount.then_some(number).ok_or_else(wrong)
    };
    let word = text.trim();
    if let Some(percent) = word.strip_suffix('%') {
        return match number(percent)? {
            percent if percent > 100.0 => Err(wrong()),
            percent => Ok(RunBudget::Quota(percent)),
        };
    }
    if let Some(count) = word.strip_suffix("tokens") {
        let (digits, factor) = match count.trim().strip_suffix(['k', 'M']) {
            Some(digits) if count.trim().ends_with('k') => (digits, 1e3),
            Some(digits) => (digits, 1e6),
            None => (count, 1.0),
        };
        return Ok(RunBudget::Tokens(number(digits)? * factor));
    }
    Ok(RunBudget::Usd(number(
        word.strip_prefix('$').unwrap_or(word),
    )?))
}

impl RunBudget {
    /// The budget of a run that was given none: one and a half times the sum of the
    /// tasks' budgets, if all have one.
    pub(crate) fn of_tasks<'a>(tasks: impl Iterator<Item = &'a Task>) -> Option<Self> {
        let sum: Option<f64> = tasks.map(|task| task.budget_usd).sum();
        let sum = sum.filter(|&sum| sum > 0.0)?;
        Some(Self::Usd(sum * DEFAULT_FACTOR))
    }

    /// As an option takes it.
    pub(crate) fn word(self) -> String {
        match self {
            Self::Usd(usd) => rounded(usd),
            Self::Tokens(tokens) => format!("{tokens}tokens"),
            Self::Quota(percent) => format!("{percent}%"),
        }
    }

    /// An amount of it for people.
    fn amount(self, amount: f64) -> String {
        match self {
            Self::Usd(_) => format!("${amount:.2}"),
            Self::Tokens(_) => format!("{amount:.0} tokens"),
            Self::Quota(_) => format!("{amount:.0}% of the window of five hours"),
        }
    }

    fn limit(self) -> f64 {
        match self {
            Self::Usd(limit) | Self::Tokens(limit) | Self::Quota(limit) => limit,
        }
    }

    fn with_limit(self, limit: f64) -> Self {
        match self {
            Self::Usd(_) => Self::Usd(limit),
            Self::Tokens(_) => Self::Tokens(limit),
            Self::Quota(_) => Self::Quota(limit.min(100.0)),
        }
    }
}

/// Dollars in full, without the traces of binary fractions.
fn rounded(usd: f64) -> String {
    format!("{}", (usd * 1e6).round() / 1e6)
}

/// Dollars that are not more than `usd`.
fn floored(usd: f64) -> f64 {
    ((usd + EPSILON) * 1e6).floor() / 1e6
}

/// What the run has used, and what its running attempts may still use.
#[derive(Debug, Default)]
pub(crate) struct Funds {
    pub(crate) budget: Option<RunBudget>,
    /// The budget of each attempt that runs, by the position of its task.
    running: BTreeMap<usize, Option<f64>>,
}

impl Funds {
    pub(crate) fn new(budget: Option<RunBudget>) -> Self {
        Self {
            budget,
            running: BTreeMap::new(),
        }
    }

    /// An attempt at task `at` runs, with this budget of its own.
    pub(crate) fn set_aside(&mut self, at: usize, usd: Option<f64>) {
        self.running.insert(at, usd);
    }

    /// The attempt at task `at` has ended; what it used is in its record.
    pub(crate) fn release(&mut self, at: usize) {
        self.running.remove(&at);
    }

    /// What attempts may be given now. `slots` more attempts may run.
    pub(crate) fn purse(&self, tasks: &[TaskRecord], slots: usize) -> Purse {
        let Some(budget) = self.budget else {
            return Purse::default();
        };
        let ended = || tasks.iter().flat_map(|record| &record.attempts.ended);
        let (spent, aside) = match budget {
            RunBudget::Usd(limit) => {
                let aside = self.running.values().map(|usd| usd.unwrap_or(limit));
                (ended().map(cost).sum(), aside.sum())
            }
            RunBudget::Tokens(_) => {
                let used = ended().filter_map(|old| old.end.tokens);
                let used: Vec<f64> = used.map(as_number).collect();
                let spent: f64 = used.iter().sum();
                let mean = spent / as_number(used.len().max(1) as u64);
                (spent, mean * as_number(self.running.len() as u64))
            }
            RunBudget::Quota(_) => (quota(tasks), 0.0),
        };
        let waiting = tasks.len().saturating_sub(self.running.len());
        Purse {
            budget: Some(budget),
            spent,
            left: budget.limit() - spent - aside,
            slots: slots.min(waiting).max(1),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "nobody counts so many tokens")]
fn as_number(count: u64) -> f64 {
    count as f64
}

/// What an attempt has cost. If that is not known, it counts as all that it could
/// have cost; an attempt without a session never asked the model.
fn cost(ended: &Ended) -> f64 {
    let end = &ended.end;
    let may_have_spent = end.lost || end.session_id.is_some();
    let most = ended.spec.limits.budget_usd.filter(|_| may_have_spent);
    end.cost_usd.or(most).unwrap_or_default()
}

/// The per cent of the window of five hours that were used when an attempt said so
/// last.
fn quota(tasks: &[TaskRecord]) -> f64 {
    let ended = tasks.iter().flat_map(|record| &record.attempts.ended);
    let windows = ended.filter_map(|old| Some((old.end.ended_at, old.end.quota?)));
    let last = windows.max_by_key(|(at, _)| *at);
    let now = jiff::Timestamp::now();
    let open = last.filter(|(_, quota)| quota.resets_at.is_none_or(|at| at > now));
    open.map_or(0.0, |(_, quota)| quota.used * 100.0)
}

/// What may be given to attempts that start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Purse {
    budget: Option<RunBudget>,
    spent: f64,
    left: f64,
    /// How many attempts share it, if they have no budget of their own.
    slots: usize,
}

impl Purse {
    /// Takes out what the next attempt at the task of `record` may use; returns its
    /// budget in dollars. `Err` if not enough is left.
    pub(crate) fn take(&mut self, record: &TaskRecord) -> Result<Option<f64>, ()> {
        let wanted = wanted(record);
        match self.budget {
            None => Ok(wanted),
            Some(RunBudget::Usd(_)) => {
                let given = self.dollars(record, wanted).ok_or(())?;
                self.left -= given;
                self.slots = self.slots.saturating_sub(1).max(1);
                Ok(Some(given))
            }
            // An agent has no such limit of its own.
            Some(_) if self.left > EPSILON => Ok(wanted),
            Some(_) => Err(()),
        }
    }

    /// What an attempt gets that wants `wanted`. A retry that wants more than the
    /// attempt before can do with what is left, if that is not less.
    fn dollars(&self, record: &TaskRecord, wanted: Option<f64>) -> Option<f64> {
        let Some(wanted) = wanted else {
            let share = self.left / as_number(self.slots as u64);
            return (share >= LEAST).then(|| floored(share));
        };
        let ended = record.attempts.ended.last();
        let before = ended.and_then(|ended| ended.spec.limits.budget_usd);
        let least = before.map_or(wanted, |before| before.min(wanted));
        let is_enough = self.left + EPSILON >= wanted;
        let given = if is_enough {
            wanted
        } else {
            floored(self.left)
        };
        (self.left + EPSILON >= least).then_some(given)
    }

    /// Why the attempt after `record` does not start.
    pub(crate) fn refusal(&self, record: &TaskRecord) -> Option<Refusal> {
        let budget = self.budget?;
        let needs = match (budget, wanted(record)) {
            (RunBudget::Usd(_), Some(usd)) => format!(", and {} may use ${usd:.2}", record.task.id),
            _ => String::new(),
        };
        let least = wanted(record).unwrap_or_default() + self.spent;
        let raised = (budget.limit() * DEFAULT_FACTOR).max(least);
        Some(Refusal {
            reason: format!(
                "the budget of the run is {}; {} are used{needs}",
                budget.amount(budget.limit()),
                budget.amount(self.spent),
            ),
            raised: budget.with_limit(raised),
        })
    }
}

/// Why nothing more starts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) reason: String,
    /// A budget with which the run goes on.
    pub(crate) raised: RunBudget,
}

/// The budget that the next attempt at a task asks for.
fn wanted(record: &TaskRecord) -> Option<f64> {
    record.next_limits()?.budget_usd.filter(|&usd| usd > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_dollars_tokens_or_per_cent() {
        for (text, budget, word) in [
            ("5", RunBudget::Usd(5.0), "5"),
            ("$0.5", RunBudget::Usd(0.5), "0.5"),
            ("2000tokens", RunBudget::Tokens(2000.0), "2000tokens"),
            ("2 Mtokens", RunBudget::Tokens(2e6), "2000000tokens"),
            ("1.5ktokens", RunBudget::Tokens(1500.0), "1500tokens"),
            ("80%", RunBudget::Quota(80.0), "80%"),
        ] {
            assert_eq!(parse(text), Ok(budget), "{text}");
            assert_eq!(budget.word(), word);
            assert_eq!(parse(word), Ok(budget), "{text}");
        }
        for text in [
            "", "0", "-1", "NaN", "inf", "x", "101%", "tokens", "5 euro", "1Gtokens",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
