//! The state of a run in one line.

use std::borrow::Cow;

use cr_io::{first_chars, sanitized, show_duration};
use cr_progress::{Level, TextOptions, TimeSource, write_progress};
use jiff::Timestamp;
use serde::Serialize;

use cr_rundir::{Run, RunState};

/// How much of a stream is looked at for the last thing that happened.
const TAIL: u64 = 256 << 10;

/// The longest line of a status.
const LONGEST: usize = 300;

/// A run at one moment.
#[derive(Debug, Serialize)]
pub(crate) struct Status {
    pub(crate) run_id: String,
    pub(crate) name: Option<String>,
    pub(crate) state: &'static str,
    pub(crate) outcome: Option<String>,
    pub(crate) code: Option<u8>,
    pub(crate) why: Option<String>,
    pub(crate) started_at: Option<Timestamp>,
    pub(crate) seconds: Option<u64>,
    pub(crate) cost_usd: Option<f64>,
    pub(crate) num_turns: Option<u64>,
    pub(crate) context_warning: bool,
    pub(crate) model: Option<String>,
    pub(crate) session_id: Option<String>,
    pub(crate) cwd: Option<String>,
    pub(crate) run_dir: String,
    pub(crate) last: Option<String>,
}

impl Status {
    /// Reads the run's directory; an error if a newer version wrote its summary.
    pub(crate) fn of(run: &Run) -> anyhow::Result<Self> {
        let state = run.state();
        let (started, ended) = (run.started(), run.ended());
        // The summary is the last to be written; one of a run that is going on would
        // be an earlier run's.
        let summary = run
            .summary()?
            .filter(|_| state.is_over())
            .unwrap_or_default();
        let began = run.began();
        let so_far = || {
            let until = match state {
                RunState::Starting | RunState::Running => Timestamp::now(),
                RunState::Ended | RunState::Lost => return None,
            };
            u64::try_from(until.duration_since(began?).as_secs()).ok()
        };
        let outcome = summary.outcome.map(Cow::into_owned);
        Ok(Self {
            run_id: started.run_id.unwrap_or_else(|| run.id()),
            name: started.name,
            state: state.name(),
            outcome: outcome.or(ended.reason.filter(|_| state.is_over())),
            code: summary.code,
            why: Some(summary.why).filter(|why| !why.is_empty()),
            started_at: began,
            seconds: ended.duration_ms.map(|ms| ms / 1000).or_else(so_far),
            cost_usd: summary.cost_usd,
            num_turns: summary.num_turns,
            context_warning: summary.context_warning,
            model: started.model,
            session_id: summary.session_id.or_else(|| run.session()),
            cwd: started.cwd,
            run_dir: run.dir.display().to_string(),
            last: last_action(run),
        })
    }

    /// One line for a person, at most 300 bytes.
    pub(crate) fn line(&self) -> String {
        let mut words = vec![self.run_id.clone(), self.state.to_owned()];
        words.extend(self.outcome.clone());
        words.extend(self.seconds.map(seconds));
        words.extend(self.cost_usd.map(|cost| format!("${cost:.2}")));
        words.extend(self.name.as_ref().map(|name| format!("name={name}")));
        let mut line = sanitized(&words.join(" "));
        if let Some(last) = self.why.as_ref().or(self.last.as_ref()) {
            line.push_str(" | ");
            line.push_str(&sanitized(last));
        }
        cut(line)
    }
}

/// The first 300 bytes, cut between characters.
fn cut(mut line: String) -> String {
    if line.len() > LONGEST {
        let end = (0..=LONGEST - 3)
            .rev()
            .find(|&at| line.is_char_boundary(at));
        line.truncate(end.unwrap_or(0));
        line.push_str("...");
    }
    line
}

/// Seconds as a person reads them.
pub(crate) fn seconds(seconds: u64) -> String {
    show_duration(std::time::Duration::from_secs(seconds))
}

/// The last progress line, without its time.
pub(crate) fn last_action(run: &Run) -> Option<String> {
    let tail = run.last_lines(TAIL).ok()?;
    let options = TextOptions {
        least: Level::Normal,
        time: TimeSource::None,
        colour: false,
    };
    let mut text = Vec::new();
    write_progress(&tail[..], &mut text, &options).ok()?;
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().rfind(|line| !line.is_empty())?;
    Some(first_chars(line, 200).0.to_owned())
}
