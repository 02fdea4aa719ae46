//! The result of a turn, with its usage and cost.

use std::time::{Duration, Instant};

use crate::agent::ids;
use crate::agent::object::{Json, Object, json, object};
use crate::agent::options::Dialect;

/// Tokens of one answer of the model. Every one is the same here.
const INPUT: u64 = 100;
const OUTPUT: u64 = 10;
const COST: f64 = 0.0006;

/// What the session has used so far.
#[derive(Debug, Default)]
pub(crate) struct Used {
    calls: u64,
    /// Of them, those before the last result.
    told: u64,
    results: u64,
}

/// How a turn ended.
#[derive(Debug)]
pub(crate) struct Ending {
    pub(crate) subtype: &'static str,
    pub(crate) is_error: bool,
    pub(crate) terminal_reason: Option<&'static str>,
    pub(crate) stop_reason: Option<&'static str>,
    /// The text; none if the turn was interrupted.
    pub(crate) result: Option<String>,
    pub(crate) api_error: Option<u16>,
    pub(crate) num_turns: u32,
    pub(crate) began: Instant,
    pub(crate) denials: Vec<Json>,
    pub(crate) origin: Option<Json>,
    pub(crate) output: Option<Json>,
    /// The message that began the turn; the last of several.
    pub(crate) lead: Option<String>,
    pub(crate) uuids: Vec<String>,
}

impl Used {
    /// Counts one answer of the model.
    pub(crate) fn call(&mut self) {
        self.calls += 1;
    }

    /// The usage of the last call, if there was one.
    pub(crate) fn last(&self) -> Option<Json> {
        (self.calls > 0).then(|| usage(1).json())
    }

    /// The line for `ending`.
    pub(crate) fn result(
        &mut self,
        ending: &Ending,
        dialect: Dialect,
        session_id: &str,
        model: &str,
    ) -> Json {
        let line = match dialect {
            Dialect::New => self.newer(ending, session_id, model),
            Dialect::Old => self.older(ending, session_id, model),
        };
        self.told = self.calls;
        self.results += 1;
        line.json()
    }

    fn newer(&self, ending: &Ending, session_id: &str, model: &str) -> Object {
        let mut line = object! {
            "duration_api_ms": 1,
            "stop_reason": ending.stop_reason,
            "session_id": session_id,
            "total_cost_usd": cost(self.calls),
            "usage": usage(self.calls - self.told).json(),
            "modelUsage": models(model, self.calls, Dialect::New),
            "permission_denials": ending.denials,
        };
        line.put_some("terminal_reason", ending.terminal_reason.as_ref());
        line.put("fast_mode_state", "off");
        line.put_some("origin", ending.origin.as_ref());
        line.put("safety_stops", &0);
        line.put("is_error", &ending.is_error);
        line.put("num_turns", &ending.num_turns);
        line.put("subtype", ending.subtype);
        put_text(&mut line, ending);
        line.put("type", "result");
        line.put("duration_ms", &millis(ending.began.elapsed()));
        line.put("uuid", &ids::uuid());
        if let Some(lead) = &ending.lead {
            line.put("user_message_uuid", lead);
            line.put("user_message_uuids", &ending.uuids);
        }
        line.put("queued_turn_count", &0);
        line.put("result_index", &self.results);
        let since = models(model, self.calls - self.told, Dialect::New);
        line.put("model_usage_since_last_result", &since);
        line
    }

    fn older(&self, ending: &Ending, session_id: &str, model: &str) -> Object {
        let mut line = object! {
            "type": "result",
            "subtype": ending.subtype,
            "is_error": ending.is_error,
        };
        if ending.result.is_some() {
            line.put("api_error_status", &ending.api_error);
        }
        line.put("duration_ms", &millis(ending.began.elapsed()));
        line.put("duration_api_ms", &1);
        line.put("num_turns", &ending.num_turns);
        line.put_some("result", ending.result.as_ref());
        line.put("stop_reason", &ending.stop_reason);
        line.put("session_id", session_id);
        line.put("total_cost_usd", &cost(self.calls));
        line.put("usage", &usage(self.calls - self.told).json());
        line.put("modelUsage", &models(model, self.calls, Dialect::Old));
        line.put("permission_denials", &ending.denials);
        line.put_some("structured_output", ending.output.as_ref());
        line.put_some("terminal_reason", ending.terminal_reason.as_ref());
        line.put("fast_mode_state", "off");
        line.put_some("origin", ending.origin.as_ref());
        line.put("uuid", &ids::uuid());
        line.put_some("errors", errors(ending).as_ref());
        line
    }
}

/// The usage of `calls` calls, by model.
fn models(model: &str, calls: u64, dialect: Dialect) -> Json {
    let mut used = object! {
        "inputTokens": INPUT * calls,
        "outputTokens": OUTPUT * calls,
        "cacheReadInputTokens": 0,
        "cacheCreationInputTokens": 0,
        "webSearchRequests": 0,
        "costUSD": cost(calls),
        "contextWindow": 1_000_000,
        "maxOutputTokens": 128_000,
    };
    if dialect.is_new() {
        used.put("thinkingTokens", &0);
        used.put("canonicalModel", model);
        used.put("provider", "firstParty");
        used.put("costBasis", "list");
    }
    let mut models = Object::default();
    if calls > 0 {
        models.put(model, &used.json());
    }
    models.json()
}

fn put_text(line: &mut Object, ending: &Ending) {
    if let Some(errors) = errors(ending) {
        line.put("errors", &errors);
        return;
    }
    line.put("api_error_status", &ending.api_error);
    line.put_some("result", ending.result.as_ref());
    line.put_some("structured_output", ending.output.as_ref());
}

/// What stands in place of the text of an interrupted turn.
fn errors(ending: &Ending) -> Option<Json> {
    if ending.result.is_some() {
        return None;
    }
    let stop = ending.stop_reason.unwrap_or("null");
    let text =
        format!("[ede_diagnostic] result_type=user last_content_type=n/a stop_reason={stop}");
    Some(json(&[text]))
}

fn usage(calls: u64) -> Object {
    object! {
        "input_tokens": INPUT * calls,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": OUTPUT * calls,
    }
}

#[expect(clippy::cast_precision_loss, reason = "a few calls")]
fn cost(calls: u64) -> f64 {
    calls as f64 * COST
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
