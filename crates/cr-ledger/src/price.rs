//! What the context of a session costs: to resume it, or to begin a new one.
//!
//! Only what is sent again with each call counts. What a task adds to the context
//! and what the model answers is the same either way.

use cr_event::Usage;
use cr_usage::{CacheTtl, Prices};

/// Tokens of a handoff: 8 KiB, at four bytes a token.
pub(crate) const HANDOFF_TOKENS: u64 = 8192 / 4;

/// A task whose context is priced.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quote<'a> {
    pub(crate) prices: &'a Prices,
    pub(crate) model: &'a str,
    /// How long the cache keeps what is written to it.
    pub(crate) ttl: CacheTtl,
    /// Calls of the model.
    pub(crate) calls: u64,
}

impl Quote<'_> {
    /// Each call reads a context that the cache has.
    pub(crate) fn cached(&self, context: u64) -> Option<f64> {
        self.of(0, context.saturating_mul(self.calls))
    }

    /// The first call writes the context to the cache, the others read it.
    pub(crate) fn written(&self, context: u64) -> Option<f64> {
        let others = self.calls.saturating_sub(1);
        self.of(context, context.saturating_mul(others))
    }

    fn of(&self, cache_creation: u64, cache_read: u64) -> Option<f64> {
        let mut usage = Usage {
            cache_creation,
            cache_read,
            ..Usage::default()
        };
        match self.ttl {
            CacheTtl::Minutes => usage.cache_5m = cache_creation,
            CacheTtl::Hour => usage.cache_1h = cache_creation,
        }
        self.prices.estimate([(self.model, usage)].into_iter())
    }
}

/// The time that the cache keeps a context, in milliseconds.
pub(crate) const fn ttl_ms(ttl: CacheTtl) -> i64 {
    match ttl {
        CacheTtl::Minutes => 300_000,
        CacheTtl::Hour => 3_600_000,
    }
}

/// A count, to calculate with.
#[expect(
    clippy::cast_precision_loss,
    reason = "beyond 2^53 a rounding error is the least of it"
)]
pub(crate) fn amount(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_context_costs_more_and_one_kept_for_an_hour_the_most() {
        let prices = Prices::default();
        let quote = |ttl, model| Quote {
            prices: &prices,
            model,
            ttl,
            calls: 10,
        };
        // Two dollars for a million tokens of input, 0.1 for a million that are read.
        let minutes = quote(CacheTtl::Minutes, "claude-sonnet-5-5");
        let hour = quote(CacheTtl::Hour, "claude-sonnet-5-5");
        let cases = [
            (minutes.cached(100_000), 0.1),
            (minutes.written(100_000), 0.25 + 0.09),
            (hour.cached(100_000), 0.1),
            (hour.written(100_000), 0.4 + 0.09),
        ];
        for (cost, expected) in cases {
            assert!(
                (cost.expect("a price") - expected).abs() < 1e-9,
                "{expected}"
            );
        }
        assert_eq!(quote(CacheTtl::Hour, "gpt-5").written(1), None);
    }
}
