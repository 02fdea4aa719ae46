//! The results of a run: one per turn; the last one decides.

use cr_event::{Raw, Text, TurnEnd, is_filler};
use cr_summary::Turn;

/// Turns that are listed.
const LISTED: usize = 10_000;
/// Characters of an error that are kept.
const ERROR: usize = 16 << 10;

/// All results so far.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    pub(crate) list: Vec<Turn>,
    pub(crate) results: u64,
    /// The last result that counts.
    pub(crate) last: Option<LastResult>,
    /// Sum of the turns.
    pub(crate) duration_ms: u64,
    /// There is a message after the last result.
    pub(crate) is_open: bool,
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
    /// Takes a result whose turn cost `cost_usd`; keeps `most` bytes of its text.
    pub(crate) fn result(&mut self, end: &TurnEnd<'_>, cost_usd: Option<f64>, most: usize) {
        self.results += 1;
        self.is_open = false;
        let turn = turn(end, cost_usd);
        self.duration_ms = self
            .duration_ms
            .saturating_add(turn.duration_ms.unwrap_or(0));
        if !self.is_afterthought(&turn) {
            self.last = Some(last(end, &turn, most));
        }
        if self.list.len() == LISTED {
            self.list.remove(0);
        }
        self.list.push(turn);
    }

    /// Forgets the result that decided so far.
    pub(crate) fn next_attempt(&mut self) {
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

fn turn(end: &TurnEnd<'_>, cost_usd: Option<f64>) -> Turn {
    let origin = end.line().at(&["origin", "kind"]).and_then(Raw::text);
    Turn {
        subtype: short(end, "subtype").unwrap_or_default(),
        is_error: end.is_error(),
        terminal_reason: short(end, "terminal_reason"),
        num_turns: end.num_turns(),
        duration_ms: end.number("duration_ms"),
        cost_usd: cost_usd.map(cr_usage::rounded),
        origin: origin.map(|kind| kind.prefix(100).into_owned()),
    }
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
        api_error_status: end.number("api_error_status"),
        api_error: short(end, "api_error_type").or_else(|| short(end, "api_error")),
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
