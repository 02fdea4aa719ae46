//! The pages for people: one for each task, and one for the run.

use std::os::unix::fs::symlink;

use cr_rundir::{RunDir, file};
use cr_stream::OwnLine;
use serde_json::Value;

use crate::attempt::Ended;
use crate::finish::MergedWork;
use crate::layout::{Run, RunLayout};
use crate::markdown::escaped;
use crate::observer::Finished;
use crate::schedule::{TaskRecord, waits_for};
use crate::task_state::TaskState;

/// The most of an answer or an error that a page shows, in characters.
const SHOWN: usize = 1500;

/// Writes a task's summary and page.
pub(crate) fn task(layout: &RunLayout, record: &TaskRecord) -> anyhow::Result<()> {
    let id = &record.task.id;
    if record.attempts.ended.is_empty() {
        return Ok(());
    }
    let summary = summary(layout, record)?;
    layout.note(id, "json", &format!("{summary}\n"));
    layout.note(id, "md", &page(record));
    let number = record.attempts.ended.len();
    let start = layout
        .attempt_path(id, u32::try_from(number)?)
        .join(file::GIT_START);
    let line = std::fs::read(start).unwrap_or_default();
    if let Some(OwnLine::GitStart(start)) = OwnLine::parse(&line)
        && let Some(dir) = start.common_dir
    {
        link(&layout.dir, &format!("{dir}/cr.lock"), "git.lock");
    }
    Ok(())
}

/// Links to the stream of attempt `number`, which may not exist yet.
pub(crate) fn stream(layout: &RunLayout, id: &str, number: u32) {
    let (attempts, name) = (file::ATTEMPTS, file::STREAM);
    let stream = format!("{attempts}/{id}/{number}/{name}");
    link(&layout.dir, &stream, &format!("task-{id}.ndjson"));
}

/// Points `name` at `target`. A page without its stream is still a page.
fn link(dir: &RunDir, target: &str, name: &str) {
    let temporary = dir.path().join(format!(".{name}.{}", std::process::id()));
    let _ = std::fs::remove_file(&temporary);
    if symlink(target, &temporary).is_ok() {
        let _ = std::fs::rename(&temporary, dir.path().join(name));
    }
}

/// The summary of the last attempt, with all attempts in it and their cost.
fn summary(layout: &RunLayout, record: &TaskRecord) -> anyhow::Result<Value> {
    let ended = &record.attempts.ended;
    let number = u32::try_from(ended.len())?;
    let path = layout.attempt_path(&record.task.id, number);
    // An attempt that never began has none.
    let read = cr_summary::read(&path.join(file::SUMMARY));
    let mut summary = read.ok().flatten().unwrap_or_default();
    let attempts = (1..).zip(ended).map(|(at, old)| {
        let run_dir = layout.attempt_path(&record.task.id, at);
        cr_summary::Attempt {
            number: at.into(),
            session_id: old.end.session_id.clone(),
            outcome: Some(old.end.outcome.clone()),
            why: Some(old.end.why.clone()),
            cost_usd: old.end.cost_usd,
            num_turns: old.end.num_turns,
            started_at: old.end.started_at.map(cr_stream::timestamp),
            ended_at: Some(cr_stream::timestamp(old.end.ended_at)),
            run_dir: Some(run_dir.display().to_string()),
        }
    });
    summary.attempts = attempts.collect();
    summary.cost_usd = cost(ended);
    summary.schema = cr_summary::SCHEMA;
    if let Some(last) = ended.last() {
        summary.outcome = Some(last.end.outcome.clone().into());
        summary.ok = Some(last.end.is_success());
        summary.why.clone_from(&last.end.why);
    }
    let mut value = serde_json::to_value(&summary)?;
    value["task"] = record.task.id.as_str().into();
    Ok(value)
}

/// What the attempts cost, as far as that is known.
pub(crate) fn cost(ended: &[Ended]) -> Option<f64> {
    ended
        .iter()
        .filter_map(|old| old.end.cost_usd)
        .reduce(|a, b| a + b)
}

fn dollars(cost: Option<f64>) -> String {
    cost.map_or_else(|| "unknown".to_owned(), |cost| format!("${cost:.4}"))
}

/// The agent's text in a block that the text cannot end.
fn block(text: &str) -> String {
    let (text, is_cut) = cr_io::first_chars(text.trim(), SHOWN);
    let mut lines = String::new();
    for line in text.lines() {
        lines.push_str(&format!("    {}\n", cr_io::sanitized(line)));
    }
    if is_cut {
        lines.push_str("    …\n");
    }
    lines
}

fn title(record: &TaskRecord) -> String {
    let id = &record.task.id;
    match &record.task.title {
        Some(title) => format!("{id}: {}", escaped(title)),
        None => id.clone(),
    }
}

fn page(record: &TaskRecord) -> String {
    let word = record.assessment.word(&record.attempts);
    let ended = &record.attempts.ended;
    let mut text = format!(
        "# {}\n\n{word}: {}\n",
        title(record),
        escaped(&record.assessment.reason)
    );
    text.push_str(&format!("\ncost: {}\n", dollars(cost(ended))));
    for (at, old) in (1..).zip(ended) {
        let end = &old.end;
        let why = escaped(&end.why);
        text.push_str(&format!("\n## Attempt {at}: {}\n\n{why}\n", end.outcome));
        for commit in &end.commits {
            text.push_str(&format!("- {}\n", escaped(commit)));
        }
        if !end.is_success() && end.error != end.why {
            text.push_str(&format!("\n{}", block(&end.error)));
        }
        if let Some(question) = &end.question {
            text.push_str(&format!("\nIt asks:\n\n{}", block(question)));
        }
        if let Some(result) = end.result.as_deref().filter(|text| !text.is_empty()) {
            text.push_str(&format!("\nIt says:\n\n{}", block(result)));
        }
    }
    text
}

/// A heading, and which tasks are listed below it.
type Section = (&'static str, fn(&TaskState) -> bool);

/// Writes `report.md`.
pub(crate) fn write(finished: &Finished<'_>) -> anyhow::Result<()> {
    let Finished {
        layout, run, tasks, ..
    } = *finished;
    let spent: Option<f64> = tasks
        .iter()
        .filter_map(|record| cost(&record.attempts.ended))
        .reduce(|a, b| a + b);
    let kind = if run.settings.sprint { "Sprint" } else { "Run" };
    let mut text = format!("# {kind} {}\n\nplan: {}\n\n", run.id, run.plan.display());
    text.push_str(&format!("cost: {}\n", dollars(spent)));
    let sections: [Section; 4] = [
        ("Done", |s| matches!(s, TaskState::Done)),
        ("Failed", |s| matches!(s, TaskState::Failed)),
        ("Needs you", |s| {
            matches!(s, TaskState::NeedsPerson | TaskState::Lost)
        }),
        ("Not done yet", |s| {
            matches!(
                s,
                TaskState::Ready { .. }
                    | TaskState::Open(_)
                    | TaskState::Later
                    | TaskState::StopAll(_)
            )
        }),
    ];
    for (name, belongs) in sections {
        let mut members = tasks
            .iter()
            .filter(|record| belongs(&record.assessment.state))
            .peekable();
        if members.peek().is_none() {
            continue;
        }
        text.push_str(&format!("\n## {name}\n\n"));
        for record in members {
            text.push_str(&entry(run, record, tasks));
        }
    }
    text.push_str(&finished.merged.map_or_else(String::new, merged));
    layout.dir.write(file::REPORT, text.as_bytes())
}

/// Where the merged work is, and as the last line how to take it over.
fn merged(work: &MergedWork) -> String {
    let tasks = cr_io::counted(work.tasks as u64, "task");
    let mut text = format!(
        "\n## Merged\n\nThe work of {tasks} is on the branch {}, verified after each merge.\n",
        work.branch
    );
    for note in &work.notes {
        text.push_str(&format!("\n{}\n", cr_io::sanitized(note)));
    }
    if let Some(command) = &work.command {
        let top = cr_io::sanitized(&work.top);
        text.push_str(&format!("\nTo take it over, in {top}:\n\n    {command}\n"));
    }
    text
}

/// One task in the report, with what to do about it.
fn entry(run: &Run, record: &TaskRecord, tasks: &[TaskRecord]) -> String {
    let ended = &record.attempts.ended;
    let id = &record.task.id;
    let mut text = format!(
        "- {} ({}, {})",
        title(record),
        cr_io::counted(ended.len() as u64, "attempt"),
        dollars(cost(ended))
    );
    let commits = ended.iter().flat_map(|old| &old.end.commits);
    for commit in commits {
        text.push_str(&format!("\n  - commit {}", escaped(commit)));
    }
    let resume = run.resume_command();
    let why = ended.last().map_or("", |last| last.end.why.as_str());
    let next = match record.assessment.state {
        TaskState::Done => None,
        TaskState::Failed | TaskState::Lost => Some(format!("{resume} --again {id}")),
        TaskState::NeedsPerson => Some(format!("{resume} --again '{id}=YOUR ANSWER'")),
        _ => Some(resume),
    };
    let is_ready = matches!(record.assessment.state, TaskState::Ready { .. });
    if let Some(other) = waits_for(record, tasks).filter(|_| is_ready) {
        text.push_str(&format!("\n  - waits for {}", other.task.id));
    } else if let Some(next) = next {
        let why = if why.is_empty() { "not started" } else { why };
        text.push_str(&format!("\n  - {}", escaped(why)));
        let question = ended.last().and_then(|last| last.end.question.as_deref());
        if let Some(question) = question {
            let (question, _) = cr_io::first_chars(question, SHOWN);
            text.push_str(&format!("\n  - it asks: {}", escaped(question)));
        }
        text.push_str(&format!("\n  - next: `{next}`"));
    }
    text.push('\n');
    text
}
