//! Removing facts.

use rusqlite::{Connection, params};

use crate::file::{Ledger, explain};
use crate::writer::Writer;

/// What to remove: everything that satisfies all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The directory of the agents, or one above it.
    pub project: Option<String>,
    /// Before this time, in milliseconds.
    pub before: Option<i64>,
}

/// How much there is of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// Messages.
    pub messages: u64,
    /// Calls of tools.
    pub tool_calls: u64,
    /// Runs.
    pub runs: u64,
    /// Sessions of which nothing is left.
    pub sessions: u64,
}

/// Rows of the project and the time; `?1` and `?2`, each null for any.
const OF_PROJECT: &str = "(?1 IS NULL OR project IN (SELECT id FROM text_value
    WHERE value = ?1 OR substr(value, 1, length(?1) + 1) = ?1 || '/'))";

impl Ledger {
    /// How much a selection would remove.
    pub fn count(&mut self, selection: &Selection) -> anyhow::Result<Forgotten> {
        let transaction = self.db.transaction().map_err(explain)?;
        let forgotten = Forgotten {
            sessions: empty_sessions(&transaction, selection).map_err(explain)?,
            ..count(&transaction, selection).map_err(explain)?
        };
        Ok(forgotten)
    }
}

impl Writer<'_> {
    /// Removes what the selection names.
    pub fn forget(&mut self, selection: &Selection) -> rusqlite::Result<Forgotten> {
        let counted = count(self.db, selection)?;
        let sessions = empty_sessions(self.db, selection)?;
        let values = params![selection.project, selection.before];
        let touched = format!(
            "SELECT DISTINCT session FROM message WHERE {OF_PROJECT}
                AND (?2 IS NULL OR at < ?2)
            UNION SELECT run_session.session FROM run_session JOIN run USING (run_key)
            WHERE {OF_PROJECT} AND (?2 IS NULL OR coalesce(ended_at, 0) < ?2)"
        );
        let touched: Vec<i64> = {
            let mut statement = self.db.prepare(&touched)?;
            let sessions = statement.query_map(values, |row| row.get(0))?;
            sessions.collect::<Result<_, _>>()?
        };
        self.touched.extend(touched);
        for table in ["run_session", "run_model", "run_tool", "turn"] {
            let sql = format!(
                "DELETE FROM {table} WHERE run_key IN (SELECT run_key FROM run
                WHERE {OF_PROJECT} AND (?2 IS NULL OR coalesce(ended_at, 0) < ?2))"
            );
            self.db.execute(&sql, values)?;
        }
        for (table, time) in [
            ("message", "at"),
            ("tool_call", "at"),
            ("run", "coalesce(ended_at, 0)"),
        ] {
            let sql =
                format!("DELETE FROM {table} WHERE {OF_PROJECT} AND (?2 IS NULL OR {time} < ?2)");
            self.db.execute(&sql, values)?;
        }
        self.forget_milestones(selection)?;
        self.db.execute_batch(
            "DELETE FROM session WHERE session NOT IN (SELECT session FROM message)
                AND session NOT IN (SELECT session FROM run_session);
            DELETE FROM session_total WHERE session NOT IN (SELECT session FROM session);
            DELETE FROM prompt WHERE session NOT IN (SELECT session FROM session);
            DELETE FROM compaction WHERE session NOT IN (SELECT session FROM session);
            DELETE FROM usage_sum WHERE session NOT IN (SELECT session FROM session);",
        )?;
        if let Some(before) = selection.before.filter(|_| selection.project.is_none()) {
            let sql = "DELETE FROM quota_reading WHERE at < ?1";
            self.db.execute(sql, [before])?;
        }
        // What is left of a session no longer has all that its total counts.
        let sql = "UPDATE session SET total_until = NULL WHERE session = ?1";
        for session in &self.touched {
            self.db.prepare_cached(sql)?.execute([session])?;
        }
        Ok(Forgotten {
            sessions,
            ..counted
        })
    }
}

impl Writer<'_> {
    /// Removes milestones with their plans and handoffs. Of those that are active,
    /// a time alone removes none.
    fn forget_milestones(&self, selection: &Selection) -> rusqlite::Result<()> {
        let values = params![selection.project, selection.before];
        let sql = format!(
            "DELETE FROM milestone WHERE {OF_PROJECT}
                AND (?2 IS NULL OR coalesce(ended_at, ?2) < ?2)"
        );
        self.db.execute(&sql, values)?;
        self.db.execute_batch(
            "DELETE FROM milestone_session
                WHERE milestone_id NOT IN (SELECT milestone_id FROM milestone)",
        )
    }
}

fn count(db: &Connection, selection: &Selection) -> rusqlite::Result<Forgotten> {
    let of = |table: &str, time: &str| {
        let sql = format!(
            "SELECT count(*) FROM {table} WHERE {OF_PROJECT} AND (?2 IS NULL OR {time} < ?2)"
        );
        let values = params![selection.project, selection.before];
        let count: i64 = db.query_row(&sql, values, |row| row.get(0))?;
        Ok::<u64, rusqlite::Error>(u64::try_from(count).unwrap_or(0))
    };
    Ok(Forgotten {
        messages: of("message", "at")?,
        tool_calls: of("tool_call", "at")?,
        runs: of("run", "coalesce(ended_at, 0)")?,
        sessions: 0,
    })
}

/// The sessions of which nothing would be left.
fn empty_sessions(db: &Connection, selection: &Selection) -> rusqlite::Result<u64> {
    let sql = format!(
        "SELECT count(*) FROM session s WHERE NOT EXISTS (
            SELECT 1 FROM message WHERE session = s.session
                AND NOT ({OF_PROJECT} AND (?2 IS NULL OR at < ?2)))
        AND NOT EXISTS (
            SELECT 1 FROM run JOIN run_session USING (run_key)
            WHERE run_session.session = s.session
                AND NOT ({OF_PROJECT} AND (?2 IS NULL OR coalesce(ended_at, 0) < ?2)))"
    );
    let values = params![selection.project, selection.before];
    let count: i64 = db.query_row(&sql, values, |row| row.get(0))?;
    Ok(u64::try_from(count).unwrap_or(0))
}
