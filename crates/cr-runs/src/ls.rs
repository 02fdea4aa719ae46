//! `cr-runs ls`.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal, Write};

use cr_io::{Exit, Out, first_chars, sanitized};

use crate::args::LsArgs;
use cr_rundir::{Run, RunId, RunState};
use cr_status::{Status, seconds};

/// Characters of a name, and of the last action, on a terminal.
const NAME: usize = 20;
const LAST: usize = 60;

/// The columns of a run.
const HEAD: [&str; 7] = ["RUN", "NAME", "STATE", "ELAPSED", "COST", "VERDICT", "LAST"];

type Row = [String; HEAD.len()];

/// Prints the runs, the latest first.
pub(crate) fn ls(args: &LsArgs, out: impl Write) -> anyhow::Result<Exit> {
    let most = if args.number == 0 {
        usize::MAX
    } else {
        args.number
    };
    let runs = cr_rundir::runs_in(&crate::find::runs()?);
    let runs = runs
        .iter()
        .filter(|run| !args.running || run.state() == RunState::Running);
    let mut out = Out::new(out);
    let exit = if args.quiet {
        words(runs.take(most), &mut out)?;
        Exit::Ok
    } else {
        list(args.json, runs.take(most), &mut out)?
    };
    out.flush()?;
    Ok(exit)
}

/// Prints the ids, and each name that is a plain word once. Any other name might
/// become a command where a shell completes with it.
fn words<'a>(runs: impl Iterator<Item = &'a Run>, out: &mut Out<impl Write>) -> anyhow::Result<()> {
    let mut names = BTreeSet::new();
    for run in runs {
        let started = run.started();
        let name = started.name.filter(|name| is_plain_word(name));
        if let Some(name) = name.filter(|name| names.insert(name.clone())) {
            out.line(name.as_bytes())?;
        }
        let id = started.run_id.unwrap_or_else(|| run.id());
        if is_plain_word(&id) {
            out.line(id.as_bytes())?;
        }
    }
    Ok(())
}

/// Whether no shell sees more in `word` than a word, and no tool an option: the
/// rule for an id.
fn is_plain_word(word: &str) -> bool {
    RunId::parse(word).is_some()
}

/// Prints everything about each run.
fn list<'a>(
    json: bool,
    runs: impl Iterator<Item = &'a Run>,
    out: &mut Out<impl Write>,
) -> anyhow::Result<Exit> {
    let mut rows = Vec::new();
    let mut exit = Exit::Ok;
    for run in runs {
        let status = match Status::of(run) {
            Ok(status) => status,
            // One run of another version is no reason to hide the others.
            Err(err) => {
                cr_io::note("cr-runs", io::stderr(), &err);
                exit = cr_io::exit_of(&err);
                continue;
            }
        };
        if json {
            out.line(&serde_json::to_vec(&status)?)?;
        } else {
            rows.push(row(&status));
        }
    }
    let lines = if io::stdout().is_terminal() {
        table(rows)
    } else {
        rows.iter().map(|row| row.join("\t")).collect()
    };
    for line in lines {
        out.line(line.as_bytes())?;
    }
    Ok(exit)
}

fn row(status: &Status) -> Row {
    let text = |value: Option<&str>| sanitized(value.unwrap_or("-"));
    let or_unknown = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    let code = status.code.map(|code| format!(" {code}"));
    [
        text(Some(&status.run_id)),
        text(status.name.as_deref()),
        status.state.to_owned(),
        or_unknown(status.seconds.map(seconds)),
        or_unknown(status.cost_usd.map(|cost| format!("${cost:.2}"))),
        text(status.outcome.as_deref()) + &code.unwrap_or_default(),
        text(status.waits().as_deref().or(status.last.as_deref())),
    ]
}

/// The rows below a head, with their columns one below the other.
fn table(mut rows: Vec<Row>) -> Vec<String> {
    if rows.is_empty() {
        return Vec::new();
    }
    rows.insert(0, HEAD.map(str::to_owned));
    for [_, name, .., last] in &mut rows {
        *name = first_chars(name, NAME).0.to_owned();
        *last = first_chars(last, LAST).0.to_owned();
    }
    let width = |column: usize| {
        let widths = rows.iter().map(|row| row[column].chars().count());
        widths.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..HEAD.len()).map(width).collect();
    let line = |row: &Row| {
        let cells = row.iter().zip(&widths);
        let cells: Vec<String> = cells
            .map(|(cell, width)| format!("{cell:<width$}"))
            .collect();
        cells.join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}
