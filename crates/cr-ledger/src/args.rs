//! The command line.

use clap::{Parser, Subcommand};

use crate::location::Location;
use crate::{
    backtest, budget, export, forget, import, merge, milestone, next, quota, record, refresh,
    report, sql, task_turns,
};

const AFTER: &str = "\
The ledger is one SQLite file, $CR_STATE_DIR/ledger.db unless the setting `ledger`
names another. It holds numbers, ids, paths and hashes; no text of a prompt or of
an answer, except the handoffs of milestones. claude-runner records every run in
it; --no-ledger leaves a run out.

Examples:
  cr-summarize run.ndjson | cr-ledger record
  cr-ledger import
  cr-ledger report --since 7d
  cr-ledger report --by project --top 5 --json
  cr-ledger sql 'SELECT model, sum(cost_usd) FROM usage GROUP BY model'
  cr-ledger export runs | jq 'select(.code != 0)'
  cr-ledger next --project . | jq -r '.why, .command'
  cr-ledger budget set --per day --usd 20
  cr-ledger milestone start api --plan PLAN.md; claude-runner --milestone api 'step 1'
  cr-ledger refresh --session 80f8ae6e-b027-4253-8e9c-1ffd717366a1 >handoff.md
  cr-ledger merge laptop.db
  cr-ledger forget --before 2026-01-01 --dry-run

Environment:
  CR_LEDGER     the ledger
  CR_STATE_DIR  where runs are kept (default: $XDG_STATE_HOME/claude-runner)
  CLAUDE_CONFIG_DIR  the directory of the agent (default: ~/.claude)
  CR_MACHINE    the name of this machine in the ledger (default: the host's name)

Exit status:
  0    done
  1    the answer is no
  2    the command line is wrong
  3    `next`: stop, a budget is exhausted
  65   an input is not what it should be; the rest of it was recorded
  66   an input or the ledger is not there
  74   reading or writing failed, the disk is full, or the ledger is damaged
  75   another process holds the ledger for too long; `next`: wait
  77   `next`: stop, nobody is logged in or there is no credit
  78   the configuration is wrong, or the ledger is of a newer version";

/// Record what runs and sessions use, and ask what that was and what to do next
#[derive(Debug, Parser)]
#[command(name = "cr-ledger", version, after_help = AFTER, max_term_width = 100)]
pub struct Args {
    #[command(flatten)]
    pub(crate) location: Location,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Record(record::RecordArgs),
    Refresh(refresh::RefreshArgs),
    Milestone(milestone::MilestoneArgs),
    Import(import::ImportArgs),
    Report(report::ReportArgs),
    Merge(merge::MergeArgs),
    Forget(forget::ForgetArgs),
    Export(export::ExportArgs),
    Sql(sql::SqlArgs),
    TaskTurns(task_turns::TaskTurnsArgs),
    Next(next::NextArgs),
    Backtest(backtest::BacktestArgs),
    Quota(quota::QuotaArgs),
    Budget(budget::BudgetArgs),
}
