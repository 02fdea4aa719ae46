//! The answer of a stream: its last result, or else its last message.

use cr_event::{Block, Content, Event, Kind, Message, Text, TurnEnd, is_filler};

use crate::answer::{Answer, Missing, Origin, given};

/// Takes events in their order and keeps the ones that may be the answer.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    session: Session,
    thread: Thread,
    ending: Option<Ending>,
    last: LastMessage,
    /// The last line of the run is cut off.
    is_cut: bool,
}

/// The session of the lines so far. The answer of another session is none of
/// this one.
#[derive(Debug, Default)]
struct Session(Option<String>);

impl Session {
    /// Whether `event` belongs to another session. A log may hold the history
    /// of another one.
    fn changes(&mut self, event: &Event<'_>) -> bool {
        let Some(id) = event.session_id.filter(|_| !event.is_log) else {
            return false;
        };
        let known = self.0.as_deref().map(str::as_bytes);
        if known == Some(id.bytes()) {
            return false;
        }
        let is_other = known.is_some();
        self.0 = Some(id.prefix(1024).into_owned());
        is_other
    }
}

/// The thread that the input is about: the main one, or, if the first message
/// is from a subagent's own log, that of the subagent.
#[derive(Debug, Default)]
struct Thread {
    is_agents: Option<bool>,
}

impl Thread {
    fn message<'e, 'a>(&mut self, event: &'e Event<'a>) -> Option<MainMessage<'e, 'a>> {
        let is_from_agents = || event.is_from_agents_log();
        let is_agents = *self.is_agents.get_or_insert_with(is_from_agents);
        let is_main = event.is_main() || (is_agents && event.parent.is_none());
        MainMessage::in_thread(event, is_main)
    }
}

/// The end of a turn.
#[derive(Debug)]
struct Ending {
    is_error: bool,
    structured: Option<String>,
    text: String,
    /// The error, where the text is empty.
    error: String,
}

/// The last message with text in it.
#[derive(Debug, Default)]
struct LastMessage {
    id: Option<String>,
    text: String,
    is_failure: bool,
    /// No other message has begun since.
    is_open: bool,
}

impl Stream {
    /// Takes an event.
    pub(crate) fn take(&mut self, event: &Event<'_>) {
        if self.session.changes(event) {
            (self.ending, self.last) = (None, LastMessage::default());
        }
        match event.kind {
            Kind::Result => self.result(&TurnEnd::new(event.line)),
            Kind::Assistant => self.message(event),
            Kind::Cr => self.is_cut = true,
            _ => {}
        }
    }

    fn result(&mut self, end: &TurnEnd<'_>) {
        let is_good = self.ending.as_ref().is_some_and(|end| !end.is_error);
        if is_good && is_afterthought(end) {
            return;
        }
        let structured = end.line().get("structured_output");
        let error = end.errors().into_iter().next();
        self.ending = Some(Ending {
            is_error: end.is_error(),
            structured: structured.and_then(given),
            text: text_of(end).map(Text::decode).unwrap_or_default().into(),
            error: error.unwrap_or_else(|| end.subtype()).into(),
        });
    }

    fn message(&mut self, event: &Event<'_>) {
        let Some(spoken) = self.thread.message(event) else {
            return;
        };
        let id = spoken.message.id.map(|id| id.decode().into_owned());
        let is_same = self.last.is_open && id.is_some() && self.last.id == id;
        if !spoken.has_text() {
            self.last.is_open &= is_same;
            return;
        }
        if !is_same {
            self.last = LastMessage {
                id,
                is_failure: spoken.is_failure,
                is_open: true,
                ..LastMessage::default()
            };
        }
        for text in spoken.texts() {
            let said = &mut self.last.text;
            if !said.is_empty() && !said.ends_with('\n') {
                said.push('\n');
            }
            said.push_str(&text.decode());
        }
    }

    /// The answer.
    pub(crate) fn answer(self) -> Answer {
        let is_cut = self.is_cut;
        self.found().cut_if(is_cut)
    }

    fn found(self) -> Answer {
        let Self { ending, last, .. } = self;
        if let Some(end) = ending {
            let has_text = !end.text.trim().is_empty();
            if end.structured.is_some() || (has_text && !end.is_error) {
                return Answer {
                    structured: end.structured,
                    ..Answer::text(end.text, Origin::Result)
                };
            }
            if end.is_error {
                let error = if has_text { end.text } else { end.error };
                return Answer::none(Some(Missing::Failed(error)));
            }
        }
        if last.is_failure {
            return Answer::none(Some(Missing::Failed(last.text)));
        }
        Answer::text(last.text, Origin::Message)
    }
}

/// The text of a result, if it is an answer.
fn text_of<'a>(end: &TurnEnd<'a>) -> Option<Text<'a>> {
    end.text().filter(|text| !is_filler(*text))
}

/// Some releases end a good run with an empty error.
fn is_afterthought(end: &TurnEnd<'_>) -> bool {
    end.subtype() == "error_during_execution" && end.num_turns() == Some(0)
}

/// A message of the main thread: from the model, or from the CLI about a failed
/// call.
struct MainMessage<'e, 'a> {
    message: &'e Message<'a>,
    is_failure: bool,
}

impl<'e, 'a> MainMessage<'e, 'a> {
    fn of(event: &'e Event<'a>) -> Option<Self> {
        Self::in_thread(event, event.is_main())
    }

    fn in_thread(event: &'e Event<'a>, is_main: bool) -> Option<Self> {
        let message = event.message.as_ref().filter(|_| is_main)?;
        let is_failure = event.is_api_error();
        (is_failure || !message.is_synthetic()).then_some(Self {
            message,
            is_failure,
        })
    }

    fn texts(&self) -> Vec<Text<'a>> {
        match &self.message.content {
            Content::Text(text) => vec![*text],
            Content::Blocks(blocks) => {
                let texts = blocks.iter().filter_map(|block| match block {
                    Block::Text(text) => Some(*text),
                    _ => None,
                });
                texts.collect()
            }
            Content::Nothing => Vec::new(),
        }
    }

    fn has_text(&self) -> bool {
        self.texts().iter().any(|text| !text.bytes().is_empty())
    }
}

/// Takes the lines of a stream from its last to its first, until the rest cannot
/// matter. A [`Stream`] then takes them in their order, so that both ways of
/// reading give the same answer.
#[derive(Debug, Default)]
pub(crate) struct Reversed {
    session: Session,
    lines: Vec<Vec<u8>>,
    message: Search,
    /// Whether the last result, once found, is enough.
    ending: Option<bool>,
    /// There are messages that may be those of a subagent's own log.
    has_agents: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Search {
    #[default]
    NotFound,
    /// Lines of the message with this id were found.
    Part(Option<String>),
    Whole,
}

impl Reversed {
    /// Takes the line before those taken so far; returns whether that is enough.
    pub(crate) fn take(&mut self, event: &Event<'_>) -> bool {
        if self.session.changes(event) {
            return true;
        }
        match event.kind {
            Kind::Result => self.result(event),
            Kind::Assistant => self.message(event),
            Kind::Cr => self.lines.push(event.line.bytes().to_vec()),
            _ => {}
        }
        match self.ending {
            Some(is_enough) => is_enough || self.message == Search::Whole,
            // A session's log has no results.
            None => event.is_log && self.message == Search::Whole,
        }
    }

    fn result(&mut self, event: &Event<'_>) {
        if self.ending.is_some() {
            return;
        }
        self.lines.push(event.line.bytes().to_vec());
        let end = TurnEnd::new(event.line);
        if !is_afterthought(&end) {
            let structured = event.line.get("structured_output").and_then(given);
            let has_text = |text: Text<'_>| !text.decode().trim().is_empty();
            let is_told = end.is_error() || text_of(&end).is_some_and(has_text);
            self.ending = Some(structured.is_some() || is_told);
        }
    }

    fn message(&mut self, event: &Event<'_>) {
        let Some(spoken) = MainMessage::of(event) else {
            self.has_agents |= event.is_from_agents_log();
            return;
        };
        let id = spoken.message.id.map(|id| id.decode().into_owned());
        let is_wanted = match &self.message {
            Search::NotFound => spoken.has_text(),
            Search::Part(part) => {
                if part.is_none() || *part != id {
                    self.message = Search::Whole;
                    return;
                }
                spoken.has_text()
            }
            Search::Whole => false,
        };
        if is_wanted {
            self.lines.push(event.line.bytes().to_vec());
            self.message = Search::Part(id);
        }
    }

    /// Whether the file must be read from its beginning: all its messages are
    /// those of a subagent, and the first one tells whether it is its own log.
    pub(crate) fn needs_beginning(&self) -> bool {
        self.has_agents && self.lines.is_empty()
    }

    /// The answer.
    pub(crate) fn answer(self) -> Answer {
        let mut stream = Stream::default();
        for line in self.lines.iter().rev() {
            if let Ok(event) = Event::parse(line) {
                stream.take(&event);
            }
        }
        stream.answer()
    }
}
