//! `cr-ledger report`: what was used, by day, project, model and so on.

mod bars;
mod range;
mod row;
mod sums;
mod table;
mod tools;
mod usage;

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use anyhow::anyhow;
use clap::{Args, ValueEnum};
use cr_io::{Exit, Out, visible_json};
use cr_ledger_db::{Access, explain};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::directory;
use crate::location::Location;

use range::{Range, When, parse_when};
use row::UsageRow;
use sums::Usage;
use table::Table;

/// The schema of the rows.
const SCHEMA: &str = include_str!("../report.schema.json");

/// Print what was used: messages, tokens and cost
///
/// On a terminal each row has a bar for its cost; a narrow one shows fewer columns.
/// Days and hours are those of the
/// local time zone. A cost may be an estimate from a table of prices: the column
/// ESTIMATE is the part of it that is one. `>` before a cost means that a price is
/// not known, and the cost is higher.
#[derive(Args, Debug)]
pub(crate) struct ReportArgs {
    /// What a row stands for
    #[arg(long, value_name = "KEY", default_value = "day")]
    by: By,
    /// From this time on: a date, a time such as 2026-11-18T14:00:00Z, or a duration
    /// before now such as 7d; to a quarter of an hour
    #[arg(long, value_name = "WHEN", value_parser = parse_when)]
    since: Option<When>,
    /// Before this time; a date means to the end of that day
    #[arg(long, value_name = "WHEN", value_parser = parse_when)]
    until: Option<When>,
    /// Only the N rows with the highest cost (tools: calls); the total counts all
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    top: Option<u32>,
    /// Only agents that worked in this directory or below it
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Only models with this text in their name
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Print one JSON object for each row, without the total
    #[arg(long)]
    json: bool,
    /// Print the JSON Schema of a row
    #[arg(long)]
    output_schema: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum By {
    /// Days, in their order
    Day,
    /// Directories of the agents, the highest cost first
    Project,
    /// Models, the highest cost first
    Model,
    /// Sessions, the highest cost first
    Session,
    /// Milestones, by the runs that name them; `-` is what belongs to none
    Milestone,
    /// Tools, the most calls first
    Tool,
    /// Hours of the day from 00 to 23, over all days
    Hour,
}

impl By {
    /// Rows that follow the clock.
    fn is_time(self) -> bool {
        matches!(self, Self::Day | Self::Hour)
    }

    /// The head of the first column.
    fn head(self) -> &'static str {
        match self {
            Self::Day => "DAY",
            Self::Project => "PROJECT",
            Self::Model => "MODEL",
            Self::Session => "SESSION",
            Self::Milestone => "MILESTONE",
            Self::Tool => "TOOL",
            Self::Hour => "HOUR",
        }
    }
}

/// What a report is about.
#[derive(Debug)]
struct Filter {
    range: Range,
    project: Option<String>,
    model: Option<String>,
    zone: TimeZone,
}

impl Filter {
    fn new(args: &ReportArgs) -> anyhow::Result<Self> {
        let zone = TimeZone::system();
        let range = Range::new(args.since, args.until, Timestamp::now(), &zone)?;
        let project = args.project.as_deref().map(directory::text);
        Ok(Self {
            range,
            project: project.transpose()?,
            model: args.model.clone(),
            zone,
        })
    }

    /// Whether a directory is that of the report or below it.
    fn has_project(&self, path: &str) -> bool {
        let project = self.project.as_deref();
        project.is_none_or(|project| directory::is_below(path, project))
    }

    fn has_model(&self, name: &str) -> bool {
        self.model
            .as_ref()
            .is_none_or(|part| name.contains(part.as_str()))
    }
}

pub(crate) fn run(args: &ReportArgs, location: &Location, out: impl Write) -> anyhow::Result<Exit> {
    if args.output_schema {
        return cr_io::print_schema(SCHEMA, out);
    }
    let filter = Filter::new(args)?;
    let top = args.top.map_or(usize::MAX, |top| top as usize);
    let ledger = location.open(Access::Read)?;
    // One transaction: what others record meanwhile does not change the report.
    let db = ledger.db().unchecked_transaction().map_err(explain)?;
    if args.by == By::Tool {
        if args.model.is_some() {
            let text = "--model: a call of a tool has no model";
            return Err(anyhow!(text).context(Exit::Usage));
        }
        let rows = tools::rows(&db, &filter).map_err(explain)?;
        let shown = &rows[..rows.len().min(top)];
        return print(args.json, shown, || tools::table(&rows, shown), out);
    }
    let rows = usage::rows(&db, args.by, &filter).map_err(explain)?;
    let (shown, others) = highest(rows, args.by, top);
    let json: Vec<UsageRow> = shown.iter().map(UsageRow::from).collect();
    let table = || sums::table(args.by, &shown, &others);
    print(args.json, &json, table, out)
}

/// The rows with the highest cost, in the order of the report, and the others.
fn highest(mut rows: Vec<Usage>, by: By, top: usize) -> (Vec<Usage>, Vec<Usage>) {
    rows.sort_by(Usage::by_cost);
    let others = rows.split_off(rows.len().min(top));
    if by.is_time() {
        rows.sort_by(|a, b| a.key.cmp(&b.key));
    }
    (rows, others)
}

fn print(
    json: bool,
    rows: &[impl Serialize],
    table: impl FnOnce() -> Table,
    out: impl Write,
) -> anyhow::Result<Exit> {
    let mut out = Out::new(out);
    if json {
        for row in rows {
            let line = serde_json::to_string(row)?;
            out.line(visible_json(&line).as_bytes())?;
        }
    } else {
        let width = io::stdout().is_terminal().then(table::terminal_width);
        let colour = cr_progress::wants_colour(width.is_some());
        for line in table().lines(width, colour) {
            out.line(line.as_bytes())?;
        }
    }
    out.flush()?;
    Ok(Exit::Ok)
}
