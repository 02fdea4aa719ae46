//! The cost of the run. Without evidence it is unknown, and not 0.

use cr_event::{Raw, TurnEnd};

/// The evidence for the cost of a run.
#[derive(Debug, Default)]
pub struct Cost {
    /// What the sessions before this one cost.
    before: Option<f64>,
    /// Sum of what each result adds to the one before.
    added: Option<f64>,
    /// The running total of the last result.
    total: Option<f64>,
    /// The running total in a session's log.
    log: Option<f64>,
    /// The part of that total which is this run's own, if it is known.
    own_log: Option<f64>,
}

impl Cost {
    /// Another session begins, and with it another running total.
    pub(crate) fn next_session(&mut self) {
        self.before = self.results();
        (self.added, self.total) = (None, None);
    }

    /// Another process begins; `resumes` says whether with the same session.
    pub(crate) fn next_process(&mut self, resumes: bool) {
        // Where results do not tell their own part, each process counts from 0.
        if !resumes || self.added.is_none() {
            self.next_session();
        }
    }

    /// What the results say.
    fn results(&self) -> Option<f64> {
        let session = self.added.or(self.total);
        let sum = |before| before + session.unwrap_or(0.0);
        self.before.map(sum).or(session)
    }

    /// Takes a result; returns what its turn cost.
    pub(crate) fn result(&mut self, end: &TurnEnd<'_>) -> Option<f64> {
        let total = end.total_cost_usd().and_then(money);
        let since = since_last_result(end);
        let before = self.total.unwrap_or(0.0);
        // After a `/clear` the total starts from zero.
        let difference = total.map(|total| {
            if total < before {
                total
            } else {
                total - before
            }
        });
        if let Some(since) = since {
            self.added = Some(self.added.unwrap_or(0.0) + since);
        }
        self.total = total.or(self.total);
        since.or(difference)
    }

    /// Takes a log's `cost-state`; returns whether it has a total.
    pub(crate) fn log_total(&mut self, line: Raw<'_>) -> bool {
        let total = line.get("totalCostUSD").and_then(Raw::f64).and_then(money);
        self.log = total.or(self.log);
        self.own_log = self.log;
        total.is_some()
    }

    /// The log's total goes on from `before`, or from an unknown amount. A
    /// smaller total began at zero.
    pub(crate) fn continues(&mut self, before: Option<f64>) {
        let own = self.log.zip(before);
        let own = own.map(|(total, before)| (total - before, total));
        self.own_log = own.map(|(rest, total)| if rest < 0.0 { total } else { rest });
    }

    /// This run's cost and where it is from.
    pub fn run(&self) -> Option<(f64, CostSource)> {
        match (self.results(), self.own_log) {
            (Some(cost), _) => Some((rounded(cost), CostSource::Result)),
            (None, Some(cost)) => Some((rounded(cost), CostSource::Log)),
            (None, None) => None,
        }
    }

    /// The session's cost, earlier runs included.
    pub fn session(&self) -> Option<f64> {
        self.total.or(self.log).map(rounded)
    }
}

/// Where an amount is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostSource {
    /// A result line.
    Result,
    /// A session's log.
    Log,
    /// A table of prices.
    Estimate,
}

impl CostSource {
    /// The word used in summaries.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Result => "result",
            Self::Log => "log",
            Self::Estimate => "estimate",
        }
    }
}

/// The cost since the result before, where the result says so.
pub fn since_last_result(end: &TurnEnd<'_>) -> Option<f64> {
    let models = end.since_last()?;
    let costs = models.iter().filter_map(|model| money(model.cost_usd?));
    // `sum()` of nothing would be -0.
    Some(costs.fold(0.0, |sum, cost| sum + cost))
}

/// An amount that can be one.
fn money(amount: f64) -> Option<f64> {
    (amount >= 0.0).then_some(amount)
}

/// An amount rounded to a millionth of a dollar; smaller parts are errors of
/// binary fractions.
pub fn rounded(amount: f64) -> f64 {
    let rounded = (amount * 1e6).round() / 1e6;
    if rounded.is_finite() {
        rounded
    } else {
        amount.min(f64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f4_amounts_are_rounded_and_stay_finite() {
        let cases = [
            (0.003_152_399_999_999_999_6, 0.003_152),
            (0.1 + 0.2, 0.3),
            (1e300, 1e300),
            (1e308, 1e308),
            (f64::INFINITY, f64::MAX),
        ];
        for (amount, shown) in cases {
            assert_eq!(rounded(amount).to_bits(), f64::to_bits(shown), "{amount}");
        }
        assert_eq!(money(-0.5), None);
        assert_eq!(money(f64::NAN), None);
    }
}
