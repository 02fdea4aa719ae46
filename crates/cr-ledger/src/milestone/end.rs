//! `cr-ledger milestone end`.

use std::io::Write;

use clap::{Args, ValueEnum};
use cr_config::Config;
use cr_io::{Exit, Out, counted, sanitized};
use cr_ledger_db::{Ledger, Milestone, MilestoneStatus};

use super::ProjectArgs;
use super::find::{active, not_started, refuse_busy};
use super::start::now;
use crate::handoff::{Handoff, HandoffArgs};
use crate::location::Location;
use crate::transcript::Transcript;

/// End a milestone, and keep the handoff of its last session for the next one
#[derive(Args, Debug)]
pub(crate) struct EndArgs {
    /// Its name or its id
    #[arg(value_name = "NAME")]
    name: String,
    /// How it ended; one that is abandoned leaves no handoff
    #[arg(long, value_name = "STATUS", default_value = "completed")]
    status: EndStatus,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    handoff: HandoffArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum EndStatus {
    Completed,
    Abandoned,
}

impl From<EndStatus> for MilestoneStatus {
    fn from(status: EndStatus) -> Self {
        match status {
            EndStatus::Completed => Self::Completed,
            EndStatus::Abandoned => Self::Abandoned,
        }
    }
}

pub(crate) fn run(
    args: &EndArgs,
    location: &Location,
    out: impl Write,
    notes: impl Write,
) -> anyhow::Result<Exit> {
    let project = args.project.path()?;
    let mut ledger = location.open_existing()?;
    let Some(mut milestone) = active(&ledger, &project, &args.name)? else {
        return Err(not_started(&project, &args.name));
    };
    if args.status == EndStatus::Completed {
        milestone.handoff = handoff(args, &ledger, &milestone, notes)?;
    }
    let status = MilestoneStatus::from(args.status);
    status.as_str().clone_into(&mut milestone.status);
    milestone.ended_at = Some(now());
    ledger.write(|writer| {
        writer.end_milestone_session(&milestone.id, status, now())?;
        Ok(writer.save_milestone(&milestone, now())?)
    })?;
    let line = format!(
        "{}: {}, a handoff of {}",
        sanitized(&milestone.name),
        status.as_str(),
        counted(milestone.handoff.len() as u64, "byte")
    );
    let mut out = Out::new(out);
    out.line(line.as_bytes())?;
    out.flush()?;
    Ok(Exit::Ok)
}

/// The handoff of its last session. Where nothing is left of that, the one with
/// which the session began.
fn handoff(
    args: &EndArgs,
    ledger: &Ledger,
    milestone: &Milestone,
    mut notes: impl Write,
) -> anyhow::Result<String> {
    let config = Config::load()?;
    let sessions = ledger.milestone_sessions(&milestone.id)?;
    let Some(last) = sessions.last() else {
        let _ = writeln!(
            notes,
            "cr-ledger: no task has run in it, so it has no handoff"
        );
        return Ok(String::new());
    };
    refuse_busy(&last.session, &config)?;
    let transcript = Transcript::find(ledger, &last.session)?;
    let made = match transcript {
        Some(transcript) => Handoff::of(&transcript, &args.handoff, &config, &mut notes)?,
        None => None,
    };
    if let Some(made) = made {
        return Ok(made.quoted(args.handoff.limit));
    }
    let _ = writeln!(
        notes,
        "cr-ledger: nothing is left of session {}; its handoff is the one it began with",
        last.session
    );
    Ok(last.handoff.clone())
}
