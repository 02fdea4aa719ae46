//! `--dry-run`: the schedule, for people or as JSON. It starts and writes nothing.

use std::collections::BTreeMap;
use std::io::Write;

use cr_io::{Exit, Out, counted};
use serde::Serialize;
use serde_json::Value;

use crate::args::Args;
use crate::dry_run_text;
use crate::forecast::{Conflict, Forecast, forecast};
use crate::layout::RunLayout;
use crate::plan::Plan;
use crate::run_budget::RunBudget;
use crate::task::Task;

/// The schedule of a plan, as `--dry-run --json` prints it.
#[derive(Debug, Serialize)]
pub(crate) struct PlannedRun<'a> {
    /// How many tasks may run at the same time.
    ///
    /// Example: `4`
    pub(crate) slots: usize,
    /// The tasks that would run, in the order in which they would start.
    ///
    /// Example: `[{"id": "docs", "wave": 0, "slot": null, "start_seconds": null,
    /// "estimated_seconds": null, "budget_usd": 0.5, "waits_for": [], "task": {"id":
    /// "docs"}}]`
    pub(crate) tasks: Vec<PlannedTask<'a>>,
    /// Pairs of tasks that may change the same files, and of which neither depends on
    /// the other. They never run at the same time.
    ///
    /// Example: `[{"first": "api", "second": "ui", "files": ["src/lib/**"]}]`
    pub(crate) conflicts: Vec<PlannedConflict<'a>>,
    /// The ids of the tasks that are done already, or come after `--until`.
    ///
    /// Example: `["schema"]`
    pub(crate) left_out: Vec<&'a str>,
    /// What the first attempts may cost together, in US dollars.
    ///
    /// Null: if a task has no budget.
    /// Example: `7.5`
    pub(crate) cost_ceiling_usd: Option<f64>,
    /// The ids of the tasks without a budget.
    ///
    /// Example: `["docs"]`
    pub(crate) without_budget: Vec<&'a str>,
    /// The budget of the run, as `--budget` takes it.
    ///
    /// Null: if none was given, and a task has no budget.
    /// Example: `"11.25"`
    pub(crate) run_budget: Option<String>,
    /// How long the run takes in seconds, if every task takes its `estimated_duration`
    /// and is done after one attempt.
    ///
    /// Null: if a task has no estimate.
    /// Example: `3300.0`
    pub(crate) duration_seconds: Option<f64>,
    /// The ids of the tasks without an estimate.
    ///
    /// Example: `["docs"]`
    pub(crate) without_estimate: Vec<&'a str>,
}

/// A task of the schedule.
#[derive(Debug, Serialize)]
pub(crate) struct PlannedTask<'a> {
    /// The name of the task.
    ///
    /// Example: `"api"`
    pub(crate) id: &'a str,
    /// Its wave. A wave begins when all tasks of the waves before are done.
    ///
    /// Example: `0`
    pub(crate) wave: u64,
    /// The slot in which it would run, from 1.
    ///
    /// Null: if a task has no estimate, so that it is not known which slot is free
    /// first.
    /// Example: `1`
    pub(crate) slot: Option<usize>,
    /// When it would start, in seconds from the start of the run.
    ///
    /// Null: as `slot`.
    /// Example: `1200.0`
    pub(crate) start_seconds: Option<f64>,
    /// How long it should take, in seconds.
    ///
    /// Null: if it has no estimate.
    /// Example: `1200.0`
    pub(crate) estimated_seconds: Option<f64>,
    /// The budget of its first attempt, in US dollars.
    ///
    /// Null: if it has none.
    /// Example: `2.5`
    pub(crate) budget_usd: Option<f64>,
    /// What it waits for.
    ///
    /// Example: `[{"why": "dependency", "task": "schema", "wave": null}]`
    pub(crate) waits_for: Vec<Wait<'a>>,
    /// The task with all defaults, as in cr-tasks(5); its prompt is cut after 200
    /// characters.
    ///
    /// Example: `{"id": "api", "prompt": "Add GET /health."}`
    pub(crate) task: Value,
}

/// What a task waits for.
#[derive(Debug, Serialize)]
pub(crate) struct Wait<'a> {
    /// Why it waits: for a task that it depends on, for the end of the wave before, for
    /// a task that may change the same files, or only for a free slot.
    ///
    /// Values: `dependency`, `wave`, `files`, `slot`
    /// Example: `"dependency"`
    pub(crate) why: &'static str,
    /// The task that it waits for.
    ///
    /// Null: if it waits for a wave or a slot.
    /// Example: `"schema"`
    pub(crate) task: Option<&'a str>,
    /// The wave that it waits for.
    ///
    /// Null: unless it waits for one.
    /// Example: `0`
    pub(crate) wave: Option<u64>,
}

/// Two tasks that may change the same files.
#[derive(Debug, Serialize)]
pub(crate) struct PlannedConflict<'a> {
    /// The task that would run first.
    ///
    /// Example: `"api"`
    pub(crate) first: &'a str,
    /// The task that would run after it.
    ///
    /// Example: `"ui"`
    pub(crate) second: &'a str,
    /// The patterns of the second that may name a file of the first.
    ///
    /// Example: `["src/lib/**"]`
    pub(crate) files: &'a Vec<String>,
}

/// Prints what would be run: `planned`, else the tasks of the run `resumed`.
pub(crate) fn show(
    args: &Args,
    planned: Option<Plan>,
    resumed: Option<&RunLayout>,
    out: impl Write,
) -> anyhow::Result<Exit> {
    let tasks = match (planned, resumed) {
        (Some(plan), _) => plan.tasks,
        (None, Some(layout)) => layout.run()?.tasks,
        (None, None) => Vec::new(),
    };
    let before = resumed.map(|layout| anyhow::Ok(layout.run()?.settings.slots));
    let slots = args.max_agents.or(before.transpose()?).unwrap_or(1).max(1);
    let range = crate::range(args, &tasks)?;
    let mut out = Out::new(out);
    if args.quiet {
        for task in &tasks[..range] {
            out.line(task.id.as_bytes())?;
        }
        out.flush()?;
        return Ok(Exit::Ok);
    }
    let done = tasks.iter().map(|task| is_done(resumed, task));
    let done = done.collect::<anyhow::Result<Vec<bool>>>()?;
    let slots = slots.into();
    let forecast = forecast(&tasks, &done, slots, range);
    let mut run = planned_run(&tasks, &forecast, slots)?;
    run.run_budget = run_budget(args, resumed, &tasks)?.map(RunBudget::word);
    if args.json {
        out.line(serde_json::to_string(&run)?.as_bytes())?;
    } else {
        out.part(dry_run_text::text(&run, args.noun()).as_bytes())?;
    }
    out.flush()?;
    Ok(Exit::Ok)
}

/// The budget that the run would have.
fn run_budget(
    args: &Args,
    resumed: Option<&RunLayout>,
    tasks: &[Task],
) -> anyhow::Result<Option<RunBudget>> {
    let before = resumed.map(RunLayout::run).transpose()?;
    let before = before.and_then(|run| run.settings.budget);
    let given = args.budget.or(before);
    Ok(given.or_else(|| RunBudget::of_tasks(tasks.iter())))
}

fn is_done(resumed: Option<&RunLayout>, task: &Task) -> anyhow::Result<bool> {
    let Some(layout) = resumed else {
        return Ok(false);
    };
    let attempts = layout.attempts(&task.id)?;
    let last = attempts.ended.last();
    Ok(attempts.open.is_none() && last.is_some_and(|last| last.end.is_success()))
}

fn planned_run<'a>(
    tasks: &'a [Task],
    forecast: &'a Forecast,
    slots: usize,
) -> anyhow::Result<PlannedRun<'a>> {
    let mut sorted = Vec::new();
    let mut left_out = Vec::new();
    for (at, planned) in forecast.planned.iter().enumerate() {
        match planned {
            Some(planned) => sorted.push((planned.order, at)),
            None => left_out.push(tasks[at].id.as_str()),
        }
    }
    sorted.sort_unstable();
    let shown = || sorted.iter().map(|&(_, at)| &tasks[at]);
    let ids = |has: fn(&Task) -> bool| shown().filter(move |task| !has(task)).map(Task::id);
    let budgets = shown().map(|task| task.budget_usd);
    let planned = sorted.iter().map(|&(_, at)| task(tasks, forecast, at));
    Ok(PlannedRun {
        slots,
        tasks: planned.collect::<anyhow::Result<_>>()?,
        conflicts: forecast
            .conflicts
            .iter()
            .map(|c| conflict(tasks, c))
            .collect(),
        left_out,
        cost_ceiling_usd: budgets.sum::<Option<f64>>().map(cents),
        run_budget: None,
        without_budget: ids(|task| task.budget_usd.is_some()).collect(),
        duration_seconds: forecast.duration(),
        without_estimate: ids(|task| task.estimate.is_some()).collect(),
    })
}

/// Dollars without the traces of binary fractions.
pub(crate) fn cents(usd: f64) -> f64 {
    (usd * 1e6).round() / 1e6
}

fn conflict<'a>(tasks: &'a [Task], conflict: &'a Conflict) -> PlannedConflict<'a> {
    PlannedConflict {
        first: &tasks[conflict.first].id,
        second: &tasks[conflict.second].id,
        files: &conflict.files,
    }
}

fn task<'a>(
    tasks: &'a [Task],
    forecast: &'a Forecast,
    at: usize,
) -> anyhow::Result<PlannedTask<'a>> {
    let task = &tasks[at];
    let planned = forecast.planned[at].filter(|_| forecast.is_timed);
    let mut value = serde_json::to_value(task)?;
    value["prompt"] = cr_io::first_chars(&task.prompt, 200).0.into();
    Ok(PlannedTask {
        id: &task.id,
        wave: task.wave,
        slot: planned.map(|planned| planned.slot),
        start_seconds: planned.map(|planned| planned.start),
        estimated_seconds: task.estimate,
        budget_usd: task.budget_usd,
        waits_for: waits(tasks, forecast, at),
        task: value,
    })
}

/// What task `at` waits for: everything that must be over before it, and if that is
/// nothing, a slot.
fn waits<'a>(tasks: &'a [Task], forecast: &Forecast, at: usize) -> Vec<Wait<'a>> {
    let task = &tasks[at];
    let would_run = tasks
        .iter()
        .zip(&forecast.planned)
        .filter_map(|(task, planned)| Some((task.id.as_str(), (task.wave, (*planned)?))));
    let would_run: BTreeMap<&str, _> = would_run.collect();
    let of_task = |why, task| Wait {
        why,
        task: Some(task),
        wave: None,
    };
    let needed = task.depends_on.iter().map(String::as_str);
    let needed = needed.filter(|id| would_run.contains_key(id));
    let mut waits: Vec<Wait<'a>> = needed.map(|id| of_task("dependency", id)).collect();
    let waves = would_run.values().map(|(wave, _)| *wave);
    if let Some(wave) = waves.filter(|&wave| wave < task.wave).max() {
        waits.push(Wait {
            why: "wave",
            task: None,
            wave: Some(wave),
        });
    }
    let conflicts = forecast.conflicts.iter();
    let conflicts = conflicts.filter(|conflict| conflict.second == at);
    waits.extend(conflicts.map(|conflict| of_task("files", &tasks[conflict.first].id)));
    let starts_later = forecast.planned[at].is_some_and(|planned| planned.start > 0.0);
    if waits.is_empty() && starts_later {
        waits.push(Wait {
            why: "slot",
            task: None,
            wave: None,
        });
    }
    waits
}

impl Task {
    fn id(&self) -> &str {
        &self.id
    }
}

/// `3 tasks`, in the word for a task.
pub(crate) fn count(number: usize, noun: &str) -> String {
    counted(number as u64, noun)
}
