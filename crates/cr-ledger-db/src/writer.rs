//! Recording facts, in one transaction.

use std::collections::HashSet;
use std::sync::LazyLock;

use cr_usage::Prices;
use rusqlite::{Connection, params};

use crate::conflict;
use crate::fact::{Compaction, ModelTotal, SessionHead, ToolCall, count, model_name};
use crate::money::nano;
use crate::sums;
use crate::text::Texts;

/// Made once: there are as many calls as messages.
static TOOL_CALL: LazyLock<String> = LazyLock::new(|| {
    let conflict = conflict::tool_call();
    format!("INSERT INTO tool_call VALUES (?1, ?2, ?3, ?4, 0) {conflict}")
});

/// Records facts. Recording a fact again changes nothing.
#[derive(Debug)]
pub struct Writer<'a> {
    pub(crate) db: &'a Connection,
    pub(crate) texts: &'a mut Texts,
    pub(crate) prices: &'a Prices,
    pub(crate) machine: i64,
    /// The sessions whose sums are out of date.
    pub(crate) touched: HashSet<i64>,
    /// Messages that are there now and were not before.
    pub(crate) added: i64,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(
        db: &'a Connection,
        texts: &'a mut Texts,
        prices: &'a Prices,
        machine: &str,
    ) -> rusqlite::Result<Self> {
        let machine = texts.number(db, machine)?;
        Ok(Self {
            db,
            texts,
            prices,
            machine,
            touched: HashSet::new(),
            added: 0,
        })
    }

    /// The database, for statements of the caller's own.
    pub fn db(&self) -> &Connection {
        self.db
    }

    /// The number of a text.
    pub fn text(&mut self, text: &str) -> rusqlite::Result<i64> {
        self.texts.number(self.db, text)
    }

    /// Brings the sums up to date.
    pub(crate) fn finish(&mut self) -> rusqlite::Result<()> {
        let touched = std::mem::take(&mut self.touched);
        sums::rebuild(self.db, &touched)
    }

    /// The sums of a session are out of date.
    pub(crate) fn touch(&mut self, session: i64) {
        self.touched.insert(session);
    }

    /// Records what is known of a session.
    pub fn session(&mut self, head: &SessionHead<'_>) -> rusqlite::Result<()> {
        let session = self.text(head.session)?;
        let project = self.text(head.project)?;
        let version = self.text(head.cli_version)?;
        let machine = self.machine;
        let times = (head.first_at, head.last_at);
        self.stored_session(session, project, machine, version, times)
    }

    pub(crate) fn stored_session(
        &mut self,
        session: i64,
        project: i64,
        machine: i64,
        version: i64,
        (first_at, last_at): (Option<i64>, Option<i64>),
    ) -> rusqlite::Result<()> {
        self.touch(session);
        if session == 0 {
            // A run that has no session.
            return Ok(());
        }
        let sql = format!(
            "INSERT INTO session (session, project, project_at, machine, first_at, last_at,
                cli_version, is_partial)
            VALUES (?1, ?2, CASE WHEN ?2 <> 0 THEN ?4 END, ?3, ?4, ?5, ?6, 0)
            {}",
            conflict::session()
        );
        let values = params![session, project, machine, first_at, last_at, version];
        self.db.prepare_cached(&sql)?.execute(values)?;
        Ok(())
    }

    /// Records a call of a tool.
    pub fn tool_call(&mut self, call: &ToolCall<'_>) -> rusqlite::Result<()> {
        let name = self.text(call.name)?;
        let project = self.text(call.project)?;
        let values = params![call.tool_use_id, name, project, call.at];
        self.db.prepare_cached(&TOOL_CALL)?.execute(values)?;
        Ok(())
    }

    /// A call of a tool failed.
    pub fn tool_failed(&mut self, tool_use_id: &str) -> rusqlite::Result<()> {
        let sql = "UPDATE tool_call SET failed = 1 WHERE tool_use_id = ?1 AND failed = 0";
        self.db.prepare_cached(sql)?.execute([tool_use_id])?;
        Ok(())
    }

    /// A prompt began a turn of a session.
    pub fn prompt(&mut self, session: &str, at: i64) -> rusqlite::Result<()> {
        let session = self.text(session)?;
        let sql = "INSERT INTO prompt VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        self.db.prepare_cached(sql)?.execute([session, at])?;
        Ok(())
    }

    /// The main thread was compacted.
    pub fn compaction(&mut self, compaction: &Compaction<'_>) -> rusqlite::Result<()> {
        let session = self.text(compaction.session)?;
        let conflict = conflict::compaction();
        let sql = format!("INSERT INTO compaction VALUES (?1, ?2, ?3, ?4, ?5) {conflict}");
        self.db.prepare_cached(&sql)?.execute(params![
            session,
            compaction.at,
            compaction.trigger,
            compaction.pre_tokens.map(count),
            compaction.post_tokens.map(count)
        ])?;
        Ok(())
    }

    /// Records the running total of a session. It covers the messages up to
    /// `until`.
    pub fn session_total(
        &mut self,
        session: &str,
        until: i64,
        models: &[ModelTotal<'_>],
    ) -> rusqlite::Result<()> {
        let session = self.text(session)?;
        self.stored_session(session, 0, self.machine, 0, (None, None))?;
        for total in models {
            let Some(cost) = nano(total.cost_usd) else {
                continue;
            };
            let model = self.text(model_name(total.model))?;
            let tokens = [
                total.input,
                total.output,
                total.cache_read,
                total.cache_creation,
            ];
            self.stored_total(session, model, tokens.map(count), cost)?;
        }
        self.total_until(session, until)
    }

    pub(crate) fn stored_total(
        &mut self,
        session: i64,
        model: i64,
        [input, output, cache_read, cache_creation]: [i64; 4],
        cost: i64,
    ) -> rusqlite::Result<()> {
        let sql = "INSERT INTO session_total VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            ON CONFLICT DO UPDATE SET
                input = max(input, excluded.input),
                output = max(output, excluded.output),
                cache_read = max(cache_read, excluded.cache_read),
                cache_creation = max(cache_creation, excluded.cache_creation),
                cost_nano = max(cost_nano, excluded.cost_nano)";
        let values = params![
            session,
            model,
            input,
            output,
            cache_read,
            cache_creation,
            cost
        ];
        self.db.prepare_cached(sql)?.execute(values)?;
        Ok(())
    }

    pub(crate) fn total_until(&mut self, session: i64, until: i64) -> rusqlite::Result<()> {
        self.touch(session);
        let sql = "UPDATE session SET total_until = max(coalesce(total_until, ?2), ?2)
            WHERE session = ?1";
        self.db.prepare_cached(sql)?.execute([session, until])?;
        Ok(())
    }
}
