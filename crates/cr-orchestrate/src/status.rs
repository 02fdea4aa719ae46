//! `cr-orchestrate status`: a line for every task.

use std::io::Write;

use cr_io::{Exit, Out};
use serde_json::json;

use crate::args::StatusArgs;
use crate::place::Place;
use crate::report;
use crate::standing::standing;

/// Prints where every task of a run stands. Writes nothing else.
pub(crate) fn run(args: &StatusArgs, out: impl Write) -> anyhow::Result<Exit> {
    let place = match &args.run {
        Some(id) => Place::open(id)?,
        None => Place::latest()?,
    };
    let run = place.run()?;
    let mut out = Out::new(out);
    if !args.json {
        let text = format!("{}  {}", run.id, place.dir.path().display());
        out.line(text.as_bytes())?;
    }
    for task in &run.tasks {
        let attempts = place.attempts(&task.id)?;
        let stand = standing(task, &attempts, &run.settings, false);
        let word = stand.word(&attempts);
        let cost = report::cost(&attempts.ended);
        let count = attempts.ended.len() + usize::from(attempts.open.is_some());
        let why = attempts.ended.last().map(|last| last.end.why.as_str());
        let line = if args.json {
            let line = json!({
                "id": task.id, "state": word, "attempts": count, "cost_usd": cost,
                "why": why, "reason": stand.reason,
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
