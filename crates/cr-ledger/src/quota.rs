//! `cr-ledger quota`: the usage windows of the account, and how fast they fill.

use std::io::Write;

use clap::Args;
use cr_io::{Exit, Out, sanitized};
use cr_ledger_db::rusqlite::{self, Connection, OptionalExtension, params};
use cr_ledger_db::{Access, from_ms};
use jiff::Timestamp;
use serde::Serialize;

use crate::location::Location;
use crate::moment::{Moment, local};

const HOUR_MS: f64 = 3_600_000.0;

/// Two readings are of one window if their resets differ by less than this.
const SAME_RESET_MS: i64 = 600_000;

/// Readings that are closer together say nothing of a rate.
const SHORTEST_MS: i64 = 60_000;

/// What is said where there is no window.
const NONE: &str = "No run has reported a usage window: with an API key there is none, \
                    and with a subscription the next run reports it.";

/// Print the usage windows of the account, as the agent last reported them
///
/// A subscription has windows of 5 hours and of 7 days. With the share that is used
/// come the time of the reset, the rate, and when the window is exhausted at that
/// rate. An account with an API key has no windows; then that is said, and `windows`
/// is null with --json. The ledgers that were merged count as one account.
#[derive(Args, Debug)]
pub(crate) struct QuotaArgs {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    moment: Moment,
}

/// A usage window of the account.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Window {
    /// The agent's name of it, such as `five_hour` or `seven_day`.
    ///
    /// Example: `"five_hour"`
    pub(crate) name: String,
    /// The share that is used, 0 to 1.
    ///
    /// Null: if the agent does not say it, or the window has ended since.
    /// Example: `0.91`
    pub(crate) used: Option<f64>,
    /// When it ends and the share is 0 again.
    ///
    /// Null: if the agent does not say it.
    /// Example: `"2026-11-18T22:00:00Z"`
    pub(crate) resets_at: Option<Timestamp>,
    /// The agent's word for it.
    ///
    /// Null: if the agent does not say it, or the window has ended since.
    /// Example: `"allowed_warning"`
    pub(crate) status: Option<String>,
    /// When the agent reported it.
    ///
    /// Null: never.
    /// Example: `"2026-11-18T03:16:12.87Z"`
    pub(crate) at: Option<Timestamp>,
    /// The share of the window that is used in an hour.
    ///
    /// Null: if the reports do not say it.
    /// Example: `0.12`
    pub(crate) rate_per_hour: Option<f64>,
    /// What the rate is from: the first and the last report on this window, or,
    /// with one report only, the time since it began.
    ///
    /// Null: without a rate.
    /// Values: `reports`, `window`
    /// Example: `"reports"`
    pub(crate) rate_from: Option<&'static str>,
    /// When it is exhausted at that rate.
    ///
    /// Null: without a rate, and if it is reset before.
    /// Example: `"2026-11-18T21:10:00Z"`
    pub(crate) exhausted_at: Option<Timestamp>,
}

impl Window {
    /// Whether the account cannot go on before the reset. A window may be full
    /// and the agent allowed to go on, at extra cost.
    pub(crate) fn is_closed(&self) -> bool {
        let status = self.status.as_deref().unwrap_or_default();
        status == "rejected"
            || (self.used.is_some_and(|used| used >= 1.0) && !status.starts_with("allowed"))
    }

    /// Whether it limits `model`; some windows are for the models of one family.
    pub(crate) fn is_for(&self, model: Option<&str>) -> bool {
        let family = self.name.rsplit('_').next().unwrap_or_default();
        let is_family = ["opus", "sonnet", "haiku"].contains(&family);
        !is_family || model.is_none_or(|model| model.contains(family))
    }
}

/// A report, as it is stored.
struct Reading {
    name: String,
    at: i64,
    used: Option<f64>,
    resets_at: Option<i64>,
    status: String,
}

/// The windows as they were last reported before `now`.
pub(crate) fn windows(db: &Connection, now: i64) -> rusqlite::Result<Vec<Window>> {
    // Of two machines' reports of one time the larger counts.
    let sql = "SELECT name, at, used, resets_at, status FROM quota_reading
        JOIN (SELECT name AS last_name, max(at) AS last_at FROM quota_reading
            WHERE at <= ?1 GROUP BY name) ON last_name = name AND last_at = at
        ORDER BY name, coalesce(used, 0), status";
    let mut statement = db.prepare_cached(sql)?;
    let readings = statement.query_map([now], |row| {
        Ok(Reading {
            name: row.get(0)?,
            at: row.get(1)?,
            used: row.get(2)?,
            resets_at: row.get(3)?,
            status: row.get(4)?,
        })
    })?;
    let mut windows: Vec<Window> = Vec::new();
    for reading in readings {
        let window = window(db, &reading?, now)?;
        if windows.last().is_some_and(|last| last.name == window.name) {
            windows.pop();
        }
        windows.push(window);
    }
    Ok(windows)
}

fn window(db: &Connection, reading: &Reading, now: i64) -> rusqlite::Result<Window> {
    let has_ended = reading.resets_at.is_some_and(|reset| reset <= now);
    let used = reading.used.filter(|_| !has_ended);
    let rate = match used {
        Some(used) => rate(db, reading, used)?,
        None => None,
    };
    let exhausted = used.zip(rate).and_then(|(used, (rate, _))| {
        let at = reading
            .at
            .saturating_add(hours((1.0 - used).max(0.0) / rate)?);
        Some(at).filter(|at| reading.resets_at.is_none_or(|reset| *at < reset))
    });
    let status = Some(reading.status.clone()).filter(|word| !word.is_empty() && !has_ended);
    Ok(Window {
        name: reading.name.clone(),
        used,
        resets_at: reading.resets_at.and_then(from_ms),
        status,
        at: from_ms(reading.at),
        rate_per_hour: rate.map(|(rate, _)| cr_usage::rounded(rate)),
        rate_from: rate.map(|(_, from)| from),
        exhausted_at: exhausted.and_then(from_ms),
    })
}

/// The share that an hour uses, and what says so.
#[expect(clippy::cast_precision_loss, reason = "a time, in milliseconds")]
fn rate(
    db: &Connection,
    reading: &Reading,
    used: f64,
) -> rusqlite::Result<Option<(f64, &'static str)>> {
    let sql = "SELECT at, used FROM quota_reading
        WHERE name = ?1 AND at < ?2 AND used IS NOT NULL AND abs(resets_at - ?3) < ?4
        ORDER BY at LIMIT 1";
    let values = params![reading.name, reading.at, reading.resets_at, SAME_RESET_MS];
    let first: Option<(i64, f64)> = db
        .prepare_cached(sql)?
        .query_row(values, |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let began = reading.resets_at.zip(length(&reading.name));
    let began = began.map(|(reset, length)| (reset - length, 0.0, "window"));
    let first = first.map(|(at, used)| (at, used, "reports"));
    let first = first.filter(|(at, ..)| reading.at - at >= SHORTEST_MS);
    let Some((at, before, from)) = first.or(began) else {
        return Ok(None);
    };
    let passed = reading.at - at;
    let rate = (used - before) / (passed as f64 / HOUR_MS);
    Ok(Some((rate, from)).filter(|_| passed >= SHORTEST_MS && rate > 0.0))
}

/// The length of a window, which only its name says.
fn length(name: &str) -> Option<i64> {
    const HOUR: i64 = 3_600_000;
    match name {
        "five_hour" => Some(5 * HOUR),
        name if name.starts_with("seven_day") => Some(7 * 24 * HOUR),
        _ => None,
    }
}

/// Hours in milliseconds, if they are not too many.
#[expect(clippy::cast_possible_truncation, reason = "it is checked")]
fn hours(hours: f64) -> Option<i64> {
    let ms = hours * HOUR_MS;
    (ms < 1e15).then_some(ms as i64)
}

pub(crate) fn run(args: &QuotaArgs, location: &Location, out: impl Write) -> anyhow::Result<Exit> {
    let ledger = location.open(Access::Read)?;
    let windows = windows(ledger.db(), args.moment.ms())?;
    let mut out = Out::new(out);
    if args.json {
        let none = windows.is_empty();
        let json = serde_json::json!({
            "windows": Some(windows).filter(|_| !none),
            "why": Some(NONE).filter(|_| none),
        });
        out.line(json.to_string().as_bytes())?;
    } else if windows.is_empty() {
        out.line(NONE.as_bytes())?;
    } else {
        for window in &windows {
            out.line(line(window).as_bytes())?;
        }
    }
    out.flush()?;
    Ok(Exit::Ok)
}

/// A window for people.
fn line(window: &Window) -> String {
    let mut line = sanitized(&window.name);
    match (window.used, window.resets_at) {
        (Some(used), _) => line.push_str(&format!(": {:.0} % used", used * 100.0)),
        (None, Some(_)) if window.status.is_none() => {
            line.push_str(": it has ended since the last report");
        }
        (None, _) => line.push_str(": its use is not known"),
    }
    if let Some(status) = &window.status {
        line.push_str(&format!(" ({})", sanitized(status)));
    }
    if let Some(resets_at) = window.resets_at {
        line.push_str(&format!(", resets at {}", local(resets_at)));
    }
    if let Some(rate) = window.rate_per_hour {
        line.push_str(&format!(", {:.1} % an hour", rate * 100.0));
        match window.exhausted_at {
            Some(at) => line.push_str(&format!(", exhausted at {}", local(at))),
            None => line.push_str(", not exhausted before the reset"),
        }
    }
    line
}
