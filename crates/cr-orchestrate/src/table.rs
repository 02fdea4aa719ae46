//! The table of a run's tasks, at its end.

use std::time::Duration;

use crate::report_json::{RunReport, TaskReport};

/// The most of a sentence in the last column, in characters.
const MOST: usize = 100;

/// The tasks of `report` in columns, and a line for all of them.
pub(crate) fn table(report: &RunReport, noun: &str) -> String {
    let head = [noun, "state", "tries", "cost", "time", ""].map(str::to_owned);
    let mut rows = vec![head];
    rows.extend(report.tasks.iter().map(row));
    let attempts: usize = report.tasks.iter().map(|task| task.attempts).sum();
    let times = report.tasks.iter().filter_map(|task| task.duration_seconds);
    rows.push([
        "all".to_owned(),
        String::new(),
        attempts.to_string(),
        cost(report.cost_usd),
        time(times.reduce(|a, b| a + b)),
        cr_io::sanitized(&report.reason),
    ]);
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..5).filter_map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            // Numbers are on the right.
            let cell = if column < 2 {
                format!("{cell:<width$}  ")
            } else {
                format!("{cell:>width$}  ")
            };
            line.push_str(&cell);
        }
        line.push_str(&row[5]);
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn row(task: &TaskReport) -> [String; 6] {
    [
        task.id.clone(),
        task.state.to_owned(),
        task.attempts.to_string(),
        cost(task.cost_usd),
        time(task.duration_seconds),
        what(task),
    ]
}

/// What is most worth to know: the commits of what is done, else what is wrong.
fn what(task: &TaskReport) -> String {
    let text = match (&task.waits_for, task.state, task.commits.as_slice()) {
        (Some(other), ..) => format!("waits for {other}"),
        (_, "completed", [commit]) => commit.clone(),
        (_, "completed", [first, rest @ ..]) => format!("{first} and {} more", rest.len()),
        (_, "completed", []) => String::new(),
        _ => {
            let said = task.question.as_ref().or(task.why.as_ref());
            said.unwrap_or(&task.reason).clone()
        }
    };
    let (text, is_cut) = cr_io::first_chars(&text, MOST);
    let more = if is_cut { "…" } else { "" };
    format!("{}{more}", cr_io::sanitized(text))
}

fn cost(usd: Option<f64>) -> String {
    usd.map_or_else(|| "-".to_owned(), |usd| format!("${usd:.2}"))
}

fn time(seconds: Option<f64>) -> String {
    let time = seconds.and_then(|time| Duration::try_from_secs_f64(time.round()).ok());
    time.map_or_else(|| "-".to_owned(), cr_io::show_duration)
}
