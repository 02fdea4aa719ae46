//! Tokens and money, by model.

use cr_event::Usage;

use crate::context::is_window_of;

/// Models counted one by one; further ones are counted with the last.
const MODELS: usize = 64;

/// Tokens of one model or of several, and their cost as far as results say it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// The tokens.
    pub usage: Usage,
    /// The cost of those that a result covers.
    pub cost_usd: Option<f64>,
    /// The output of some calls is known.
    pub has_final_output: bool,
    /// The output of some calls is not: the stream has only the count from the
    /// beginning of the answer.
    pub has_open_output: bool,
    /// Some calls are covered by no result.
    pub is_unpriced: bool,
}

impl Spent {
    /// What a result says.
    pub(crate) fn covered(usage: Usage, cost_usd: Option<f64>) -> Self {
        Self {
            usage,
            cost_usd,
            has_final_output: true,
            ..Self::default()
        }
    }

    /// What a call says; `is_final` if it is over.
    pub(crate) fn call(usage: Usage, is_final: bool) -> Self {
        Self {
            usage,
            cost_usd: None,
            has_final_output: is_final,
            has_open_output: !is_final,
            is_unpriced: true,
        }
    }

    /// Both together.
    pub(crate) fn plus(self, other: Self) -> Self {
        let sum = |cost| cost + other.cost_usd.unwrap_or(0.0);
        Self {
            usage: self.usage.plus(other.usage),
            cost_usd: self.cost_usd.map(sum).or(other.cost_usd),
            has_final_output: self.has_final_output || other.has_final_output,
            has_open_output: self.has_open_output || other.has_open_output,
            is_unpriced: self.is_unpriced || other.is_unpriced,
        }
    }

    /// The output: `None` where only provisional counts are known.
    pub fn output(&self) -> Option<u64> {
        let is_known = self.has_final_output || !self.has_open_output;
        is_known.then_some(self.usage.output)
    }

    /// Whether `output` is only a lower bound.
    pub fn is_output_at_least(&self) -> bool {
        self.has_final_output && self.has_open_output
    }

    /// Tokens written to the cache for five minutes and for an hour; `None`
    /// where that is not known of all of them.
    pub fn cache_times(&self) -> Option<(u64, u64)> {
        let Usage {
            cache_5m, cache_1h, ..
        } = self.usage;
        let is_known = cache_5m.saturating_add(cache_1h) == self.usage.cache_creation;
        is_known.then_some((cache_5m, cache_1h))
    }
}

/// What each model spent.
#[derive(Clone, Debug, Default)]
pub(crate) struct ByModel(Vec<(String, Spent)>);

impl ByModel {
    /// Adds what `model` spent. A result may name it with a suffix that its
    /// messages do not have.
    pub(crate) fn add(&mut self, model: &str, spent: Spent) {
        let is_same = |(known, _): &&mut (String, Spent)| {
            known == model || is_window_of(known, model) || is_window_of(model, known)
        };
        if let Some((_, sum)) = self.0.iter_mut().find(is_same) {
            *sum = sum.plus(spent);
        } else if self.0.len() < MODELS {
            self.0.push((model.to_owned(), spent));
        } else if let Some((_, sum)) = self.0.last_mut() {
            *sum = sum.plus(spent);
        }
    }

    /// Adds all of `other`.
    pub(crate) fn add_all(&mut self, other: &Self) {
        for (model, spent) in &other.0 {
            self.add(model, *spent);
        }
    }

    /// What `model` spent.
    pub(crate) fn get(&self, model: &str) -> Option<Spent> {
        let is_same = |(known, _): &&(String, Spent)| {
            known == model || is_window_of(known, model) || is_window_of(model, known)
        };
        self.0.iter().find(is_same).map(|(_, spent)| *spent)
    }

    /// The only model, if there is one.
    pub(crate) fn only(&self) -> Option<&str> {
        match &*self.0 {
            [(model, _)] => Some(model),
            _ => None,
        }
    }

    /// All models together.
    pub(crate) fn sum(&self) -> Spent {
        let spent = self.0.iter().map(|(_, spent)| *spent);
        spent.fold(Spent::default(), Spent::plus)
    }

    /// The models, in the order they were seen.
    pub(crate) fn into_models(self) -> Vec<(String, Spent)> {
        self.0
    }
}
