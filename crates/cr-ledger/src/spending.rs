//! What is left of a budget.

use cr_io::sanitized;
use cr_ledger_db::dollars;
use cr_ledger_db::rusqlite::{self, Connection, OptionalExtension, params};
use serde::Serialize;

use crate::directory::{self, BELOW};
use crate::moment::start_of_day;
use crate::price::amount;
use crate::quota::Window;

/// The window that a budget in per cent is about.
const QUOTA: &str = "five_hour";

/// A budget and what is used of it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct BudgetState {
    /// What it is for.
    ///
    /// Values: `day`, `project`, `milestone`
    /// Example: `"day"`
    pub(crate) per: String,
    /// The project's directory, or the milestone.
    ///
    /// Null: for the day.
    /// Example: `"/home/dev/repo"`
    pub(crate) name: Option<String>,
    /// What it counts: dollars, tokens, or per cent of the account's window of 5
    /// hours.
    ///
    /// Values: `usd`, `tokens`, `quota`
    /// Example: `"usd"`
    pub(crate) unit: String,
    /// The limit.
    ///
    /// Example: `20`
    pub(crate) limit: f64,
    /// What is used of it.
    ///
    /// Null: for `quota`, if the agent has not reported the window.
    /// Example: `12.5`
    pub(crate) used: Option<f64>,
    /// Whether all of it is used.
    ///
    /// Example: `false`
    pub(crate) is_exhausted: bool,
    /// Messages without a known price, which dollars do not count.
    ///
    /// Example: `0`
    pub(crate) unpriced: u64,
}

impl BudgetState {
    /// The share that is used.
    pub(crate) fn share(&self) -> f64 {
        self.used.unwrap_or(0.0) / self.limit
    }

    /// What it is for, for people.
    pub(crate) fn label(&self) -> String {
        match &self.name {
            Some(name) => format!("the {} {}", self.per, sanitized(name)),
            None => format!("the {}", self.per),
        }
    }

    /// What is used of it, for people.
    pub(crate) fn numbers(&self) -> String {
        let limit = self.limit;
        let Some(used) = self.used else {
            return format!("the window of 5 hours is not known, the limit is {limit} %");
        };
        match self.unit.as_str() {
            "usd" => format!("${used:.2} of ${limit:.2}"),
            "tokens" => format!("{used} of {limit} tokens"),
            _ => format!("{used} % of the window of 5 hours is used, the limit is {limit} %"),
        }
    }
}

/// A session that a budget may be about, and its milestone if that is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whose<'a> {
    pub(crate) session: i64,
    pub(crate) project: Option<&'a str>,
}

/// The budgets with what was used of them at the time `now`.
pub(crate) fn all(
    db: &Connection,
    windows: &[Window],
    now: i64,
) -> rusqlite::Result<Vec<BudgetState>> {
    let sql = "SELECT per, name, unit, amount FROM budget ORDER BY per, name, unit";
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| {
        let text = |at: usize| row.get::<_, String>(at);
        Ok((text(0)?, text(1)?, text(2)?, row.get::<_, f64>(3)?))
    })?;
    let mut states = Vec::new();
    for row in rows {
        let (per, name, unit, limit) = row?;
        let (used, unpriced) = used(db, (&per, &name, &unit), windows, now)?;
        states.push(BudgetState {
            name: Some(name).filter(|name| !name.is_empty()),
            is_exhausted: used.is_some_and(|used| used >= limit),
            per,
            unit,
            limit,
            used,
            unpriced,
        });
    }
    Ok(states)
}

/// Those of them that are about a session.
pub(crate) fn of_session(
    db: &Connection,
    states: Vec<BudgetState>,
    whose: Whose<'_>,
) -> rusqlite::Result<Vec<BudgetState>> {
    let mut found = Vec::new();
    for state in states {
        let is_about = match (state.per.as_str(), &state.name) {
            ("day", _) => true,
            ("project", name) => {
                let above = name.as_deref().unwrap_or_default();
                let project = whose.project;
                project.is_some_and(|project| directory::is_below(project, above))
            }
            ("milestone", Some(name)) => is_in_milestone(db, name, whose.session)?,
            _ => false,
        };
        if is_about {
            found.push(state);
        }
    }
    Ok(found)
}

/// Those of them that are about work in a project, and in a milestone.
pub(crate) fn of_work(
    db: &Connection,
    states: Vec<BudgetState>,
    project: &str,
    named: Option<&str>,
) -> rusqlite::Result<Vec<BudgetState>> {
    let id = |name: &str| Ok::<_, rusqlite::Error>(milestone(db, name)?.map(|(id, _)| id));
    let own = named.map(id).transpose()?.flatten();
    let mut found = Vec::new();
    for state in states {
        let is_about = match (state.per.as_str(), &state.name) {
            ("day", _) => true,
            ("project", Some(above)) => directory::is_below(project, above),
            ("milestone", Some(name)) => own.is_some() && id(name)? == own,
            _ => false,
        };
        if is_about {
            found.push(state);
        }
    }
    Ok(found)
}

/// The newest milestone with this id or name, and when it began.
pub(crate) fn milestone(db: &Connection, name: &str) -> rusqlite::Result<Option<(String, i64)>> {
    let sql = "SELECT milestone_id, started_at FROM milestone
        WHERE milestone_id = ?1 OR name = ?1
        ORDER BY milestone_id = ?1 DESC, started_at DESC LIMIT 1";
    db.prepare_cached(sql)?
        .query_row([name], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
}

/// The sessions of a milestone, whose id is parameter 1.
const SESSIONS: &str = "SELECT session FROM milestone_session WHERE milestone_id = ?1
    UNION SELECT session FROM run WHERE milestone = ?1";

fn is_in_milestone(db: &Connection, name: &str, session: i64) -> rusqlite::Result<bool> {
    let Some((id, _)) = milestone(db, name)? else {
        return Ok(false);
    };
    let sql = format!("SELECT ?2 IN ({SESSIONS})");
    db.prepare_cached(&sql)?
        .query_row(params![id, session], |row| row.get(0))
}

/// What is used of a budget, and the messages that it cannot count.
fn used(
    db: &Connection,
    (per, name, unit): (&str, &str, &str),
    windows: &[Window],
    now: i64,
) -> rusqlite::Result<(Option<f64>, u64)> {
    if unit == "quota" {
        let window = windows.iter().find(|window| window.name == QUOTA);
        let used = window.and_then(|window| window.used);
        return Ok((used.map(|used| cr_usage::rounded(used * 100.0)), 0));
    }
    let quarter = |ms: i64| ms.div_euclid(900_000);
    let (filter, key, from) = match per {
        "day" => ("?1 = ''".to_owned(), String::new(), start_of_day(now)),
        "project" => (BELOW.to_owned(), name.to_owned(), 0),
        _ => match milestone(db, name)? {
            Some((id, from)) => (format!("session IN ({SESSIONS})"), id, from),
            None => return Ok((Some(0.0), 0)),
        },
    };
    let sql = format!(
        "SELECT coalesce(sum(cost_nano), 0), coalesce(sum(unpriced), 0),
            coalesce(sum(input + output + cache_read + cache_creation), 0)
        FROM usage_sum JOIN text_value p ON p.id = project
        WHERE {filter} AND quarter BETWEEN ?2 AND ?3"
    );
    let values = params![key, quarter(from), quarter(now)];
    db.prepare_cached(&sql)?.query_row(values, |row| {
        let (nano, unpriced, tokens): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let unpriced = u64::try_from(unpriced).unwrap_or(0);
        Ok(match unit {
            "usd" => (Some(dollars(nano)), unpriced),
            _ => (Some(amount(u64::try_from(tokens).unwrap_or(0))), 0),
        })
    })
}
