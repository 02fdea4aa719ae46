//! The tasks of a session: the parts of it between which somebody could decide.

use cr_ledger_db::rusqlite::{self, Connection};
use cr_usage::CacheTtl;

/// Messages of a run may carry times a little outside of it.
const TOLERANCE_MS: i64 = 1000;

/// A part of a session: a run, or what follows a prompt.
#[derive(Clone, Debug, Default)]
pub(crate) struct Task {
    pub(crate) started_at: i64,
    pub(crate) ended_at: i64,
    /// Calls of the model in the main thread.
    pub(crate) calls: u64,
    /// What the first call sent.
    pub(crate) first_context: Option<u64>,
    /// The context after the last call.
    pub(crate) last_context: Option<u64>,
    /// What the task added to the context.
    pub(crate) growth: u64,
    pub(crate) model: String,
    /// How long the cache keeps what it wrote last.
    pub(crate) ttl: Option<CacheTtl>,
}

/// An answer of the main thread.
struct Call {
    at: i64,
    last_at: i64,
    sent: u64,
    output: u64,
    model: String,
    ttl: Option<CacheTtl>,
}

/// Where a task begins.
struct Start {
    at: i64,
    /// What a run's summary says of it.
    run: Option<Task>,
}

/// The tasks of a session up to the time `until`: its runs; if it has none, its
/// prompts that come at least `gap` milliseconds after the answer before them.
pub(crate) fn tasks(
    db: &Connection,
    session: i64,
    until: i64,
    gap: i64,
) -> rusqlite::Result<Vec<Task>> {
    let calls = calls(db, session, until)?;
    let mut starts = runs(db, session, until)?;
    if starts.is_empty() {
        starts = prompts(db, session, until)?;
        starts.retain(|start| {
            let before = calls.partition_point(|call| call.at < start.at);
            let last = before.checked_sub(1).map(|at| &calls[at]);
            last.is_none_or(|last| start.at - last.last_at >= gap)
        });
    }
    let mut tasks = vec![Task::default(); starts.len() + 1];
    for call in &calls {
        tasks[task_of(&starts, call)].add(call);
    }
    for (task, start) in tasks[1..].iter_mut().zip(starts) {
        if let (0, Some(run)) = (task.calls, start.run) {
            *task = run;
        }
    }
    tasks.retain(|task| task.calls > 0);
    Ok(tasks)
}

/// Which task a call belongs to, from 1; 0 is what was before all of them.
fn task_of(starts: &[Start], call: &Call) -> usize {
    let begun = starts.partition_point(|start| start.at <= call.at);
    let near = starts.partition_point(|start| start.at <= call.at + TOLERANCE_MS);
    // What is near the end of a run is that run's, although the next one is near, too.
    let is_over = begun.checked_sub(1).is_none_or(|at| {
        let run = starts[at].run.as_ref();
        run.is_some_and(|run| run.ended_at + TOLERANCE_MS < call.at)
    });
    if is_over { near } else { begun }
}

impl Task {
    fn add(&mut self, call: &Call) {
        let context = call.sent + call.output;
        if self.first_context.is_none() {
            self.started_at = call.at;
            self.first_context = Some(call.sent);
        }
        // After a compaction the context is smaller.
        let before = self.last_context.unwrap_or(call.sent).min(call.sent);
        self.growth += context - before;
        self.last_context = Some(context);
        self.ended_at = call.last_at;
        self.calls += 1;
        self.model.clone_from(&call.model);
        self.ttl = call.ttl.or(self.ttl);
    }
}

/// The number in the middle; of an even count the higher one.
pub(crate) fn median(mut numbers: Vec<u64>) -> Option<u64> {
    numbers.sort_unstable();
    numbers.get(numbers.len() / 2).copied()
}

/// What a new session would read in again: by how much the first task of this one
/// added more to the context than the later ones.
pub(crate) fn reading_in(tasks: &[Task]) -> u64 {
    let Some((first, later)) = tasks.split_first() else {
        return 0;
    };
    let usual = median(later.iter().map(|task| task.growth).collect());
    usual.map_or(0, |usual| first.growth.saturating_sub(usual))
}

fn calls(db: &Connection, session: i64, until: i64) -> rusqlite::Result<Vec<Call>> {
    let sql = "SELECT at, max(at, last_at), input + cache_read + cache_creation, output,
            m.value, cache_creation_5m, cache_creation_1h
        FROM message JOIN text_value m ON m.id = model
        WHERE session = ?1 AND agent = 0 AND at <= ?2
            AND input + cache_read + cache_creation > 0
        ORDER BY at, message.id";
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map([session, until], |row| {
        Ok(Call {
            at: row.get(0)?,
            last_at: row.get(1)?,
            sent: count(row.get(2)?),
            output: count(row.get(3)?),
            model: row.get(4)?,
            ttl: written(row.get(5)?, row.get(6)?),
        })
    })?;
    rows.collect()
}

fn runs(db: &Connection, session: i64, until: i64) -> rusqlite::Result<Vec<Start>> {
    let sql = "SELECT started_at, coalesce(ended_at, started_at), coalesce(num_turns, 0),
            context_used, m.value, cache_ttl
        FROM run JOIN text_value m ON m.id = model
        WHERE session = ?1 AND started_at <= ?2 ORDER BY started_at";
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map([session, until], |row| {
        let ttl: String = row.get(5)?;
        let run = Task {
            started_at: row.get(0)?,
            ended_at: row.get(1)?,
            calls: count(row.get(2)?),
            last_context: row.get::<_, Option<i64>>(3)?.map(count),
            model: row.get(4)?,
            ttl: ttl_named(&ttl),
            ..Task::default()
        };
        Ok(Start {
            at: run.started_at,
            run: Some(run),
        })
    })?;
    rows.collect()
}

fn prompts(db: &Connection, session: i64, until: i64) -> rusqlite::Result<Vec<Start>> {
    let sql = "SELECT at FROM prompt WHERE session = ?1 AND at <= ?2 ORDER BY at";
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map([session, until], |row| {
        Ok(Start {
            at: row.get(0)?,
            run: None,
        })
    })?;
    rows.collect()
}

pub(crate) fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// How long a message says that the cache keeps what it wrote.
pub(crate) fn written(minutes: Option<i64>, hour: Option<i64>) -> Option<CacheTtl> {
    match (minutes, hour) {
        (_, Some(1..)) => Some(CacheTtl::Hour),
        (Some(1..), _) => Some(CacheTtl::Minutes),
        _ => None,
    }
}

/// The same by its name.
pub(crate) fn ttl_named(name: &str) -> Option<CacheTtl> {
    let all = [CacheTtl::Minutes, CacheTtl::Hour];
    all.into_iter().find(|ttl| ttl.as_str() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_count_is_the_higher_one() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![9, 1, 5]), Some(5));
        assert_eq!(median(vec![4, 1]), Some(4));
    }

    #[test]
    fn a_new_session_reads_in_what_the_first_task_added_beyond_the_others() {
        let tasks = |growth: &[u64]| {
            let task = |growth: &u64| Task {
                growth: *growth,
                ..Task::default()
            };
            growth.iter().map(task).collect::<Vec<_>>()
        };
        assert_eq!(reading_in(&tasks(&[])), 0);
        assert_eq!(reading_in(&tasks(&[900])), 0);
        assert_eq!(reading_in(&tasks(&[900, 200, 300])), 600);
        assert_eq!(reading_in(&tasks(&[100, 200])), 0);
    }

    #[test]
    fn a_compaction_within_a_task_is_no_negative_growth() {
        let mut task = Task::default();
        for (sent, output) in [(1000, 100), (1500, 0), (300, 50)] {
            task.add(&Call {
                at: 0,
                last_at: 0,
                sent,
                output,
                model: String::new(),
                ttl: None,
            });
        }
        assert_eq!(task.growth, 100 + 400 + 50);
        assert_eq!(task.last_context, Some(350));
    }
}
