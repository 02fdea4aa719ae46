//! What a session of many turns waits for.

use cr_event::Event;
use cr_rundir::{QuestionLine, Run, RunDir, RunState};
use cr_stream::{Named, OwnLine, StateName};

/// How much of a stream is looked at for the last state.
const TAIL: u64 = 256 << 10;

/// What the files of a session say.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    /// The state of a session that goes on.
    pub(crate) activity: Option<&'static str>,
    /// The first question without an answer, and how many there are.
    pub(crate) question: Option<String>,
    pub(crate) questions: u64,
    /// Messages that the agent has not taken up.
    pub(crate) messages: u64,
}

impl Conversation {
    /// Reads the run's files; a run with a single prompt has none.
    pub(crate) fn of(run: &Run, state: RunState) -> anyhow::Result<Self> {
        if !run.has(cr_rundir::file::QUEUE) && !run.has(cr_rundir::file::QUESTIONS) {
            return Ok(Self::default());
        }
        let dir = RunDir::existing(&run.dir)?;
        let questions = cr_rundir::open_questions(&dir)?;
        let activity = (state == RunState::Running)
            .then(|| activity(run))
            .flatten();
        Ok(Self {
            activity: activity.map(Named::as_str),
            question: questions.first().map(one_line),
            questions: questions.len() as u64,
            messages: cr_rundir::waiting_messages(&dir)?,
        })
    }
}

fn one_line(question: &QuestionLine) -> String {
    let text = question.text.as_deref().unwrap_or_default();
    match (&question.tool, question.kind.as_deref()) {
        (Some(tool), Some("permission")) => format!("{tool}: {text}"),
        _ => text.to_owned(),
    }
}

/// The last state that the stream tells.
fn activity(run: &Run) -> Option<StateName> {
    let tail = run.last_lines(TAIL).ok()?;
    let mut lines = tail.rsplit(|&byte| byte == b'\n');
    lines.find_map(|line| match OwnLine::read(&Event::parse(line).ok()?)? {
        OwnLine::State(state) => state.state.known(),
        _ => None,
    })
}
