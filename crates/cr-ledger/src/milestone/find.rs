//! Which milestone is meant, and what of it goes on.

use std::path::Path;

use anyhow::{Context, anyhow};
use cr_config::Config;
use cr_io::{Exit, quote, sanitized};
use cr_ledger_db::{Ledger, Milestone, MilestoneStatus};
use cr_rundir::{RunState, file};

use super::ProjectArgs;

/// The longest name.
const LONGEST_NAME: usize = 200;

impl ProjectArgs {
    /// The directory, by its real path.
    pub(crate) fn path(&self) -> anyhow::Result<String> {
        let dir = self.project.as_deref().unwrap_or(Path::new("."));
        let shown = || sanitized(&dir.display().to_string());
        let real = std::fs::canonicalize(dir)
            .with_context(shown)
            .context(Exit::NoInput)?;
        real.into_os_string().into_string().map_err(|_| {
            let text = format!("{}: its name is not UTF-8", shown());
            anyhow!(text).context(Exit::Usage)
        })
    }
}

/// Whether work goes on in it.
pub(crate) fn is_active(milestone: &Milestone) -> bool {
    milestone.status == MilestoneStatus::Active.as_str()
}

/// The active milestone called `name` in a project, or with this id.
pub(crate) fn active(
    ledger: &Ledger,
    project: &str,
    name: &str,
) -> anyhow::Result<Option<Milestone>> {
    let named = ledger.milestones(Some(project), Some(name))?;
    let named = named.into_iter().find(is_active);
    let by_id = || Ok(ledger.milestone(name)?.filter(is_active));
    named.map_or_else(by_id, |milestone| Ok(Some(milestone)))
}

/// The error about a milestone that is not active.
pub(crate) fn not_started(project: &str, name: &str) -> anyhow::Error {
    let text = format!(
        "no milestone `{}` is active in {}; start it with: cr-ledger milestone start {} \
         --plan FILE",
        sanitized(name),
        sanitized(project),
        sanitized(&quote(name).unwrap_or_default())
    );
    anyhow!(text).context(Exit::NoInput)
}

/// Refuses a name that is no line of text.
pub(crate) fn check_name(name: &str) -> anyhow::Result<()> {
    let is_shown = !name.trim().is_empty() && !name.chars().any(char::is_control);
    if !is_shown || name.len() > LONGEST_NAME {
        let text = format!("a name has one line of 1 to {LONGEST_NAME} bytes");
        return Err(anyhow!(text).context(Exit::Usage));
    }
    Ok(())
}

/// Refuses to go on while a run works in the session: both would write to it.
pub(crate) fn refuse_busy(session: &str, config: &Config) -> anyhow::Result<()> {
    let runs = config.state_dir()?.path().join(file::RUNS);
    let busy = cr_rundir::runs_in(&runs)
        .into_iter()
        .find(|run| run.state() == RunState::Running && run.session().as_deref() == Some(session));
    let Some(run) = busy else { return Ok(()) };
    let text = format!("the run {} is going on in its session", run.id());
    Err(anyhow!(text).context(Exit::Retry))
}
