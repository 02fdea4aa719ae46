//! `report.json`: the end of a run for programs.

use std::time::Duration;

use cr_rundir::file;
use jiff::Timestamp;
use serde::Serialize;

use crate::attempt::Ended;
use crate::observer::Finished;
use crate::report;
use crate::schedule::{TaskRecord, waits_for};
use crate::task_state::TaskState;

/// The most of an error or a question, in characters.
const MOST: usize = 1500;

/// The report of a run, in `report.json` in its directory.
#[derive(Debug, Serialize)]
pub(crate) struct RunReport {
    /// The version of this form; additions do not raise it. Always 1.
    ///
    /// Example: `1`
    pub(crate) schema: u32,
    /// The run.
    ///
    /// Example: `"20261118T031500Z-1f0c22ab"`
    pub(crate) run_id: String,
    /// Where the plan came from.
    ///
    /// Example: `"plan.yaml"`
    pub(crate) plan: String,
    /// How the run ended, as in its last `cr/run` line: `ended`, `stopped`, `paused`,
    /// `breakpoint` or `later`.
    ///
    /// Example: `"ended"`
    pub(crate) state: &'static str,
    /// Why it ended so.
    ///
    /// Example: `"1 done, 0 failed, 0 need a person, 0 not started"`
    pub(crate) reason: String,
    /// The exit code of cr-orchestrate.
    ///
    /// Example: `0`
    pub(crate) exit_code: u8,
    /// When the report was written.
    ///
    /// Example: `"2026-11-18T03:16:14.201Z"`
    pub(crate) at: String,
    /// What all attempts cost, in US dollars, as far as that is known.
    ///
    /// Null: without evidence.
    /// Example: `1.25`
    pub(crate) cost_usd: Option<f64>,
    /// The budget of the run, as `--budget` takes it.
    ///
    /// Null: if it has none.
    /// Example: `"11.25"`
    pub(crate) budget: Option<String>,
    /// The command that goes on with the run.
    ///
    /// Null: if every task is done.
    /// Example: `"cr-orchestrate --resume-run 20261118T031500Z-1f0c22ab"`
    pub(crate) next: Option<String>,
    /// The command that brings the merged work to the user's branch.
    ///
    /// Null: if there is nothing to bring.
    /// Example: `"git merge cr/20261118T031500Z-1f0c22ab"`
    pub(crate) merge: Option<String>,
    /// The tasks, in the order of the plan.
    ///
    /// Example: `[]`
    pub(crate) tasks: Vec<TaskReport>,
}

/// A task of the report.
#[derive(Debug, Serialize)]
pub(crate) struct TaskReport {
    /// The task.
    ///
    /// Example: `"api"`
    pub(crate) id: String,
    /// Its title.
    ///
    /// Null: if it has none.
    /// Example: `"Add the API"`
    pub(crate) title: Option<String>,
    /// Its wave.
    ///
    /// Example: `0`
    pub(crate) wave: u64,
    /// Its state.
    ///
    /// Values: `pending`, `running`, `retrying`, `completed`, `failed`, `timed_out`,
    /// `needs-human`, `lost`, `waiting`, `stopped`
    /// Example: `"completed"`
    pub(crate) state: &'static str,
    /// Why it is in this state.
    ///
    /// Example: `"the work is done"`
    pub(crate) reason: String,
    /// The outcome of the last attempt, as `outcome` of cr-summarize(1).
    ///
    /// Null: if none has ended.
    /// Example: `"success"`
    pub(crate) outcome: Option<String>,
    /// One sentence on how the last attempt ended.
    ///
    /// Null: as `outcome`.
    /// Example: `"The run ended with a good result."`
    pub(crate) why: Option<String>,
    /// The error of the last attempt, at most 1500 characters.
    ///
    /// Null: if it has none.
    /// Example: `"the check failed"`
    pub(crate) error: Option<String>,
    /// What the agent asks, at most 1500 characters.
    ///
    /// Null: if it asks nothing.
    /// Example: `"Which port?"`
    pub(crate) question: Option<String>,
    /// The task that must be done before.
    ///
    /// Null: if it waits for none.
    /// Example: `"schema"`
    pub(crate) waits_for: Option<String>,
    /// How many attempts have ended.
    ///
    /// Example: `1`
    pub(crate) attempts: usize,
    /// What they cost, in US dollars, as far as that is known.
    ///
    /// Null: without evidence.
    /// Example: `0.023604`
    pub(crate) cost_usd: Option<f64>,
    /// How long they took together, in seconds.
    ///
    /// Null: if none has a beginning and an end.
    /// Example: `74.2`
    pub(crate) duration_seconds: Option<f64>,
    /// Their commits, `sha subject`.
    ///
    /// Example: `["9ab41de fix the parser"]`
    pub(crate) commits: Vec<String>,
    /// The run directory of the last attempt.
    ///
    /// Null: if none has ended.
    /// Example: `"/home/dev/.local/state/claude-runner/orchestrate/20261118T031500Z-1f0c22ab/attempts/api/1"`
    pub(crate) run_dir: Option<String>,
}

/// The report of a run that is over.
pub(crate) fn report(finished: &Finished<'_>) -> RunReport {
    let tasks = finished.tasks.iter();
    let costs = tasks.filter_map(|record| report::cost(&record.attempts.ended));
    let exit_code = finished.exit.code();
    RunReport {
        schema: cr_rundir::SCHEMA,
        run_id: finished.run.id.clone(),
        plan: finished.run.plan.display().to_string(),
        state: finished.state,
        reason: finished.reason.to_owned(),
        exit_code,
        at: cr_stream::timestamp(Timestamp::now()),
        cost_usd: costs.reduce(|a, b| a + b).map(crate::dry_run::cents),
        budget: finished
            .run
            .budget()
            .map(crate::run_budget::RunBudget::word),
        merge: finished.merged.and_then(|work| work.command.clone()),
        next: (exit_code != 0).then(|| finished.run.resume_command()),
        tasks: finished
            .tasks
            .iter()
            .map(|record| task(record, finished))
            .collect(),
    }
}

/// Writes `report.json`.
pub(crate) fn write(report: &RunReport, finished: &Finished<'_>) -> anyhow::Result<()> {
    let mut text = serde_json::to_vec(report)?;
    text.push(b'\n');
    finished.layout.dir.write(file::REPORT_JSON, &text)
}

fn task(record: &TaskRecord, finished: &Finished<'_>) -> TaskReport {
    let ended = &record.attempts.ended;
    let last = ended.last().map(|last| &last.end);
    let cut = |text: &str| {
        let text = text.trim();
        (!text.is_empty()).then(|| cr_io::first_chars(text, MOST).0.to_owned())
    };
    let error = last.filter(|end| !end.is_success() && end.error != end.why);
    let is_ready = matches!(record.assessment.state, TaskState::Ready { .. });
    let waits_for = waits_for(record, finished.tasks).filter(|_| is_ready);
    let path = finished
        .layout
        .attempt_path(&record.task.id, record.attempts.last_number());
    TaskReport {
        id: record.task.id.clone(),
        title: record.task.title.clone(),
        wave: record.task.wave,
        state: record.assessment.word(&record.attempts),
        reason: record.assessment.reason.clone(),
        outcome: last.map(|end| end.outcome.clone()),
        why: last.map(|end| end.why.clone()),
        error: error.and_then(|end| cut(&end.error)),
        question: last.and_then(|end| cut(end.question.as_deref()?)),
        waits_for: waits_for.map(|other| other.task.id.clone()),
        attempts: ended.len(),
        cost_usd: report::cost(ended),
        duration_seconds: duration(ended).map(|time| time.as_secs_f64()),
        commits: ended
            .iter()
            .flat_map(|old| old.end.commits.clone())
            .collect(),
        run_dir: last.map(|_| path.display().to_string()),
    }
}

/// How long the attempts took together.
fn duration(ended: &[Ended]) -> Option<Duration> {
    let times = ended.iter().filter_map(|old| {
        let time = old.end.ended_at.duration_since(old.end.started_at?);
        Duration::try_from(time).ok()
    });
    times.reduce(|a, b| a + b)
}
