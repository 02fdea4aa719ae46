//! List prices, for an estimate where no line says what a run cost.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, anyhow};
use cr_event::Usage;
use cr_io::Exit;
use serde::{Deserialize, Deserializer};

/// Dollars for a million tokens.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Price {
    #[serde(deserialize_with = "dollars")]
    input: f64,
    #[serde(deserialize_with = "dollars")]
    output: f64,
    #[serde(deserialize_with = "dollars")]
    cache_read: f64,
    /// A write that is kept for five minutes.
    #[serde(deserialize_with = "dollars")]
    cache_creation: f64,
    /// A write that is kept for an hour.
    #[serde(default, deserialize_with = "some_dollars")]
    cache_creation_1h: Option<f64>,
}

/// The highest price; one above it is a mistake.
const HIGHEST: f64 = 10_000.0;

fn dollars<'de, D: Deserializer<'de>>(source: D) -> Result<f64, D::Error> {
    in_range(f64::deserialize(source)?)
}

fn some_dollars<'de, D: Deserializer<'de>>(source: D) -> Result<Option<f64>, D::Error> {
    Option::deserialize(source)?.map(in_range).transpose()
}

fn in_range<E: serde::de::Error>(price: f64) -> Result<f64, E> {
    if (0.0..=HIGHEST).contains(&price) {
        return Ok(price);
    }
    let text = format!("expected dollars for a million tokens, from 0 to {HIGHEST}");
    Err(E::custom(text))
}

/// A write for an hour costs twice the input, one for five minutes 1.25 times.
const HOUR: f64 = 2.0 / 1.25;

/// Prices by the beginning of a model's name; the longest that fits counts.
#[derive(Debug)]
pub struct Prices(BTreeMap<String, Price>);

/// As of 2026-11-18; the help of `--estimate-cost` says so.
#[rustfmt::skip]
const TABLE: [(&str, f64, f64, f64); 12] = [
    // The beginning of the name, input, output, a read from the cache.
    ("claude-opus-5",     4.0, 20.0, 0.20),
    ("claude-sonnet-5",   2.0, 10.0, 0.10),
    ("claude-opus-4-5",   5.0, 25.0, 0.50),
    ("claude-opus-4-6",   5.0, 25.0, 0.50),
    ("claude-opus-4-7",   5.0, 25.0, 0.50),
    ("claude-opus-4-8",   5.0, 25.0, 0.50),
    ("claude-opus-4",    15.0, 75.0, 1.50),
    ("claude-sonnet-4",   3.0, 15.0, 0.30),
    ("claude-haiku-4",    1.0,  5.0, 0.10),
    ("claude-3-7-sonnet", 3.0, 15.0, 0.30),
    ("claude-3-5-sonnet", 3.0, 15.0, 0.30),
    ("claude-3-5-haiku",  0.8,  4.0, 0.08),
];

impl Default for Prices {
    fn default() -> Self {
        // A write to the cache costs a quarter more than the input, or twice as much
        // if it is kept for an hour.
        let price = |(model, input, output, cache_read): (&str, f64, f64, f64)| {
            let price = Price {
                input,
                output,
                cache_read,
                cache_creation: input * 1.25,
                cache_creation_1h: Some(input * 2.0),
            };
            (model.to_owned(), price)
        };
        Self(TABLE.into_iter().map(price).collect())
    }
}

impl Prices {
    /// Reads a table: `{"MODEL": {"input": …, "output": …, "cache_read": …,
    /// "cache_creation": …}, …}`, and for a write that is kept for an hour
    /// `"cache_creation_1h"` (otherwise 1.6 times `"cache_creation"`).
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let place = || path.display().to_string();
        let bytes = fs::read(path).with_context(place).context(Exit::NoInput)?;
        serde_json::from_slice(&bytes).map(Self).map_err(|err| {
            let text = err.to_string();
            // The line number comes before the cause, as in every message.
            let cause = text
                .rsplit_once(" at line ")
                .map_or(&*text, |(cause, _)| cause);
            anyhow!("{}:{}: {cause}", path.display(), err.line()).context(Exit::Config)
        })
    }

    /// What the tokens cost; `None` if the price of a model is not known.
    pub fn estimate<'a>(&self, spent: impl Iterator<Item = (&'a str, Usage)>) -> Option<f64> {
        let mut sum = None;
        for (model, usage) in spent {
            let known = self.0.iter().rfind(|(start, _)| model.starts_with(*start));
            let (_, price) = known?;
            sum = Some(sum.unwrap_or(0.0) + price.of(usage));
        }
        sum
    }
}

impl Price {
    #[expect(
        clippy::cast_precision_loss,
        reason = "beyond 2^53 tokens a rounding error is the least of it"
    )]
    fn of(self, usage: Usage) -> f64 {
        let hour = self.cache_creation_1h.unwrap_or(self.cache_creation * HOUR);
        let million = |tokens: u64, price: f64| tokens as f64 / 1e6 * price;
        million(usage.input, self.input)
            + million(usage.output, self.output)
            + million(usage.cache_read, self.cache_read)
            + million(usage.cache_1h.min(usage.cache_creation), hour)
            // A recording that does not say how long is older than the choice.
            + million(
                usage.cache_creation.saturating_sub(usage.cache_1h),
                self.cache_creation,
            )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input: u64, output: u64, cache_creation: u64) -> Usage {
        Usage {
            input,
            output,
            cache_creation,
            ..Usage::default()
        }
    }

    fn read(cache_read: u64) -> Usage {
        Usage {
            cache_read,
            ..Usage::default()
        }
    }

    #[test]
    fn an_estimate_agrees_with_what_the_cli_says() {
        let prices = Prices::default();
        let cases = [
            ("claude-opus-5-5", usage(100, 11, 1000), 0.005_62),
            ("claude-sonnet-5-5", usage(100, 11, 1000), 0.002_81),
            ("claude-opus-4-8", usage(100, 11, 1000), 0.007_025),
            ("claude-opus-4-1-20250805", usage(1_000_000, 0, 0), 15.0),
            // Reads from the cache, as results of these models price them.
            ("claude-opus-5-5", read(161_100), 0.032_22),
            ("claude-sonnet-5-5", read(70_000), 0.007),
            ("claude-sonnet-4-5-20250929", read(67_600), 0.020_28),
            ("claude-haiku-4-5-20251001", read(18_159), 0.001_815_9),
        ];
        for (model, usage, cost) in cases {
            let estimate = prices.estimate([(model, usage)].into_iter());
            assert!((estimate.expect("known") - cost).abs() < 1e-9, "{model}");
        }
    }

    #[test]
    fn a_write_for_an_hour_costs_more_than_one_for_five_minutes() {
        let usage = Usage {
            cache_creation: 3_000_000,
            cache_5m: 2_000_000,
            cache_1h: 1_000_000,
            ..Usage::default()
        };
        let estimate = Prices::default().estimate([("claude-sonnet-4-5", usage)].into_iter());
        assert!((estimate.expect("known") - (2.0 * 3.75 + 6.0)).abs() < 1e-9);
    }

    #[test]
    fn one_unknown_model_makes_the_sum_unknown() {
        let prices = Prices::default();
        let spent = [
            ("claude-opus-5-5", usage(1, 1, 1)),
            ("gpt-5", usage(1, 1, 1)),
        ];
        assert_eq!(prices.estimate(spent.into_iter()), None);
        assert_eq!(prices.estimate([].into_iter()), None);
    }
}
