//! The sum of several summaries.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use crate::tools::Tools;
use crate::{ModelSpend, Summary};

/// The last line of `cr-summarize --total`: all summaries before it together.
/// Each message is counted once.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Total {
    /// Always true: the line is a total and not a summary.
    ///
    /// Example: `true`
    pub total: bool,
    /// The version of the format.
    ///
    /// Example: `1`
    pub schema: u32,
    /// Summaries in the total.
    ///
    /// Example: `12`
    pub summaries: u64,
    /// How many of them have each `outcome`.
    ///
    /// Example: `{"success": 11, "timeout": 1}`
    pub outcomes: BTreeMap<String, u64>,
    /// The sum of the costs that are known, in US dollars.
    ///
    /// Null: where none is known.
    /// Example: `0.481`
    pub cost_usd: Option<f64>,
    /// Summaries with messages of their own and an unknown cost.
    ///
    /// Example: `0`
    pub cost_unknown: u64,
    /// The sums of the tokens.
    pub tokens: TotalTokens,
    /// Tokens and cost by model, as in a summary. The keys are names of models.
    ///
    /// Example: `{}`
    pub models: BTreeMap<String, ModelSpend>,
    /// The sum of `tools`.
    ///
    /// Example: `13`
    pub tool_calls: u64,
    /// Calls by tool, the most used first. The keys are names of tools.
    ///
    /// Form: `BTreeMap<String, u64>`
    /// Example: `{"Bash": 9, "Edit": 4}`
    pub tools: Tools,
    /// Subagents that were started.
    ///
    /// Example: `0`
    pub subagents: u64,
    /// Calls of the model in all turns that have a result.
    ///
    /// Null: where none has, as in session logs.
    /// Example: `14`
    pub num_turns: Option<u64>,
    /// Results.
    ///
    /// Example: `12`
    pub results: u64,
    /// Copies of messages that were left out, because another file of the call
    /// counts them.
    ///
    /// Example: `0`
    pub copied_messages: u64,
    /// The earliest `started_at`.
    ///
    /// Null: where none is known.
    /// Example: `"2026-11-18T03:15:00.000Z"`
    #[serde(with = "crate::timestamp")]
    pub started_at: Option<Timestamp>,
    /// The latest `ended_at`.
    ///
    /// Null: where none is known.
    /// Example: `"2026-11-18T03:16:14.201Z"`
    #[serde(with = "crate::timestamp")]
    pub ended_at: Option<Timestamp>,
    /// The fields whose number is only a lower bound.
    ///
    /// Example: `["tokens.output", "cost_usd"]`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lower_bounds: Vec<&'static str>,
}

/// Tokens of all summaries in a total.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TotalTokens {
    /// Input tokens that were neither read from nor written to the cache.
    ///
    /// Example: `40`
    pub input: u64,
    /// The sum of the outputs that are known.
    ///
    /// Null: where none is known.
    /// Example: `2411`
    pub output: Option<u64>,
    /// Input tokens read from the cache.
    ///
    /// Example: `180042`
    pub cache_read: u64,
    /// Input tokens written to the cache.
    ///
    /// Example: `9034`
    pub cache_creation: u64,
    /// The part that is kept for five minutes.
    ///
    /// Null: if that is not known of all of it.
    /// Example: `9034`
    pub cache_creation_5m: Option<u64>,
    /// The part that is kept for an hour.
    ///
    /// Null: as `cache_creation_5m`.
    /// Example: `0`
    pub cache_creation_1h: Option<u64>,
}

impl Total {
    /// Starts with nothing.
    pub fn new() -> Self {
        let tokens = TotalTokens {
            cache_creation_5m: Some(0),
            cache_creation_1h: Some(0),
            ..TotalTokens::default()
        };
        Self {
            total: true,
            schema: crate::SCHEMA,
            tokens,
            ..Self::default()
        }
    }

    /// Adds a summary that is not truncated.
    pub fn add(&mut self, summary: &Summary) {
        self.summaries += 1;
        let outcome = summary.outcome.as_deref().unwrap_or_default();
        *self.outcomes.entry(outcome.to_owned()).or_default() += 1;
        self.add_cost(summary);
        self.add_tokens(summary);
        for (model, spend) in &summary.models {
            self.models.entry(model.clone()).or_default().add(spend);
        }
        self.tool_calls += summary.tool_calls;
        self.tools.add(&summary.tools);
        self.subagents += summary.subagents;
        self.add_turns(summary);
        self.copied_messages += summary.copied_messages;
        let earlier = |known: Timestamp| summary.started_at.map_or(known, |at| known.min(at));
        self.started_at = self.started_at.map(earlier).or(summary.started_at);
        self.ended_at = self.ended_at.max(summary.ended_at);
        for field in ["tokens.output", "models", "cost_usd"] {
            if summary.lower_bounds.iter().any(|bound| bound == field) {
                self.bound(field);
            }
        }
    }

    fn add_cost(&mut self, summary: &Summary) {
        match summary.cost_usd {
            Some(cost) => self.cost_usd = Some(self.cost_usd.unwrap_or(0.0) + cost),
            None if has_spent(summary) => self.cost_unknown += 1,
            None => {}
        }
        if self.cost_unknown > 0 && self.cost_usd.is_some() {
            self.bound("cost_usd");
        }
    }

    fn add_tokens(&mut self, summary: &Summary) {
        let (sum, tokens) = (&mut self.tokens, &summary.tokens);
        sum.input = sum.input.saturating_add(tokens.input);
        sum.cache_read = sum.cache_read.saturating_add(tokens.cache_read);
        sum.cache_creation = sum.cache_creation.saturating_add(tokens.cache_creation);
        let both = |sum: Option<u64>, part: Option<u64>| Some(sum?.saturating_add(part?));
        sum.cache_creation_5m = both(sum.cache_creation_5m, tokens.cache_creation_5m);
        sum.cache_creation_1h = both(sum.cache_creation_1h, tokens.cache_creation_1h);
        let is_unknown = tokens.output.is_none() && has_spent(summary);
        let known = tokens.output.filter(|_| has_spent(summary));
        sum.output = match (sum.output, known) {
            (Some(sum), Some(output)) => Some(sum.saturating_add(output)),
            (sum, output) => sum.or(output),
        };
        if is_unknown {
            self.bound("tokens.output");
            self.bound("models");
        }
    }

    /// A copy of a stream has the turns of the original.
    fn add_turns(&mut self, summary: &Summary) {
        if summary.cost_source == "copy" {
            return;
        }
        self.results += summary.results;
        for turns in summary.turns.iter().filter_map(|turn| turn.num_turns) {
            self.num_turns = Some(self.num_turns.unwrap_or(0).saturating_add(turns));
        }
    }

    fn bound(&mut self, field: &'static str) {
        if !self.lower_bounds.contains(&field) {
            self.lower_bounds.push(field);
        }
    }

    /// One line of JSON, without its newline.
    #[expect(clippy::missing_panics_doc, reason = "every key is a string")]
    pub fn line(&self) -> String {
        let mut total = self.clone();
        // A bound of something unknown says nothing.
        let is_known = |field: &&str| *field != "tokens.output" || total.tokens.output.is_some();
        let bounds = total.lower_bounds.iter().copied().filter(is_known);
        total.lower_bounds = bounds.collect();
        let cents = |cost: f64| (cost * 1e6).round() / 1e6;
        total.cost_usd = total.cost_usd.map(cents);
        for spend in total.models.values_mut() {
            spend.cost_usd = spend.cost_usd.map(cents);
        }
        let json = serde_json::to_string(&total).expect("no map with keys other than strings");
        cr_io::visible_json(&json).into_owned()
    }
}

/// Whether the summary has tokens of its own.
fn has_spent(summary: &Summary) -> bool {
    let tokens = &summary.tokens;
    let spent = [
        tokens.input,
        tokens.cache_read,
        tokens.cache_creation,
        tokens.output.unwrap_or(0),
    ];
    spent.iter().any(|&count| count > 0)
}
