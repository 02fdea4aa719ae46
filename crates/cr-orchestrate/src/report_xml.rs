//! `report.xml`: the end of a run as XML of `JUnit`, which CI systems show.

use std::fmt::Write;

use cr_rundir::file;

use crate::observer::Finished;
use crate::report_json::{RunReport, TaskReport};

/// Writes `report.xml`.
pub(crate) fn write(report: &RunReport, finished: &Finished<'_>) -> anyhow::Result<()> {
    finished
        .layout
        .dir
        .write(file::REPORT_XML, text(report).as_bytes())
}

/// What a task is, in the words of that form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Passed,
    Failure,
    /// It cannot be judged without a person.
    Error,
    Skipped,
}

fn kind(task: &TaskReport) -> Kind {
    match task.state {
        "completed" => Kind::Passed,
        "failed" | "timed_out" => Kind::Failure,
        "needs-human" | "lost" | "stopped" => Kind::Error,
        _ => Kind::Skipped,
    }
}

fn text(report: &RunReport) -> String {
    let count = |wanted: Kind| {
        report
            .tasks
            .iter()
            .filter(|task| kind(task) == wanted)
            .count()
    };
    let time: f64 = report
        .tasks
        .iter()
        .filter_map(|task| task.duration_seconds)
        .sum();
    let numbers = format!(
        r#"tests="{}" failures="{}" errors="{}" skipped="{}" time="{time:.3}""#,
        report.tasks.len(),
        count(Kind::Failure),
        count(Kind::Error),
        count(Kind::Skipped),
    );
    let (run, plan, at) = (escaped(&report.run_id), escaped(&report.plan), &report.at);
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuites name=\"{run}\" {numbers}>\n\
         <testsuite name=\"{plan}\" timestamp=\"{at}\" {numbers}>\n"
    );
    for task in &report.tasks {
        text.push_str(&case(task));
    }
    text.push_str("</testsuite>\n</testsuites>\n");
    text
}

fn case(task: &TaskReport) -> String {
    let id = escaped(&task.id);
    let time = task.duration_seconds.unwrap_or_default();
    let mut text = format!(
        "<testcase name=\"{id}\" classname=\"wave {}\" time=\"{time:.3}\">\n",
        task.wave
    );
    let properties = [
        ("attempts", Some(task.attempts.to_string())),
        ("cost_usd", task.cost_usd.map(|usd| usd.to_string())),
        ("run_dir", task.run_dir.clone()),
    ];
    text.push_str("<properties>\n");
    for (name, value) in properties {
        if let Some(value) = value {
            let value = escaped(&value);
            let _ = writeln!(text, "<property name=\"{name}\" value=\"{value}\"/>");
        }
    }
    text.push_str("</properties>\n");
    let message = escaped(task.why.as_deref().unwrap_or(&task.reason));
    let body = task.question.as_deref().or(task.error.as_deref());
    let body = escaped(body.unwrap_or_default());
    let outcome = escaped(task.outcome.as_deref().unwrap_or(task.state));
    match kind(task) {
        Kind::Passed => {}
        Kind::Skipped => {
            let message = escaped(&skipped(task));
            let _ = writeln!(text, "<skipped message=\"{message}\"/>");
        }
        Kind::Failure | Kind::Error => {
            let name = if kind(task) == Kind::Failure {
                "failure"
            } else {
                "error"
            };
            let _ = writeln!(
                text,
                "<{name} message=\"{message}\" type=\"{outcome}\">{body}</{name}>"
            );
        }
    }
    if !task.commits.is_empty() {
        let commits = escaped(&task.commits.join("\n"));
        let _ = writeln!(text, "<system-out>{commits}</system-out>");
    }
    text.push_str("</testcase>\n");
    text
}

fn skipped(task: &TaskReport) -> String {
    match &task.waits_for {
        Some(other) => format!("waits for {other}"),
        None => task.reason.clone(),
    }
}

/// `text` inside an element or an attribute. XML has no form for most control
/// characters; they are shown as escapes, as on a terminal.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            out.push_str("&#10;");
        }
        for c in cr_io::sanitized(line).chars() {
            match c {
                '&' => out.push_str("&amp;"),
                '<' => out.push_str("&lt;"),
                '>' => out.push_str("&gt;"),
                '"' => out.push_str("&quot;"),
                '\'' => out.push_str("&#39;"),
                // The two that are no characters of XML.
                '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
                c => out.push(c),
            }
        }
    }
    out
}
