//! The `queue` of earlier runs.

use std::io;
use std::path::Path;

use cr_rundir::{Delivery, QueueLine, RunDir, file, parse_state};
use cr_stream::{InputState, Named};
use serde_json::value::RawValue;

use super::MOVED;
use crate::session::message::Draft;

/// A message of an earlier run.
#[derive(Debug)]
pub(crate) struct OldMessage {
    pub(crate) id: String,
    pub(crate) from: Option<String>,
    pub(crate) when: Delivery,
    pub(crate) content: Box<RawValue>,
    /// Its place among the messages that the agent was given.
    pub(crate) sent: Option<usize>,
    /// How it ended: it was answered, withdrawn, or is continued by another one.
    pub(crate) ended: Option<InputState>,
}

impl OldMessage {
    /// The message, to be sent with its id.
    pub(crate) fn into_draft(self) -> Draft {
        Draft {
            id: Some(self.id),
            from: self.from,
            when: Some(self.when),
            content: self.content,
        }
    }
}

/// The messages of runs that follow each other.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    pub(crate) messages: Vec<OldMessage>,
    sent: usize,
}

impl Queue {
    /// Adds the queue of the next run.
    pub(super) fn read(&mut self, path: &Path) -> io::Result<()> {
        lines(path)?.into_iter().for_each(|line| self.add(line));
        Ok(())
    }

    fn add(&mut self, line: QueueLine) {
        let known = self.messages.iter().position(|it| it.id == line.id);
        let Some(index) = known else {
            self.messages.extend(begin(line));
            return;
        };
        match &*line.state {
            "sent" => {
                self.sent += 1;
                self.messages[index].sent = Some(self.sent);
            }
            "queued" if line.message.is_some() => self.reopen(index),
            "queued" | "started" => {}
            // What a later version writes ends a message, too: it is not sent twice.
            state => {
                let ended = InputState::from_name(state).unwrap_or(InputState::Done);
                self.messages[index].ended = Some(ended);
            }
        }
    }

    /// A later run has taken the message over, in its own order.
    fn reopen(&mut self, index: usize) {
        let mut message = self.messages.remove(index);
        message.ended = None;
        self.messages.push(message);
    }
}

/// The runs that have taken over messages of the run with this queue.
pub(super) fn taken_over_by(path: &Path) -> io::Result<Vec<String>> {
    let moved = lines(path)?.into_iter().filter(|line| line.state == MOVED);
    let mut runs: Vec<String> = moved.filter_map(|line| line.reason).collect();
    runs.dedup();
    Ok(runs)
}

/// The lines of a queue. One that was cut off by a crash was not acknowledged.
fn lines(path: &Path) -> io::Result<Vec<QueueLine>> {
    let dir = path.parent().unwrap_or(path);
    if !dir.is_dir() {
        return Ok(Vec::new());
    }
    // Through the directory: what is not a plain file would block us.
    let dir = RunDir::existing(dir).map_err(io::Error::other)?;
    let text = dir.read(file::QUEUE, u64::MAX).map_err(io::Error::other)?;
    let text = text.unwrap_or_default();
    let lines = text.split(|&b| b == b'\n').filter(|line| !line.is_empty());
    Ok(lines.filter_map(|line| parse_state(line).ok()).collect())
}

fn begin(line: QueueLine) -> Option<OldMessage> {
    let draft = Draft::of_message(line.message.as_deref()?).ok()?;
    Some(OldMessage {
        id: line.id,
        from: line.from,
        when: line.when.unwrap_or_default(),
        content: draft.content,
        sent: None,
        ended: None,
    })
}
