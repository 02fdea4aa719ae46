//! Removing facts.

use anyhow::Context;
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
    /// Milestones with their handoffs.
    pub milestones: u64,
}

/// Rows of the project; `?1` is null for any.
const OF_PROJECT: &str = "(?1 IS NULL OR project IN (SELECT id FROM text_value
    WHERE value = ?1 OR substr(value, 1, length(?1) + 1) = ?1 || '/'))";

/// The time of a run. One without any is as old as can be.
const TIME_OF_RUN: &str = "coalesce(ended_at, started_at, 0)";

/// The tables that a selection applies to, and the time of their rows.
const TABLES: [(&str, &str); 4] = [
    ("message", "at"),
    ("tool_call", "at"),
    ("run", TIME_OF_RUN),
    // A time alone removes none that is active.
    ("milestone", "coalesce(ended_at, 1 << 60)"),
];

/// Where a text may still be in use.
const TEXTS: [(&str, &[&str]); 13] = [
    (
        "message",
        &["session", "agent", "project", "model", "machine"],
    ),
    ("session", &["session", "project", "machine", "cli_version"]),
    ("session_total", &["session", "model"]),
    ("prompt", &["session"]),
    ("compaction", &["session"]),
    ("tool_call", &["name", "project"]),
    (
        "run",
        &["session", "project", "model", "machine", "cli_version"],
    ),
    ("run_session", &["session"]),
    ("run_model", &["model"]),
    ("run_tool", &["name"]),
    ("quota_reading", &["machine"]),
    ("milestone", &["project", "machine"]),
    ("milestone_session", &["session"]),
];

/// Whether a row is selected; `?2` is null for any time.
fn selected(time: &str) -> String {
    format!("({OF_PROJECT} AND (?2 IS NULL OR {time} < ?2))")
}

impl Ledger {
    /// How much a selection would remove.
    pub fn count(&mut self, selection: &Selection) -> anyhow::Result<Forgotten> {
        let transaction = self.db.transaction().map_err(explain)?;
        count(&transaction, selection).map_err(explain)
    }

    /// Removes what the selection names, also from the parts of the file that are
    /// no longer used.
    pub fn forget(&mut self, selection: &Selection) -> anyhow::Result<Forgotten> {
        let forgotten = self.write(|writer| Ok(writer.forget(selection)?))?;
        // Some of the texts have no number any more.
        self.texts.clear();
        self.write(|writer| Ok(remove_unused_texts(writer.db)?))?;
        self.texts.clear();
        // Rows that grew or moved have left copies of themselves in every table's
        // pages, which `secure_delete` does not reach. A reader may hold the log of
        // changes; the next writer empties it then.
        self.db
            .execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
            .map_err(explain)
            .context("it is deleted, but the file may still have copies in unused parts")
            .with_context(|| self.path().display().to_string())?;
        Ok(forgotten)
    }
}

impl Writer<'_> {
    fn forget(&mut self, selection: &Selection) -> rusqlite::Result<Forgotten> {
        let forgotten = count(self.db, selection)?;
        let values = params![selection.project, selection.before];
        let gone = numbers(self.db, &empty_sessions(), selection)?;
        let touched = numbers(self.db, &touched_sessions(), selection)?;
        self.touched.extend(&touched);
        for table in ["run_session", "run_model", "run_tool", "turn"] {
            let sql = format!(
                "DELETE FROM {table} WHERE run_key IN (SELECT run_key FROM run WHERE {})",
                selected(TIME_OF_RUN)
            );
            self.db.execute(&sql, values)?;
        }
        for (table, time) in TABLES {
            let sql = format!("DELETE FROM {table} WHERE {}", selected(time));
            self.db.execute(&sql, values)?;
        }
        self.db.execute(
            "DELETE FROM milestone_session
            WHERE milestone_id NOT IN (SELECT milestone_id FROM milestone)",
            [],
        )?;
        for session in &gone {
            self.remove_session(*session)?;
        }
        for table in ["prompt", "compaction"] {
            let sql = format!(
                "DELETE FROM {table} WHERE at < ?2
                AND session IN (SELECT session FROM session WHERE {OF_PROJECT})"
            );
            self.db.execute(&sql, values)?;
        }
        if let (Some(before), None) = (selection.before, &selection.project) {
            let sql = "DELETE FROM quota_reading WHERE at < ?1";
            self.db.execute(sql, [before])?;
        }
        self.cut_sessions(&touched, selection.before)?;
        Ok(forgotten)
    }

    fn remove_session(&mut self, session: i64) -> rusqlite::Result<()> {
        for table in ["session", "session_total", "prompt", "compaction"] {
            let sql = format!("DELETE FROM {table} WHERE session = ?1");
            self.db.prepare_cached(&sql)?.execute([session])?;
        }
        self.touch(session);
        Ok(())
    }

    /// What is left of sessions no longer has all that their totals count, now and
    /// when they go on.
    fn cut_sessions(&mut self, sessions: &[i64], before: Option<i64>) -> rusqlite::Result<()> {
        for session in sessions {
            let sql = "UPDATE session SET total_until = NULL, is_partial = 1,
                    first_at = max(first_at, coalesce(?2, first_at)),
                    project_at = max(project_at, coalesce(?2, project_at))
                WHERE session = ?1";
            self.db
                .prepare_cached(sql)?
                .execute(params![session, before])?;
            let sql = "DELETE FROM session_total WHERE session = ?1";
            self.db.prepare_cached(sql)?.execute([session])?;
        }
        Ok(())
    }
}

fn count(db: &Connection, selection: &Selection) -> rusqlite::Result<Forgotten> {
    let mut counts = [0; 4];
    for (count, (table, time)) in counts.iter_mut().zip(TABLES) {
        let sql = format!("SELECT count(*) FROM {table} WHERE {}", selected(time));
        let values = params![selection.project, selection.before];
        let rows: i64 = db.query_row(&sql, values, |row| row.get(0))?;
        *count = u64::try_from(rows).unwrap_or(0);
    }
    let [messages, tool_calls, runs, milestones] = counts;
    Ok(Forgotten {
        messages,
        tool_calls,
        runs,
        milestones,
        sessions: numbers(db, &empty_sessions(), selection)?.len() as u64,
    })
}

fn numbers(db: &Connection, sql: &str, selection: &Selection) -> rusqlite::Result<Vec<i64>> {
    let values = params![selection.project, selection.before];
    let mut statement = db.prepare(sql)?;
    let numbers = statement.query_map(values, |row| row.get(0))?;
    numbers.collect()
}

/// The sessions that lose something.
fn touched_sessions() -> String {
    let (message, run) = (selected("at"), selected(TIME_OF_RUN));
    format!(
        "SELECT session FROM message WHERE {message}
        UNION SELECT session FROM run WHERE {run}
        UNION SELECT run_session.session FROM run_session
            WHERE run_key IN (SELECT run_key FROM run WHERE {run})"
    )
}

/// The sessions of which nothing would be left: those that lose all they have, and
/// those that have nothing and are selected themselves.
fn empty_sessions() -> String {
    let (message, run) = (selected("at"), selected(TIME_OF_RUN));
    format!(
        "SELECT session FROM session
        WHERE (session IN ({})
            OR {} AND session NOT IN (SELECT session FROM message)
                AND session NOT IN (SELECT session FROM run_session))
        AND session NOT IN (SELECT session FROM message WHERE NOT {message})
        AND session NOT IN (SELECT run_session.session FROM run_session
            WHERE run_key IN (SELECT run_key FROM run WHERE NOT {run}))",
        touched_sessions(),
        selected("coalesce(last_at, first_at, 0)")
    )
}

/// Removes the texts that nothing names any more, such as the path of a project.
fn remove_unused_texts(db: &Connection) -> rusqlite::Result<()> {
    let columns = TEXTS.iter().flat_map(|(table, columns)| {
        let column = move |column: &&str| format!("SELECT {column} FROM {table}");
        columns.iter().map(column)
    });
    let used: Vec<String> = columns.collect();
    let sql = format!(
        "DELETE FROM text_value WHERE id <> 0 AND id NOT IN ({})",
        used.join(" UNION ")
    );
    db.execute(&sql, [])?;
    Ok(())
}
