//! The sums, from the facts.
//!
//! Each message counts once. A run counts from its summary as far as no message
//! covers it: all of it while its log is not imported; afterwards only what is in
//! no log, such as the calls that name a session. So the order in which a run is
//! recorded and its log is imported does not matter. In the same way a session's
//! running total counts as far as neither messages nor runs cover it. A summary of
//! a log has the messages that the log copied from another session; when the log is
//! imported they are the other session's, and the summary has nothing beyond it.
//!
//! A total that is exact (of a result, or the agent's own running total) corrects
//! the estimates of its messages: the rest may be negative money, never negative
//! tokens.

mod run;

use std::collections::HashSet;

use rusqlite::{Connection, params};

use run::Run;

/// Computes the sums of `sessions` again, and of all sessions that share a run
/// with them.
pub(crate) fn rebuild(db: &Connection, sessions: &HashSet<i64>) -> rusqlite::Result<()> {
    if sessions.is_empty() {
        return Ok(());
    }
    mark(db, sessions)?;
    db.execute_batch(
        "DELETE FROM usage_sum WHERE session IN (SELECT session FROM touched);
        INSERT INTO usage_sum
        SELECT at / 900000, session, project, model, machine, agent <> 0, 'message', count(*),
            sum(input), sum(output), sum(cache_read), sum(cache_creation),
            sum(coalesce(cache_creation_5m, 0)), sum(coalesce(cache_creation_1h, 0)),
            sum(coalesce(cost_nano, 0)),
            sum(CASE WHEN is_estimate THEN coalesce(cost_nano, 0) ELSE 0 END),
            sum(cost_nano IS NULL)
        FROM message WHERE session IN (SELECT session FROM touched)
        GROUP BY 1, 2, 3, 4, 5, 6;",
    )?;
    for run in run::runs(db)? {
        add_run(db, &run)?;
    }
    for session in totals(db)? {
        add_session(db, &session)?;
    }
    Ok(())
}

/// Puts the sessions into a table of this connection: `sessions`, and those whose
/// runs also belong to one of them.
fn mark(db: &Connection, sessions: &HashSet<i64>) -> rusqlite::Result<()> {
    db.execute_batch(
        "CREATE TEMP TABLE IF NOT EXISTS touched (session INTEGER PRIMARY KEY);
        DELETE FROM touched;",
    )?;
    let mut insert = db.prepare_cached("INSERT INTO touched VALUES (?1)")?;
    for session in sessions {
        insert.execute([session])?;
    }
    db.execute_batch(
        "INSERT OR IGNORE INTO touched
        SELECT run.session FROM run_session
        JOIN touched ON touched.session = run_session.session
        JOIN run ON run.run_key = run_session.run_key;",
    )
}

/// Tokens and money of one model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Spent {
    tokens: [i64; 6],
    cost: i64,
    /// The part of the cost that is an estimate.
    estimated: i64,
    /// Messages without a price.
    unpriced: i64,
    messages: i64,
}

/// What `total` has beyond `covered`: tokens never less than none. If the total is
/// exact and covers all of the tokens, then nothing of its cost is an estimate or
/// unknown any more: the rest takes that away, and money may be less than none.
fn rest(total: Spent, covered: Spent, is_exact: bool) -> Spent {
    let mut tokens = total.tokens;
    for (rest, covered) in tokens.iter_mut().zip(covered.tokens) {
        *rest = (*rest - covered).max(0);
    }
    let covers = |at: usize| total.tokens[at] >= covered.tokens[at];
    let is_whole = is_exact && (0..4).all(covers);
    let cost = total.cost - covered.cost;
    if is_whole {
        return Spent {
            tokens,
            cost,
            estimated: -covered.estimated,
            unpriced: -covered.unpriced,
            messages: 0,
        };
    }
    Spent {
        tokens,
        cost: cost.max(0),
        ..Spent::default()
    }
}

fn add_run(db: &Connection, run: &Run) -> rusqlite::Result<()> {
    let sql = "SELECT model, input, output, cache_read, cache_creation,
            coalesce(cache_creation_5m, 0), coalesce(cache_creation_1h, 0),
            coalesce(cost_nano, 0), 0, 0
        FROM run_model WHERE run_key = ?1 ORDER BY model";
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query([&run.key])?;
    let place = Row {
        at: run.at,
        session: run.session,
        project: run.project,
        machine: run.machine,
        source: "run",
    };
    while let Some(row) = rows.next()? {
        let model: i64 = row.get(0)?;
        let total = read_spent(row, 1)?;
        let covered = covered_by_messages(db, run, model)?;
        let mut rest = rest(total, covered, run.is_exact);
        if run.is_estimate {
            rest.estimated = rest.cost;
        }
        if !run.has_cost && rest.tokens != [0; 6] {
            rest.unpriced = 1;
        }
        place.insert(db, model, rest)?;
    }
    let messages = (run.messages - messages_of(db, run)?).max(0);
    let rest = Spent {
        messages,
        ..Spent::default()
    };
    place.insert(db, run.model, rest)
}

/// How many messages of a run's main thread there are.
fn messages_of(db: &Connection, run: &Run) -> rusqlite::Result<i64> {
    let Some((start, end)) = run.window else {
        return Ok(0);
    };
    let sql = "SELECT count(*) FROM message
        WHERE session IN (SELECT session FROM run_session WHERE run_key = ?1)
            AND agent = 0 AND at BETWEEN ?2 AND ?3";
    db.prepare_cached(sql)?
        .query_row(params![run.key, start, end], |row| row.get(0))
}

fn read_spent(row: &rusqlite::Row<'_>, from: usize) -> rusqlite::Result<Spent> {
    let mut tokens = [0; 6];
    for (at, tokens) in tokens.iter_mut().enumerate() {
        *tokens = row.get(from + at)?;
    }
    Ok(Spent {
        tokens,
        cost: row.get(from + 6)?,
        estimated: row.get(from + 7)?,
        unpriced: row.get(from + 8)?,
        messages: 0,
    })
}

const SPENT: &str = "coalesce(sum(input), 0), coalesce(sum(output), 0),
    coalesce(sum(cache_read), 0), coalesce(sum(cache_creation), 0),
    coalesce(sum(cache_creation_5m), 0), coalesce(sum(cache_creation_1h), 0),
    coalesce(sum(cost_nano), 0), coalesce(sum(estimated_nano), 0), coalesce(sum(unpriced), 0)";

/// The columns of a message for [`SPENT`].
const OF_MESSAGE: &str = "input, output, cache_read, cache_creation, cache_creation_5m,
    cache_creation_1h, cost_nano, CASE WHEN is_estimate THEN cost_nano END AS estimated_nano,
    cost_nano IS NULL AS unpriced";

fn covered_by_messages(db: &Connection, run: &Run, model: i64) -> rusqlite::Result<Spent> {
    let Some((start, end)) = run.window else {
        return Ok(Spent::default());
    };
    let sql = format!(
        "SELECT {SPENT} FROM (SELECT {OF_MESSAGE} FROM message
        WHERE session IN (SELECT session FROM run_session WHERE run_key = ?1)
            AND model = ?2 AND at BETWEEN ?3 AND ?4)"
    );
    db.prepare_cached(&sql)?
        .query_row(params![run.key, model, start, end], |row| {
            read_spent(row, 0)
        })
}

/// A session with a running total of its own.
#[derive(Debug)]
struct Session {
    number: i64,
    project: i64,
    machine: i64,
    until: i64,
}

/// The sessions whose running total counts. That of one with messages that it does
/// not count does not: a copy of a session goes on from that session's total.
fn totals(db: &Connection) -> rusqlite::Result<Vec<Session>> {
    let sql = "SELECT session.session, project, machine, total_until
        FROM session JOIN touched ON touched.session = session.session
        WHERE total_until IS NOT NULL AND is_partial = 0";
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| {
        Ok(Session {
            number: row.get(0)?,
            project: row.get(1)?,
            machine: row.get(2)?,
            until: row.get(3)?,
        })
    })?;
    rows.collect()
}

fn add_session(db: &Connection, session: &Session) -> rusqlite::Result<()> {
    let sql = "SELECT model, input, output, cache_read, cache_creation, 0, 0, cost_nano,
            0, 0
        FROM session_total WHERE session = ?1 ORDER BY model";
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query([session.number])?;
    let mut rests = Vec::new();
    while let Some(row) = rows.next()? {
        let model: i64 = row.get(0)?;
        let total = read_spent(row, 1)?;
        let covered = covered_by_session(db, session, model)?;
        if (0..4).any(|at| total.tokens[at] < covered.tokens[at]) {
            // The total counts less than the session: it is one process's alone.
            return Ok(());
        }
        rests.push((model, rest(total, covered, true)));
    }
    let row = Row {
        at: session.until,
        session: session.number,
        project: session.project,
        machine: session.machine,
        source: "session",
    };
    for (model, rest) in rests {
        row.insert(db, model, rest)?;
    }
    Ok(())
}

/// What messages and runs have of a session up to the time of its total.
fn covered_by_session(db: &Connection, session: &Session, model: i64) -> rusqlite::Result<Spent> {
    let sql = format!(
        "SELECT {SPENT} FROM (
            SELECT {OF_MESSAGE} FROM message WHERE session = ?1 AND model = ?2 AND at <= ?3
            UNION ALL
            SELECT input, output, cache_read, cache_creation, cache_creation_5m,
                cache_creation_1h, cost_nano, estimated_nano, unpriced
            FROM usage_sum WHERE session = ?1 AND model = ?2 AND source = 'run')"
    );
    let values = params![session.number, model, session.until];
    db.prepare_cached(&sql)?
        .query_row(values, |row| read_spent(row, 0))
}

/// Where a rest counts.
#[derive(Debug)]
struct Row {
    at: i64,
    session: i64,
    project: i64,
    machine: i64,
    source: &'static str,
}

impl Row {
    fn insert(&self, db: &Connection, model: i64, rest: Spent) -> rusqlite::Result<()> {
        if rest == Spent::default() {
            return Ok(());
        }
        let sql = "INSERT INTO usage_sum VALUES
                (?1, ?2, ?3, ?4, ?5, 0, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
            ON CONFLICT DO UPDATE SET
                messages = messages + excluded.messages,
                input = input + excluded.input,
                output = output + excluded.output,
                cache_read = cache_read + excluded.cache_read,
                cache_creation = cache_creation + excluded.cache_creation,
                cache_creation_5m = cache_creation_5m + excluded.cache_creation_5m,
                cache_creation_1h = cache_creation_1h + excluded.cache_creation_1h,
                cost_nano = cost_nano + excluded.cost_nano,
                estimated_nano = estimated_nano + excluded.estimated_nano,
                unpriced = unpriced + excluded.unpriced";
        let [
            input,
            output,
            cache_read,
            cache_creation,
            five_minutes,
            hour,
        ] = rest.tokens;
        db.prepare_cached(sql)?.execute(params![
            self.at.div_euclid(900_000),
            self.session,
            self.project,
            model,
            self.machine,
            self.source,
            rest.messages,
            input,
            output,
            cache_read,
            cache_creation,
            five_minutes,
            hour,
            rest.cost,
            rest.estimated,
            rest.unpriced
        ])?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(tokens: [i64; 4], cost: i64) -> Spent {
        let [a, b, c, d] = tokens;
        Spent {
            tokens: [a, b, c, d, 0, 0],
            cost,
            ..Spent::default()
        }
    }

    #[test]
    fn an_exact_total_leaves_no_estimate_and_no_unknown_price() {
        let covered = Spent {
            estimated: 60,
            unpriced: 2,
            ..spent([1, 2, 3, 4], 90)
        };
        let total = spent([1, 2, 3, 5], 100);
        let left = rest(total, covered, true);
        assert_eq!((left.cost, left.estimated, left.unpriced), (10, -60, -2));
        let left = rest(total, covered, false);
        assert_eq!((left.cost, left.estimated, left.unpriced), (10, 0, 0));
    }

    #[test]
    fn a_rest_is_what_is_left_and_only_an_exact_one_corrects_the_money() {
        let total = spent([10, 20, 30, 40], 100);
        let cases = [
            (spent([0; 4], 0), true, spent([10, 20, 30, 40], 100)),
            (spent([10, 20, 30, 40], 120), true, spent([0; 4], -20)),
            (spent([10, 20, 30, 40], 120), false, spent([0; 4], 0)),
            // More messages than the total has: they are not all its own.
            (spent([11, 0, 0, 0], 120), true, spent([0, 20, 30, 40], 0)),
        ];
        for (covered, is_exact, left) in cases {
            assert_eq!(
                rest(total, covered, is_exact),
                left,
                "{covered:?} {is_exact}"
            );
        }
    }
}
