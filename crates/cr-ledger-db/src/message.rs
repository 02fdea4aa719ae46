//! One answer of the model: how its records are put together.

use std::sync::LazyLock;

use cr_event::Usage;
use rusqlite::{OptionalExtension, Row, params};

use crate::fact::{Message, count, model_name};
use crate::money::nano;
use crate::writer::Writer;

/// Set in the origin of a message whose line says that it is a copy: every
/// original is smaller.
const COPY: i64 = 1 << 60;

/// A message as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredMessage {
    pub(crate) session: i64,
    pub(crate) origin: i64,
    pub(crate) agent: i64,
    pub(crate) project: i64,
    pub(crate) model: i64,
    pub(crate) machine: i64,
    pub(crate) at: i64,
    pub(crate) last_at: i64,
    pub(crate) uuid: String,
    pub(crate) is_final: bool,
    pub(crate) input: i64,
    pub(crate) output: i64,
    pub(crate) cache_read: i64,
    pub(crate) cache_creation: i64,
    pub(crate) cache_creation_5m: Option<i64>,
    pub(crate) cache_creation_1h: Option<i64>,
    /// What a line itself says that it cost.
    pub(crate) own_cost: Option<i64>,
    pub(crate) is_sidechain: bool,
}

/// The columns of a message that may change, in the order of [`Writer::put`].
const VALUES: [&str; 19] = [
    "session",
    "origin",
    "agent",
    "project",
    "model",
    "machine",
    "at",
    "last_at",
    "uuid",
    "is_final",
    "input",
    "output",
    "cache_read",
    "cache_creation",
    "cache_creation_5m",
    "cache_creation_1h",
    "cost_nano",
    "is_estimate",
    "is_sidechain",
];

/// Writes a message unless it is there. Made once: there are many messages.
static INSERT: LazyLock<String> = LazyLock::new(|| {
    let places: Vec<String> = (1..=VALUES.len() + 2).map(|at| format!("?{at}")).collect();
    format!(
        "INSERT INTO message (message_id, request_id, {}) VALUES ({}) ON CONFLICT DO NOTHING",
        VALUES.join(", "),
        places.join(", ")
    )
});

/// Writes all of a message that is there.
static UPDATE: LazyLock<String> = LazyLock::new(|| {
    let values = VALUES.iter().zip(3..);
    let values: Vec<String> = values.map(|(name, at)| format!("{name} = ?{at}")).collect();
    format!(
        "UPDATE message SET {} WHERE message_id = ?1 AND request_id = ?2",
        values.join(", ")
    )
});

impl Writer<'_> {
    /// Records an answer of the model. Each line of it may be recorded.
    pub fn message(&mut self, message: &Message<'_>) -> rusqlite::Result<()> {
        let cost = message.cost_usd.and_then(nano);
        let stored = StoredMessage {
            session: self.text(message.session)?,
            origin: message.log_began_at.clamp(0, COPY - 1) + i64::from(message.is_fork) * COPY,
            agent: self.text(message.agent)?,
            project: self.text(message.project)?,
            model: self.text(model_name(message.model))?,
            machine: self.machine,
            at: message.at,
            last_at: message.last_at,
            uuid: message.uuid.to_owned(),
            is_final: message.is_final,
            input: count(message.input),
            output: count(message.output),
            cache_read: count(message.cache_read),
            cache_creation: count(message.cache_creation),
            cache_creation_5m: message.cache_creation_5m.map(count),
            cache_creation_1h: message.cache_creation_1h.map(count),
            own_cost: cost,
            is_sidechain: message.is_sidechain,
        };
        self.stored_message((message.message_id, message.request_id), stored)
    }

    pub(crate) fn stored_message(
        &mut self,
        key: (&str, &str),
        message: StoredMessage,
    ) -> rusqlite::Result<()> {
        self.touch(message.session);
        let request = self.request_of(key)?;
        let key = (key.0, request.as_deref().unwrap_or(key.1));
        if let Some(nameless) = self.take_nameless(key)? {
            self.stored_message(key, nameless)?;
        }
        if self.insert(key, &message)? {
            return self.leave_out_replays(key, message.is_sidechain);
        }
        let Some((_, before)) = self.stored(key)? else {
            return Ok(());
        };
        match (before.is_sidechain, message.is_sidechain) {
            (false, true) => return Ok(()),
            (true, false) => {
                self.touch(before.session);
                self.update(key, &message)?;
                return self.leave_out_replays(key, false);
            }
            _ => {}
        }
        let merged = self.merge(before.clone(), message)?;
        if merged != before {
            self.update(key, &merged)?;
        }
        Ok(())
    }

    /// The request of a message whose line does not name it, if another line of the
    /// message does.
    fn request_of(&self, key: (&str, &str)) -> rusqlite::Result<Option<String>> {
        if !key.1.is_empty() {
            return Ok(None);
        }
        let sql = "SELECT min(request_id) FROM message WHERE message_id = ?1 AND request_id <> ''";
        let mut statement = self.db.prepare_cached(sql)?;
        statement.query_row([key.0], |row| row.get(0))
    }

    /// Takes out what lines that do not name the request have said of the message.
    fn take_nameless(&mut self, key: (&str, &str)) -> rusqlite::Result<Option<StoredMessage>> {
        if key.1.is_empty() {
            return Ok(None);
        }
        let Some((id, message)) = self.stored((key.0, ""))? else {
            return Ok(None);
        };
        self.touch(message.session);
        let sql = "DELETE FROM message WHERE id = ?1";
        self.db.prepare_cached(sql)?.execute([id])?;
        self.added -= 1;
        Ok(Some(message))
    }

    /// Removes the messages of side chains that repeat one of the main thread with
    /// another request, after `key` was stored.
    fn leave_out_replays(&mut self, key: (&str, &str), is_sidechain: bool) -> rusqlite::Result<()> {
        let sql = "SELECT id, session, is_sidechain FROM message
            WHERE message_id = ?1 AND request_id <> ?2";
        let mut others = Vec::new();
        {
            let mut statement = self.db.prepare_cached(sql)?;
            let mut rows = statement.query([key.0, key.1])?;
            while let Some(row) = rows.next()? {
                let other: (i64, i64, bool) = (row.get(0)?, row.get(1)?, row.get(2)?);
                others.push(other);
            }
        }
        if is_sidechain && others.iter().any(|&(_, _, is_sidechain)| !is_sidechain) {
            let sql = "DELETE FROM message WHERE message_id = ?1 AND request_id = ?2";
            self.db.prepare_cached(sql)?.execute([key.0, key.1])?;
            self.added -= 1;
        }
        for (id, session, _) in others.into_iter().filter(|other| other.2 && !is_sidechain) {
            self.touch(session);
            let sql = "DELETE FROM message WHERE id = ?1";
            self.db.prepare_cached(sql)?.execute([id])?;
            self.added -= 1;
        }
        Ok(())
    }

    /// Whether the message was new. One that is there stays as it is.
    fn insert(&mut self, key: (&str, &str), message: &StoredMessage) -> rusqlite::Result<bool> {
        let inserted = self.put(&INSERT, key, message)?;
        self.added += i64::from(inserted > 0);
        Ok(inserted > 0)
    }

    /// Writes a message that is there again.
    fn update(&mut self, key: (&str, &str), message: &StoredMessage) -> rusqlite::Result<()> {
        self.put(&UPDATE, key, message).map(drop)
    }

    /// Runs [`INSERT`] or [`UPDATE`]; returns how many rows it changed.
    fn put(
        &mut self,
        sql: &str,
        key: (&str, &str),
        message: &StoredMessage,
    ) -> rusqlite::Result<usize> {
        let (cost, is_estimate) = self.cost(message)?;
        self.db.prepare_cached(sql)?.execute(params![
            key.0,
            key.1,
            message.session,
            message.origin,
            message.agent,
            message.project,
            message.model,
            message.machine,
            message.at,
            message.last_at,
            message.uuid,
            message.is_final,
            message.input,
            message.output,
            message.cache_read,
            message.cache_creation,
            message.cache_creation_5m,
            message.cache_creation_1h,
            cost,
            is_estimate,
            message.is_sidechain
        ])
    }

    fn stored(&self, key: (&str, &str)) -> rusqlite::Result<Option<(i64, StoredMessage)>> {
        let sql =
            format!("SELECT id, {COLUMNS} FROM message WHERE message_id = ?1 AND request_id = ?2");
        self.db
            .prepare_cached(&sql)?
            .query_row([key.0, key.1], |row| Ok((row.get(0)?, read(row, 1)?)))
            .optional()
    }

    /// What two records of one message say together. The order of the two does
    /// not matter.
    fn merge(&mut self, a: StoredMessage, b: StoredMessage) -> rusqlite::Result<StoredMessage> {
        if a.session != b.session {
            // One of the two logs has a copy of it.
            self.touch(a.session);
            self.touch(b.session);
        }
        let first = self.is_first(&a, &b)?;
        let (owner, other) = if first { (a, b) } else { (b, a) };
        // Messages of a side chain may go when the main thread's come; a log with
        // copies of them has copies of others too.
        if owner.session != other.session && !owner.is_sidechain {
            self.mark_partial(other.session, other.machine)?;
        }
        let later = if (other.last_at, &other.uuid) > (owner.last_at, &owner.uuid) {
            &other
        } else {
            &owner
        };
        let larger = |a: Option<i64>, b: Option<i64>| a.max(b);
        Ok(StoredMessage {
            at: owner.at.min(other.at),
            last_at: later.last_at,
            uuid: later.uuid.clone(),
            is_final: owner.is_final || other.is_final,
            input: owner.input.max(other.input),
            output: owner.output.max(other.output),
            cache_read: owner.cache_read.max(other.cache_read),
            cache_creation: owner.cache_creation.max(other.cache_creation),
            cache_creation_5m: larger(owner.cache_creation_5m, other.cache_creation_5m),
            cache_creation_1h: larger(owner.cache_creation_1h, other.cache_creation_1h),
            own_cost: larger(owner.own_cost, other.own_cost),
            // A subagent's own log names it; other lines may not.
            agent: self.smaller_text(owner.agent, other.agent)?,
            ..owner
        })
    }

    /// Whether `a` is the record that counts the message, and not `b`.
    fn is_first(&self, a: &StoredMessage, b: &StoredMessage) -> rusqlite::Result<bool> {
        if a.origin != b.origin {
            return Ok(a.origin < b.origin);
        }
        let texts = |message: &StoredMessage| {
            let text = |number| self.text_of(number);
            let project = text(message.project)?;
            Ok::<_, rusqlite::Error>((
                text(message.session)?,
                text(message.machine)?,
                project.is_empty(),
                project,
                text(message.model)?,
            ))
        };
        Ok(texts(a)? <= texts(b)?)
    }

    /// The text of a number.
    pub(crate) fn text_of(&self, number: i64) -> rusqlite::Result<String> {
        self.db
            .prepare_cached("SELECT value FROM text_value WHERE id = ?1")?
            .query_row([number], |row| row.get(0))
    }

    /// The smaller one of two known texts.
    fn smaller_text(&self, a: i64, b: i64) -> rusqlite::Result<i64> {
        let is_a = a == b || b == 0 || (a != 0 && self.text_of(a)? < self.text_of(b)?);
        Ok(if is_a { a } else { b })
    }

    /// A session has messages that it does not count.
    pub(crate) fn mark_partial(&mut self, session: i64, machine: i64) -> rusqlite::Result<()> {
        self.stored_session(session, 0, machine, 0, (None, None))?;
        let sql = "UPDATE session SET is_partial = 1 WHERE session = ?1";
        self.db.prepare_cached(sql)?.execute([session])?;
        Ok(())
    }

    /// What a message cost, and whether that comes from the table of prices.
    fn cost(&mut self, message: &StoredMessage) -> rusqlite::Result<(Option<i64>, bool)> {
        if message.own_cost.is_some() {
            return Ok((message.own_cost, false));
        }
        let model = self.texts.value(self.db, message.model)?;
        let tokens = |count: i64| u64::try_from(count).unwrap_or(0);
        let usage = Usage {
            input: tokens(message.input),
            output: tokens(message.output),
            cache_read: tokens(message.cache_read),
            cache_creation: tokens(message.cache_creation),
            cache_5m: tokens(message.cache_creation_5m.unwrap_or(0)),
            cache_1h: tokens(message.cache_creation_1h.unwrap_or(0)),
        };
        let cost = self.prices.estimate([(model, usage)].into_iter());
        Ok((cost.and_then(nano), true))
    }
}

/// The columns of a stored message, in the order of [`read`].
pub(crate) const COLUMNS: &str = "session, origin, agent, project, model, machine, at, last_at, \
    uuid, is_final, input, output, cache_read, cache_creation, cache_creation_5m, \
    cache_creation_1h, CASE WHEN is_estimate THEN NULL ELSE cost_nano END, is_sidechain";

/// Reads a stored message whose columns begin at `from`.
pub(crate) fn read(row: &Row<'_>, from: usize) -> rusqlite::Result<StoredMessage> {
    Ok(StoredMessage {
        session: row.get(from)?,
        origin: row.get(from + 1)?,
        agent: row.get(from + 2)?,
        project: row.get(from + 3)?,
        model: row.get(from + 4)?,
        machine: row.get(from + 5)?,
        at: row.get(from + 6)?,
        last_at: row.get(from + 7)?,
        uuid: row.get(from + 8)?,
        is_final: row.get(from + 9)?,
        input: row.get(from + 10)?,
        output: row.get(from + 11)?,
        cache_read: row.get(from + 12)?,
        cache_creation: row.get(from + 13)?,
        cache_creation_5m: row.get(from + 14)?,
        cache_creation_1h: row.get(from + 15)?,
        own_cost: row.get(from + 16)?,
        is_sidechain: row.get(from + 17)?,
    })
}
