//! `cr-orchestrate status`: a line for each task.

use std::io::Write;

use cr_io::{Exit, Out};
use serde_json::json;

use crate::args::StatusArgs;
use crate::layout::RunLayout;
use crate::report;
use crate::task_state::assess;

/// Prints the state of each task of a run. Writes no file.
pub(crate) fn run(args: &StatusArgs, out: impl Write) -> anyhow::Result<Exit> {
    let layout = match &args.run {
        Some(id) => RunLayout::open(id)?,
        None => RunLayout::latest()?,
    };
    let run = layout.run()?;
    let mut out = Out::new(out);
    if !args.json {
        let text = format!("{}  {}", run.id, layout.dir.path().display());
        out.line(text.as_bytes())?;
    }
    for task in &run.tasks {
        let attempts = layout.attempts(&task.id)?;
        let assessment = assess(
            task,
            &attempts,
            &run.settings,
            false,
            jiff::Timestamp::now(),
        );
        let word = assessment.word(&attempts);
        let cost = report::cost(&attempts.ended);
        let count = attempts.ended.len() + usize::from(attempts.open.is_some());
        let why = attempts.ended.last().map(|last| last.end.why.as_str());
        let line = if args.json {
            let line = json!({
                "id": task.id, "state": word, "attempts": count, "cost_usd": cost,
                "why": why, "reason": assessment.reason,
            });
            line.to_string()
        } else {
            let why = cr_io::sanitized(why.unwrap_or_default());
            let cost = cost.map_or_else(String::new, |cost| format!("${cost:.4}"));
            format!("{word:<12} {count:>2} {cost:>9}  {}  {why}", task.id)
        };
        out.line(line.trim_end().as_bytes())?;
    }
    out.flush()?;
    Ok(Exit::Ok)
}
