//! The text before the first task of a session.

use cr_handoff::Opening;
use cr_io::counted;
use cr_ledger_db::{Ledger, Milestone};

/// Runs that are listed; of more the last.
const RUNS: i64 = 30;

/// The text for a session that begins with `handoff`, which is empty if it
/// continues none.
pub(crate) fn text(
    ledger: &Ledger,
    milestone: &Milestone,
    handoff: &str,
) -> anyhow::Result<String> {
    let previous = if handoff.is_empty() && !milestone.previous.is_empty() {
        ledger.milestone(&milestone.previous)?
    } else {
        None
    };
    let previous = previous.map(|previous| {
        let name = cr_io::sanitized(&previous.name);
        format!(
            "It is called `{name}` and is {}.\n\n{}",
            previous.status, previous.handoff
        )
    });
    let opening = Opening {
        milestone: &milestone.name,
        plan: &milestone.plan,
        continued: handoff,
        runs: &runs(ledger, &milestone.id)?,
        previous: previous.as_deref().unwrap_or_default(),
    };
    Ok(opening.text())
}

/// The runs of a milestone, a line for each.
fn runs(ledger: &Ledger, id: &str) -> anyhow::Result<Vec<String>> {
    let sql = "SELECT CASE WHEN task <> '' THEN task ELSE run_id END, outcome, commits, end_sha
        FROM run WHERE milestone = ?1
        ORDER BY coalesce(started_at, 0) DESC, run_key DESC LIMIT ?2";
    let mut statement = ledger.db().prepare_cached(sql)?;
    let rows = statement.query_map((id, RUNS), |row| {
        let (task, outcome): (String, String) = (row.get(0)?, row.get(1)?);
        let (commits, sha): (Option<i64>, String) = (row.get(2)?, row.get(3)?);
        let mut line = format!("{task}: {outcome}");
        if let Some(commits) = commits.filter(|commits| *commits > 0) {
            line += &format!(
                ", {}, the last {sha}",
                counted(commits.unsigned_abs(), "commit")
            );
        }
        Ok(line)
    })?;
    let mut lines: Vec<String> = rows.collect::<Result<_, _>>()?;
    lines.reverse();
    Ok(lines)
}
