//! Taking over what another ledger knows.
//!
//! Facts of the two are put together as if they had been recorded here, so that
//! merging twice, or in the other order, gives the same. Budgets and the places up
//! to which logs were read belong to one machine and stay as they are.

use std::path::Path;

use anyhow::Context;
use cr_io::Exit;
use rusqlite::{Connection, Row};

use crate::conflict;
use crate::file::{Access, Ledger, explain, real_path};
use crate::message::{COLUMNS, StoredMessage, read};
use crate::record::RunLabels;
use crate::run_fact;
use crate::writer::Writer;

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
        let place = || path.display().to_string();
        let address = address(path).with_context(place)?;
        self.db
            .execute("ATTACH ?1 AS other", [address])
            .map_err(explain)
            .with_context(place)?;
        let merged = self.write(|writer| merge(writer).map_err(Into::into));
        let detached = self.db.execute("DETACH other", []).map_err(explain);
        let merged = merged?;
        detached?;
        Ok(merged)
    }
}

/// The file as an address under which it is only read.
fn address(path: &Path) -> anyhow::Result<String> {
    let path = real_path(path);
    let text = path
        .to_str()
        .context("its name is not UTF-8")
        .context(Exit::Usage)?;
    let text = text.replace('%', "%25").replace('?', "%3f");
    Ok(format!("file:{}?mode=ro", text.replace('#', "%23")))
}

fn merge(writer: &mut Writer<'_>) -> rusqlite::Result<Merged> {
    map_texts(writer.db)?;
    let merged = Merged {
        messages: messages(writer)?,
        runs: runs(writer)?,
    };
    sessions(writer)?;
    totals(writer)?;
    plain(writer.db)?;
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
        "INSERT INTO main.session (session, project, project_at, machine, first_at, last_at,
            cli_version, is_partial)
        SELECT {}, {}, project_at, {}, first_at, last_at, {}, is_partial
        FROM other.session WHERE true {}",
        mapped("session"),
        mapped("project"),
        mapped("machine"),
        mapped("cli_version"),
        conflict::session()
    );
    writer.db.execute(&sql, [])?;
    let sql = format!(
        "SELECT {}, total_until FROM other.session",
        mapped("session")
    );
    let mut statement = writer.db.prepare(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let session: i64 = row.get(0)?;
        writer.touch(session);
        if let Some(until) = row.get(1)? {
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
/// more, and the labels of all of them.
fn runs(writer: &mut Writer<'_>) -> rusqlite::Result<u64> {
    let texts = |run: &str, base: &str| {
        format!("(SELECT value FROM {base}.text_value WHERE id = {run}.machine)")
    };
    let sql = format!(
        "SELECT o.run_key,
            r.run_key IS NULL OR {new} > {old} OR ({new} = {old} AND {} < {}),
            max(o.milestone, coalesce(r.milestone, '')),
            max(o.task, coalesce(r.task, '')),
            max(o.task_type, coalesce(r.task_type, ''))
        FROM other.run o LEFT JOIN main.run r ON r.run_key = o.run_key",
        texts("o", "other"),
        texts("r", "main"),
        new = run_fact::rank_of("o"),
        old = run_fact::rank_of("r"),
    );
    let runs: Vec<(String, bool, RunLabels)> = {
        let mut statement = writer.db.prepare(&sql)?;
        let runs = statement.query_map([], |row: &Row<'_>| {
            let labels = RunLabels {
                milestone: row.get(2)?,
                task: row.get(3)?,
                task_type: row.get(4)?,
            };
            Ok((row.get(0)?, row.get(1)?, labels))
        })?;
        runs.collect::<Result<_, _>>()?
    };
    for (key, is_better, labels) in &runs {
        if *is_better {
            writer.remove_run(key)?;
            copy_run(writer.db, key)?;
            writer.touch_run(key)?;
        }
        writer.label(key, labels)?;
    }
    Ok(runs.len() as u64)
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
        let (names, values) = copied_columns(db, table, texts)?;
        let sql = format!(
            "INSERT INTO main.{table} ({names}) SELECT {values} FROM other.{table}
            WHERE run_key = ?1"
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

/// Facts that do not change the sums.
fn plain(db: &Connection) -> rusqlite::Result<()> {
    let milestone = conflict::later(
        "milestone",
        &[
            "name",
            "status",
            "started_at",
            "ended_at",
            "plan",
            "handoff",
            "previous",
        ],
        &["project", "machine"],
    );
    let of_milestone = conflict::later(
        "milestone_session",
        &["started_at", "status", "handoff"],
        &[],
    );
    let tables: [(&str, &[&str], String); 6] = [
        ("prompt", &["session"], "ON CONFLICT DO NOTHING".to_owned()),
        ("compaction", &["session"], conflict::compaction()),
        ("tool_call", &["name", "project"], conflict::tool_call()),
        ("quota_reading", &["machine"], conflict::quota_reading()),
        ("milestone", &["project", "machine"], milestone),
        ("milestone_session", &["session"], of_milestone),
    ];
    for (table, texts, conflict) in tables {
        let (names, values) = copied_columns(db, table, texts)?;
        let sql = format!(
            "INSERT INTO main.{table} ({names}) SELECT {values} FROM other.{table}
            WHERE true {conflict}"
        );
        db.execute(&sql, [])?;
    }
    Ok(())
}

/// The columns of a table, and their values in the other ledger.
fn copied_columns(
    db: &Connection,
    table: &str,
    texts: &[&str],
) -> rusqlite::Result<(String, String)> {
    let columns = columns(db, table)?;
    let values = columns.iter().map(|column| {
        if texts.contains(&column.as_str()) {
            mapped(column)
        } else {
            column.clone()
        }
    });
    let values: Vec<String> = values.collect();
    Ok((columns.join(", "), values.join(", ")))
}
