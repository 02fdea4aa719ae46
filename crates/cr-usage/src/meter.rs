//! The events of a run, as far as they say what it used.

use cr_event::{Event, Message, Raw, Text, TurnEnd, Usage, by_model};

use crate::context::{ContextUse, is_window_of};
use crate::cost::Cost;
use crate::recent::key;
use crate::spent::Spent;
use crate::tokens::TokenCount;

/// Models of a log whose cost is kept.
const MODELS: usize = 64;

/// What a session has cost so far.
#[derive(Clone, Debug)]
pub struct RunningTotal {
    /// All of it.
    pub usd: f64,
    /// By model, where a log says it.
    pub by_model: Vec<(String, f64)>,
}

/// Counts the tokens and the cost of a run, and follows its context.
#[derive(Debug, Default)]
pub struct UsageMeter {
    tokens: TokenCount,
    cost: Cost,
    context: ContextUse,
    /// The session of the last result.
    session: Option<u64>,
    /// The message that is being streamed in pieces.
    streamed: Option<u64>,
    /// The cost of each model, in a session's log.
    log_costs: Vec<(String, f64)>,
    /// There are calls after the last result, or the last total of a log.
    has_open_work: bool,
    /// A process or a session ended with calls after its last result: their cost
    /// is in no later result.
    has_lost_work: bool,
}

impl UsageMeter {
    /// Counts an answer of the model. `is_main` says whether the main thread
    /// got it: only that fills the run's context. A copy is counted elsewhere.
    /// Returns the key of its id.
    pub fn message(
        &mut self,
        event: &Event<'_>,
        message: &Message<'_>,
        is_main: bool,
        is_copy: bool,
    ) -> Option<u64> {
        let id = message.id.map(|id| key(&[id.bytes()]));
        let Some(usage) = message.usage() else {
            return id;
        };
        let model = message.model.unwrap_or_default().prefix(256);
        // In the logs of older releases the count of an open call is provisional too.
        let is_final = message.stop_reason.is_some();
        if !is_copy {
            self.has_open_work |= self.tokens.message(id, &model, usage, is_final);
        }
        if is_main {
            let is_final = event.is_log || is_final;
            self.context.message(id, &model, usage, is_final);
            self.context.kept(event, usage);
        }
        id
    }

    /// Takes a piece of a message; its end corrects the usage. Returns whether
    /// it said anything.
    pub fn piece(&mut self, event: &Event<'_>, is_main: bool) -> bool {
        let Some(piece) = event.line.get("event") else {
            return false;
        };
        let kind = piece.get("type").and_then(Raw::text).unwrap_or_default();
        let named = event.line.get("api_message_id").and_then(Raw::text);
        let named = named.map(|id| key(&[id.bytes()]));
        if kind.is("message_start") {
            let id = piece.at(&["message", "id"]).and_then(Raw::text);
            self.streamed = id.map(|id| key(&[id.bytes()]));
            return self.streamed.is_some();
        }
        let id = named.or(self.streamed);
        let (Some(id), Some(usage), true) = (id, piece.get("usage"), kind.is("message_delta"))
        else {
            return false;
        };
        let usage = Usage::of(usage);
        self.tokens.correct(id, usage);
        if is_main {
            self.context.end_message(id, usage.output);
        }
        true
    }

    /// Takes the result of a turn; returns what the turn cost.
    pub fn result(&mut self, event: &Event<'_>, end: &TurnEnd<'_>) -> Option<f64> {
        let session = event.session_id.map(|id| key(&[id.bytes()]));
        if self.session.is_some() && session.is_some() && self.session != session {
            self.tokens.next_session();
            self.cost.next_session();
        }
        self.session = session.or(self.session);
        self.has_open_work = false;
        self.tokens.result(end);
        self.context.result(end);
        self.cost.result(end)
    }

    /// Takes a result whose turn is counted elsewhere.
    pub fn copied_result(&mut self, end: &TurnEnd<'_>) {
        self.context.result(end);
    }

    /// The running total of the session.
    pub fn running_total(&self) -> Option<RunningTotal> {
        Some(RunningTotal {
            usd: self.cost.session()?,
            by_model: self.log_costs.clone(),
        })
    }

    /// The total of the log goes on from that of another session, which another
    /// file counts; `None` if its height is not known.
    pub fn continues(&mut self, before: Option<&RunningTotal>) {
        self.cost.continues(before.map(|before| before.usd));
        let costs = std::mem::take(&mut self.log_costs);
        let costs = costs.into_iter().filter_map(|(model, cost)| {
            let mut known = before?.by_model.iter();
            let known = known.find(|(name, _)| *name == model);
            let rest = cost - known.map_or(0.0, |(_, before)| *before);
            Some((model, rest)).filter(|_| rest >= 0.0)
        });
        self.log_costs = costs.collect();
    }

    /// Takes the running total in a session's log; returns whether there is one.
    pub fn log_total(&mut self, line: Raw<'_>) -> bool {
        if let Some(models) = line.get("modelUsage").map(by_model) {
            let costs = models.into_iter().filter_map(|entry| {
                let cost = entry.cost_usd.filter(|cost| *cost >= 0.0)?;
                Some((entry.model.prefix(256).into_owned(), cost))
            });
            self.log_costs = costs.take(MODELS).collect();
        }
        let has_total = self.cost.log_total(line);
        self.has_open_work &= !has_total;
        has_total
    }

    /// Takes the model that a turn's banner names.
    pub fn banner(&mut self, model: Text<'_>) {
        self.context.banner(model);
    }

    /// Takes an answer of the CLI to its host; returns whether it is about the
    /// context.
    pub fn control_answer(&mut self, line: Raw<'_>) -> bool {
        self.context.answer(line)
    }

    /// The main thread's conversation was compacted.
    pub fn compacted(&mut self, line: Raw<'_>) {
        let left = line.at(&["compact_metadata", "post_tokens"]);
        let left = left.or_else(|| line.at(&["compactMetadata", "postTokens"]));
        self.context.replaced(left.and_then(Raw::u64));
    }

    /// The conversation was cleared.
    pub fn cleared(&mut self) {
        self.context.replaced(None);
    }

    /// Another process of the agent begins; `resumes` says whether it goes on
    /// with the same session.
    pub fn next_process(&mut self, resumes: bool) {
        self.has_lost_work |= self.has_open_work;
        self.has_open_work = false;
        self.tokens.next_process(resumes);
        self.cost.next_process(resumes);
    }

    /// Another attempt begins: tokens and cost stay counted, the context is new.
    pub fn next_attempt(&mut self) {
        self.context = ContextUse::default();
        self.streamed = None;
    }

    /// All tokens of the run.
    pub fn tokens(&self) -> Spent {
        self.tokens.by_model().sum()
    }

    /// The same by model. The name is empty where a result does not say it.
    pub fn models(&self) -> Vec<(String, Spent)> {
        let mut models = self.tokens.by_model().into_models();
        for (model, spent) in &mut models {
            let is_it = |(name, _): &&(String, f64)| is_window_of(name, model) || name == model;
            let known = self.log_costs.iter().find(is_it);
            if let (None, Some((_, cost))) = (spent.cost_usd, known) {
                spent.cost_usd = Some(*cost);
                spent.is_unpriced = self.has_open_work;
            }
        }
        models
    }

    /// The tokens that no result covers, by model: those that an estimate has
    /// to price.
    pub fn unpriced(&self) -> Vec<(String, Spent)> {
        self.tokens.open().into_models()
    }

    /// Whether there are calls that the results do not cover.
    pub fn has_work_after_results(&self) -> bool {
        self.has_open_work || self.has_lost_work
    }

    /// Whether there are calls whose cost nobody can know any more: not even an
    /// estimate covers them.
    pub fn has_lost_work(&self) -> bool {
        self.has_lost_work
    }

    /// The evidence for the cost.
    pub fn cost(&self) -> &Cost {
        &self.cost
    }

    /// How full the context is.
    pub fn context(&self) -> &ContextUse {
        &self.context
    }
}
