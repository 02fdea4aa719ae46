//! Recording a run from its summary.

use std::cmp::Reverse;

use cr_summary::Summary;
use rusqlite::types::Value;
use rusqlite::{OptionalExtension, params, params_from_iter};

use crate::conflict;
use crate::fact::{Compaction, count, model_name};
use crate::money::nano;
use crate::run_fact::{self, ModelRow, Rank, RunKey};
use crate::time::to_ms;
use crate::writer::Writer;

/// What the caller knows of a run and its summary does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunLabels {
    /// The id of its milestone.
    pub milestone: String,
    /// The task of a plan that it worked on.
    pub task: String,
    /// The kind of that task.
    pub task_type: String,
}

impl RunLabels {
    /// The labels of two records of a run. Of two different ones the larger text
    /// counts, whatever the order.
    fn or(self, other: &Self) -> Self {
        Self {
            milestone: self.milestone.max(other.milestone.clone()),
            task: self.task.max(other.task.clone()),
            task_type: self.task_type.max(other.task_type.clone()),
        }
    }
}

/// What became of a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// The run was not there before.
    New,
    /// It was there, and this summary knows more.
    Replaced,
    /// It was there.
    Known,
    /// The summary names neither a run nor a session.
    Nameless,
}

/// A new run.
const INSERT_RUN: &str =
    "INSERT INTO run (run_key, run_id, session, project, model, machine, milestone,
                task, task_type, started_at, ended_at, duration_ms, outcome, code, num_turns,
                tool_calls, cost_nano, cost_source, context_used, context_window, context_at,
                cache_ttl, compactions, messages, last_uuid, messages_digest, commits,
                changed_files, insertions, deletions, end_sha, branch, cwd, run_dir, cli_version,
                resume_command, retry_action, retry_at, fingerprint)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
                ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33,
                ?34, ?35, ?36, ?37, ?38, ?39)";

impl Writer<'_> {
    /// Records a run.
    pub fn run(&mut self, summary: &Summary, labels: &RunLabels) -> anyhow::Result<Recorded> {
        let Some(RunKey(key)) = RunKey::of(summary) else {
            return Ok(Recorded::Nameless);
        };
        let summary = &run_fact::without_negative_costs(summary);
        self.quota(summary)?;
        self.session_of(summary)?;
        self.insert_compactions(summary)?;
        let before = self.stored_run(&key)?;
        let labels = match &before {
            Some((_, before)) => labels.clone().or(before),
            None => labels.clone(),
        };
        let machine = self.text_of(self.machine)?;
        let recorded = match before {
            None => Recorded::New,
            Some((rank, _)) if rank >= Rank::of(summary, machine) => {
                self.label(&key, &labels)?;
                return Ok(Recorded::Known);
            }
            Some(_) => {
                self.remove_run(&key)?;
                Recorded::Replaced
            }
        };
        self.insert_run(&key, summary, &labels)?;
        self.insert_sessions(&key, summary)?;
        self.insert_models(&key, summary)?;
        self.insert_tools(&key, summary)?;
        self.insert_turns(&key, summary)?;
        self.read_back(&key)?;
        Ok(recorded)
    }

    /// Refuses to acknowledge a run that a damaged file does not give back.
    fn read_back(&self, key: &str) -> rusqlite::Result<()> {
        let there: i64 = self
            .db
            .prepare_cached("SELECT count(*) FROM run WHERE run_key = ?1")?
            .query_row([key], |row| row.get(0))?;
        if there == 1 {
            return Ok(());
        }
        let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
        let text = "a run that was written is not there".to_owned();
        Err(rusqlite::Error::SqliteFailure(code, Some(text)))
    }

    /// The session of a run, also of one that is stored already: a summary that
    /// knows less may still know when the session began.
    fn session_of(&mut self, summary: &Summary) -> rusqlite::Result<()> {
        let session = self.text(summary.session_id.as_deref().unwrap_or_default())?;
        let project = self.text(summary.cwd.as_deref().unwrap_or_default())?;
        let version = self.text(summary.agent.cli_version.as_deref().unwrap_or_default())?;
        let times = (summary.started_at.map(to_ms), summary.ended_at.map(to_ms));
        self.stored_session(session, project, self.machine, version, times)
    }

    /// The rank and the labels of a run that is stored.
    fn stored_run(&self, key: &str) -> rusqlite::Result<Option<(Rank, RunLabels)>> {
        let sql = format!(
            "SELECT milestone, task, task_type, {}, {} FROM run WHERE run_key = ?1",
            conflict::text("machine"),
            run_fact::RANK.join(", ")
        );
        self.db
            .prepare_cached(&sql)?
            .query_row([key], |row| {
                let labels = RunLabels {
                    milestone: row.get(0)?,
                    task: row.get(1)?,
                    task_type: row.get(2)?,
                };
                let numbers = [
                    row.get(4)?,
                    row.get(5)?,
                    row.get(6)?,
                    row.get(7)?,
                    row.get(8)?,
                ];
                Ok((Rank(numbers, Reverse(row.get(3)?)), labels))
            })
            .optional()
    }

    /// Sets the labels of a stored run.
    pub(crate) fn label(&mut self, key: &str, labels: &RunLabels) -> rusqlite::Result<()> {
        let sql = "UPDATE run SET milestone = ?2, task = ?3, task_type = ?4
            WHERE run_key = ?1 AND (milestone, task, task_type) <> (?2, ?3, ?4)";
        let values = params![key, labels.milestone, labels.task, labels.task_type];
        self.db.prepare_cached(sql)?.execute(values)?;
        Ok(())
    }

    /// The sums of the sessions of a run are out of date.
    pub(crate) fn touch_run(&mut self, key: &str) -> rusqlite::Result<()> {
        let sql = "SELECT session FROM run_session WHERE run_key = ?1
            UNION SELECT session FROM run WHERE run_key = ?1";
        let mut statement = self.db.prepare_cached(sql)?;
        let sessions = statement.query_map([key], |row| row.get(0))?;
        let sessions: Vec<i64> = sessions.collect::<Result<_, _>>()?;
        self.touched.extend(sessions);
        Ok(())
    }

    pub(crate) fn remove_run(&mut self, key: &str) -> rusqlite::Result<()> {
        self.touch_run(key)?;
        for table in ["run", "run_session", "run_model", "run_tool", "turn"] {
            let sql = format!("DELETE FROM {table} WHERE run_key = ?1");
            self.db.prepare_cached(&sql)?.execute([key])?;
        }
        Ok(())
    }

    fn insert_run(
        &mut self,
        key: &str,
        summary: &Summary,
        labels: &RunLabels,
    ) -> anyhow::Result<()> {
        let session = self.text(&text(summary.session_id.as_deref()))?;
        let project = self.text(&text(summary.cwd.as_deref()))?;
        let model = self.text(model_name(&text(summary.model.as_deref())))?;
        let version = self.text(&text(summary.agent.cli_version.as_deref()))?;
        let names: [Value; 11] = [
            key.to_owned().into(),
            text(summary.run_id.as_deref()).into(),
            session.into(),
            project.into(),
            model.into(),
            self.machine.into(),
            labels.milestone.clone().into(),
            labels.task.clone().into(),
            labels.task_type.clone().into(),
            summary.started_at.map(to_ms).into(),
            summary.ended_at.map(to_ms).into(),
        ];
        let end: [Value; 7] = [
            text(summary.cwd.as_deref()).into(),
            text(summary.run_dir.as_deref()).into(),
            version.into(),
            text(summary.resume_command.as_deref()).into(),
            summary.retry.action.clone().into_owned().into(),
            summary.retry.at.map(to_ms).into(),
            run_fact::fingerprint(summary).into(),
        ];
        let values = names.into_iter().chain(run_fact::result(summary));
        let values = values.chain(run_fact::git(summary)).chain(end);
        self.db
            .prepare_cached(INSERT_RUN)?
            .execute(params_from_iter(values))?;
        Ok(())
    }

    /// The sessions of a run: its own, and those of earlier attempts.
    fn insert_sessions(&mut self, key: &str, summary: &Summary) -> rusqlite::Result<()> {
        let earlier = summary.attempts.iter().map(|attempt| &attempt.session_id);
        let sessions = earlier.chain([&summary.session_id]).flatten();
        for session in sessions {
            let session = self.text(session)?;
            self.touch(session);
            let sql = "INSERT INTO run_session VALUES (?1, ?2) ON CONFLICT DO NOTHING";
            self.db
                .prepare_cached(sql)?
                .execute(params![key, session])?;
        }
        Ok(())
    }

    fn insert_models(&mut self, key: &str, summary: &Summary) -> rusqlite::Result<()> {
        for (model, row) in run_fact::models(summary) {
            let model = self.text(model_name(&model))?;
            self.insert_model(key, model, &row)?;
        }
        Ok(())
    }

    pub(crate) fn insert_model(
        &mut self,
        key: &str,
        model: i64,
        row: &ModelRow,
    ) -> rusqlite::Result<()> {
        // One model may be listed with and without the mark of its window.
        let sql = "INSERT INTO run_model VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
            ON CONFLICT DO UPDATE SET
                input = input + excluded.input,
                output = output + excluded.output,
                cache_read = cache_read + excluded.cache_read,
                cache_creation = cache_creation + excluded.cache_creation,
                cache_creation_5m = cache_creation_5m + excluded.cache_creation_5m,
                cache_creation_1h = cache_creation_1h + excluded.cache_creation_1h,
                cost_nano = coalesce(cost_nano, 0) + coalesce(excluded.cost_nano, 0)";
        self.db.prepare_cached(sql)?.execute(params![
            key,
            model,
            row.input,
            row.output,
            row.cache_read,
            row.cache_creation,
            row.cache_creation_5m,
            row.cache_creation_1h,
            row.cost
        ])?;
        Ok(())
    }

    fn insert_tools(&mut self, key: &str, summary: &Summary) -> rusqlite::Result<()> {
        for (name, calls) in &summary.tools.0 {
            let name = self.text(name)?;
            let sql = "INSERT INTO run_tool VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
            let values = params![key, name, count(*calls)];
            self.db.prepare_cached(sql)?.execute(values)?;
        }
        Ok(())
    }

    fn insert_turns(&mut self, key: &str, summary: &Summary) -> rusqlite::Result<()> {
        for turn in &summary.turns {
            let sql = "INSERT INTO turn VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
                ON CONFLICT DO NOTHING";
            self.db.prepare_cached(sql)?.execute(params![
                key,
                count(turn.number),
                turn.cause.as_deref().unwrap_or_default(),
                turn.outcome,
                turn.context_used.map(count),
                count(turn.tokens.input),
                count(turn.tokens.output),
                count(turn.tokens.cache_read),
                count(turn.tokens.cache_creation),
                turn.num_turns.map(count),
                turn.duration_ms.map(count),
                turn.cost_usd.and_then(nano)
            ])?;
        }
        Ok(())
    }

    fn insert_compactions(&mut self, summary: &Summary) -> rusqlite::Result<()> {
        let Some(session) = summary.session_id.as_deref() else {
            return Ok(());
        };
        for compaction in &summary.agent.compaction_list {
            let Some(at) = compaction.at else { continue };
            self.compaction(&Compaction {
                session,
                at: to_ms(at),
                trigger: compaction.trigger.as_deref().unwrap_or_default(),
                pre_tokens: compaction.pre_tokens,
                post_tokens: compaction.post_tokens,
            })?;
        }
        Ok(())
    }

    /// Records the account's usage windows.
    fn quota(&mut self, summary: &Summary) -> rusqlite::Result<()> {
        for (name, window) in summary.agent.quota.iter().flatten() {
            let at = window.at.or(summary.ended_at);
            let Some(at) = at.map(to_ms) else { continue };
            let conflict = conflict::quota_reading();
            let sql =
                format!("INSERT INTO quota_reading VALUES (?1, ?2, ?3, ?4, ?5, ?6) {conflict}");
            self.db.prepare_cached(&sql)?.execute(params![
                self.machine,
                name,
                at,
                window.used,
                window.resets_at.map(to_ms),
                window.status.as_deref().unwrap_or_default()
            ])?;
        }
        Ok(())
    }
}

/// A text that may be missing.
fn text(text: Option<&str>) -> String {
    text.unwrap_or_default().to_owned()
}
