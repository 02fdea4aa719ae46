//! Recording much: what takes longer than others should wait.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use anyhow::Context;
use rusqlite::{Connection, params};

use crate::file::{Ledger, explain};
use crate::sums;
use crate::writer::Writer;

/// How long others wait at most, as far as that is in our hands.
const PART: Duration = Duration::from_millis(500);
/// Kilobytes of pages in memory: the keys of messages have no order.
const CACHE: i64 = 24 << 10;
/// Pages of the log of changes before it is written back.
const LOG: i64 = 16 << 10;
/// The same for all other writers, by default.
const USUAL_LOG: i64 = 1000;

/// How far a log was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogPlace {
    /// Its length in bytes then.
    pub length: u64,
    /// When it was written last, in nanoseconds since 1970.
    pub modified_ns: i64,
    /// The number of the file.
    pub inode: u64,
    /// The byte at which to go on.
    pub read_to: u64,
    /// What the reader needs to go on.
    pub state: String,
}

impl Ledger {
    /// How far each log was read, by its path.
    pub fn log_places(&self) -> anyhow::Result<HashMap<String, LogPlace>> {
        places(&self.db).map_err(explain)
    }

    /// Begins to record in parts: each is a transaction.
    pub fn import(&mut self) -> anyhow::Result<Import<'_>> {
        let set = |name, value| self.db.pragma_update(None, name, value);
        set("cache_size", -CACHE).map_err(explain)?;
        set_log(&self.db, LOG).map_err(explain)?;
        Ok(Import {
            ledger: self,
            begun: None,
            touched: HashSet::new(),
            sessions: HashSet::new(),
            added: 0,
        })
    }
}

fn set_log(db: &Connection, pages: i64) -> rusqlite::Result<()> {
    db.pragma_update_and_check(None, "wal_autocheckpoint", pages, |_| Ok(()))
}

fn places(db: &Connection) -> rusqlite::Result<HashMap<String, LogPlace>> {
    let sql = "SELECT path, length, modified_ns, inode, read_to, state FROM log_file";
    let mut statement = db.prepare(sql)?;
    let rows = statement.query_map([], |row| {
        let place = LogPlace {
            length: row.get::<_, i64>(1)?.cast_unsigned(),
            modified_ns: row.get(2)?,
            inode: row.get::<_, i64>(3)?.cast_unsigned(),
            read_to: row.get::<_, i64>(4)?.cast_unsigned(),
            state: row.get(5)?,
        };
        Ok((row.get(0)?, place))
    })?;
    rows.collect()
}

impl Writer<'_> {
    /// Records how far a log was read, in the same transaction as its facts.
    pub fn log_place(&mut self, path: &str, place: &LogPlace) -> rusqlite::Result<()> {
        let sql = "INSERT INTO log_file VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT DO UPDATE SET length = excluded.length,
                modified_ns = excluded.modified_ns, inode = excluded.inode,
                read_to = excluded.read_to, state = excluded.state";
        self.db.prepare_cached(sql)?.execute(params![
            path,
            place.length.cast_signed(),
            place.modified_ns,
            place.inode.cast_signed(),
            place.read_to.cast_signed(),
            place.state
        ])?;
        Ok(())
    }
}

/// Records in parts. What was not committed is undone when it is dropped.
#[derive(Debug)]
pub struct Import<'a> {
    ledger: &'a mut Ledger,
    /// When the transaction began.
    begun: Option<Instant>,
    /// The sessions whose sums are out of date.
    touched: HashSet<i64>,
    /// All that were touched.
    sessions: HashSet<i64>,
    added: i64,
}

impl Import<'_> {
    /// Records something in the transaction, which begins if there is none.
    pub fn write<T>(
        &mut self,
        work: impl FnOnce(&mut Writer<'_>) -> rusqlite::Result<T>,
    ) -> anyhow::Result<T> {
        self.in_transaction(work)
            .map_err(explain)
            .with_context(|| self.ledger.path().display().to_string())
    }

    fn in_transaction<T>(
        &mut self,
        work: impl FnOnce(&mut Writer<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        if self.begun.is_none() {
            self.ledger.db.execute_batch("BEGIN IMMEDIATE")?;
            self.begun = Some(Instant::now());
        }
        let mut writer = self.ledger.writer()?;
        writer.touched = std::mem::take(&mut self.touched);
        let done = work(&mut writer);
        self.added += writer.added;
        self.touched = writer.touched;
        done
    }

    /// Whether others have waited long enough.
    pub fn is_due(&self) -> bool {
        self.begun.is_some_and(|begun| begun.elapsed() >= PART)
    }

    /// Brings the sums up to date and ends the transaction. When this returns,
    /// what was recorded is on disk.
    pub fn commit(&mut self) -> anyhow::Result<()> {
        if self.begun.is_none() {
            return Ok(());
        }
        let touched = std::mem::take(&mut self.touched);
        sums::rebuild(&self.ledger.db, &touched)
            .and_then(|()| self.ledger.db.execute_batch("COMMIT"))
            .map_err(explain)
            .with_context(|| self.ledger.path().display().to_string())?;
        self.sessions.extend(touched);
        self.begun = None;
        Ok(())
    }

    /// Messages that were recorded and were not there before.
    pub fn new_messages(&self) -> u64 {
        u64::try_from(self.added).unwrap_or(0)
    }

    /// Sessions of which something was recorded and committed.
    pub fn sessions(&self) -> u64 {
        self.sessions.len() as u64
    }
}

impl Drop for Import<'_> {
    fn drop(&mut self) {
        if self.begun.is_some() {
            // The connection undoes it anyway when it is closed.
            let _ = self.ledger.db.execute_batch("ROLLBACK");
            self.ledger.texts.clear();
        }
        let _ = set_log(&self.ledger.db, USUAL_LOG);
    }
}
