//! Whether the account may go on at all.

use cr_io::sanitized;
use cr_ledger_db::from_ms;
use cr_ledger_db::rusqlite::{self, Connection, OptionalExtension};
use jiff::Timestamp;

use crate::quota::Window;
use crate::spending::BudgetState;

/// Why no session should go on now.
#[derive(Debug)]
pub(crate) enum Obstacle {
    /// Not logged in, or no credit: a person must act.
    Account(String),
    /// A budget is exhausted.
    Budget(String),
    /// The account is limited until a time.
    Limit(String, Option<Timestamp>),
}

/// The last run of all.
struct LastRun {
    name: String,
    outcome: String,
    retry_at: Option<i64>,
}

/// What keeps a session with `model` from going on at the time `now`.
pub(crate) fn obstacle(
    db: &Connection,
    now: i64,
    model: Option<&str>,
    (windows, budget): (&[Window], Option<&BudgetState>),
) -> rusqlite::Result<Option<Obstacle>> {
    let run = last_run(db, now)?;
    if let Some(run) = &run
        && ["auth", "billing"].contains(&run.outcome.as_str())
    {
        let remedy = match run.outcome.as_str() {
            "auth" => "a person must log in",
            _ => "a person must see to the credit",
        };
        let text = format!(
            "The last run, {}, ended with {}: {remedy}; a run that succeeds then clears this.",
            run.name, run.outcome
        );
        return Ok(Some(Obstacle::Account(text)));
    }
    if let Some(budget) = budget.filter(|budget| budget.is_exhausted) {
        let text = format!(
            "The budget of {} is exhausted: {}.",
            budget.label(),
            budget.numbers()
        );
        return Ok(Some(Obstacle::Budget(text)));
    }
    let limits = limited(run.as_ref(), now)
        .into_iter()
        .chain(closed(windows, now, model));
    let longest = limits.max_by_key(|(_, until)| *until);
    Ok(longest.map(|(text, until)| Obstacle::Limit(text, from_ms(until))))
}

/// The last run was refused for a time that is not over.
fn limited(run: Option<&LastRun>, now: i64) -> Option<(String, i64)> {
    let run = run.filter(|run| ["rate_limited", "overloaded"].contains(&run.outcome.as_str()))?;
    let until = run.retry_at.filter(|at| *at > now)?;
    let text = format!(
        "The last run, {}, ended with {}; it is worth a new try at {}.",
        run.name,
        run.outcome,
        from_ms(until)?
    );
    Some((text, until))
}

/// The windows that are full.
fn closed(windows: &[Window], now: i64, model: Option<&str>) -> Vec<(String, i64)> {
    let full = windows
        .iter()
        .filter(|window| window.is_closed() && window.is_for(model));
    let limit = |window: &Window| {
        let resets_at = window.resets_at?;
        let text = format!(
            "The account's window {} is full until {resets_at}.",
            sanitized(&window.name)
        );
        Some((text, resets_at.as_millisecond())).filter(|(_, until)| *until > now)
    };
    full.filter_map(limit).collect()
}

fn last_run(db: &Connection, now: i64) -> rusqlite::Result<Option<LastRun>> {
    let sql = "SELECT run_key, outcome, retry_at FROM run
        WHERE coalesce(ended_at, started_at, 0) <= ?1
        ORDER BY coalesce(ended_at, started_at, 0) DESC, run_key DESC LIMIT 1";
    db.prepare_cached(sql)?
        .query_row([now], |row| {
            let name: String = row.get(0)?;
            Ok(LastRun {
                name: sanitized(&name),
                outcome: row.get(1)?,
                retry_at: row.get(2)?,
            })
        })
        .optional()
}
