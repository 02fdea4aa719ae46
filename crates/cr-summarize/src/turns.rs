//! The results of a run: one per turn; the last one decides.

use std::collections::VecDeque;

use cr_event::{Raw, Text, TurnEnd, is_filler};
use cr_stream::{Named, TurnCause};
use cr_summary::{Turn, TurnTokens};
use cr_verdict::judge_turn;
use jiff::Timestamp;

use crate::conversation::TurnFacts;

/// Turns that are listed.
const LISTED: usize = 10_000;
/// Characters of an error that are kept.
const ERROR: usize = 16 << 10;

/// All results so far.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    pub(crate) list: VecDeque<Turn>,
    pub(crate) results: u64,
    /// The last result that counts.
    pub(crate) last: Option<LastResult>,
    /// Results that report a turn.
    pub(crate) count: u64,
    /// Turns that another agent or session began.
    pub(crate) peers: u64,
    /// Sum of the turns.
    pub(crate) duration_ms: u64,
    /// What the results that report no turn have used since the last turn.
    unlisted: Option<Spending>,
    /// There is a message after the last result.
    pub(crate) is_open: bool,
}

/// What a result says that its turn has used.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spending {
    pub(crate) cost_usd: Option<f64>,
    pub(crate) tokens: TurnTokens,
    /// The context at its end.
    pub(crate) context_used: Option<u64>,
}

impl Spending {
    /// With what was used before it.
    fn and(self, before: Option<Self>) -> Self {
        let Some(before) = before else {
            return self;
        };
        let sum = |cost: f64| cost + before.cost_usd.unwrap_or(0.0);
        let (tokens, more) = (self.tokens, before.tokens);
        Self {
            cost_usd: self.cost_usd.map(sum).or(before.cost_usd),
            tokens: TurnTokens {
                input: tokens.input.saturating_add(more.input),
                output: tokens.output.saturating_add(more.output),
                cache_read: tokens.cache_read.saturating_add(more.cache_read),
                cache_creation: tokens.cache_creation.saturating_add(more.cache_creation),
            },
            ..self
        }
    }
}

/// The result that decides.
#[derive(Debug, Default)]
pub(crate) struct LastResult {
    pub(crate) is_error: bool,
    pub(crate) subtype: String,
    pub(crate) terminal_reason: Option<String>,
    pub(crate) api_error_status: Option<u64>,
    pub(crate) api_error: Option<String>,
    /// `error` of the synthetic line before it.
    pub(crate) assistant_error: Option<String>,
    pub(crate) num_turns: Option<u64>,
    pub(crate) text: Option<String>,
    /// The answer to a schema, as it was in the line; empty where it is too long
    /// to be shown.
    pub(crate) structured: Option<Vec<u8>>,
    pub(crate) errors: Vec<String>,
}

impl Turns {
    /// Takes the result of a turn; keeps `most` bytes of its text.
    pub(crate) fn result(
        &mut self,
        end: &TurnEnd<'_>,
        facts: TurnFacts,
        spent: Spending,
        most: usize,
    ) {
        self.results += 1;
        self.count += 1;
        self.is_open = false;
        let spent = spent.and(self.unlisted.take());
        let turn = self.turn(end, facts, &spent);
        let took = turn.duration_ms.unwrap_or(0);
        self.duration_ms = self.duration_ms.saturating_add(took);
        self.peers += u64::from(turn.cause.as_deref() == Some(TurnCause::Peer.as_str()));
        if !self.is_afterthought(&turn) {
            self.last = Some(last(end, &turn, most));
        }
        if self.list.len() == LISTED {
            self.list.pop_front();
        }
        self.list.push_back(turn);
    }

    /// Takes a message; returns whether it is the first one after a result.
    pub(crate) fn begin(&mut self) -> bool {
        let is_first = self.last.is_some() && !self.is_open;
        self.is_open |= is_first;
        is_first
    }

    /// Takes a result that reports no turn. Its cost is that of the next one. It
    /// is the answer only of a run with a command of the CLI and nothing else.
    pub(crate) fn empty_result(&mut self, end: &TurnEnd<'_>, spent: Spending, is_session: bool) {
        self.results += 1;
        self.unlisted = Some(spent.and(self.unlisted.take()));
        if self.last.is_none() && !is_session {
            let turn = self.turn(end, TurnFacts::default(), &Spending::default());
            self.last = Some(last(end, &turn, 0));
        }
    }

    fn turn(&self, end: &TurnEnd<'_>, facts: TurnFacts, spent: &Spending) -> Turn {
        let origin = end.origin();
        let by_origin = origin.and_then(|kind| TurnCause::of_origin(&kind.decode()));
        let cause = by_origin.or(facts.cause);
        let mut messages = facts.messages;
        if messages.is_empty() {
            messages = uuids(end);
        }
        let is_message = cause.is_none() && origin.is_none() && !messages.is_empty();
        let cause = cause.or(is_message.then_some(TurnCause::Message));
        let total = facts.messages_total;
        let now = Timestamp::UNIX_EPOCH;
        Turn {
            number: facts.number.unwrap_or(self.count),
            cause: cause.map(|cause| cause.as_str().into()),
            messages_total: Some(total).filter(|total| *total > messages.len() as u64),
            messages,
            outcome: judge_turn(Some(end), now).outcome.as_str().into(),
            context_used: spent.context_used,
            tokens: spent.tokens,
            subtype: short(end, "subtype").unwrap_or_default(),
            is_error: end.is_error(),
            terminal_reason: short(end, "terminal_reason"),
            num_turns: end.num_turns(),
            duration_ms: end.number("duration_ms"),
            cost_usd: spent.cost_usd.map(cr_usage::rounded),
            origin: origin.map(|kind| kind.prefix(100).into_owned()),
        }
    }

    /// Forgets the result that decided so far.
    pub(crate) fn next_attempt(&mut self) {
        self.unlisted = None;
        self.last = None;
        self.is_open = false;
    }

    /// Some releases end a good run with an empty error.
    fn is_afterthought(&self, turn: &Turn) -> bool {
        let good = self.last.as_ref().is_some_and(|last| !last.is_error);
        good && turn.subtype == "error_during_execution" && turn.num_turns == Some(0)
    }
}

fn short(end: &TurnEnd<'_>, key: &str) -> Option<String> {
    let text = end.line().get(key)?.text()?;
    Some(text.prefix(100).into_owned())
}

/// The messages that a result answers, as newer releases say it.
fn uuids(end: &TurnEnd<'_>) -> Vec<String> {
    let list = end.line().get("user_message_uuids").map(Raw::items);
    let list = list.unwrap_or_default().into_iter().filter_map(Raw::text);
    list.take(LISTED)
        .map(|id| id.prefix(100).into_owned())
        .collect()
}

fn last(end: &TurnEnd<'_>, turn: &Turn, most: usize) -> LastResult {
    let errors = end.errors().into_iter().take(1000);
    let text = end.text().filter(|text| !is_filler(*text));
    let text = text.map(|text| beginning(text, most));
    let structured = end.line().get("structured_output");
    let structured = structured.filter(|value| !value.is_null()).map(Raw::bytes);
    LastResult {
        is_error: turn.is_error,
        subtype: turn.subtype.clone(),
        terminal_reason: turn.terminal_reason.clone(),
        api_error_status: end.api_error_status(),
        api_error: end.api_error().map(|text| text.prefix(100).into_owned()),
        assistant_error: None,
        num_turns: turn.num_turns,
        text,
        structured: structured.map(|value| if value.len() <= most { value } else { b"" }.to_vec()),
        errors: errors
            .map(|error| cr_io::first_chars(&error, ERROR).0.to_owned())
            .collect(),
    }
}

/// The first `most` bytes of `text`, and one character more if there is one: it
/// shows that the text was longer.
pub(crate) fn beginning(text: Text<'_>, most: usize) -> String {
    text.prefix(most.saturating_add(4)).into_owned()
}
