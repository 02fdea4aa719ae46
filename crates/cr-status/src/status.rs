//! The state of a run in one line.

use std::borrow::Cow;

use cr_event::{Event, Kind};
use cr_io::{first_chars, sanitized, show_duration};
use cr_progress::{Level, TextOptions, TimeSource, write_progress};
use jiff::Timestamp;
use serde::Serialize;

use cr_rundir::{Run, RunState};

use cr_stream::{Named, StateName};

use crate::conversation::Conversation;

/// How much of a stream is looked at for the last thing that happened.
const TAIL: u64 = 256 << 10;

/// The longest line of a status.
const LONGEST: usize = 300;

/// The JSON Schema of a status.
pub const SCHEMA: &str = include_str!("../schema.json");

/// A run at one moment.
#[derive(Debug, Serialize)]
pub struct Status {
    /// The run.
    ///
    /// Example: `"20261118T031500Z-1f0c22ab"`
    pub run_id: String,
    /// The name that the user gave it.
    ///
    /// Null: without `--name`.
    /// Example: `"docs"`
    pub name: Option<String>,
    /// Its state: `lost` if it was cut off without a record of its end.
    ///
    /// Values: `starting`, `running`, `ended`, `lost`
    /// Example: `"running"`
    pub state: &'static str,
    /// The verdict in one word, as `outcome` of cr-summarize(1); without a summary,
    /// why the agent ended.
    ///
    /// Null: until the run is over, and if its end is not known.
    /// Example: `"success"`
    pub outcome: Option<String>,
    /// The verdict's exit code.
    ///
    /// Null: without a summary.
    /// Example: `0`
    pub code: Option<u8>,
    /// One sentence: why this verdict.
    ///
    /// Null: without a summary.
    /// Example: `"The run ended with a good result."`
    pub why: Option<String>,
    /// When it began.
    ///
    /// Null: if that is not known.
    /// Example: `"2026-11-18T03:15:00.123456Z"`
    pub started_at: Option<Timestamp>,
    /// How long it took, or has taken so far.
    ///
    /// Null: if that is not known.
    /// Example: `74`
    pub seconds: Option<u64>,
    /// What it cost, in US dollars.
    ///
    /// Null: without a summary, and without evidence.
    /// Example: `0.023604`
    pub cost_usd: Option<f64>,
    /// Calls of the model.
    ///
    /// Null: without a summary or a result.
    /// Example: `14`
    pub num_turns: Option<u64>,
    /// The context is more than 60 % full; false also if that is not known.
    ///
    /// Example: `false`
    pub context_warning: bool,
    /// The model that was asked for.
    ///
    /// Null: if the run resumes a session with its own model.
    /// Example: `"sonnet"`
    pub model: Option<String>,
    /// The agent's session.
    ///
    /// Null: until the agent names it.
    /// Example: `"80f8ae6e-b027-4253-8e9c-1ffd717366a1"`
    pub session_id: Option<String>,
    /// The agent's directory.
    ///
    /// Null: if that is not known.
    /// Example: `"/home/dev/repo"`
    pub cwd: Option<String>,
    /// The directory of the run.
    ///
    /// Example: `"/home/dev/.local/state/claude-runner/runs/20261118T031500Z-1f0c22ab"`
    pub run_dir: String,
    /// What a session of many turns is doing, as `state` of `cr/state` in
    /// cr-stream(5).
    ///
    /// Null: if the run is no session that goes on.
    /// Values: `starting`, `running`, `waiting_for_input`, `asking`, `stopping`
    /// Example: `"asking"`
    pub activity: Option<&'static str>,
    /// The first question of the agent that nobody has answered.
    ///
    /// Null: if there is none.
    /// Example: `"Bash: touch x.txt"`
    pub question: Option<String>,
    /// How many such questions there are.
    ///
    /// Example: `1`
    pub questions: u64,
    /// Messages that were accepted and that the agent has not taken up.
    ///
    /// Example: `2`
    pub messages_waiting: u64,
    /// The last line of progress.
    ///
    /// Null: if there is none.
    /// Example: `"Bash: cargo test"`
    pub last: Option<String>,
}

impl Status {
    /// Reads the run's directory; an error if a newer version wrote its summary.
    pub fn of(run: &Run) -> anyhow::Result<Self> {
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
        let talk = Conversation::of(run, state)?;
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
            activity: talk.activity,
            question: talk.question,
            questions: talk.questions,
            messages_waiting: talk.messages,
            last: last_action(run),
        })
    }

    /// One line for a person, at most 300 bytes.
    pub fn line(&self) -> String {
        let mut words = vec![self.run_id.clone(), self.state.to_owned()];
        words.extend(self.outcome.clone());
        words.extend(self.seconds.map(seconds));
        words.extend(self.cost_usd.map(|cost| format!("${cost:.2}")));
        words.extend(self.name.as_ref().map(|name| format!("name={name}")));
        let mut line = sanitized(&words.join(" "));
        let last = self.why.clone().or_else(|| self.last.clone());
        for text in [self.waits(), last].into_iter().flatten() {
            line.push_str(" | ");
            line.push_str(&sanitized(&text));
        }
        cut(line)
    }

    /// What a session waits for, if it does.
    pub fn waits(&self) -> Option<String> {
        let mut parts = Vec::new();
        match &self.question {
            Some(question) if self.activity.is_some() => parts.push(format!("asks: {question}")),
            Some(question) => parts.push(format!("not answered: {question}")),
            None if self.activity == Some(StateName::WaitingForInput.as_str()) => {
                parts.push("waits for a message".to_owned());
            }
            None => {}
        }
        if self.questions > 1 {
            let more = cr_io::counted(self.questions - 1, "more question");
            parts.push(more);
        }
        if self.messages_waiting > 0 {
            let messages = cr_io::counted(self.messages_waiting, "message");
            parts.push(format!("{messages} not taken up"));
        }
        (!parts.is_empty()).then(|| parts.join(", "))
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
pub fn seconds(seconds: u64) -> String {
    show_duration(std::time::Duration::from_secs(seconds))
}

/// The last progress line that is about the agent's work, without its time; of a
/// run whose agent did nothing, the last line.
pub fn last_action(run: &Run) -> Option<String> {
    let tail = run.last_lines(TAIL).ok()?;
    let lines = tail.split_inclusive(|&byte| byte == b'\n');
    let work: Vec<u8> = lines
        .filter(|line| is_work(line))
        .flatten()
        .copied()
        .collect();
    last_line(&work).or_else(|| last_line(&tail))
}

/// Whether a line is neither our own nor the end of a turn.
fn is_work(line: &[u8]) -> bool {
    let kind = Event::parse(line.trim_ascii_end()).map(|event| event.kind);
    !matches!(kind, Ok(Kind::Cr | Kind::Result | Kind::System))
}

fn last_line(lines: &[u8]) -> Option<String> {
    let options = TextOptions {
        least: Level::Normal,
        time: TimeSource::None,
        colour: false,
    };
    let mut text = Vec::new();
    write_progress(lines, &mut text, &options).ok()?;
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().rfind(|line| !line.is_empty())?;
    Some(first_chars(line, 200).0.to_owned())
}
