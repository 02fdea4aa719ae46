//! The runs of the sessions whose sums are computed, and the time of their
//! messages.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, params};

/// Messages of a run may carry times a little outside of it.
const TOLERANCE_MS: i64 = 1000;

/// A run whose rest is computed.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) key: String,
    pub(super) session: i64,
    pub(super) project: i64,
    pub(super) machine: i64,
    /// The time of its messages, if it is known.
    pub(super) window: Option<(i64, i64)>,
    /// When it counts.
    pub(super) at: i64,
    pub(super) is_exact: bool,
    pub(super) is_estimate: bool,
    pub(super) has_cost: bool,
    /// The model of its main thread.
    pub(super) model: i64,
    /// Messages of its main thread.
    pub(super) messages: i64,
}

/// When the runs of the sessions began and ended, in order.
#[derive(Debug, Default)]
struct Times(HashMap<i64, (Vec<i64>, Vec<i64>)>);

impl Times {
    fn read(db: &Connection) -> rusqlite::Result<Self> {
        let sql = "SELECT run.session, started_at, ended_at
            FROM run JOIN touched ON touched.session = run.session";
        let mut statement = db.prepare_cached(sql)?;
        let mut rows = statement.query([])?;
        let mut times = Self::default();
        while let Some(row) = rows.next()? {
            let (starts, ends) = times.0.entry(row.get(0)?).or_default();
            starts.extend(row.get::<_, Option<i64>>(1)?);
            ends.extend(row.get::<_, Option<i64>>(2)?);
        }
        for (starts, ends) in times.0.values_mut() {
            starts.sort_unstable();
            ends.sort_unstable();
        }
        Ok(times)
    }

    /// When the next run begins.
    fn next(&self, session: i64, after: i64) -> Option<i64> {
        let (starts, _) = self.0.get(&session)?;
        starts
            .get(starts.partition_point(|at| *at <= after))
            .copied()
    }

    /// When the last run ended.
    fn last(&self, session: i64, until: i64) -> Option<i64> {
        let (_, ends) = self.0.get(&session)?;
        let at = ends.partition_point(|at| *at <= until).checked_sub(1)?;
        ends.get(at).copied()
    }

    /// The time of a run's messages, which may be a little outside of the run, but
    /// not in the time of the runs before and after it.
    fn window(&self, session: i64, started: i64, ended: i64) -> (i64, i64) {
        // What is between two runs is the first one's, as far as it is near.
        let before = self.last(session, started);
        let first = before.map_or(i64::MIN, |before| before + TOLERANCE_MS + 1);
        let last = self
            .next(session, ended)
            .map_or(i64::MAX, |after| after - 1);
        let start = (started - TOLERANCE_MS).max(first).min(started);
        (start, (ended + TOLERANCE_MS).min(last))
    }
}

/// The runs of the sessions that may have something beyond the messages.
pub(super) fn runs(db: &Connection) -> rusqlite::Result<Vec<Run>> {
    let sql = "SELECT run_key, run.session, project, machine, started_at, ended_at, cost_source,
            last_uuid, messages, model, run.cost_nano IS NOT NULL,
            cost_source <> 'result'
                AND coalesce((SELECT is_partial FROM session
                    WHERE session.session = run.session), 0)
                AND EXISTS (SELECT 1 FROM message WHERE message.session = run.session
                    AND agent = 0 AND uuid = last_uuid AND uuid <> '')
        FROM run JOIN touched ON touched.session = run.session ORDER BY run_key";
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    let times = Times::read(db)?;
    let mut runs = Vec::new();
    while let Some(row) = rows.next()? {
        let (session, started, ended): (i64, Option<i64>, Option<i64>) =
            (row.get(1)?, row.get(4)?, row.get(5)?);
        let source: String = row.get(6)?;
        if row.get(11)? {
            // Its log was imported to its end, with copies. A result counts none.
            continue;
        }
        let window = match started.zip(ended) {
            Some((started, ended)) => Some(times.window(session, started, ended)),
            None => window_of_lines(db, session, &row.get::<_, String>(7)?, row.get(8)?)?,
        };
        let at = ended.or(started).or(window.map(|(_, end)| end));
        let window = match window {
            Some((start, end)) => {
                let next = times.next(session, end);
                Some((start, end_of_subagents(db, session, end, next)?))
            }
            None => None,
        };
        runs.push(Run {
            key: row.get(0)?,
            session,
            project: row.get(2)?,
            machine: row.get(3)?,
            window,
            at: at.unwrap_or(0),
            is_exact: source == "result",
            is_estimate: source == "estimate",
            has_cost: row.get(10)?,
            model: row.get(9)?,
            messages: row.get(8)?,
        });
    }
    Ok(runs)
}

/// The time of a run that has none: its last line and the number of its messages
/// say which messages of the session are its own.
fn window_of_lines(
    db: &Connection,
    session: i64,
    last_uuid: &str,
    messages: i64,
) -> rusqlite::Result<Option<(i64, i64)>> {
    let sql = "SELECT min(at), max(last_at) FROM (
            SELECT at, last_at FROM message
            WHERE session = ?1 AND agent = 0 AND at <= (
                SELECT at FROM message WHERE session = ?1 AND uuid = ?2 AND ?2 <> '')
            ORDER BY at DESC LIMIT ?3)";
    db.prepare_cached(sql)?
        .query_row(params![session, last_uuid, messages], |row| {
            let window: (Option<i64>, Option<i64>) = (row.get(0)?, row.get(1)?);
            Ok(window.0.zip(window.1))
        })
}

/// The end of a run whose main thread ended at `end`: its subagents may work on
/// until the `next` run, or the next answer of the main thread.
fn end_of_subagents(
    db: &Connection,
    session: i64,
    end: i64,
    next: Option<i64>,
) -> rusqlite::Result<i64> {
    let sql = "SELECT at FROM message WHERE session = ?1 AND agent = 0 AND at > ?2
        ORDER BY at LIMIT 1";
    let answer: Option<i64> = db
        .prepare_cached(sql)?
        .query_row([session, end], |row| row.get(0))
        .optional()?;
    let first = answer.into_iter().chain(next).min();
    let last = first.map_or(i64::MAX, |first| first - 1 - TOLERANCE_MS);
    Ok(last.max(end))
}
