//! `cr-orchestrate status`: a line for each task.

use std::io::Write;

use cr_io::{Exit, Out};
use cr_rundir::RunState;
use serde::Serialize;

use crate::args::StatusArgs;
use crate::layout::RunLayout;
use crate::report;
use crate::task_state::{TaskState, assess};

/// A task, as `status --json` prints it.
#[derive(Debug, Serialize)]
struct TaskStatus<'a> {
    /// The task.
    ///
    /// Example: `"api"`
    id: &'a str,
    /// Its state.
    ///
    /// Values: `pending`, `running`, `retrying`, `completed`, `failed`, `timed_out`,
    /// `needs-human`, `lost`, `waiting`, `stopped`
    /// Example: `"completed"`
    state: &'static str,
    /// How many attempts were begun.
    ///
    /// Example: `1`
    attempts: usize,
    /// What they cost, in US dollars, as far as that is known.
    ///
    /// Null: without evidence.
    /// Example: `0.023604`
    cost_usd: Option<f64>,
    /// One sentence on how the last attempt ended.
    ///
    /// Null: if none has ended.
    /// Example: `"The run ended with a good result."`
    why: Option<&'a str>,
    /// Why the task is in this state.
    ///
    /// Example: `"the work is done"`
    reason: &'a str,
    /// Whether a process works on the run.
    ///
    /// Example: `false`
    driven: bool,
}

impl TaskStatus<'_> {
    /// The task in one line, for people.
    fn line(&self) -> String {
        let why = cr_io::sanitized(self.why.unwrap_or_default());
        let cost = self
            .cost_usd
            .map_or_else(String::new, |cost| format!("${cost:.4}"));
        let (state, attempts, id) = (self.state, self.attempts, self.id);
        format!("{state:<12} {attempts:>2} {cost:>9}  {id}  {why}")
    }
}

/// Prints the state of each task of a run. Writes no file.
pub(crate) fn run(args: &StatusArgs, out: impl Write) -> anyhow::Result<Exit> {
    let mut out = Out::new(out);
    if args.runs {
        return list(RunLayout::ids()?.iter().rev(), out);
    }
    let layout = match &args.run {
        Some(id) => RunLayout::open(id)?,
        None => RunLayout::latest()?,
    };
    let run = layout.run()?;
    if args.quiet {
        return list(run.tasks.iter().map(|task| &task.id), out);
    }
    let is_driven = cr_rundir::Run::new(layout.dir.path()).state() == RunState::Running;
    let mut is_done = true;
    if !args.json {
        let text = format!("{}  {}", run.id, layout.dir.path().display());
        out.line(text.as_bytes())?;
    }
    let now = jiff::Timestamp::now();
    for task in &run.tasks {
        let attempts = layout.attempts(&task.id)?;
        let assessment = assess(task, &attempts, &run.settings, false, now);
        is_done &= matches!(assessment.state, TaskState::Done);
        let status = TaskStatus {
            id: &task.id,
            state: assessment.word(&attempts),
            attempts: attempts.ended.len() + usize::from(attempts.open.is_some()),
            cost_usd: report::cost(&attempts.ended),
            why: attempts.ended.last().map(|last| last.end.why.as_str()),
            reason: &assessment.reason,
            driven: is_driven,
        };
        let line = if args.json {
            serde_json::to_string(&status)?
        } else {
            status.line()
        };
        out.line(line.trim_end().as_bytes())?;
    }
    if !args.json && !is_driven && !is_done {
        let next = run.resume_command();
        let text = format!("no process drives this run; to continue: {next}");
        out.line(text.as_bytes())?;
    }
    out.flush()?;
    Ok(Exit::Ok)
}

/// Prints only the ids.
fn list<'a>(
    ids: impl Iterator<Item = &'a String>,
    mut out: Out<impl Write>,
) -> anyhow::Result<Exit> {
    for id in ids {
        out.line(id.as_bytes())?;
    }
    out.flush()?;
    Ok(Exit::Ok)
}
