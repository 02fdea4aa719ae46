//! Texts that repeat: each is stored once and has a number.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rusqlite::{Connection, OptionalExtension, params};

/// How many numbers are remembered, so that memory is bounded.
const REMEMBERED: usize = 100_000;

/// The numbers of the texts that were used lately.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    numbers: HashMap<String, i64>,
    /// The texts of a few numbers.
    values: HashMap<i64, String>,
}

impl Texts {
    /// The number of `text`, which gets one if it has none.
    pub(crate) fn number(&mut self, db: &Connection, text: &str) -> rusqlite::Result<i64> {
        if text.is_empty() {
            return Ok(0);
        }
        if let Some(&number) = self.numbers.get(text) {
            return Ok(number);
        }
        let number = match find(db, text)? {
            Some(number) => number,
            None => db
                .prepare_cached("INSERT INTO text_value (value) VALUES (?1)")?
                .insert(params![text])?,
        };
        if self.numbers.len() == REMEMBERED {
            self.numbers.clear();
        }
        self.numbers.insert(text.to_owned(), number);
        Ok(number)
    }

    /// The text of a number. It is remembered: for texts of which there are few.
    pub(crate) fn value(&mut self, db: &Connection, number: i64) -> rusqlite::Result<&str> {
        match self.values.entry(number) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(new) => {
                let sql = "SELECT value FROM text_value WHERE id = ?1";
                let text = db
                    .prepare_cached(sql)?
                    .query_row([number], |row| row.get(0))?;
                Ok(new.insert(text))
            }
        }
    }

    /// Forgets the numbers: after a rollback they may not exist.
    pub(crate) fn clear(&mut self) {
        self.numbers.clear();
        self.values.clear();
    }
}

/// The number of `text`, if it has one.
pub(crate) fn find(db: &Connection, text: &str) -> rusqlite::Result<Option<i64>> {
    db.prepare_cached("SELECT id FROM text_value WHERE value = ?1")?
        .query_row(params![text], |row| row.get(0))
        .optional()
}
