//! What the ledger knows of a session.

use cr_ledger_db::rusqlite::{self, Connection, OptionalExtension, params};
use cr_usage::CacheTtl;

use crate::price::ttl_ms;
use crate::target::Target;
use crate::task::{self, Task, count, ttl_named, written};

/// How many sessions of a project say what is usual in it.
const SESSIONS: i64 = 20;

/// Calls of a task where nothing says how many.
const CALLS: u64 = 10;

/// How full the context is.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    /// Null after a compaction that does not say what was left.
    pub(crate) used: Option<u64>,
    /// When that was, in milliseconds; 0 is not known.
    pub(crate) at: i64,
    pub(crate) source: &'static str,
}

/// The last compaction.
#[derive(Clone, Debug)]
pub(crate) struct Compacted {
    pub(crate) at: i64,
    pub(crate) trigger: String,
    pub(crate) pre_tokens: Option<u64>,
    pub(crate) post_tokens: Option<u64>,
}

/// The last run of the session.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastRun {
    pub(crate) outcome: String,
    pub(crate) resume_command: String,
    pub(crate) cwd: String,
    pub(crate) cache_ttl: String,
    pub(crate) at: i64,
}

/// All of it.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) reading: Option<Reading>,
    pub(crate) model: Option<String>,
    pub(crate) window: Option<(u64, &'static str)>,
    pub(crate) compaction: Option<Compacted>,
    pub(crate) run: Option<LastRun>,
    /// When the last call was.
    pub(crate) last_call: Option<i64>,
    pub(crate) ttl: CacheTtl,
    /// Calls of a task, and what says so.
    pub(crate) calls: (u64, &'static str),
    /// What the first call of a new session sends, without a handoff.
    pub(crate) first_context: Option<u64>,
    /// What a new session reads in again.
    pub(crate) reading_in: u64,
}

impl Facts {
    /// What is known at the time `now`.
    pub(crate) fn read(db: &Connection, target: &Target, now: i64) -> rusqlite::Result<Self> {
        let session = target.session;
        let message = last_message(db, session, now)?;
        let run_context = last_run_context(db, session, now)?;
        let is_message = match (&message, &run_context) {
            (Some((message, _)), Some((run, _))) => message.at >= run.at,
            (message, _) => message.is_some(),
        };
        let newest = if is_message { message } else { run_context };
        let compaction = last_compaction(db, session, now)?;
        let run = last_run(db, session, now)?;
        let (mut reading, model) = newest.unzip();
        let last_call = reading.as_ref().map(|reading| reading.at);
        let later = compaction.as_ref();
        if let Some(later) = later.filter(|later| last_call.is_none_or(|at| later.at > at)) {
            reading = Some(Reading {
                used: later.post_tokens,
                at: later.at,
                source: "compaction",
            });
        }
        let model = model.filter(|model| !model.is_empty());
        let tasks = task::tasks(db, session, now, 0)?;
        let others = match tasks.len() {
            0 | 1 => others(db, target, now)?,
            _ => Vec::new(),
        };
        Ok(Self {
            window: window(db, session, model.as_deref(), now)?,
            ttl: ttl(db, session, run.as_ref(), now)?,
            calls: calls(&tasks, &others),
            first_context: first_context(&tasks, &others),
            reading_in: reading_in(&tasks, &others),
            last_call: last_call.filter(|at| *at > 0),
            reading,
            model,
            compaction,
            run,
        })
    }

    /// When the cache loses the context.
    pub(crate) fn expires_at(&self) -> Option<i64> {
        self.last_call.map(|at| at + ttl_ms(self.ttl))
    }

    /// Whether the context was compacted after the last call.
    pub(crate) fn is_compacted(&self) -> bool {
        let source = self.reading.as_ref().map(|reading| reading.source);
        source == Some("compaction")
    }

    /// Whether the last run ended because the context was full, and nothing made
    /// room since.
    pub(crate) fn is_exhausted(&self) -> bool {
        let Some(run) = &self.run else { return false };
        let later = self.reading.as_ref().is_some_and(|last| last.at > run.at);
        run.outcome == "context_exhausted" && !later
    }
}

type Newest = (Reading, String);

fn last_message(db: &Connection, session: i64, now: i64) -> rusqlite::Result<Option<Newest>> {
    let sql = "SELECT input + cache_read + cache_creation + output, max(at, last_at), m.value
        FROM message JOIN text_value m ON m.id = model
        WHERE session = ?1 AND agent = 0 AND at <= ?2
            AND input + cache_read + cache_creation > 0
        ORDER BY at DESC, message.id DESC LIMIT 1";
    newest(db, sql, (session, now), "message")
}

fn last_run_context(db: &Connection, session: i64, now: i64) -> rusqlite::Result<Option<Newest>> {
    let sql = "SELECT context_used, coalesce(context_at, ended_at, started_at, 0) AS at, m.value
        FROM run JOIN text_value m ON m.id = model
        WHERE session = ?1 AND context_used IS NOT NULL
            AND coalesce(context_at, ended_at, started_at, 0) <= ?2
        ORDER BY at DESC, run_key DESC LIMIT 1";
    newest(db, sql, (session, now), "run")
}

fn newest(
    db: &Connection,
    sql: &str,
    values: (i64, i64),
    source: &'static str,
) -> rusqlite::Result<Option<Newest>> {
    db.prepare_cached(sql)?
        .query_row([values.0, values.1], |row| {
            let reading = Reading {
                used: Some(count(row.get(0)?)),
                at: row.get(1)?,
                source,
            };
            Ok((reading, row.get(2)?))
        })
        .optional()
}

fn last_compaction(db: &Connection, session: i64, now: i64) -> rusqlite::Result<Option<Compacted>> {
    let sql = "SELECT at, trigger_word, pre_tokens, post_tokens FROM compaction
        WHERE session = ?1 AND at <= ?2 ORDER BY at DESC LIMIT 1";
    db.prepare_cached(sql)?
        .query_row([session, now], |row| {
            Ok(Compacted {
                at: row.get(0)?,
                trigger: row.get(1)?,
                pre_tokens: row.get::<_, Option<i64>>(2)?.map(count),
                post_tokens: row.get::<_, Option<i64>>(3)?.map(count),
            })
        })
        .optional()
}

fn last_run(db: &Connection, session: i64, now: i64) -> rusqlite::Result<Option<LastRun>> {
    let sql = "SELECT outcome, resume_command, cwd, cache_ttl,
            coalesce(ended_at, started_at, 0) AS at
        FROM run WHERE session = ?1 AND coalesce(ended_at, started_at, 0) <= ?2
        ORDER BY at DESC, run_key DESC LIMIT 1";
    db.prepare_cached(sql)?
        .query_row([session, now], |row| {
            Ok(LastRun {
                outcome: row.get(0)?,
                resume_command: row.get(1)?,
                cwd: row.get(2)?,
                cache_ttl: row.get(3)?,
                at: row.get(4)?,
            })
        })
        .optional()
}

/// The size of the window: as the last run of the session says, else as the last
/// run with the same model does.
pub(crate) fn window(
    db: &Connection,
    session: i64,
    model: Option<&str>,
    now: i64,
) -> rusqlite::Result<Option<(u64, &'static str)>> {
    let sql = "SELECT context_window, session = ?1 FROM run
        JOIN text_value m ON m.id = model
        WHERE context_window > 0 AND coalesce(ended_at, started_at, 0) <= ?3
            AND (m.value = ?2 OR (session = ?1 AND (?2 = '' OR m.value = '')))
        ORDER BY session = ?1 DESC, coalesce(ended_at, started_at, 0) DESC, run_key DESC
        LIMIT 1";
    db.prepare_cached(sql)?
        .query_row(params![session, model.unwrap_or_default(), now], |row| {
            let source = if row.get(1)? { "session" } else { "model" };
            Ok((count(row.get(0)?), source))
        })
        .optional()
}

/// How long the cache keeps the context: as the last message that wrote to it
/// says, else as the last run does, else five minutes, the shorter time.
fn ttl(
    db: &Connection,
    session: i64,
    run: Option<&LastRun>,
    now: i64,
) -> rusqlite::Result<CacheTtl> {
    let sql = "SELECT cache_creation_5m, cache_creation_1h, at FROM message
        WHERE session = ?1 AND agent = 0 AND at <= ?2
            AND coalesce(cache_creation_5m, 0) + coalesce(cache_creation_1h, 0) > 0
        ORDER BY at DESC, id DESC LIMIT 1";
    let message: Option<(Option<CacheTtl>, i64)> = db
        .prepare_cached(sql)?
        .query_row([session, now], |row| {
            Ok((written(row.get(0)?, row.get(1)?), row.get(2)?))
        })
        .optional()?;
    let named = run.and_then(|run| Some((ttl_named(&run.cache_ttl)?, run.at)));
    Ok(match (message, named) {
        (Some((_, at)), Some((named, run_at))) if run_at > at => named,
        (Some((Some(written), _)), _) => written,
        (_, Some((named, _))) => named,
        _ => CacheTtl::Minutes,
    })
}

/// How many calls a task has: the median of the session, else of the project.
fn calls(tasks: &[Task], others: &[Vec<Task>]) -> (u64, &'static str) {
    let of = |tasks: &[Task]| tasks.iter().map(|task| task.calls).collect::<Vec<_>>();
    let session = task::median(of(tasks)).map(|calls| (calls, "session"));
    let project = || task::median(others.iter().flat_map(|tasks| of(tasks)).collect());
    session
        .or_else(|| project().map(|calls| (calls, "project")))
        .unwrap_or((CALLS, "default"))
}

/// What the first call of the session sent: the system prompt, the tools and a
/// prompt; if that is not known, of the latest session of the project.
fn first_context(tasks: &[Task], others: &[Vec<Task>]) -> Option<u64> {
    let of = |tasks: &[Task]| tasks.first().and_then(|task| task.first_context);
    of(tasks).or_else(|| others.iter().find_map(|tasks| of(tasks)))
}

/// What a new session reads in again: as this session did, else the median of the
/// project's. One task alone does not tell it from its own work.
fn reading_in(tasks: &[Task], others: &[Vec<Task>]) -> u64 {
    if tasks.len() > 1 {
        return task::reading_in(tasks);
    }
    let others = others.iter().filter(|tasks| tasks.len() > 1);
    task::median(others.map(|tasks| task::reading_in(tasks)).collect()).unwrap_or(0)
}

/// The tasks of the latest other sessions of the project.
fn others(db: &Connection, target: &Target, now: i64) -> rusqlite::Result<Vec<Vec<Task>>> {
    let sql = "SELECT session FROM session JOIN text_value p ON p.id = project
        WHERE p.value = ?1 AND p.value <> '' AND session <> ?2 AND coalesce(first_at, 0) <= ?3
        ORDER BY coalesce(last_at, first_at, 0) DESC, session LIMIT ?4";
    let project = target.project.as_deref().unwrap_or_default();
    let mut statement = db.prepare_cached(sql)?;
    let values = params![project, target.session, now, SESSIONS];
    let sessions = statement.query_map(values, |row| row.get(0))?;
    let sessions: Vec<i64> = sessions.collect::<Result<_, _>>()?;
    let tasks = |session| task::tasks(db, session, now, 0);
    sessions.into_iter().map(tasks).collect()
}
