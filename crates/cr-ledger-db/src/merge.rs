//! Taking over what another ledger knows.
//!
//! Facts of the two are put together as if they had been recorded here, so that
//! merging twice, or in the other order, gives the same. Budgets and the places up
//! to which logs were read belong to one machine and stay as they are.

use std::path::Path;

use anyhow::Context;
use cr_io::Exit;
use rusqlite::{Connection, Row};

use crate::file::{Access, Ledger, explain};
use crate::writer::{COLUMNS, StoredMessage, Writer, read};

/// How much the other ledger had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// Messages.
    pub messages: u64,
    /// Runs.
    pub runs: u64,
}

impl Ledger {
    /// Adds everything that the ledger at `path` knows.
    pub fn merge(&mut self, path: &Path) -> anyhow::Result<Merged> {
        // Refuses what is no ledger, or another version.
        drop(Ledger::open(path, Access::Read)?);
        let place = path
            .to_str()
            .context("its name is not UTF-8")
            .context(Exit::Usage)?;
        self.db
            .execute("ATTACH ?1 AS other", [place])
            .map_err(explain)
            .with_context(|| place.to_owned())?;
        let merged = self.write(|writer| merge(writer).map_err(Into::into));
        self.db.execute("DETACH other", []).map_err(explain)?;
        merged
    }
}

fn merge(writer: &mut Writer<'_>) -> rusqlite::Result<Merged> {
    map_texts(writer.db)?;
    let merged = Merged {
        messages: messages(writer)?,
        runs: runs(writer)?,
    };
    sessions(writer)?;
    totals(writer)?;
    writer.db.execute_batch(PLAIN)?;
    writer.db.execute_batch("DROP TABLE temp.text_map")?;
    Ok(merged)
}

/// The numbers of the other ledger's texts here.
fn map_texts(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch(
        "INSERT INTO main.text_value (value)
            SELECT value FROM other.text_value WHERE true ON CONFLICT DO NOTHING;
        CREATE TEMP TABLE text_map (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);
        INSERT INTO temp.text_map
            SELECT o.id, t.id FROM other.text_value o JOIN main.text_value t USING (value);",
    )
}

/// `column` of the other ledger with the numbers of this one.
fn mapped(column: &str) -> String {
    format!("(SELECT new FROM temp.text_map WHERE old = {column})")
}

fn messages(writer: &mut Writer<'_>) -> rusqlite::Result<u64> {
    let mut columns = COLUMNS.to_owned();
    for name in ["session", "agent", "project", "model", "machine"] {
        columns = columns.replacen(name, &mapped(&format!("o.{name}")), 1);
    }
    let sql = format!("SELECT message_id, request_id, {columns} FROM other.message o");
    let mut statement = writer.db.prepare(&sql)?;
    let mut rows = statement.query([])?;
    let mut count = 0;
    while let Some(row) = rows.next()? {
        let (message, request): (String, String) = (row.get(0)?, row.get(1)?);
        let stored: StoredMessage = read(row, 2)?;
        writer.stored_message((&message, &request), stored)?;
        count += 1;
    }
    Ok(count)
}

fn sessions(writer: &mut Writer<'_>) -> rusqlite::Result<()> {
    let sql = format!(
        "SELECT {}, {}, {}, {}, first_at, last_at, has_copies, total_until FROM other.session",
        mapped("session"),
        mapped("project"),
        mapped("machine"),
        mapped("cli_version")
    );
    let mut statement = writer.db.prepare(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let session: i64 = row.get(0)?;
        let times = (row.get(4)?, row.get(5)?);
        writer.stored_session(session, row.get(1)?, row.get(2)?, row.get(3)?, times)?;
        if row.get(6)? {
            writer.mark_copies(session)?;
        }
        if let Some(until) = row.get(7)? {
            writer.total_until(session, until)?;
        }
    }
    Ok(())
}

fn totals(writer: &mut Writer<'_>) -> rusqlite::Result<()> {
    let sql = format!(
        "SELECT {}, {}, input, output, cache_read, cache_creation, cost_nano
        FROM other.session_total",
        mapped("session"),
        mapped("model")
    );
    let mut statement = writer.db.prepare(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let tokens = [row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?];
        writer.stored_total(row.get(0)?, row.get(1)?, tokens, row.get(6)?)?;
    }
    Ok(())
}

/// Takes over the runs that are not here, or of which the other ledger knows
/// more.
fn runs(writer: &mut Writer<'_>) -> rusqlite::Result<u64> {
    let count: i64 = writer
        .db
        .query_row("SELECT count(*) FROM other.run", [], |row| row.get(0))?;
    // As `run_fact::rank`; of equal ones that of the machine whose name is less.
    let rank = |run: &str| {
        format!(
            "({run}.cost_source = 'result', coalesce({run}.ended_at, 0),
                coalesce({run}.cost_nano, 0), {run}.messages)"
        )
    };
    let better = format!(
        "SELECT o.run_key FROM other.run o LEFT JOIN main.run r ON r.run_key = o.run_key
        WHERE r.run_key IS NULL OR {} > {}
            OR ({} = {} AND (SELECT value FROM other.text_value WHERE id = o.machine)
                < (SELECT value FROM main.text_value WHERE id = r.machine))",
        rank("o"),
        rank("r"),
        rank("o"),
        rank("r")
    );
    let keys: Vec<String> = {
        let mut statement = writer.db.prepare(&better)?;
        let keys = statement.query_map([], |row: &Row<'_>| row.get(0))?;
        keys.collect::<Result<_, _>>()?
    };
    for key in &keys {
        writer.remove_run(key)?;
        copy_run(writer.db, key)?;
        writer.touch_run(key)?;
    }
    Ok(u64::try_from(count).unwrap_or(0))
}

/// The columns of `run` that are numbers of texts.
const TEXTS_OF_RUN: [&str; 5] = ["session", "project", "model", "machine", "cli_version"];

fn copy_run(db: &Connection, key: &str) -> rusqlite::Result<()> {
    let tables: [(&str, &[&str]); 5] = [
        ("run", &TEXTS_OF_RUN),
        ("run_session", &["session"]),
        ("run_model", &["model"]),
        ("run_tool", &["name"]),
        ("turn", &[]),
    ];
    for (table, texts) in tables {
        let columns = columns(db, table)?;
        let values = columns.iter().map(|column| {
            if texts.contains(&column.as_str()) {
                mapped(column)
            } else {
                column.clone()
            }
        });
        let sql = format!(
            "INSERT INTO main.{table} ({}) SELECT {} FROM other.{table} WHERE run_key = ?1",
            columns.join(", "),
            values.collect::<Vec<_>>().join(", ")
        );
        db.prepare_cached(&sql)?.execute([key])?;
    }
    Ok(())
}

fn columns(db: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT name FROM pragma_table_info(?1, 'main')";
    let mut statement = db.prepare_cached(sql)?;
    let names = statement.query_map([table], |row| row.get(0))?;
    names.collect()
}

/// Facts whose keys alone decide.
const PLAIN: &str = "
INSERT INTO main.prompt
    SELECT (SELECT new FROM temp.text_map WHERE old = session), at FROM other.prompt WHERE true
    ON CONFLICT DO NOTHING;
INSERT INTO main.compaction
    SELECT (SELECT new FROM temp.text_map WHERE old = session), at, trigger_word, pre_tokens,
        post_tokens
    FROM other.compaction WHERE true
    ON CONFLICT DO UPDATE SET
        trigger_word = max(trigger_word, excluded.trigger_word),
        pre_tokens = coalesce(max(pre_tokens, excluded.pre_tokens), pre_tokens,
            excluded.pre_tokens),
        post_tokens = coalesce(max(post_tokens, excluded.post_tokens), post_tokens,
            excluded.post_tokens);
INSERT INTO main.tool_call
    SELECT tool_use_id, (SELECT new FROM temp.text_map WHERE old = name),
        (SELECT new FROM temp.text_map WHERE old = project), at, failed
    FROM other.tool_call WHERE true
    ON CONFLICT DO UPDATE SET at = min(at, excluded.at), failed = max(failed, excluded.failed);
INSERT INTO main.quota_reading
    SELECT (SELECT new FROM temp.text_map WHERE old = machine), name, at, used, resets_at, status
    FROM other.quota_reading WHERE true
    ON CONFLICT DO NOTHING;
INSERT INTO main.milestone
    SELECT milestone_id, name, (SELECT new FROM temp.text_map WHERE old = project),
        (SELECT new FROM temp.text_map WHERE old = machine), status, started_at, ended_at, plan,
        handoff, previous, updated_at
    FROM other.milestone WHERE true
    ON CONFLICT DO UPDATE SET status = excluded.status, ended_at = excluded.ended_at,
        plan = excluded.plan, handoff = excluded.handoff, previous = excluded.previous,
        updated_at = excluded.updated_at
    WHERE (excluded.updated_at, excluded.status, excluded.handoff)
        > (milestone.updated_at, milestone.status, milestone.handoff);
INSERT INTO main.milestone_session
    SELECT milestone_id, (SELECT new FROM temp.text_map WHERE old = session), started_at, status,
        handoff, updated_at
    FROM other.milestone_session WHERE true
    ON CONFLICT DO UPDATE SET status = excluded.status, handoff = excluded.handoff,
        updated_at = excluded.updated_at
    WHERE (excluded.updated_at, excluded.status) > (milestone_session.updated_at,
        milestone_session.status);
";
