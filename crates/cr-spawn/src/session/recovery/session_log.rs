//! The session log of the agent: which messages it took, and whether it was
//! through with them.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use cr_event::{Block, Event, Kind, Raw, Text};

use super::Fate;
use super::old_queue::OldMessage;
use crate::session::message::text_of;

/// How the agent's log begins the note of an interrupt.
const INTERRUPTED: &str = "[Request interrupted by user";

/// The messages in the log.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// Each message that was taken, and whether its turn has ended.
    ended: HashMap<String, bool>,
    /// The messages of the turn that is being read.
    turn: Vec<String>,
    is_over: bool,
}

impl Taken {
    /// What becomes of the message `id`.
    pub(super) fn fate(&self, id: &str) -> Fate {
        match self.ended.get(id) {
            None => Fate::Send,
            Some(true) => Fate::Answered,
            Some(false) => Fate::Continue,
        }
    }

    /// A turn begins with these messages.
    fn begin(&mut self, ids: Vec<String>) {
        self.close();
        self.turn = ids;
        self.is_over = false;
    }

    /// A message was added to the turn.
    fn fold(&mut self, id: String) {
        self.turn.push(id);
        self.is_over = false;
    }

    /// The turn that was read is complete in the log.
    fn close(&mut self) {
        for id in self.turn.drain(..) {
            self.ended.insert(id, self.is_over);
        }
    }
}

/// Reads the log, as far as it tells about `messages`.
pub(super) fn read_log(log: &Path, messages: &[OldMessage]) -> io::Result<Taken> {
    let mut reader = BufReader::with_capacity(1 << 20, File::open(log)?);
    let mut taken = Taken::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line)? == 0 {
            taken.close();
            return Ok(taken);
        }
        // A last line that was cut off is no record.
        if let Ok(event) = Event::parse(&line) {
            record(&event, messages, &mut taken);
        }
    }
}

fn record(event: &Event<'_>, messages: &[OldMessage], taken: &mut Taken) {
    if !event.is_main() {
        return;
    }
    match event.kind {
        Kind::User => user(event, messages, taken),
        Kind::Assistant => {
            if let Some(is_over) = ends_turn(event) {
                taken.is_over = is_over;
            }
        }
        _ => {
            let source = event.line.at(&["attachment", "source_uuid"]);
            if let Some(id) = source.and_then(Raw::text).map(Text::decode)
                && messages.iter().any(|message| message.id == id)
            {
                taken.fold(id.into_owned());
            }
        }
    }
}

fn user(event: &Event<'_>, messages: &[OldMessage], taken: &mut Taken) {
    let id = event.line.string("uuid").unwrap_or_default();
    if let Some(index) = messages.iter().position(|message| message.id == id) {
        return taken.begin(merged(event.line, messages, index));
    }
    let blocks = event.message.as_ref().map(cr_event::Message::blocks);
    let blocks = blocks.unwrap_or_default();
    let is_result = blocks
        .iter()
        .any(|block| matches!(block, Block::ToolResult(_)));
    let is_interrupt = blocks.iter().any(|block| match block {
        Block::Text(text) => text.decode().starts_with(INTERRUPTED),
        _ => false,
    });
    if is_interrupt {
        // Whoever interrupted it did not want it to go on.
        taken.is_over = true;
    } else if is_result {
        taken.is_over = false;
    } else if !event.is_synthetic {
        // A turn of somebody else: what was not over is cut off.
        taken.begin(Vec::new());
    }
}

/// Whether an assistant's record ends its turn; `None` says nothing.
fn ends_turn(event: &Event<'_>) -> Option<bool> {
    let message = event.message.as_ref()?;
    // A resumed session begins with a reply that no model has given.
    if message.is_synthetic() && !event.is_api_error() {
        return None;
    }
    let reason = event.line.at(&["message", "stop_reason"]);
    let reason = reason.and_then(Raw::text).map(Text::decode);
    Some(reason.is_some_and(|reason| reason != "tool_use"))
}

/// The messages of a turn: several that waited make one record, with the id of
/// the last. Newer versions list the others; otherwise their texts tell.
fn merged(line: Raw<'_>, messages: &[OldMessage], last: usize) -> Vec<String> {
    let listed = line
        .get("mergedSendUuids")
        .map(Raw::items)
        .unwrap_or_default();
    let listed = listed.into_iter().filter_map(Raw::text).map(Text::decode);
    let mut ids: Vec<String> = listed
        .filter(|id| messages.iter().any(|message| message.id == *id))
        .map(std::borrow::Cow::into_owned)
        .collect();
    if ids.is_empty() {
        ids = merged_by_text(line, messages, last);
    }
    ids.push(messages[last].id.clone());
    ids
}

fn merged_by_text(line: Raw<'_>, messages: &[OldMessage], last: usize) -> Vec<String> {
    let content = line.at(&["message", "content"]).map(Raw::bytes);
    let content = content.and_then(|bytes| std::str::from_utf8(bytes).ok());
    let (Some(whole), Some(mut text)) = (
        content.and_then(text_of),
        text_of(messages[last].content.get()),
    ) else {
        return Vec::new();
    };
    let mut before: Vec<&OldMessage> = messages.iter().filter(|it| it.sent.is_some()).collect();
    before.sort_by_key(|message| message.sent);
    let end = before
        .iter()
        .position(|it| it.id == messages[last].id)
        .unwrap_or(0);
    let mut ids = Vec::new();
    for message in before[..end].iter().rev() {
        if text == whole {
            return ids;
        }
        let Some(earlier) = text_of(message.content.get()) else {
            break;
        };
        text = format!("{earlier}\n{text}");
        ids.insert(0, message.id.clone());
    }
    if text == whole { ids } else { Vec::new() }
}
