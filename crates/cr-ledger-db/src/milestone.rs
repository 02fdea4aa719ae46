//! Milestones and their sessions.

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::file::{Ledger, explain};
use crate::writer::Writer;

/// The status of a milestone or of one of its sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MilestoneStatus {
    /// Work goes on in it.
    Active,
    /// It came to its end.
    Completed,
    /// It was given up.
    Abandoned,
    /// Of a session: another one has taken over with its handoff.
    Refreshed,
}

impl MilestoneStatus {
    /// Its word in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Completed => "completed",
            Self::Abandoned => "abandoned",
            Self::Refreshed => "refreshed",
        }
    }
}

/// A milestone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Milestone {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The directory of its agents.
    pub project: String,
    /// Its status.
    pub status: String,
    /// When it was started, in milliseconds.
    pub started_at: i64,
    /// When it ended.
    pub ended_at: Option<i64>,
    /// Its work plan; empty if it has none.
    pub plan: String,
    /// The handoff at its end; empty if there is none.
    pub handoff: String,
    /// The id of the milestone before it; empty if there is none.
    pub previous: String,
}

/// A session of a milestone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MilestoneSession {
    /// The session's id.
    pub session: String,
    /// When it was chosen, in milliseconds.
    pub started_at: i64,
    /// Its status.
    pub status: String,
    /// The handoff with which it began; empty for the first.
    pub handoff: String,
}

const COLUMNS: &str = "milestone_id, name, p.value, status, started_at, ended_at, plan, handoff, \
    previous";

impl Ledger {
    /// The milestone with this id.
    pub fn milestone(&self, id: &str) -> anyhow::Result<Option<Milestone>> {
        let filter = "milestone_id = ?1";
        one(&self.db, filter, &[&id]).map_err(explain)
    }

    /// The milestones of a project with this name, the newest first. Without a
    /// project or a name those of all.
    pub fn milestones(
        &self,
        project: Option<&str>,
        name: Option<&str>,
    ) -> anyhow::Result<Vec<Milestone>> {
        let filter = "(?1 IS NULL OR p.value = ?1) AND (?2 IS NULL OR name = ?2)";
        all(&self.db, filter, &[&project, &name]).map_err(explain)
    }

    /// The sessions of a milestone, the newest last.
    pub fn milestone_sessions(&self, id: &str) -> anyhow::Result<Vec<MilestoneSession>> {
        sessions(&self.db, id).map_err(explain)
    }
}

impl Writer<'_> {
    /// The active milestone of this name in a project.
    pub fn active_milestone(
        &self,
        project: &str,
        name: &str,
    ) -> rusqlite::Result<Option<Milestone>> {
        let filter = "p.value = ?1 AND name = ?2 AND status = 'active'";
        one(self.db, filter, &[&project, &name])
    }

    /// The milestone of a project that was completed last and left a handoff.
    pub fn last_completed(&self, project: &str) -> rusqlite::Result<Option<Milestone>> {
        let filter = "milestone_id = (SELECT milestone_id FROM milestone
            WHERE project = (SELECT id FROM text_value WHERE value = ?1)
                AND status = 'completed' AND handoff <> ''
            ORDER BY ended_at DESC, milestone_id DESC LIMIT 1)";
        one(self.db, filter, &[&project])
    }

    /// The sessions of a milestone, the newest last.
    pub fn milestone_sessions(&self, id: &str) -> rusqlite::Result<Vec<MilestoneSession>> {
        sessions(self.db, id)
    }

    /// Records a milestone as it is now.
    pub fn save_milestone(&mut self, milestone: &Milestone, now: i64) -> rusqlite::Result<()> {
        let project = self.text(&milestone.project)?;
        let sql = "INSERT INTO milestone (milestone_id, name, project, machine, status,
                started_at, ended_at, plan, handoff, previous, updated_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
            ON CONFLICT DO UPDATE SET status = excluded.status, ended_at = excluded.ended_at,
                plan = excluded.plan, handoff = excluded.handoff,
                previous = excluded.previous, updated_at = excluded.updated_at";
        self.db.prepare_cached(sql)?.execute(params![
            milestone.id,
            milestone.name,
            project,
            self.machine,
            milestone.status,
            milestone.started_at,
            milestone.ended_at,
            milestone.plan,
            milestone.handoff,
            milestone.previous,
            now
        ])?;
        Ok(())
    }

    /// Adds a session to a milestone; it is the active one from now on.
    pub fn add_milestone_session(
        &mut self,
        id: &str,
        session: &str,
        handoff: &str,
        now: i64,
    ) -> rusqlite::Result<()> {
        let session = self.text(session)?;
        let sql = "INSERT INTO milestone_session
                (milestone_id, session, started_at, status, handoff, updated_at)
            VALUES (?1, ?2, max(?3, coalesce((SELECT max(started_at) + 1
                FROM milestone_session WHERE milestone_id = ?1), 0)), 'active', ?4, ?3)";
        let values = params![id, session, now, handoff];
        self.db.prepare_cached(sql)?.execute(values)?;
        Ok(())
    }

    /// Gives the active session of a milestone another status.
    pub fn end_milestone_session(
        &mut self,
        id: &str,
        status: MilestoneStatus,
        now: i64,
    ) -> rusqlite::Result<()> {
        let sql = "UPDATE milestone_session SET status = ?2, updated_at = ?3
            WHERE milestone_id = ?1 AND status = 'active'";
        let values = params![id, status.as_str(), now];
        self.db.prepare_cached(sql)?.execute(values)?;
        Ok(())
    }
}

type Parameters<'a> = &'a [&'a dyn rusqlite::ToSql];

fn one(
    db: &Connection,
    filter: &str,
    values: Parameters<'_>,
) -> rusqlite::Result<Option<Milestone>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM milestone JOIN text_value p ON p.id = milestone.project
        WHERE {filter}"
    );
    db.prepare_cached(&sql)?
        .query_row(values, milestone)
        .optional()
}

fn all(db: &Connection, filter: &str, values: Parameters<'_>) -> rusqlite::Result<Vec<Milestone>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM milestone JOIN text_value p ON p.id = milestone.project
        WHERE {filter} ORDER BY started_at DESC, milestone_id DESC"
    );
    let mut statement = db.prepare_cached(&sql)?;
    let rows = statement.query_map(values, milestone)?;
    rows.collect()
}

fn milestone(row: &Row<'_>) -> rusqlite::Result<Milestone> {
    Ok(Milestone {
        id: row.get(0)?,
        name: row.get(1)?,
        project: row.get(2)?,
        status: row.get(3)?,
        started_at: row.get(4)?,
        ended_at: row.get(5)?,
        plan: row.get(6)?,
        handoff: row.get(7)?,
        previous: row.get(8)?,
    })
}

fn sessions(db: &Connection, id: &str) -> rusqlite::Result<Vec<MilestoneSession>> {
    let sql = "SELECT s.value, started_at, status, handoff
        FROM milestone_session JOIN text_value s ON s.id = session
        WHERE milestone_id = ?1 ORDER BY started_at, s.value";
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map([id], |row| {
        Ok(MilestoneSession {
            session: row.get(0)?,
            started_at: row.get(1)?,
            status: row.get(2)?,
            handoff: row.get(3)?,
        })
    })?;
    rows.collect()
}
