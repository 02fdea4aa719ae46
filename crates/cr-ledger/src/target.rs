//! The session that a decision is about.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use cr_io::{Exit, sanitized};
use cr_ledger_db::rusqlite::{self, Connection, OptionalExtension, params};

use crate::directory::{self, BELOW};
use crate::spending;

/// How it is named.
#[derive(Args, Debug)]
#[group(id = "whose", required = true, multiple = false)]
pub(crate) struct TargetArgs {
    /// The session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The active session of a milestone, by its name or id
    #[arg(long, value_name = "MILESTONE")]
    milestone: Option<String>,
    /// The latest session of this directory or below it
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
}

/// A session of the ledger.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) session: i64,
    pub(crate) id: String,
    /// Its directory.
    pub(crate) project: Option<String>,
}

impl TargetArgs {
    /// The session, as of the time `now`.
    pub(crate) fn find(&self, db: &Connection, now: i64) -> anyhow::Result<Target> {
        if let Some(id) = &self.session {
            let text = format!("session {}: the ledger does not know it", sanitized(id));
            return of_id(db, id)?.ok_or_else(|| missing(&text));
        }
        if let Some(name) = &self.milestone {
            return of_milestone(db, name);
        }
        let dir = self.project.clone().unwrap_or_default();
        let dir = directory::text(&dir)?;
        let text = format!(
            "{}: the ledger knows no session of this directory",
            sanitized(&dir)
        );
        of_project(db, &dir, now)?.ok_or_else(|| missing(&text))
    }
}

fn missing(text: &str) -> anyhow::Error {
    anyhow!("{text}").context(Exit::NoInput)
}

const COLUMNS: &str = "SELECT s.session, t.value, nullif(p.value, '') FROM session s
    JOIN text_value t ON t.id = s.session JOIN text_value p ON p.id = s.project";

fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Target> {
    Ok(Target {
        session: row.get(0)?,
        id: row.get(1)?,
        project: row.get(2)?,
    })
}

fn of_id(db: &Connection, id: &str) -> rusqlite::Result<Option<Target>> {
    let sql = format!("{COLUMNS} WHERE t.value = ?1 AND t.value <> ''");
    db.prepare_cached(&sql)?.query_row([id], read).optional()
}

fn of_project(db: &Connection, dir: &str, now: i64) -> rusqlite::Result<Option<Target>> {
    let sql = format!(
        "{COLUMNS} WHERE {BELOW} AND t.value <> '' AND coalesce(s.first_at, 0) <= ?2
        ORDER BY min(coalesce(s.last_at, s.first_at, 0), ?2) DESC, s.first_at DESC, t.value
        LIMIT 1"
    );
    db.prepare_cached(&sql)?
        .query_row(params![dir, now], read)
        .optional()
}

fn of_milestone(db: &Connection, name: &str) -> anyhow::Result<Target> {
    let label = sanitized(name);
    let Some((id, _)) = spending::milestone(db, name)? else {
        return Err(missing(&format!(
            "milestone {label}: the ledger does not know it"
        )));
    };
    let sql = "SELECT ms.session, t.value FROM milestone_session ms
        JOIN text_value t ON t.id = ms.session
        WHERE ms.milestone_id = ?1 AND ms.status = 'active'
        ORDER BY ms.started_at DESC LIMIT 1";
    let active: Option<(i64, String)> = db
        .prepare_cached(sql)?
        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((session, id)) = active else {
        return Err(missing(&format!(
            "milestone {label}: it has no active session"
        )));
    };
    // A session of a milestone may have no run yet.
    let known = of_id(db, &id)?;
    Ok(known.unwrap_or(Target {
        session,
        id,
        project: None,
    }))
}
