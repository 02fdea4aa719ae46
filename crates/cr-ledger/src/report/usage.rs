//! Rows of usage, from the sums.
//!
//! They are read in the order of the file and added up by number. A name is looked
//! up once for each row of the report.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use cr_ledger_db::rusqlite::{self, Connection, OptionalExtension, Row, params};
use jiff::Timestamp;
use jiff::civil::DateTime;

use super::range::QUARTER_MS;
use super::sums::{Sums, Usage};
use super::{By, Filter};

/// A day may have 25 hours.
const LONGEST_SPAN: usize = 100;

/// The sums, in the order of [`read`].
const COLUMNS: [&str; 10] = [
    "messages",
    "input",
    "output",
    "cache_read",
    "cache_creation",
    "cache_creation_5m",
    "cache_creation_1h",
    "cost_nano",
    "estimated_nano",
    "unpriced",
];

/// Reads the sums of a row whose columns begin at `from`.
fn read(row: &Row<'_>, from: usize) -> rusqlite::Result<Sums> {
    Ok(Sums {
        messages: row.get(from)?,
        input: row.get(from + 1)?,
        output: row.get(from + 2)?,
        cache_read: row.get(from + 3)?,
        cache_creation: row.get(from + 4)?,
        cache_creation_5m: row.get(from + 5)?,
        cache_creation_1h: row.get(from + 6)?,
        cost_nano: row.get(from + 7)?,
        estimated_nano: row.get(from + 8)?,
        unpriced: row.get(from + 9)?,
    })
}

pub(super) fn rows(db: &Connection, by: By, filter: &Filter) -> rusqlite::Result<Vec<Usage>> {
    match by {
        By::Day => by_time(db, filter, |time| time.date().to_string()),
        By::Hour => by_time(db, filter, |time| format!("{:02}:00", time.hour())),
        By::Milestone => by_milestone(db, filter),
        By::Project => by_column(db, filter, "project"),
        By::Model => by_column(db, filter, "model"),
        By::Session | By::Tool => by_session(db, filter),
    }
}

/// The sums of all times of a report, and only the models and projects of it; `?1`
/// and `?2` are the first quarter and the one after the last.
fn source(db: &Connection, filter: &Filter) -> rusqlite::Result<String> {
    let mut wanted = String::new();
    if filter.project.is_some() {
        wanted += &among(db, "project", |text| filter.has_project(text))?;
    }
    if filter.model.is_some() {
        wanted += &among(db, "model", |text| filter.has_model(text))?;
    }
    // The table is in the order of time; its index on sessions is not used.
    Ok(format!(
        "FROM usage_sum NOT INDEXED WHERE quarter >= ?1 AND quarter < ?2 {wanted}"
    ))
}

/// Calls `each` with the quarter, the column `key` and the sums of each row.
fn each_row(
    db: &Connection,
    filter: &Filter,
    key: &str,
    mut each: impl FnMut(i64, i64, &Sums),
) -> rusqlite::Result<()> {
    let sql = format!(
        "SELECT quarter, {key}, {} {}",
        COLUMNS.join(", "),
        source(db, filter)?
    );
    let mut statement = db.prepare(&sql)?;
    let mut rows = statement.query(params![filter.range.from, filter.range.to])?;
    while let Some(row) = rows.next()? {
        each(row.get(0)?, row.get(1)?, &read(row, 2)?);
    }
    Ok(())
}

/// A condition: the text of a column is wanted.
fn among(
    db: &Connection,
    column: &str,
    is_wanted: impl Fn(&str) -> bool,
) -> rusqlite::Result<String> {
    let sql = format!(
        "SELECT id, value FROM text_value WHERE id IN (SELECT DISTINCT {column} FROM usage_sum)"
    );
    let mut statement = db.prepare(&sql)?;
    let mut rows = statement.query([])?;
    let mut numbers = Vec::new();
    while let Some(row) = rows.next()? {
        if is_wanted(row.get_ref(1)?.as_str()?) {
            numbers.push(row.get::<_, i64>(0)?.to_string());
        }
    }
    Ok(format!("AND {column} IN ({})", numbers.join(", ")))
}

/// Rows whose key is the local time of a quarter of an hour. The database adds up
/// each span of quarters with one key: there are far fewer spans than rows.
fn by_time(
    db: &Connection,
    filter: &Filter,
    key: impl Fn(DateTime) -> String,
) -> rusqlite::Result<Vec<Usage>> {
    let key = |quarter: i64| {
        let time = Timestamp::from_millisecond(quarter.saturating_mul(QUARTER_MS)).ok();
        // A run without a time counts at the beginning of all times.
        let time = time.filter(|_| quarter > 0)?;
        Some(key(filter.zone.to_datetime(time)))
    };
    let sums = COLUMNS.map(|name| format!("coalesce(sum({name}), 0)"));
    let source = source(db, filter)?;
    let mut sums = db.prepare(&format!("SELECT {} {source}", sums.join(", ")))?;
    let mut next = db.prepare(&format!("SELECT quarter {source} ORDER BY quarter LIMIT 1"))?;
    let mut rows: BTreeMap<Option<String>, Sums> = BTreeMap::new();
    let (mut from, to) = (filter.range.from, filter.range.to);
    loop {
        let first = next.query_row([from, to], |row| row.get(0)).optional()?;
        let Some(first) = first else { break };
        let name = key(first);
        let later = (first + 1..to).take(LONGEST_SPAN);
        let end = later.take_while(|quarter| key(*quarter) == name).last();
        from = end.unwrap_or(first) + 1;
        let span = sums.query_row([first, from], |row| read(row, 0))?;
        rows.entry(name).or_default().add(&span);
    }
    let row = |(key, sums)| Usage {
        key,
        sums,
        ..Usage::default()
    };
    Ok(rows.into_iter().map(row).collect())
}

/// The sums by the number in a column.
fn by_number(
    db: &Connection,
    filter: &Filter,
    column: &str,
) -> rusqlite::Result<HashMap<i64, Sums>> {
    let mut rows: HashMap<i64, Sums> = HashMap::new();
    each_row(db, filter, column, |_, number, sums| {
        rows.entry(number).or_default().add(sums);
    })?;
    Ok(rows)
}

fn by_column(db: &Connection, filter: &Filter, column: &str) -> rusqlite::Result<Vec<Usage>> {
    let rows = by_number(db, filter, column)?;
    let named = rows.into_iter().map(|(number, sums)| {
        let key = text(db, number)?;
        Ok(Usage {
            key,
            sums,
            ..Usage::default()
        })
    });
    named.collect()
}

fn by_session(db: &Connection, filter: &Filter) -> rusqlite::Result<Vec<Usage>> {
    let rows = by_number(db, filter, "session")?;
    let mut project = db.prepare("SELECT project FROM session WHERE session = ?1")?;
    let named = rows.into_iter().map(|(number, sums)| {
        let project: Option<i64> = project.query_row([number], |row| row.get(0)).optional()?;
        Ok(Usage {
            key: text(db, number)?,
            project: project
                .map(|number| text(db, number))
                .transpose()?
                .flatten(),
            sums,
            ..Usage::default()
        })
    });
    named.collect()
}

/// The text of a number; none for the empty one.
fn text(db: &Connection, number: i64) -> rusqlite::Result<Option<String>> {
    let sql = "SELECT nullif(value, '') FROM text_value WHERE id = ?1";
    let text = db
        .prepare_cached(sql)?
        .query_row([number], |row| row.get(0));
    Ok(text.optional()?.flatten())
}

/// The milestones of sessions, each with the time at which it began there.
type Milestones = HashMap<i64, Vec<(i64, String)>>;

fn by_milestone(db: &Connection, filter: &Filter) -> rusqlite::Result<Vec<Usage>> {
    let milestones = milestones(db)?;
    let mut rows: BTreeMap<Option<&str>, Sums> = BTreeMap::new();
    each_row(db, filter, "session", |quarter, session, sums| {
        let end = (quarter + 1).saturating_mul(QUARTER_MS);
        let key = milestones.get(&session).and_then(|list| at(list, end));
        rows.entry(key).or_default().add(sums);
    })?;
    let sql = "SELECT nullif(name, '') FROM milestone WHERE milestone_id = ?1";
    let mut name = db.prepare(sql)?;
    let named = rows.into_iter().map(|(key, sums)| {
        let name = name.query_row([key], |row| row.get(0)).optional()?;
        Ok(Usage {
            key: key.map(str::to_owned),
            name: name.flatten(),
            sums,
            ..Usage::default()
        })
    });
    named.collect()
}

/// The milestone of a session at a time: the last that began before it, else the
/// first.
fn at(list: &[(i64, String)], time: i64) -> Option<&str> {
    let begun = list.partition_point(|(started, _)| *started < time);
    let found = list.get(begun.saturating_sub(1))?;
    Some(&found.1)
}

/// The milestones of each session, from the runs that name one and from the
/// sessions of milestones, in the order of time.
fn milestones(db: &Connection) -> rusqlite::Result<Milestones> {
    let sql = "SELECT run_session.session, coalesce(started_at, ended_at, 0), milestone
        FROM run JOIN run_session USING (run_key) WHERE milestone <> ''
        UNION SELECT session, started_at, milestone_id FROM milestone_session
        ORDER BY 1, 2, 3";
    let mut statement = db.prepare(sql)?;
    let mut rows = statement.query([])?;
    let mut milestones = Milestones::new();
    while let Some(row) = rows.next()? {
        let begun = (row.get(1)?, row.get(2)?);
        match milestones.entry(row.get(0)?) {
            Entry::Occupied(mut list) => list.get_mut().push(begun),
            Entry::Vacant(place) => drop(place.insert(vec![begun])),
        }
    }
    Ok(milestones)
}
