//! `cr-ledger task-turns`: how many turns finished tasks took, for cr-turns.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use cr_io::{Exit, Out};
use cr_ledger_db::Access;

use crate::directory;
use crate::location::Location;

/// Print how many turns each finished task of a project and a kind took
///
/// One number a line, for the last 1000 tasks. cr-turns --history uses it.
#[derive(Args, Debug)]
pub(crate) struct TaskTurnsArgs {
    /// The directory in which the agents worked
    #[arg(long, value_name = "DIR", default_value = ".")]
    project: PathBuf,
    /// The kind of task
    #[arg(long = "type", value_name = "TYPE")]
    task_type: String,
}

pub(crate) fn run(
    args: &TaskTurnsArgs,
    location: &Location,
    out: impl Write,
) -> anyhow::Result<Exit> {
    let project = directory::text(&args.project)?;
    let ledger = location.open(Access::Read)?;
    let sql = "SELECT num_turns FROM tasks
        WHERE done AND num_turns IS NOT NULL AND project = ?1 AND lower(task_type) = lower(?2)
        ORDER BY ended_at DESC LIMIT 1000";
    let mut statement = ledger.db().prepare(sql)?;
    let turns = statement.query_map([&project, &args.task_type], |row| row.get::<_, i64>(0))?;
    let mut out = Out::new(out);
    for turns in turns {
        out.line(turns?.to_string().as_bytes())?;
    }
    out.flush()?;
    Ok(Exit::Ok)
}
