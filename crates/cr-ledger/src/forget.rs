//! `cr-ledger forget`: removes what somebody does not want to keep.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use cr_io::{Exit, Out, counted};
use cr_ledger_db::{Access, Selection};
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::directory;
use crate::location::Location;

/// Delete what the ledger knows of a project, or of the time before a date
///
/// Prints what is deleted. Nothing of it stays in the file, except that the logs that
/// were imported are known by their paths: they are not read again, so what is
/// forgotten stays so, unless another ledger that has it is merged.
#[derive(Args, Debug)]
#[group(id = "what", required = true, multiple = true, args = ["project", "before"])]
pub(crate) struct ForgetArgs {
    /// Of the agents that worked in this directory or below it
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Of the time before this day began, in local time; with --project both must
    /// hold
    #[arg(long, value_name = "DATE")]
    before: Option<Date>,
    /// Only say what would be deleted
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &ForgetArgs, location: &Location, out: impl Write) -> anyhow::Result<Exit> {
    let before = args.before.map(|day| {
        let start = day.to_zoned(TimeZone::system());
        start.map(|start| start.timestamp().as_millisecond())
    });
    let before = before
        .transpose()
        .context("--before")
        .context(Exit::Usage)?;
    let project = args.project.as_deref().map(directory::text);
    let selection = Selection {
        project: project.transpose()?,
        before,
    };
    let forgotten = if args.dry_run {
        location.open(Access::Read)?.count(&selection)?
    } else {
        location.open_existing()?.forget(&selection)?
    };
    let verb = if args.dry_run {
        "would delete"
    } else {
        "deleted"
    };
    let line = format!(
        "{verb} {}, {}, {}, {}, {}",
        counted(forgotten.messages, "message"),
        counted(forgotten.tool_calls, "tool call"),
        counted(forgotten.runs, "run"),
        counted(forgotten.sessions, "session"),
        counted(forgotten.milestones, "milestone")
    );
    let mut out = Out::new(out);
    out.line(line.as_bytes())?;
    out.flush()?;
    Ok(Exit::Ok)
}
