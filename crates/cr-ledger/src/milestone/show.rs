//! `cr-ledger milestone show` and `ls`.

use std::io::Write;

use anyhow::anyhow;
use clap::Args;
use cr_io::{Exit, Out, sanitized, visible_json};
use cr_ledger_db::{Access, Ledger, Milestone, from_ms};
use serde::Serialize;

use super::ProjectArgs;
use super::find::is_active;
use crate::context::ContextUse;
use crate::location::Location;

/// Show a milestone with its sessions
#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    /// Its name or its id [default: the active one that was started last, else the
    /// last one]
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    project: ProjectArgs,
}

/// List the milestones of a project, the newest first
///
/// One line for each, with a tab between name, status, start, number of sessions,
/// number of runs, cost in dollars and id; `-` is not known.
#[derive(Args, Debug)]
pub(crate) struct LsArgs {
    /// Those of all projects
    #[arg(long, conflicts_with = "project")]
    all: bool,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    project: ProjectArgs,
}

/// A milestone as it is shown.
#[derive(Debug, Serialize)]
struct Shown {
    milestone_id: String,
    name: String,
    project: String,
    status: String,
    started_at: String,
    ended_at: Option<String>,
    previous: Option<String>,
    runs: i64,
    cost_usd: Option<f64>,
    sessions: Vec<ShownSession>,
    plan: Option<String>,
    handoff: Option<String>,
}

/// A session as it is shown.
#[derive(Debug, Serialize)]
struct ShownSession {
    session_id: String,
    status: String,
    started_at: String,
    context_used: Option<i64>,
    context_window: Option<i64>,
    context_used_pct: Option<f64>,
}

impl Shown {
    fn of(ledger: &Ledger, milestone: Milestone) -> anyhow::Result<Self> {
        let sql = "SELECT count(*), sum(cost_nano) / 1e9 FROM run WHERE milestone = ?1";
        let (runs, cost_usd) = ledger
            .db()
            .query_row(sql, [&milestone.id], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let mut sessions = Vec::new();
        for session in ledger.milestone_sessions(&milestone.id)? {
            let context = ContextUse::of(ledger, &session.session)?;
            sessions.push(ShownSession {
                session_id: session.session,
                status: session.status,
                started_at: time(session.started_at),
                context_used: context.used,
                context_window: context.window,
                context_used_pct: context.part().map(|part| (part * 100.0 + 1e-9).floor()),
            });
        }
        let given = |text: String| Some(text).filter(|text| !text.is_empty());
        Ok(Self {
            milestone_id: milestone.id,
            name: milestone.name,
            project: milestone.project,
            status: milestone.status,
            started_at: time(milestone.started_at),
            ended_at: milestone.ended_at.map(time),
            previous: given(milestone.previous),
            runs,
            cost_usd,
            sessions,
            plan: given(milestone.plan),
            handoff: given(milestone.handoff),
        })
    }

    fn json(&self) -> anyhow::Result<String> {
        Ok(visible_json(&serde_json::to_string(self)?).into_owned())
    }

    /// The lines for a person.
    fn lines(&self) -> Vec<String> {
        let cost = self.cost_usd.map(|cost| format!(", ${cost:.2}"));
        let mut lines = vec![
            format!("{}: {}", self.name, self.status),
            format!("  id: {}", self.milestone_id),
            format!("  project: {}", self.project),
            format!("  started: {}", self.started_at),
        ];
        lines.extend(self.ended_at.iter().map(|at| format!("  ended: {at}")));
        lines.extend(self.previous.iter().map(|id| format!("  after: {id}")));
        let size = |name: &str, text: &Option<String>| {
            let text = text.as_ref()?;
            Some(format!("  {name}: {} bytes", text.len()))
        };
        lines.extend(size("work plan", &self.plan));
        lines.extend(size("handoff", &self.handoff));
        lines.push(format!("  runs: {}{}", self.runs, cost.unwrap_or_default()));
        for session in &self.sessions {
            let context = match session.context_used_pct {
                Some(percent) => format!(", context {percent} %"),
                None => String::new(),
            };
            let (id, status) = (&session.session_id, &session.status);
            lines.push(format!("  session {id}: {status}{context}"));
        }
        lines
    }

    /// One line with tabs.
    fn row(&self) -> String {
        let cost = self.cost_usd.map(|cost| format!("{cost:.2}"));
        [
            self.name.clone(),
            self.status.clone(),
            self.started_at.clone(),
            self.sessions.len().to_string(),
            self.runs.to_string(),
            cost.unwrap_or_else(|| "-".to_owned()),
            self.milestone_id.clone(),
        ]
        .map(|field| sanitized(&field))
        .join("\t")
    }
}

fn time(ms: i64) -> String {
    from_ms(ms).map_or_else(|| "-".to_owned(), |time| format!("{time:.3}"))
}

pub(crate) fn show(args: &ShowArgs, location: &Location, out: impl Write) -> anyhow::Result<Exit> {
    let project = args.project.path()?;
    let ledger = location.open(Access::Read)?;
    let mut found = ledger.milestones(Some(&project), args.name.as_deref())?;
    if let (true, Some(id)) = (found.is_empty(), &args.name) {
        found.extend(ledger.milestone(id)?);
    }
    let at = found.iter().position(is_active).unwrap_or(0);
    let Some(milestone) = found.into_iter().nth(at) else {
        let what = match &args.name {
            Some(name) => format!("no milestone `{}`", sanitized(name)),
            None => "no milestone".to_owned(),
        };
        let text = format!("{what} in {}", sanitized(&project));
        return Err(anyhow!(text).context(Exit::NoInput));
    };
    let shown = Shown::of(&ledger, milestone)?;
    let mut out = Out::new(out);
    if args.json {
        out.line(shown.json()?.as_bytes())?;
    } else {
        for line in shown.lines() {
            out.line(sanitized(&line).as_bytes())?;
        }
    }
    out.flush()?;
    Ok(Exit::Ok)
}

pub(crate) fn list(args: &LsArgs, location: &Location, out: impl Write) -> anyhow::Result<Exit> {
    let project = args.project.path()?;
    let ledger = location.open(Access::Read)?;
    let project = Some(project.as_str()).filter(|_| !args.all);
    let mut out = Out::new(out);
    for milestone in ledger.milestones(project, None)? {
        let shown = Shown::of(&ledger, milestone)?;
        let line = if args.json {
            shown.json()?
        } else {
            shown.row()
        };
        out.line(line.as_bytes())?;
    }
    out.flush()?;
    Ok(Exit::Ok)
}
