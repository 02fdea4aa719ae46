//! `cr-ledger budget`: limits that `cr-ledger next` obeys.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::{Args, Subcommand, ValueEnum};
use cr_io::{Exit, Out, exit_of, visible_json};
use cr_ledger_db::Access;
use cr_ledger_db::rusqlite::params;

use crate::location::Location;
use crate::moment::Moment;
use crate::price::amount;
use crate::{directory, quota, spending};

/// Set limits for a day, a project or a milestone; `next` says stop at them
#[derive(Args, Debug)]
pub(crate) struct BudgetArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Set(SetArgs),
    Show(ShowArgs),
    Remove(RemoveArgs),
    Check(CheckArgs),
}

/// Set a limit, or change it
///
/// A limit for the day counts what all projects use from midnight on, in local time.
/// Tokens are all of them: input, output, and what is read from the cache and written
/// to it. The agent reports a window for the account, so that a limit in per cent of
/// it counts what others use, too.
#[derive(Args, Debug)]
struct SetArgs {
    #[command(flatten)]
    whose: WhoseArgs,
    #[command(flatten)]
    limit: LimitArgs,
}

#[derive(Args, Debug)]
#[group(required = true, multiple = true)]
struct LimitArgs {
    /// Dollars
    #[arg(long, value_name = "AMOUNT", value_parser = money)]
    usd: Option<f64>,
    /// Tokens
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    tokens: Option<u64>,
    /// Per cent of the account's window of 5 hours
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    quota: Option<f64>,
}

/// Print the budgets and what is used of them
#[derive(Args, Debug)]
struct ShowArgs {
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    moment: Moment,
}

/// Remove limits; all of the day, project or milestone unless a unit is named
///
/// Ends with 1 if there is none.
#[derive(Args, Debug)]
struct RemoveArgs {
    #[command(flatten)]
    whose: WhoseArgs,
    /// Only the one in dollars
    #[arg(long)]
    usd: bool,
    /// Only the one in tokens
    #[arg(long)]
    tokens: bool,
    /// Only the one in per cent of the window of 5 hours
    #[arg(long)]
    quota: bool,
}

#[derive(Args, Debug)]
struct WhoseArgs {
    /// What it is for
    #[arg(long, value_name = "WHAT")]
    per: Per,
    /// The project's directory [default: the current one], or the milestone's name or
    /// id
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Per {
    /// A day, for all projects together
    Day,
    /// A directory and what is below it, from the beginning
    Project,
    /// A milestone
    Milestone,
}

impl WhoseArgs {
    /// What the budget is for, as it is stored.
    fn key(&self) -> anyhow::Result<(&'static str, String)> {
        let wrong = |text: &str| anyhow!("{text}").context(Exit::Usage);
        match (self.per, self.name.as_deref()) {
            (Per::Day, None) => Ok(("day", String::new())),
            (Per::Day, Some(_)) => Err(wrong("--per day takes no NAME")),
            (Per::Project, name) => {
                let dir = directory::text(Path::new(name.unwrap_or(".")))?;
                Ok(("project", dir))
            }
            (Per::Milestone, Some(name)) if !name.is_empty() => Ok(("milestone", name.to_owned())),
            (Per::Milestone, _) => Err(wrong("--per milestone needs its NAME")),
        }
    }
}

pub(crate) fn run(args: &BudgetArgs, location: &Location, out: impl Write) -> anyhow::Result<Exit> {
    match &args.command {
        Command::Set(args) => set(args, location),
        Command::Show(args) => show(args, location, out),
        Command::Remove(args) => remove(args, location),
        Command::Check(args) => check(args, location, out),
    }
}

fn set(args: &SetArgs, location: &Location) -> anyhow::Result<Exit> {
    let (per, name) = args.whose.key()?;
    let limits = [
        ("usd", args.limit.usd),
        ("tokens", args.limit.tokens.map(amount)),
        ("quota", args.limit.quota),
    ];
    let mut ledger = location.open(Access::Write)?;
    ledger.write(|writer| {
        for (unit, limit) in limits {
            let Some(limit) = limit else { continue };
            let sql = "INSERT INTO budget VALUES (?1, ?2, ?3, ?4)
                ON CONFLICT DO UPDATE SET amount = excluded.amount";
            let values = params![per, name, unit, limit];
            writer.db().prepare_cached(sql)?.execute(values)?;
        }
        Ok(())
    })?;
    Ok(Exit::Ok)
}

fn show(args: &ShowArgs, location: &Location, out: impl Write) -> anyhow::Result<Exit> {
    let ledger = location.open(Access::Read)?;
    let now = args.moment.ms();
    let windows = quota::windows(ledger.db(), now)?;
    let mut out = Out::new(out);
    for state in spending::all(ledger.db(), &windows, now)? {
        let line = if args.json {
            visible_json(&serde_json::to_string(&state)?).into_owned()
        } else {
            let end = if state.is_exhausted {
                ", exhausted"
            } else {
                ""
            };
            format!("{}: {}{end}", state.label(), state.numbers())
        };
        out.line(line.as_bytes())?;
    }
    out.flush()?;
    Ok(Exit::Ok)
}

/// Say whether a budget is used up, before a new agent starts
///
/// Ends with 3 and one sentence if one is, otherwise with 0 and nothing.
/// cr-orchestrate asks before each attempt.
#[derive(Args, Debug)]
struct CheckArgs {
    /// The directory of the agent
    #[arg(long, value_name = "DIR", default_value = ".")]
    project: PathBuf,
    /// The milestone of the work
    #[arg(long, value_name = "NAME")]
    milestone: Option<String>,
    #[command(flatten)]
    moment: Moment,
}

fn check(args: &CheckArgs, location: &Location, out: impl Write) -> anyhow::Result<Exit> {
    let ledger = match location.open(Access::Read) {
        Ok(ledger) => ledger,
        // Without a ledger there is no budget.
        Err(err) if exit_of(&err) == Exit::NoInput => return Ok(Exit::Ok),
        Err(err) => return Err(err),
    };
    let now = args.moment.ms();
    let windows = quota::windows(ledger.db(), now)?;
    let states = spending::all(ledger.db(), &windows, now)?;
    let project = directory::text(&args.project)?;
    let milestone = args.milestone.as_deref();
    let states = spending::of_work(ledger.db(), states, &project, milestone)?;
    let Some(state) = states.into_iter().find(|state| state.is_exhausted) else {
        return Ok(Exit::Ok);
    };
    let mut out = Out::new(out);
    let line = format!(
        "the budget of {} is used up: {}",
        state.label(),
        state.numbers()
    );
    out.line(line.as_bytes())?;
    out.flush()?;
    Ok(Exit::Code(3))
}

fn remove(args: &RemoveArgs, location: &Location) -> anyhow::Result<Exit> {
    let (per, name) = args.whose.key()?;
    let named = [
        ("usd", args.usd),
        ("tokens", args.tokens),
        ("quota", args.quota),
    ];
    let is_any = named.iter().any(|(_, is_named)| *is_named);
    let mut ledger = location.open_existing()?;
    let removed = ledger.write(|writer| {
        let mut removed = 0;
        for (unit, is_named) in named {
            if is_named || !is_any {
                let sql = "DELETE FROM budget WHERE per = ?1 AND name = ?2 AND unit = ?3";
                let values = params![per, name, unit];
                removed += writer.db().prepare_cached(sql)?.execute(values)?;
            }
        }
        Ok(removed)
    })?;
    if removed == 0 {
        return Err(anyhow!("there is no such budget").context(Exit::No));
    }
    Ok(Exit::Ok)
}

fn money(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok();
    number
        .filter(|number| number.is_finite() && *number > 0.0)
        .ok_or_else(|| "expected dollars, more than 0".to_owned())
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').parse::<f64>().ok();
    number
        .filter(|number| *number > 0.0 && *number <= 100.0)
        .ok_or_else(|| "expected a number above 0 and up to 100".to_owned())
}
