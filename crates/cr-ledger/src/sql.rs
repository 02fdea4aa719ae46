//! `cr-ledger sql`: a query of the user's own.

use std::io::Write;

use anyhow::{Context, anyhow};
use clap::Args;
use cr_io::{Exit, Out, visible_json};
use cr_ledger_db::rusqlite::{self, ErrorCode};
use cr_ledger_db::{Access, explain};

use crate::location::Location;
use crate::value::object;

/// Run a query; prints one JSON object a row
///
/// The ledger is opened for reading only. The views: usage, messages, sessions,
/// `context_window_usage`, runs, turns, tasks, milestones, quota, tools.
#[derive(Args, Debug)]
pub(crate) struct SqlArgs {
    /// The query; standard input without it
    #[arg(value_name = "QUERY")]
    query: Option<String>,
}

pub(crate) fn run(args: &SqlArgs, location: &Location, out: impl Write) -> anyhow::Result<Exit> {
    let ledger = location.open(Access::Read)?;
    let query = match &args.query {
        Some(query) => query.clone(),
        None => std::io::read_to_string(std::io::stdin())
            .context("standard input")
            .context(Exit::Io)?,
    };
    print(&ledger, &query, out)
}

/// Prints the rows of `query`.
pub(crate) fn print(
    ledger: &cr_ledger_db::Ledger,
    query: &str,
    out: impl Write,
) -> anyhow::Result<Exit> {
    let wrong = |err: rusqlite::Error| match err.sqlite_error_code() {
        Some(
            ErrorCode::DatabaseCorrupt
            | ErrorCode::NotADatabase
            | ErrorCode::SystemIoFailure
            | ErrorCode::CannotOpen
            | ErrorCode::DatabaseBusy,
        ) => explain(err),
        // The query is wrong, or it would change something.
        _ => anyhow!("{err}").context(Exit::Usage),
    };
    let mut statement = ledger.db().prepare(query).map_err(wrong)?;
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let mut rows = statement.query([]).map_err(wrong)?;
    let mut out = Out::new(out);
    while let Some(row) = rows.next().map_err(wrong)? {
        let line = object(row, &names).map_err(explain)?;
        out.line(visible_json(&line).as_bytes())?;
    }
    out.flush()?;
    Ok(Exit::Ok)
}
