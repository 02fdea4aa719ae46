//! The end of a turn: how it went and what it cost.

use std::borrow::Cow;

use crate::json::{Raw, Text};
use crate::message::Usage;

/// A `result` line.
#[derive(Clone, Debug)]
pub struct TurnEnd<'a> {
    line: Raw<'a>,
}

/// The usage of one model, as a result reports it.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelUsage<'a> {
    /// The model, with a suffix such as `[1m]` in some versions.
    pub model: Text<'a>,
    /// Its tokens.
    pub usage: Usage,
    /// Their price by the CLI's own list.
    pub cost_usd: Option<f64>,
    /// The size of its context.
    pub context_window: Option<u64>,
    /// The most output tokens of one answer.
    pub max_output: Option<u64>,
}

impl<'a> TurnEnd<'a> {
    /// Reads the fields of a `result` line as they are asked for.
    pub fn new(line: Raw<'a>) -> Self {
        Self { line }
    }

    /// The line.
    pub fn line(&self) -> Raw<'a> {
        self.line
    }

    /// A string field, decoded.
    pub fn string(&self, key: &str) -> Option<Cow<'a, str>> {
        self.line.string(key)
    }

    /// Whether the turn failed by its own word. A limit that was reached counts:
    /// releases differ in what `is_error` says of it.
    pub fn is_error(&self) -> bool {
        let flag = self.line.get("is_error").and_then(Raw::bool);
        flag == Some(true) || self.subtype().starts_with("error_")
    }

    /// `success` does not mean success.
    pub fn subtype(&self) -> Cow<'a, str> {
        self.string("subtype").unwrap_or_default()
    }

    /// Turns taken, by the CLI's way of counting.
    pub fn num_turns(&self) -> Option<u64> {
        self.number("num_turns")
    }

    /// Whether it reports no turn: the CLI writes such a result before that of a
    /// turn that is about to begin, and after a command of its own without an
    /// answer.
    pub fn is_empty(&self) -> bool {
        self.num_turns() == Some(0)
            && !self.is_error()
            && self.line.get("terminal_reason").is_none_or(Raw::is_null)
            && self.text().is_none_or(|text| text.bytes().is_empty())
    }

    /// What began the turn, where it was no prompt: `origin.kind`.
    pub fn origin(&self) -> Option<Text<'a>> {
        self.line.at(&["origin", "kind"]).and_then(Raw::text)
    }

    /// A whole number.
    pub fn number(&self, key: &str) -> Option<u64> {
        self.line.get(key).and_then(Raw::u64)
    }

    /// Money so far: of the session since 2.1.198, of the process before.
    pub fn total_cost_usd(&self) -> Option<f64> {
        self.line.get("total_cost_usd").and_then(Raw::f64)
    }

    /// The final text; the `error_*` subtypes have none.
    pub fn text(&self) -> Option<Text<'a>> {
        self.line.get("result").and_then(Raw::text)
    }

    /// The errors.
    pub fn errors(&self) -> Vec<Cow<'a, str>> {
        let errors = self.line.get("errors").map(Raw::items).unwrap_or_default();
        let texts = errors.into_iter().filter_map(Raw::text);
        texts.map(Text::decode).collect()
    }

    /// The kind of the API's error, if the turn failed by one.
    pub fn api_error(&self) -> Option<Text<'a>> {
        let text = |key| self.line.get(key).and_then(Raw::text);
        text("api_error_type").or_else(|| text("api_error"))
    }

    /// The HTTP status of the request that failed.
    pub fn api_error_status(&self) -> Option<u64> {
        self.number("api_error_status")
    }

    /// Usage of this turn's main thread.
    pub fn usage(&self) -> Option<Usage> {
        self.line.get("usage").map(Usage::of)
    }

    /// Usage by model since the process, or the session, began.
    pub fn model_usage(&self) -> Option<Vec<ModelUsage<'a>>> {
        self.line.get("modelUsage").map(by_model)
    }

    /// Usage by model since the last result of this process.
    pub fn since_last(&self) -> Option<Vec<ModelUsage<'a>>> {
        self.line.get("model_usage_since_last_result").map(by_model)
    }

    /// Calls that were denied in this turn.
    pub fn denials(&self) -> Vec<Raw<'a>> {
        let denials = self.line.get("permission_denials");
        denials.map(Raw::items).unwrap_or_default()
    }
}

/// Reads an object of models, as a result and a log's `cost-state` have it.
pub fn by_model(object: Raw<'_>) -> Vec<ModelUsage<'_>> {
    let models = object.fields().into_iter();
    let models = models.map(|(model, value)| ModelUsage {
        model,
        usage: Usage::of(value),
        cost_usd: value.get("costUSD").and_then(Raw::f64),
        context_window: value.get("contextWindow").and_then(Raw::u64),
        max_output: value.get("maxOutputTokens").and_then(Raw::u64),
    });
    models.collect()
}
