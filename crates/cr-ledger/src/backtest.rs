//! `cr-ledger backtest`: what `next` would have cost on the ledger's own past.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use cr_config::Config;
use cr_io::{Exit, Out, counted};
use cr_ledger_db::rusqlite::{self, Connection, params};
use cr_ledger_db::{Access, Ledger};
use cr_usage::{CacheTtl, rounded};
use serde::Serialize;

use crate::directory::{self, BELOW};
use crate::location::Location;
use crate::moment::Moment;
use crate::replay::{Played, Policy, Replay, Unknown};
use crate::task::{self, Task};
use crate::thresholds::{ThresholdArgs, Thresholds};

/// A prompt that comes sooner after an answer goes on with its task: the shortest
/// cache still has the context.
const GAP_MS: i64 = crate::price::ttl_ms(CacheTtl::Minutes);

/// Compare `next` with always resuming and always refreshing, on past sessions
///
/// Every session with at least two tasks is played again: its runs, or, if it has none,
/// its prompts that came five minutes or more after an answer. The calls, the pauses and
/// what each task added to the context are those of the past; which session a task runs
/// in is decided by `next`, by its thresholds, and with what was known at that moment.
/// The cost is that of the context alone, with the prices of `next`: what a task adds and
/// answers costs the same in each case. Whether a new session would have done the task
/// as well cannot be seen in a ledger.
///
/// Sessions are left out, and counted, if a model has no price or if the context is not
/// known, because their logs were not imported.
#[derive(Args, Debug)]
pub(crate) struct BacktestArgs {
    /// Only the sessions of this directory and below it
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    thresholds: ThresholdArgs,
    #[command(flatten)]
    moment: Moment,
}

/// The result.
#[derive(Debug, Default, Serialize)]
struct Report {
    /// Sessions that were played.
    sessions: u64,
    /// Their tasks.
    tasks: u64,
    /// Sessions that were left out because a model has no price.
    without_price: u64,
    /// Sessions that were left out because their context is not known.
    without_context: u64,
    /// `next`.
    next: Total,
    /// Always resuming.
    resume: Total,
    /// Always refreshing.
    refresh: Total,
}

/// The cost of one way.
#[derive(Debug, Default, Serialize)]
struct Total {
    /// Dollars.
    cost_usd: f64,
    /// How often a new session began.
    refreshes: u64,
}

impl Total {
    fn add(&mut self, played: Played) {
        self.cost_usd += played.cost_usd;
        self.refreshes += played.refreshes;
    }
}

pub(crate) fn run(
    args: &BacktestArgs,
    location: &Location,
    out: impl Write,
) -> anyhow::Result<Exit> {
    let marks = args.thresholds.thresholds(&Config::load()?)?;
    let ledger = location.open(Access::Read)?;
    let project = args.project.as_deref().map(directory::text).transpose()?;
    let now = args.moment.ms();
    let mut report = Report::default();
    for session in sessions(ledger.db(), project.as_deref())? {
        let tasks = task::tasks(ledger.db(), session, now, GAP_MS)?;
        if tasks.len() >= 2 {
            report.add(&ledger, session, &tasks, &marks)?;
        }
    }
    for total in [&mut report.next, &mut report.resume, &mut report.refresh] {
        total.cost_usd = rounded(total.cost_usd);
    }
    let text = if args.json {
        format!("{}\n", serde_json::to_string(&report)?)
    } else {
        report.text()
    };
    let mut out = Out::new(out);
    out.part(text.as_bytes())?;
    out.flush()?;
    Ok(Exit::Ok)
}

impl Report {
    fn add(
        &mut self,
        ledger: &Ledger,
        session: i64,
        tasks: &[Task],
        marks: &Thresholds,
    ) -> anyhow::Result<()> {
        let replay = Replay {
            prices: ledger.prices(),
            window: window(ledger.db(), session, tasks)?,
            marks,
            tasks,
        };
        let policies = [Policy::Next, Policy::Resume, Policy::Refresh];
        let played: Result<Vec<Played>, Unknown> = policies
            .into_iter()
            .map(|policy| replay.play(policy))
            .collect();
        match played {
            Err(Unknown::Price) => self.without_price += 1,
            Err(Unknown::Context) => self.without_context += 1,
            Ok(played) => {
                self.sessions += 1;
                self.tasks += tasks.len() as u64;
                let totals = [&mut self.next, &mut self.resume, &mut self.refresh];
                for (total, played) in totals.into_iter().zip(played) {
                    total.add(played);
                }
            }
        }
        Ok(())
    }

    /// The result for people.
    fn text(&self) -> String {
        let mut text = format!(
            "{}, {}",
            counted(self.sessions, "session"),
            counted(self.tasks, "task")
        );
        text.push_str(&format!(
            "; left out: {} without a price, {} whose context is not known\n",
            self.without_price, self.without_context
        ));
        let head = ["way", "cost_usd", "refreshes"];
        text.push_str(&format!("{:<15}{:>12}{:>11}\n", head[0], head[1], head[2]));
        for (name, total) in [
            ("next", &self.next),
            ("always resume", &self.resume),
            ("always refresh", &self.refresh),
        ] {
            let line = format!(
                "{name:<15}{:>12.4}{:>11}\n",
                total.cost_usd, total.refreshes
            );
            text.push_str(&line);
        }
        text
    }
}

fn sessions(db: &Connection, project: Option<&str>) -> rusqlite::Result<Vec<i64>> {
    let sql = format!(
        "SELECT session FROM session JOIN text_value p ON p.id = project
        WHERE session <> 0 AND (?2 OR {BELOW}) ORDER BY session"
    );
    let mut statement = db.prepare_cached(&sql)?;
    let values = params![project.unwrap_or_default(), project.is_none()];
    let rows = statement.query_map(values, |row| row.get(0))?;
    rows.collect()
}

/// The window of a session: its own runs', else that of the last run with the
/// model of its last task.
fn window(db: &Connection, session: i64, tasks: &[Task]) -> rusqlite::Result<Option<u64>> {
    let model = tasks.last().map(|task| task.model.as_str());
    let window = crate::facts::window(db, session, model, i64::MAX)?;
    Ok(window.map(|(window, _)| window))
}
