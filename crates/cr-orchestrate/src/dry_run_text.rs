//! The schedule as text for people.

use std::time::Duration;

use cr_io::{sanitized, show_duration};

use crate::dry_run::{PlannedRun, PlannedTask, Wait, count};

/// The schedule `run`; a task is called `noun`.
pub(crate) fn text(run: &PlannedRun<'_>, noun: &str) -> String {
    let mut text = head(run, noun);
    let width = run.tasks.iter().map(|task| task.id.len()).chain([4]).max();
    let mut wave = None;
    text.push_str(&columns(run, noun, width.unwrap_or_default()));
    for (at, task) in run.tasks.iter().enumerate() {
        if wave != Some(task.wave) {
            text.push_str(&format!("Wave {}\n", task.wave));
            wave = Some(task.wave);
        }
        text.push_str(&line(at + 1, task, width.unwrap_or_default()));
    }
    if !run.conflicts.is_empty() {
        text.push_str("\nSame files, so never at the same time\n");
    }
    for conflict in &run.conflicts {
        let files = sanitized(&conflict.files.join(", "));
        let (first, second) = (conflict.first, conflict.second);
        text.push_str(&format!("  {first}, {second}: {files}\n"));
    }
    text.push_str(&format!("\nCost  {}\n", cost(run)));
    text.push_str(&format!("Time  {}\n", time(run)));
    text
}

fn head(run: &PlannedRun<'_>, noun: &str) -> String {
    let mut waves: Vec<u64> = run.tasks.iter().map(|task| task.wave).collect();
    waves.dedup();
    let left_out = match run.left_out.as_slice() {
        [] => String::new(),
        ids => format!("; {} left out: {}", ids.len(), ids.join(", ")),
    };
    let tasks = count(run.tasks.len(), noun);
    let waves = count(waves.len(), "wave");
    let slots = count(run.slots, "slot");
    format!("{tasks} in {waves}, {slots}{left_out}\n")
}

/// The names of the columns.
fn columns(run: &PlannedRun<'_>, noun: &str, width: usize) -> String {
    let at = match run.duration_seconds {
        Some(_) => format!("slot {:>8}  ", "start"),
        None => String::new(),
    };
    format!(
        "\n{:>4}  {noun:<width$}  {at}{:>8} {:>8}  waits for\n",
        "", "takes", "budget"
    )
}

/// One task: its place, its time and budget, and what it waits for.
fn line(place: usize, task: &PlannedTask<'_>, width: usize) -> String {
    let at = match (task.start_seconds, task.slot) {
        (Some(start), Some(slot)) => format!("{slot:>4} {:>8}  ", seconds(start)),
        _ => String::new(),
    };
    let takes = task.estimated_seconds.map_or("?".to_owned(), seconds);
    let budget = task
        .budget_usd
        .map_or("?".to_owned(), |usd| format!("${usd:.2}"));
    let waits: Vec<String> = task.waits_for.iter().map(wait).collect();
    let waits = waits.join("; ");
    let line = format!(
        "{place:>4}  {:<width$}  {at}{takes:>8} {budget:>8}  {waits}",
        task.id
    );
    format!("{}\n", line.trim_end())
}

fn wait(wait: &Wait<'_>) -> String {
    match (wait.why, wait.task, wait.wave) {
        ("dependency", Some(id), _) => format!("{id} (it depends on it)"),
        ("files", Some(id), _) => format!("{id} (both may change the same files)"),
        (_, _, Some(wave)) => format!("wave {wave}"),
        _ => "a free slot".to_owned(),
    }
}

fn seconds(seconds: f64) -> String {
    let whole = Duration::try_from_secs_f64(seconds.round());
    show_duration(whole.unwrap_or_default())
}

fn cost(run: &PlannedRun<'_>) -> String {
    let ceiling = match run.cost_ceiling_usd {
        Some(usd) => format!("at most ${usd:.2} for the first attempts"),
        None => format!(
            "unknown: no budget_usd in {}",
            run.without_budget.join(", ")
        ),
    };
    match &run.run_budget {
        Some(budget) => format!("{ceiling}; --budget {budget} for the run"),
        None => ceiling,
    }
}

fn time(run: &PlannedRun<'_>) -> String {
    match run.duration_seconds {
        Some(time) => format!("about {}", seconds(time)),
        None => format!(
            "unknown: no estimated_duration in {}",
            run.without_estimate.join(", ")
        ),
    }
}
