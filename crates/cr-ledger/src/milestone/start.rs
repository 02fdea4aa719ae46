//! `cr-ledger milestone start`.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use clap::Args;
use cr_io::{Exit, Out, quote, sanitized};
use cr_ledger_db::{Access, Ledger, Milestone, MilestoneStatus, Writer};
use jiff::Timestamp;

use super::ProjectArgs;
use super::find::check_name;
use crate::location::Location;

/// Bytes of a work plan: it becomes a part of prompts.
const LARGEST_PLAN: u64 = 256 << 10;

/// Start a milestone; prints its id
#[derive(Args, Debug)]
pub(crate) struct StartArgs {
    /// Its name; only one milestone of a name is active in a project
    #[arg(value_name = "NAME")]
    name: String,
    /// The work plan, for the first prompt of its sessions
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    #[command(flatten)]
    project: ProjectArgs,
}

pub(crate) fn run(args: &StartArgs, location: &Location, out: impl Write) -> anyhow::Result<Exit> {
    let project = args.project.path()?;
    let plan = args.plan.as_deref().map(read_plan).transpose()?;
    let mut ledger = location.open(Access::Write)?;
    let milestone = start(&mut ledger, &project, &args.name, plan.unwrap_or_default())?;
    let mut out = Out::new(out);
    out.line(milestone.id.as_bytes())?;
    out.flush()?;
    Ok(Exit::Ok)
}

/// Reads a work plan.
pub(crate) fn read_plan(path: &Path) -> anyhow::Result<String> {
    let shown = || sanitized(&path.display().to_string());
    let mut bytes = Vec::new();
    let file = File::open(path)
        .with_context(shown)
        .context(Exit::NoInput)?;
    file.take(LARGEST_PLAN + 1)
        .read_to_end(&mut bytes)
        .with_context(shown)
        .context(Exit::NoInput)?;
    if bytes.len() as u64 > LARGEST_PLAN {
        let text = format!("a work plan has at most {LARGEST_PLAN} bytes");
        return Err(anyhow!(text).context(shown()).context(Exit::Data));
    }
    Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
}

/// Starts a milestone.
pub(crate) fn start(
    ledger: &mut Ledger,
    project: &str,
    name: &str,
    plan: String,
) -> anyhow::Result<Milestone> {
    check_name(name)?;
    let id = cr_agent::uuid::random().context(Exit::Tool)?;
    ledger.write(|writer| {
        if let Some(active) = writer.active_milestone(project, name)? {
            return Err(active_already(&active));
        }
        let milestone = Milestone {
            id,
            name: name.to_owned(),
            project: project.to_owned(),
            status: MilestoneStatus::Active.as_str().to_owned(),
            started_at: now(),
            plan,
            previous: previous(writer, project)?,
            ..Milestone::default()
        };
        writer.save_milestone(&milestone, now())?;
        Ok(milestone)
    })
}

/// The id of the milestone whose handoff a new one begins with.
pub(crate) fn previous(writer: &Writer<'_>, project: &str) -> anyhow::Result<String> {
    let last = writer.last_completed(project)?;
    Ok(last.map(|last| last.id).unwrap_or_default())
}

pub(crate) fn now() -> i64 {
    Timestamp::now().as_millisecond()
}

fn active_already(milestone: &Milestone) -> anyhow::Error {
    let text = format!(
        "the milestone `{}` is active already; end it with: cr-ledger milestone end {}",
        sanitized(&milestone.name),
        sanitized(&quote(&milestone.name).unwrap_or_default())
    );
    anyhow!(text).context(Exit::Usage)
}
