//! `cr-runs ls`.

use std::io::{self, Write};

use cr_io::{Exit, Out, first_chars, sanitized};
use jiff::Timestamp;

use crate::args::LsArgs;
use crate::status::{Status, seconds};
use cr_rundir::RunState;

/// Characters of a name, and of what happened last.
const NAME: usize = 20;
const LAST: usize = 60;

/// Prints the runs, the latest first.
pub(crate) fn ls(args: &LsArgs, out: impl Write) -> anyhow::Result<Exit> {
    let most = if args.number == 0 {
        usize::MAX
    } else {
        args.number
    };
    let runs = cr_rundir::runs_in(&crate::find::runs()?);
    let runs = runs
        .iter()
        .filter(|run| !args.running || run.state() == RunState::Running);
    let mut out = Out::new(out);
    let mut rows = Vec::new();
    let mut exit = Exit::Ok;
    for run in runs.take(most) {
        let status = match Status::of(run) {
            Ok(status) => status,
            // One run of another version is no reason to hide the others.
            Err(err) => {
                cr_io::note("cr-runs", io::stderr(), &err);
                exit = cr_io::exit_of(&err);
                continue;
            }
        };
        if args.json {
            out.line(&serde_json::to_vec(&status)?)?;
        } else {
            rows.push(row(&status));
        }
    }
    if !rows.is_empty() {
        let head = ["RUN", "STATE", "AGE", "NAME", "OUTCOME", "COST", "LAST"];
        rows.insert(0, head.map(str::to_owned));
        for line in table(&rows) {
            out.line(line.as_bytes())?;
        }
    }
    out.flush()?;
    Ok(exit)
}

fn row(status: &Status) -> [String; 7] {
    let age = status.started_at.and_then(|began| {
        let age = Timestamp::now().duration_since(began).as_secs();
        Some(seconds(u64::try_from(age).ok()?))
    });
    let text = |value: Option<&str>, most: usize| {
        let value = sanitized(value.unwrap_or("-"));
        first_chars(&value, most).0.to_owned()
    };
    [
        status.run_id.clone(),
        status.state.to_owned(),
        age.unwrap_or_else(|| "-".to_owned()),
        text(status.name.as_deref(), NAME),
        text(status.outcome.as_deref(), NAME),
        status
            .cost_usd
            .map_or_else(|| "-".to_owned(), |cost| format!("${cost:.2}")),
        text(status.last.as_deref(), LAST),
    ]
}

/// The rows with their columns one below the other.
fn table(rows: &[[String; 7]]) -> Vec<String> {
    let width = |column: usize| {
        let widths = rows.iter().map(|row| row[column].chars().count());
        widths.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..7).map(width).collect();
    let line = |row: &[String; 7]| {
        let cells = row.iter().zip(&widths);
        let cells: Vec<String> = cells
            .map(|(cell, width)| format!("{cell:<width$}"))
            .collect();
        cells.join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}
