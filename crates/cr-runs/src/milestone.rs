//! `claude-runner --milestone`: the session and the beginning of the prompt, as the
//! ledger says.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

use anyhow::anyhow;
use cr_io::Exit;
use cr_milestone::Question;

use crate::args::Runner;

/// What a milestone adds to a run.
#[derive(Debug, Default)]
pub(crate) struct MilestoneRun {
    /// The options of cr-spawn that choose the session.
    pub(crate) options: Vec<OsString>,
    /// Variables for the stages.
    pub(crate) env: Vec<(OsString, OsString)>,
}

/// Asks the ledger if the run belongs to a milestone, and gives `runner` the
/// session.
pub(crate) fn ask(runner: &mut Runner) -> anyhow::Result<MilestoneRun> {
    let Some(milestone) = &runner.milestone else {
        return Ok(MilestoneRun::default());
    };
    let spawn = &mut runner.spawn;
    let is_given = runner.prompt_argument.is_some() || spawn.prompt.is_some();
    if spawn.session.is_stream() && !is_given && spawn.prompt_file.is_none() {
        let text = "--milestone: with --input stream the first message must be --prompt or \
                    --prompt-file";
        return Err(anyhow!(text).context(Exit::Usage));
    }
    let question = Question {
        milestone: milestone.as_ref(),
        project: spawn.cwd.as_deref().unwrap_or(Path::new(".")),
        plan: runner.plan.as_deref(),
        is_new: false,
    };
    let next = question.ask()?;
    // A standard error that is closed stops no run.
    let _ = writeln!(
        io::stderr(),
        "claude-runner: {}",
        cr_io::sanitized(&next.why)
    );
    let session = Some(next.session_id.clone());
    let name = if next.resume {
        spawn.resume = session;
        "--resume"
    } else {
        spawn.session_id = session;
        "--session-id"
    };
    runner.prompt_prefix = next.prompt_prefix;
    Ok(MilestoneRun {
        options: vec![format!("{name}={}", next.session_id).into()],
        env: vec![(cr_milestone::VARIABLE.into(), next.milestone_id.into())],
    })
}
