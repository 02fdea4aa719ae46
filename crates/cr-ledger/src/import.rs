//! `cr-ledger import`: the session logs that the agent leaves.

mod agent_dir;
mod plan;
mod progress;
mod store;

use std::io::Write;
use std::path::PathBuf;
use std::thread::available_parallelism;

use anyhow::Context;
use clap::Args;
use cr_io::{Exit, Out, counted, exit_of, note};
use cr_ledger_db::Access;
use cr_session_log::{find_readable_logs, scan_files};
use serde::Serialize;

use crate::location::Location;
use agent_dir::AgentDir;
use plan::Plan;
use progress::Progress;
use store::Store;

/// More threads than this only wait for the writer.
const THREADS: usize = 4;

/// Import session logs of the agent
///
/// A log is read from where it was left; one that did not change is not opened.
/// Each message counts once, also if forks, resumed sessions and subagents have
/// copies of it. What was imported stays when the log is deleted.
///
/// Lines that are no JSON are left out and counted; they do not change the exit code.
/// A line without a time has that of the line before it, else that of the file.
#[derive(Args, Debug)]
pub(crate) struct ImportArgs {
    /// Directories with logs, or logs (default: `projects` in the directory of the
    /// agent)
    #[arg(value_name = "DIR")]
    dirs: Vec<PathBuf>,
    /// Say what would be read, and read nothing
    #[arg(long)]
    dry_run: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// What an import did.
#[derive(Debug, Default, Serialize)]
struct Imported {
    /// Logs that were read, or that would be.
    files: u64,
    /// Bytes of them; of compressed logs, of what they contain.
    bytes: u64,
    /// Messages that were not in the ledger before; null in a dry run.
    messages: Option<u64>,
    /// Sessions of which something was read; null in a dry run.
    sessions: Option<u64>,
    /// Logs that did not change since they were read.
    unchanged: u64,
    /// Logs that cannot be read.
    failed: u64,
    /// Lines that are no JSON objects, or too long.
    bad_lines: u64,
    /// Logs that the agent deletes soon and that were not imported before.
    about_to_be_deleted: u64,
}

pub(crate) fn run(
    args: &ImportArgs,
    location: &Location,
    out: impl Write,
    mut notes: impl Write,
) -> anyhow::Result<Exit> {
    let agent = AgentDir::find();
    let (logs, mut failures) = find_readable_logs(&dirs(args, agent.as_ref())?)?;
    let mut ledger = match location.open(access(args)) {
        Ok(ledger) => Some(ledger),
        // A dry run makes no ledger.
        Err(err) if args.dry_run && exit_of(&err) == Exit::NoInput => None,
        Err(err) => return Err(err),
    };
    let places = ledger.as_ref().map(cr_ledger_db::Ledger::log_places);
    let plan = Plan::new(logs, &places.transpose()?.unwrap_or_default());
    let mut imported = Imported {
        files: plan.files.len() as u64,
        bytes: plan.bytes,
        unchanged: plan.unchanged,
        ..Imported::default()
    };
    if let Some(agent) = &agent {
        imported.about_to_be_deleted = agent.about_to_be_deleted(&plan);
    }
    if let Some(ledger) = ledger.as_mut().filter(|_| !args.dry_run) {
        let mut store = Store::new(ledger.import()?, &plan.files, Progress::new(plan.bytes));
        let threads = available_parallelism().map_or(1, usize::from).min(THREADS);
        scan_files(&plan.files, threads, |index, report| {
            store.take(index, report)
        })?;
        failures.extend(store.finish(&mut imported)?);
    }
    imported.failed = failures.len() as u64;
    for failure in &failures {
        note("cr-ledger", &mut notes, failure);
    }
    if let Some(agent) = agent.filter(|_| imported.about_to_be_deleted > 0) {
        // A standard error that is closed stops nothing.
        let _ = notes.write_all(agent.warning(imported.about_to_be_deleted).as_bytes());
    }
    let mut out = Out::new(out);
    out.line(line(args, &imported)?.as_bytes())?;
    out.flush()?;
    // Reading that failed midway is the worse news.
    let exits: Vec<Exit> = failures.iter().map(exit_of).collect();
    let worst = exits.iter().find(|exit| **exit == Exit::Io);
    Ok(*worst.or(exits.first()).unwrap_or(&Exit::Ok))
}

/// The directories with logs.
fn dirs(args: &ImportArgs, agent: Option<&AgentDir>) -> anyhow::Result<Vec<PathBuf>> {
    if !args.dirs.is_empty() {
        return Ok(args.dirs.clone());
    }
    let text = "neither CLAUDE_CONFIG_DIR nor HOME says where session logs are";
    let agent = agent.ok_or_else(|| anyhow::anyhow!(text).context(Exit::Usage))?;
    Ok(vec![agent.projects()])
}

fn access(args: &ImportArgs) -> Access {
    if args.dry_run {
        Access::Read
    } else {
        Access::Write
    }
}

fn line(args: &ImportArgs, imported: &Imported) -> anyhow::Result<String> {
    if args.json {
        return serde_json::to_string(imported).context("JSON");
    }
    let read = format!(
        "{} ({}), {} unchanged",
        counted(imported.files, "log"),
        counted(imported.bytes, "byte"),
        imported.unchanged
    );
    let mut line = match (imported.messages, imported.sessions) {
        (Some(messages), Some(sessions)) => format!(
            "read {read}: {}, {}",
            counted(messages, "new message"),
            counted(sessions, "session")
        ),
        _ => format!("would read {read}"),
    };
    if imported.bad_lines > 0 {
        line += &format!("; {} left out", counted(imported.bad_lines, "bad line"));
    }
    Ok(line)
}
