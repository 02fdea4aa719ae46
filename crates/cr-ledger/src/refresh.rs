//! `cr-ledger refresh`: the handoff of a session.

use std::io::Write;
use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use cr_config::Config;
use cr_io::{Exit, Out, visible_json};
use cr_ledger_db::Access;
use serde_json::json;

use crate::handoff::{Handoff, HandoffArgs};
use crate::location::Location;
use crate::transcript::{Transcript, check_session};

/// Print the handoff of a session, for the first prompt of a new one
///
/// Goal, files, commands with their results, commits, open errors, last words: the
/// same session gives the same text. It is made from the session's log below
/// ~/.claude/projects, else from the run directories of its runs in the ledger.
#[derive(Args, Debug)]
pub(crate) struct RefreshArgs {
    /// The session
    #[arg(long, value_name = "ID")]
    session: String,
    /// Its log or stream, if it is elsewhere
    #[arg(long, value_name = "FILE")]
    transcript: Option<PathBuf>,
    #[command(flatten)]
    handoff: HandoffArgs,
    /// Print a JSON object: `session_id`, `text`, `source` (summarizer or record)
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(
    args: &RefreshArgs,
    location: &Location,
    out: impl Write,
    notes: impl Write,
) -> anyhow::Result<Exit> {
    check_session(&args.session)?;
    let config = Config::load()?;
    let transcript = transcript(args, location)?;
    let handoff = Handoff::of(&transcript, &args.handoff, &config, notes)?;
    let Some(handoff) = handoff else {
        let text = format!("session {}: its record is empty", args.session);
        return Err(anyhow!(text).context(Exit::Data));
    };
    let mut out = Out::new(out);
    if args.json {
        let source = if handoff.is_summary {
            "summarizer"
        } else {
            "record"
        };
        let object = json!({
            "session_id": args.session, "text": handoff.text, "source": source
        });
        out.line(visible_json(&object.to_string()).as_bytes())?;
    } else {
        out.line(handoff.text.trim_end().as_bytes())?;
    }
    out.flush()?;
    Ok(Exit::Ok)
}

fn transcript(args: &RefreshArgs, location: &Location) -> anyhow::Result<Transcript> {
    if let Some(path) = &args.transcript {
        return Ok(Transcript::file(path));
    }
    let session = &args.session;
    if let Some(log) = Transcript::log(session) {
        return Ok(log);
    }
    // Without a ledger there is no other place to look.
    let runs = match location.open(Access::Read) {
        Ok(ledger) => Transcript::runs(&ledger, session)?,
        Err(err) if cr_io::exit_of(&err) == Exit::NoInput => None,
        Err(err) => return Err(err),
    };
    runs.ok_or_else(|| {
        let text = format!(
            "session {session}: there is no log of it below ~/.claude/projects and no run \
             directory of it in the ledger; name its record with --transcript"
        );
        anyhow!(text).context(Exit::NoInput)
    })
}
