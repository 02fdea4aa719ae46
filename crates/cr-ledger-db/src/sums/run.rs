//! The runs of the sessions whose sums are computed, and the time of their
//! messages.

use rusqlite::{Connection, params};

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

/// The runs of the sessions that may have something beyond the messages.
pub(super) fn runs(db: &Connection) -> rusqlite::Result<Vec<Run>> {
    let sql = "SELECT run_key, run.session, project, machine, started_at, ended_at, cost_source,
            last_uuid, messages, model, run.cost_nano IS NOT NULL,
            coalesce((SELECT is_partial FROM session WHERE session.session = run.session), 0)
                AND EXISTS (SELECT 1 FROM message WHERE message.session = run.session
                    AND agent = 0 AND uuid = last_uuid AND uuid <> '')
        FROM run JOIN touched ON touched.session = run.session ORDER BY run_key";
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query([])?;
    let mut runs = Vec::new();
    while let Some(row) = rows.next()? {
        let (session, started, ended): (i64, Option<i64>, Option<i64>) =
            (row.get(1)?, row.get(4)?, row.get(5)?);
        let source: String = row.get(6)?;
        let (is_exact, has_copies) = (source == "result", row.get(11)?);
        if has_copies && !is_exact {
            // Its log was imported to its end. A result counts no copies.
            continue;
        }
        let window = match started.zip(ended) {
            Some((started, ended)) => Some((started - TOLERANCE_MS, ended + TOLERANCE_MS)),
            None => window_of_lines(db, session, &row.get::<_, String>(7)?, row.get(8)?)?,
        };
        let at = ended.or(started).or(window.map(|(_, end)| end));
        let key: String = row.get(0)?;
        let window = match window {
            Some((start, end)) => Some((start, end_of_subagents(db, &key, end)?)),
            None => None,
        };
        runs.push(Run {
            key,
            session,
            project: row.get(2)?,
            machine: row.get(3)?,
            window,
            at: at.unwrap_or(0),
            is_exact,
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
/// until the next run, or the next answer of the main thread.
fn end_of_subagents(db: &Connection, key: &str, end: i64) -> rusqlite::Result<i64> {
    let sql = "WITH own AS (SELECT session FROM run_session WHERE run_key = ?1)
        SELECT min(at) FROM (
            SELECT min(at) AS at FROM message
            WHERE session IN (SELECT session FROM own) AND agent = 0 AND at > ?2
            UNION ALL
            SELECT min(started_at) FROM run
            WHERE session IN (SELECT session FROM own) AND started_at > ?2)";
    let next: Option<i64> = db
        .prepare_cached(sql)?
        .query_row(params![key, end], |row| row.get(0))?;
    let next = next.map_or(i64::MAX, |next| next - 1 - TOLERANCE_MS);
    Ok(next.max(end))
}
