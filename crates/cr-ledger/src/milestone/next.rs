//! `cr-ledger milestone next`: the session and the prompt of the next task.
//!
//! A session that was chosen and has not begun is chosen again, so asking twice
//! is harmless.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, anyhow};
use clap::Args;
use cr_config::{Config, ContextThresholds};
use cr_io::{Exit, Out};
use cr_ledger_db::rusqlite::OptionalExtension;
use cr_ledger_db::{Access, Ledger, Milestone, MilestoneSession, MilestoneStatus, Writer};
use cr_milestone::NextRun;

use super::find::{active, not_started, refuse_busy};
use super::start::{self, now, read_plan};
use super::{ProjectArgs, opening};
use crate::context::ContextUse;
use crate::handoff::{Handoff, HandoffArgs};
use crate::location::Location;
use crate::transcript::Transcript;

/// How often a decision is made again because another process was faster.
const TRIES: usize = 5;

/// Decide about the next run of a milestone; prints one JSON object
#[derive(Args, Debug)]
pub(crate) struct NextArgs {
    /// Its name or its id
    #[arg(value_name = "MILESTONE")]
    name: String,
    /// The work plan: starts the milestone if it is not active, else replaces its
    /// plan
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// Begin a new session, whatever the context
    #[arg(long)]
    new: bool,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    handoff: HandoffArgs,
}

/// What to do about the session of a milestone.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Decision {
    /// The milestone has none yet.
    First,
    /// It was chosen and has not begun.
    NotBegun,
    /// Go on in it.
    Resume(String),
    /// Another one takes over, because of this.
    Replace(String),
}

pub(crate) fn run(
    args: &NextArgs,
    location: &Location,
    out: impl Write,
    mut notes: impl Write,
) -> anyhow::Result<Exit> {
    let config = Config::load()?;
    let mut ledger = location.open(Access::Write)?;
    let milestone = milestone(args, &mut ledger)?;
    for _ in 0..TRIES {
        adopt(&mut ledger, &milestone)?;
        let current = current(&ledger, &milestone)?;
        if let Some(current) = &current {
            refuse_busy(&current.session, &config)?;
        }
        let decision = decide(
            &ledger,
            current.as_ref(),
            &config.context_thresholds(),
            args.new,
        )?;
        let handoff = match (&decision, &current) {
            (Decision::Replace(_), Some(current)) => {
                handoff(args, &ledger, current, &config, &mut notes)?
            }
            (_, Some(current)) => (current.handoff.clone(), true),
            (_, None) => (String::new(), true),
        };
        let next = apply(
            &mut ledger,
            &milestone,
            current.as_ref(),
            &decision,
            handoff,
        )?;
        if let Some(next) = next {
            let mut out = Out::new(out);
            out.line(&serde_json::to_vec(&next)?)?;
            out.flush()?;
            return Ok(Exit::Ok);
        }
    }
    let text = "other processes decide about this milestone at the same time";
    Err(anyhow!(text).context(Exit::Retry))
}

/// The milestone that is meant. A plan starts it, or is its new plan.
fn milestone(args: &NextArgs, ledger: &mut Ledger) -> anyhow::Result<Milestone> {
    let project = args.project.path()?;
    let plan = args.plan.as_deref().map(read_plan).transpose()?;
    let found = active(ledger, &project, &args.name)?;
    match (found, plan) {
        (None, None) => Err(not_started(&project, &args.name)),
        (None, Some(plan)) => start::start(ledger, &project, &args.name, plan),
        (Some(mut milestone), Some(plan)) if milestone.plan != plan => {
            milestone.plan = plan;
            ledger.write(|writer| Ok(writer.save_milestone(&milestone, now())?))?;
            Ok(milestone)
        }
        (Some(milestone), _) => Ok(milestone),
    }
}

/// The session in which the last task ran.
fn current(ledger: &Ledger, milestone: &Milestone) -> anyhow::Result<Option<MilestoneSession>> {
    Ok(ledger.milestone_sessions(&milestone.id)?.pop())
}

/// Takes over the session of the last run, if that ran in one of its own: a retry
/// may begin a session.
fn adopt(ledger: &mut Ledger, milestone: &Milestone) -> anyhow::Result<()> {
    let id = &milestone.id;
    let Some(known) = current(ledger, milestone)? else {
        return Ok(());
    };
    let sql = "SELECT s.value FROM run JOIN text_value s ON s.id = run.session
        WHERE run.milestone = ?1 AND run.session <> 0 AND coalesce(run.ended_at, 0) >= ?2
        ORDER BY coalesce(run.ended_at, 0) DESC, run_key DESC LIMIT 1";
    let last: Option<String> = ledger
        .db()
        .query_row(sql, (id, known.started_at), |row| row.get(0))
        .optional()?;
    let Some(last) = last else { return Ok(()) };
    ledger.write(|writer| {
        let sessions = writer.milestone_sessions(id)?;
        if sessions.iter().any(|session| session.session == last) {
            return Ok(());
        }
        writer.end_milestone_session(id, MilestoneStatus::Abandoned, now())?;
        Ok(writer.add_milestone_session(id, &last, "", now())?)
    })
}

fn decide(
    ledger: &Ledger,
    current: Option<&MilestoneSession>,
    thresholds: &ContextThresholds,
    must_be_new: bool,
) -> anyhow::Result<Decision> {
    let Some(current) = current else {
        return Ok(Decision::First);
    };
    let id = &current.session;
    let has_log = cr_agent::find_session_log(id).is_some();
    if !has_log && !has_run(ledger, id)? {
        return Ok(Decision::NotBegun);
    }
    if !has_log {
        let why = format!("the log of session {id} is gone, so it cannot be resumed");
        return Ok(Decision::Replace(why));
    }
    let context = ContextUse::of(ledger, id)?;
    if context.is_exhausted {
        let why = format!("the context of session {id} is exhausted");
        return Ok(Decision::Replace(why));
    }
    if must_be_new {
        let why = format!("session {id} is not to be resumed");
        return Ok(Decision::Replace(why));
    }
    Ok(match context.part() {
        Some(part) if part >= thresholds.refresh => {
            let shown = percent(part);
            let limit = percent(thresholds.refresh);
            let why = format!("the context of session {id} is full to {shown} % ({limit} or more)");
            Decision::Replace(why)
        }
        Some(part) => Decision::Resume(format!("its context is full to {} %", percent(part))),
        None => Decision::Resume("how full its context is, is not known".to_owned()),
    })
}

/// As a whole number, rounded down.
fn percent(part: f64) -> String {
    format!("{}", (part * 100.0 + 1e-9).floor())
}

fn has_run(ledger: &Ledger, session: &str) -> anyhow::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM run_session
        WHERE session = (SELECT id FROM text_value WHERE value = ?1))";
    Ok(ledger.db().query_row(sql, [session], |row| row.get(0))?)
}

/// The handoff of a session that is replaced, and whether it is of its record. If
/// nothing is left of the session, the one with which it began.
fn handoff(
    args: &NextArgs,
    ledger: &Ledger,
    current: &MilestoneSession,
    config: &Config,
    notes: impl Write,
) -> anyhow::Result<(String, bool)> {
    let made = match Transcript::find(ledger, &current.session)? {
        Some(transcript) => Handoff::of(&transcript, &args.handoff, config, notes)?,
        None => None,
    };
    Ok(match made {
        Some(made) => (made.quoted(args.handoff.limit), true),
        None => (current.handoff.clone(), false),
    })
}

/// Records the decision; `None` if another process has made one in between.
fn apply(
    ledger: &mut Ledger,
    milestone: &Milestone,
    current: Option<&MilestoneSession>,
    decision: &Decision,
    (handoff, has_record): (String, bool),
) -> anyhow::Result<Option<NextRun>> {
    let mut milestone = milestone.clone();
    let resume = matches!(decision, Decision::Resume(_));
    let known = current.map(|current| current.session.clone());
    let is_known = resume || *decision == Decision::NotBegun;
    let session_id = match known.filter(|_| is_known) {
        Some(known) => known,
        None => cr_agent::uuid::random().context(Exit::Tool)?,
    };
    let is_recorded = ledger.write(|writer| {
        let newest = writer.milestone_sessions(&milestone.id)?.pop();
        if newest.as_ref() != current {
            return Ok(false);
        }
        if !is_known {
            let session = (session_id.as_str(), handoff.as_str(), has_record);
            add_session(writer, &mut milestone, newest.is_some(), session)?;
        }
        Ok(true)
    })?;
    if !is_recorded {
        return Ok(None);
    }
    let prompt_prefix = if resume {
        String::new()
    } else {
        opening::text(ledger, &milestone, &handoff)?
    };
    Ok(Some(NextRun {
        session_id,
        resume,
        prompt_prefix,
        why: why(&milestone.name, decision),
        milestone_id: milestone.id,
    }))
}

/// Adds a session with its handoff; `has_record` says whether that is of the
/// session before.
fn add_session(
    writer: &mut Writer<'_>,
    milestone: &mut Milestone,
    has_session: bool,
    (session, handoff, has_record): (&str, &str, bool),
) -> anyhow::Result<()> {
    if has_session {
        let status = if has_record {
            MilestoneStatus::Refreshed
        } else {
            MilestoneStatus::Abandoned
        };
        writer.end_milestone_session(&milestone.id, status, now())?;
    } else if milestone.previous.is_empty() {
        // One that was completed since this one was started.
        milestone.previous = start::previous(writer, &milestone.project)?;
        writer.save_milestone(milestone, now())?;
    }
    Ok(writer.add_milestone_session(&milestone.id, session, handoff, now())?)
}

/// The decision in a sentence.
fn why(name: &str, decision: &Decision) -> String {
    let name = cr_io::sanitized(name);
    match decision {
        Decision::First => format!("the milestone `{name}` begins, in a new session"),
        Decision::NotBegun => {
            format!("the session of the milestone `{name}` has not begun yet")
        }
        Decision::Resume(why) => format!("the session of the milestone `{name}` is resumed: {why}"),
        Decision::Replace(why) => {
            format!("the milestone `{name}` goes on in a new session: {why}")
        }
    }
}
