//! Rows of calls of tools.

use std::collections::{BTreeMap, HashMap};

use cr_ledger_db::rusqlite::{self, Connection, params};

use super::Filter;
use super::row::ToolRow;
use super::table::{Table, grouped};

/// Calls from logs, one row each: to group a million of them takes longer here.
const FROM_LOGS: &str = "SELECT name, project, 1, failed FROM tool_call
    WHERE at >= ?1 AND at < ?2";

/// Calls from the summaries of runs that no log covers.
const FROM_RUNS: &str = "SELECT name, project, sum(calls), 0
    FROM run_tool JOIN run USING (run_key)
    WHERE coalesce(ended_at, started_at, 0) >= ?1 AND coalesce(ended_at, started_at, 0) < ?2
        AND NOT EXISTS (
            SELECT 1 FROM run_session JOIN message ON message.session = run_session.session
            WHERE run_session.run_key = run.run_key
                AND message.at >= coalesce(started_at, 0) - 1000
                AND message.at <= coalesce(ended_at, 1 << 60) + 1000)
    GROUP BY name, project";

/// The calls of each tool, the most first.
pub(super) fn rows(db: &Connection, filter: &Filter) -> rusqlite::Result<Vec<ToolRow>> {
    let mut sums: HashMap<(i64, i64), (i64, i64)> = HashMap::new();
    let (from, to) = filter.range.ms();
    for sql in [FROM_LOGS, FROM_RUNS] {
        let mut statement = db.prepare(sql)?;
        let mut rows = statement.query(params![from, to])?;
        while let Some(row) = rows.next()? {
            let sums = sums.entry((row.get(0)?, row.get(1)?)).or_default();
            sums.0 += row.get::<_, i64>(2)?;
            sums.1 += row.get::<_, i64>(3)?;
        }
    }
    let mut text = db.prepare("SELECT value FROM text_value WHERE id = ?1")?;
    let mut calls: BTreeMap<i64, (i64, i64)> = BTreeMap::new();
    for ((name, project), sums) in sums {
        let project: String = text.query_row([project], |row| row.get(0))?;
        if filter.has_project(&project) {
            let of_name = calls.entry(name).or_default();
            of_name.0 += sums.0;
            of_name.1 += sums.1;
        }
    }
    let mut rows = Vec::new();
    for (number, (calls, failures)) in calls {
        let name: String = text.query_row([number], |row| row.get(0))?;
        rows.push(ToolRow {
            key: (!name.is_empty()).then_some(name),
            calls,
            failures,
        });
    }
    rows.sort_by(|a, b| b.calls.cmp(&a.calls).then_with(|| a.key.cmp(&b.key)));
    Ok(rows)
}

/// The rows that are shown, the others as one, and the total.
pub(super) fn table(rows: &[ToolRow], shown: &[ToolRow]) -> Table {
    let mut table = Table::new(&["TOOL", "CALLS", "FAILURES"]);
    let sum = |rows: &[ToolRow]| {
        let calls: i64 = rows.iter().map(|row| row.calls).sum();
        let failures: i64 = rows.iter().map(|row| row.failures).sum();
        [grouped(calls), grouped(failures)]
    };
    let cells = |label: String, numbers: [String; 2]| {
        let mut cells = vec![label];
        cells.extend(numbers);
        cells
    };
    for row in shown {
        let label = cr_io::sanitized(row.key.as_deref().unwrap_or("-"));
        table.row(cells(label, sum(std::slice::from_ref(row))), row.calls);
    }
    let others = &rows[shown.len()..];
    if !others.is_empty() {
        table.rest(cells(format!("({} more)", others.len()), sum(others)));
    }
    table.rest(cells("total".to_owned(), sum(rows)));
    table
}
