//! What an earlier run of the session has left: messages without an answer, and
//! answers to questions.
//!
//! The agent forgets its queue when it dies, and drops a message that it has
//! seen. So the session log of the agent decides about each message: it was
//! never taken, it was answered, or its turn was cut off.

mod chain;
mod old_queue;
mod session_log;

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use cr_rundir::{AnswerLine, QueueLine, RunDir, file, parse_state, state_text};
use cr_stream::InputState;
use rustix::fs::{FlockOperation, flock};

pub(crate) use self::chain::Chain;
pub(crate) use self::old_queue::OldMessage;
use self::session_log::{Taken, read_log};
use super::question::{Answer, Question};

/// The most that is read of a file of an earlier run, which the agent may have
/// written to.
const MAX_FILE: u64 = 256 << 20;

/// The state of a message that a later run has taken over.
const MOVED: &str = "moved";

/// What becomes of an old message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The agent never took it: it is sent.
    Send,
    /// It was answered.
    Answered,
    /// Its turn was cut off: the turn is continued.
    Continue,
}

impl Fate {
    /// The state of a message that is not sent.
    pub(crate) fn state(self) -> Option<InputState> {
        match self {
            Self::Send => None,
            Self::Answered => Some(InputState::Done),
            Self::Continue => Some(InputState::Continued),
        }
    }
}

/// A message, and what becomes of it; `None` if it had ended before.
pub(crate) type Found = (OldMessage, Option<Fate>);

/// The messages that the runs of the session have left, and what becomes of each.
/// `log` is the agent's session log, if there is one.
pub(crate) fn messages(chain: &mut Chain, log: Option<&Path>) -> io::Result<Vec<Found>> {
    let messages = std::mem::take(&mut chain.queue.messages);
    let taken = match log {
        Some(log) => read_log(log, &messages)?,
        None => Taken::default(),
    };
    let with_fate = |message: OldMessage| {
        let fate = message.ended.is_none().then(|| taken.fate(&message.id));
        (message, fate)
    };
    Ok(messages.into_iter().map(with_fate).collect())
}

/// A line of `queue` that says how the message `id` goes on.
pub(crate) fn change(id: &str, state: &str, reason: Option<&str>) -> QueueLine {
    QueueLine {
        id: id.to_owned(),
        at: cr_stream::now(),
        from: None,
        when: None,
        message: None,
        state: state.to_owned(),
        reason: reason.map(str::to_owned),
    }
}

/// Notes in the queue of the run in `dir` that the run `by` resumes its session and
/// has taken over these messages, so that whoever names that run finds this one.
pub(crate) fn mark_moved(dir: &RunDir, ids: &[String], by: &str) -> anyhow::Result<()> {
    // Also if there is no message yet: the line says which run it is.
    let ids = ids.iter().map(String::as_str).chain([by]);
    let lines = ids.map(|id| state_text(&change(id, MOVED, Some(by))));
    let lines = lines.collect::<anyhow::Result<Vec<_>>>()?;
    dir.append_line(file::QUEUE, &lines.join(&b'\n'))
}

/// Answers that came when no process waited for them.
#[derive(Debug, Default)]
pub(crate) struct ParkedAnswers {
    file: Option<File>,
    answers: Vec<AnswerLine>,
}

impl ParkedAnswers {
    /// Takes the answers of earlier runs over into the run `by` in `new`, so that a
    /// run that resumes this one finds them.
    pub(crate) fn take_over(earlier: &[RunDir], new: Option<&RunDir>, by: &str) -> Self {
        let file = new.and_then(|dir| dir.append_file(file::ANSWERS).ok());
        let mut moved = Self {
            file,
            answers: Vec::new(),
        };
        for old in earlier {
            moved.take_from(Self::read(old), by);
        }
        moved
    }

    fn take_from(&mut self, mut old: Self, by: &str) {
        for mut answer in std::mem::take(&mut old.answers) {
            // Without a record here, or a note there, it could be given twice.
            let kept = answer.clone();
            answer.given_in = Some(by.to_owned());
            answer.at = cr_stream::now();
            if self
                .append(&kept)
                .and_then(|()| old.append(&answer))
                .is_some()
            {
                self.answers.push(kept);
            }
        }
    }

    /// Whether there is an answer for a question to come.
    pub(crate) fn has_any(&self) -> bool {
        !self.answers.is_empty()
    }

    /// Reads the answers in the run directory `dir`.
    fn read(dir: &RunDir) -> Self {
        let Ok(Some(text)) = dir.read(file::ANSWERS, MAX_FILE) else {
            return Self::default();
        };
        let lines = text.split(|&b| b == b'\n').filter(|line| !line.is_empty());
        let mut answers: Vec<AnswerLine> = Vec::new();
        for line in lines.filter_map(|line| parse_state::<AnswerLine>(line).ok()) {
            answers.retain(|answer| answer.id != line.id);
            if line.given_in.is_none() {
                answers.push(line);
            }
        }
        Self {
            file: dir.append_file(file::ANSWERS).ok(),
            answers,
        }
    }

    /// The answer to `question`, if one was kept for the same tool and the same
    /// input. It is marked as given first: an answer is given once.
    pub(crate) fn take(&mut self, question: &Question, run_id: &str) -> Option<Answer> {
        let is_for = |answer: &AnswerLine| {
            answer.tool == question.tool && answer.input_sha256 == question.input_sha256
        };
        let index = self.answers.iter().position(is_for)?;
        let mut line = self.answers.remove(index);
        line.given_in = Some(run_id.to_owned());
        line.at = cr_stream::now();
        self.append(&line)?;
        let by = line.by.unwrap_or_else(|| "user".to_owned());
        Some(Answer::new(line.decision, line.text, by))
    }

    /// Writes a line, for good.
    fn append(&mut self, line: &AnswerLine) -> Option<()> {
        let file = self.file.as_mut()?;
        let mut text = state_text(line).ok()?;
        text.push(b'\n');
        flock(&*file, FlockOperation::NonBlockingLockExclusive).ok()?;
        let written = file.write_all(&text).and_then(|()| file.sync_data());
        let _ = flock(&*file, FlockOperation::Unlock);
        written.ok()
    }
}
