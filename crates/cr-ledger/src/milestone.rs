//! `cr-ledger milestone`: tasks that share a session, and what the next one knows.

mod end;
mod find;
mod next;
mod opening;
mod show;
mod start;

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use cr_io::Exit;

use crate::location::Location;

/// Start, show and end milestones
///
/// The tasks of a milestone run in one session: claude-runner --milestone NAME.
/// The first prompt has the work plan and the handoff of the milestone before it.
/// When the context of the session is full to `context_refresh` of the
/// configuration, the next task gets a new session with the handoff of the old one.
#[derive(Args, Debug)]
pub(crate) struct MilestoneArgs {
    #[command(subcommand)]
    command: MilestoneCommand,
}

#[derive(Debug, Subcommand)]
enum MilestoneCommand {
    Start(start::StartArgs),
    End(end::EndArgs),
    Show(show::ShowArgs),
    Ls(show::LsArgs),
    #[command(hide = true)]
    Next(next::NextArgs),
}

/// The project of a milestone.
#[derive(Args, Debug)]
pub(crate) struct ProjectArgs {
    /// The directory of the agents [default: the current one]
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
}

pub(crate) fn run(
    args: &MilestoneArgs,
    location: &Location,
    out: impl Write,
    notes: impl Write,
) -> anyhow::Result<Exit> {
    match &args.command {
        MilestoneCommand::Start(args) => start::run(args, location, out),
        MilestoneCommand::End(args) => end::run(args, location, out, notes),
        MilestoneCommand::Show(args) => show::show(args, location, out),
        MilestoneCommand::Ls(args) => show::list(args, location, out),
        MilestoneCommand::Next(args) => next::run(args, location, out, notes),
    }
}
