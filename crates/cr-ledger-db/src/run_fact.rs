//! What a summary says about a run, as it is stored.

use std::cmp::Reverse;

use std::borrow::Cow;

use cr_summary::{ModelSpend, Summary};
use rusqlite::types::Value;

use crate::fact::count;
use crate::money::nano;
use crate::time::to_ms;

/// What identifies a run: its id; without one, its session and the last line of
/// it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunKey(pub String);

impl RunKey {
    /// The key of a run; `None` if the summary names neither.
    pub fn of(summary: &Summary) -> Option<Self> {
        if let Some(run) = &summary.run_id {
            return Some(Self(run.clone()));
        }
        let session = summary.session_id.as_ref()?;
        let last = summary.last_uuid.as_deref().unwrap_or_default();
        Some(Self(format!("{session}/{last}")))
    }
}

/// Tokens and cost of one model in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ModelRow {
    pub(crate) input: i64,
    pub(crate) output: i64,
    pub(crate) cache_read: i64,
    pub(crate) cache_creation: i64,
    pub(crate) cache_creation_5m: Option<i64>,
    pub(crate) cache_creation_1h: Option<i64>,
    pub(crate) cost: Option<i64>,
}

impl ModelRow {
    fn of(spend: &ModelSpend) -> Self {
        Self {
            input: count(spend.input),
            output: count(spend.output.unwrap_or(0)),
            cache_read: count(spend.cache_read),
            cache_creation: count(spend.cache_creation),
            cache_creation_5m: spend.cache_creation_5m.map(count),
            cache_creation_1h: spend.cache_creation_1h.map(count),
            cost: spend.cost_usd.and_then(nano),
        }
    }
}

/// How the run ended and what it used: the columns of `run` from `duration_ms` to
/// `messages_digest`.
pub(crate) fn result(summary: &Summary) -> [Value; 15] {
    let tokens = &summary.tokens;
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let ttl = tokens.cache_ttl.as_deref().unwrap_or_default();
    let outcome = summary.outcome.as_deref().unwrap_or_default();
    [
        summary.duration_ms.map(count).into(),
        outcome.to_owned().into(),
        summary.code.map(i64::from).into(),
        summary.num_turns.map(count).into(),
        count(summary.tool_calls).into(),
        summary.cost_usd.and_then(nano).into(),
        summary.cost_source.clone().into_owned().into(),
        tokens.context_used.map(count).into(),
        tokens.context_window.map(count).into(),
        tokens.context_at.map(to_ms).into(),
        ttl.to_owned().into(),
        count(summary.compactions).into(),
        count(summary.messages).into(),
        text(&summary.last_uuid).into(),
        text(&summary.messages_digest).into(),
    ]
}

/// What the run did to the repository: the columns from `commits` to `branch`.
pub(crate) fn git(summary: &Summary) -> [Value; 6] {
    let git = summary.git.clone().unwrap_or_default();
    let commits = git.agent_commits.map(|commits| count(commits.len() as u64));
    [
        commits.into(),
        git.changed_files.map(count).into(),
        git.insertions.map(count).into(),
        git.deletions.map(count).into(),
        git.end_sha.unwrap_or_default().into(),
        git.branch.unwrap_or_default().into(),
    ]
}

/// The same summary; a cost below zero is no cost, and would hide what others cost.
pub(crate) fn without_negative_costs(summary: &Summary) -> Cow<'_, Summary> {
    let is_negative = |cost: &Option<f64>| cost.is_some_and(|cost| cost < 0.0);
    let costs = summary.models.values().map(|spend| &spend.cost_usd);
    if !costs.chain([&summary.cost_usd]).any(is_negative) {
        return Cow::Borrowed(summary);
    }
    let mut summary = summary.clone();
    let models = summary.models.values_mut().map(|spend| &mut spend.cost_usd);
    for cost in models.chain([&mut summary.cost_usd]) {
        *cost = cost.filter(|cost| *cost >= 0.0);
    }
    if summary.cost_usd.is_none() {
        summary.cost_source = "none".into();
    }
    Cow::Owned(summary)
}

/// The models of a run. Where the summary does not split its tokens by model, all
/// of them are of its model.
pub(crate) fn models(summary: &Summary) -> Vec<(String, ModelRow)> {
    let named = summary.models.iter();
    let mut rows: Vec<(String, ModelRow)> = named
        .map(|(model, spend)| (model.clone(), ModelRow::of(spend)))
        .collect();
    let tokens = &summary.tokens;
    let is_empty = tokens.input == 0 && tokens.cache_read == 0 && tokens.cache_creation == 0;
    if rows.is_empty()
        && !(is_empty && tokens.output.unwrap_or(0) == 0 && summary.cost_usd.is_none())
    {
        let row = ModelRow {
            input: count(tokens.input),
            output: count(tokens.output.unwrap_or(0)),
            cache_read: count(tokens.cache_read),
            cache_creation: count(tokens.cache_creation),
            cache_creation_5m: tokens.cache_creation_5m.map(count),
            cache_creation_1h: tokens.cache_creation_1h.map(count),
            cost: None,
        };
        rows.push((summary.model.clone().unwrap_or_default(), row));
    }
    share_out(&mut rows, summary.cost_usd.and_then(nano));
    rows
}

/// Makes the costs of the models add up to that of the run, which is the better
/// known one: what is left over goes to a model without a cost, else to the last
/// one.
fn share_out(rows: &mut [(String, ModelRow)], total: Option<i64>) {
    let Some(total) = total else { return };
    let known: i64 = rows.iter().filter_map(|(_, row)| row.cost).sum();
    let at = rows.iter().position(|(_, row)| row.cost.is_none());
    let Some(at) = at.or(rows.len().checked_sub(1)) else {
        return;
    };
    let row = &mut rows[at].1;
    row.cost = Some(row.cost.unwrap_or(0) + total - known);
}

/// What decides between two summaries of one run, so that the order in which they
/// are recorded does not matter: a result, then the later end, then more. Of equal
/// ones that of the machine whose name is smaller.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank(pub(crate) [i64; 5], pub(crate) Reverse<String>);

/// The numbers of a [`Rank`] as columns of `run`.
pub(crate) const RANK: [&str; 5] = [
    "cost_source = 'result'",
    "coalesce(ended_at, 0)",
    "coalesce(cost_nano, 0)",
    "messages",
    "fingerprint",
];

/// The same of one of two runs of a query.
pub(crate) fn rank_of(run: &str) -> String {
    format!(
        "({run}.cost_source = 'result', coalesce({run}.ended_at, 0),
            coalesce({run}.cost_nano, 0), {run}.messages, {run}.fingerprint)"
    )
}

impl Rank {
    pub(crate) fn of(summary: &Summary, machine: String) -> Self {
        let numbers = [
            i64::from(summary.cost_source == "result"),
            summary.ended_at.map_or(0, to_ms),
            summary.cost_usd.and_then(nano).unwrap_or(0),
            count(summary.messages),
            fingerprint(summary),
        ];
        Self(numbers, Reverse(machine))
    }
}

/// A number that hardly any two summaries share: FNV-1a of their JSON.
pub(crate) fn fingerprint(summary: &Summary) -> i64 {
    let json = serde_json::to_vec(summary).unwrap_or_default();
    let hash = json.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash.cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cost: Option<i64>) -> (String, ModelRow) {
        let row = ModelRow {
            cost,
            ..ModelRow::default()
        };
        ("m".to_owned(), row)
    }

    #[test]
    fn the_costs_of_the_models_add_up_to_that_of_the_run() {
        let cases: [(Vec<Option<i64>>, Vec<i64>); 4] = [
            (vec![Some(3), Some(4)], vec![3, 7]),
            (vec![None, Some(4)], vec![6, 4]),
            (vec![None], vec![10]),
            (vec![], vec![]),
        ];
        for (costs, shares) in cases {
            let mut rows: Vec<_> = costs.into_iter().map(row).collect();
            share_out(&mut rows, Some(10));
            let got: Vec<i64> = rows.iter().map(|(_, row)| row.cost.unwrap_or(-1)).collect();
            assert_eq!(got, shares);
        }
    }
}
