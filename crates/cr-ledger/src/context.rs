//! How full the context of a session is.

use cr_ledger_db::Ledger;
use cr_ledger_db::rusqlite::{self, OptionalExtension, Row, params};

/// The outcome of a run whose context was full.
const EXHAUSTED: &str = "context_exhausted";

/// The window of a model, as the last run that knows it says.
const WINDOW: &str = "(SELECT context_window FROM run w
    WHERE w.model = known.model AND w.context_window IS NOT NULL
    ORDER BY w.ended_at DESC LIMIT 1)";

/// The context of a session at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ContextUse {
    /// Tokens in it.
    pub(crate) used: Option<i64>,
    /// Tokens that it holds.
    pub(crate) window: Option<i64>,
    /// The last run ended because it was full.
    pub(crate) is_exhausted: bool,
}

impl ContextUse {
    /// What is known of a session: by its last run, or by its last message if that
    /// is later.
    pub(crate) fn of(ledger: &Ledger, session: &str) -> rusqlite::Result<Self> {
        let db = ledger.db();
        let run = format!(
            "SELECT context_used, coalesce(context_window, {WINDOW}),
                coalesce(context_at, ended_at, 0)
            FROM run known WHERE session = (SELECT id FROM text_value WHERE value = ?1)
                AND context_used IS NOT NULL
            ORDER BY coalesce(ended_at, 0) DESC LIMIT 1"
        );
        let message = format!(
            "SELECT input + cache_read + cache_creation + output, {WINDOW}, at
            FROM message known WHERE session = (SELECT id FROM text_value WHERE value = ?1)
                AND agent = 0
            ORDER BY at DESC, id DESC LIMIT 1"
        );
        let outcome = "SELECT outcome FROM run
            WHERE session = (SELECT id FROM text_value WHERE value = ?1)
            ORDER BY coalesce(ended_at, 0) DESC LIMIT 1";
        let reading = |sql: &str| db.query_row(sql, params![session], reading).optional();
        let (run, message) = (reading(&run)?, reading(&message)?);
        let latest = match (run, message) {
            (Some(run), Some(message)) if message.2 > run.2 => Some(message),
            (run, message) => run.or(message),
        };
        let outcome: Option<String> = db
            .query_row(outcome, params![session], |row| row.get(0))
            .optional()?;
        Ok(Self {
            used: latest.map(|latest| latest.0),
            window: latest.and_then(|latest| latest.1),
            is_exhausted: outcome.is_some_and(|outcome| outcome == EXHAUSTED),
        })
    }

    /// The part of the window that is used, if both are known.
    pub(crate) fn part(&self) -> Option<f64> {
        let (used, window) = (self.used?, self.window.filter(|window| *window > 0)?);
        #[expect(clippy::cast_precision_loss, reason = "numbers of tokens")]
        let part = used as f64 / window as f64;
        Some(part)
    }
}

fn reading(row: &Row<'_>) -> rusqlite::Result<(i64, Option<i64>, i64)> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
}
