//! `cr-ledger`: sessions, tokens, cost and milestones over time.
//!
//! Each subcommand is a module of its own; the database is in `cr-ledger-db`.

mod account;
mod args;
mod backtest;
mod budget;
mod choice;
mod context;
mod decision;
mod directory;
mod export;
mod facts;
mod forget;
mod handoff;
mod import;
mod live;
mod location;
mod merge;
mod milestone;
mod moment;
mod next;
mod price;
mod quota;
mod record;
mod refresh;
mod replay;
mod report;
mod sentence;
mod spending;
mod sql;
mod summarizer;
mod target;
mod task;
mod task_turns;
mod thresholds;
mod transcript;
mod value;

use std::io::Write;

use cr_io::Exit;

pub use args::Args;

use args::Command;

/// Runs the subcommand. Its output goes to `out`, notes go to `notes`.
pub fn run(args: &Args, out: impl Write, notes: impl Write) -> anyhow::Result<Exit> {
    let location = &args.location;
    match &args.command {
        Command::Record(args) => record::run(args, location, out, notes),
        Command::Refresh(args) => refresh::run(args, location, out, notes),
        Command::Milestone(args) => milestone::run(args, location, out, notes),
        Command::Import(args) => import::run(args, location, out, notes),
        Command::Report(args) => report::run(args, location, out),
        Command::Merge(args) => merge::run(args, location, out),
        Command::Forget(args) => forget::run(args, location, out),
        Command::Export(args) => export::run(args, location, out),
        Command::Sql(args) => sql::run(args, location, out),
        Command::TaskTurns(args) => task_turns::run(args, location, out),
        Command::Next(args) => next::run(args, location, out, notes),
        Command::Backtest(args) => backtest::run(args, location, out),
        Command::Quota(args) => quota::run(args, location, out),
        Command::Budget(args) => budget::run(args, location, out),
    }
}
