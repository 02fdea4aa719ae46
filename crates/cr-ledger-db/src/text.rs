//! Texts that repeat: each is stored once and has a number.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, params};

/// How many numbers are remembered, so that memory is bounded.
const REMEMBERED: usize = 100_000;

/// The numbers of the texts that were used lately.
#[derive(Debug, Default)]
pub(crate) struct Texts(HashMap<String, i64>);

impl Texts {
    /// The number of `text`, which gets one if it has none.
    pub(crate) fn number(&mut self, db: &Connection, text: &str) -> rusqlite::Result<i64> {
        if text.is_empty() {
            return Ok(0);
        }
        if let Some(&number) = self.0.get(text) {
            return Ok(number);
        }
        let number = match find(db, text)? {
            Some(number) => number,
            None => db
                .prepare_cached("INSERT INTO text_value (value) VALUES (?1)")?
                .insert(params![text])?,
        };
        if self.0.len() == REMEMBERED {
            self.0.clear();
        }
        self.0.insert(text.to_owned(), number);
        Ok(number)
    }

    /// Forgets the numbers: after a rollback they may not exist.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// The number of `text`, if it has one.
pub(crate) fn find(db: &Connection, text: &str) -> rusqlite::Result<Option<i64>> {
    db.prepare_cached("SELECT id FROM text_value WHERE value = ?1")?
        .query_row(params![text], |row| row.get(0))
        .optional()
}
