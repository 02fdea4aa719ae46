//! `cr-ledger export`: everything, for other programs.

use std::io::Write;

use clap::Args;
use clap::ValueEnum;
use cr_io::Exit;
use cr_ledger_db::Access;

use crate::location::Location;
use crate::sql;

/// Print a view as one JSON object a line, in a fixed order
#[derive(Args, Debug)]
pub(crate) struct ExportArgs {
    /// The view
    #[arg(value_name = "VIEW", default_value = "usage")]
    view: View,
    /// The output is JSON anyway; accepted for scripts that say so
    #[arg(long, hide = true)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum View {
    /// Sums for a quarter of an hour, by session, project and model
    Usage,
    /// Every answer of a model
    Messages,
    /// Sessions with their totals
    Sessions,
    /// How full the context was after each answer
    Context,
    /// Runs
    Runs,
    /// The turns of runs
    Turns,
    /// Tasks
    Tasks,
    /// Milestones
    Milestones,
    /// Readings of the account's usage windows
    Quota,
    /// Calls of tools
    Tools,
}

impl View {
    /// The view, and the columns that put its rows in order.
    fn query(self) -> (&'static str, &'static str) {
        match self {
            Self::Usage => ("usage", "1, 2, 3, 4, 5, 6, 7"),
            Self::Messages => ("messages", "timestamp, message_id, request_id"),
            Self::Sessions => ("sessions", "started_at, session_id"),
            Self::Context => ("context_window_usage", "timestamp, session_id"),
            Self::Runs => ("runs", "started_at, run_id, session_id"),
            Self::Turns => ("turns", "run_id, session_id, number"),
            Self::Tasks => ("tasks", "started_at, task_id"),
            Self::Milestones => ("milestones", "started_at, milestone_id"),
            Self::Quota => ("quota", "at, window, machine"),
            Self::Tools => ("tools", "timestamp, tool, project, failed"),
        }
    }
}

pub(crate) fn run(args: &ExportArgs, location: &Location, out: impl Write) -> anyhow::Result<Exit> {
    let ledger = location.open(Access::Read)?;
    let (view, order) = args.view.query();
    let columns = columns(&ledger, view)?;
    // The other columns decide between rows that are equal in the first ones.
    let query = format!("SELECT {columns} FROM {view} ORDER BY {order}, {columns}");
    sql::print(&ledger, &query, out)
}

/// The columns of a view without `id`, which counts the rows of one file.
fn columns(ledger: &cr_ledger_db::Ledger, view: &str) -> anyhow::Result<String> {
    let statement = ledger.db().prepare(&format!("SELECT * FROM {view}"));
    let statement = statement.map_err(cr_ledger_db::explain)?;
    let names = statement.column_names();
    let names: Vec<&str> = names.filter(|name| *name != "id").collect();
    Ok(names.join(", "))
}
